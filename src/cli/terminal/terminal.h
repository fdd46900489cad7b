/* SPDX-License-Identifier: Apache-2.0 */
/* Abilities of a stream: colour, character set, width. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_TERMINAL_H
#define TRAINPROF_SRC_CLI_TERMINAL_TERMINAL_H

#include "cli/options/command.h"

/* Determines the style of one stream from options, environment and the stream itself. */
struct tp_report_style tp_terminal_style(const struct tp_cli *cli, int fd);

#endif
