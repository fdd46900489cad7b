/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: finds the command and runs it. */
#ifndef TRAINPROF_CLI_CLI_H
#define TRAINPROF_CLI_CLI_H

/* The whole program; returns the exit status (docs: trainprof help exit-status). */
int tp_cli_main(int argc, char **argv);

#endif
