/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof check --history: checks whether a baseline became slower from save to save. */
#ifndef TRAINPROF_SRC_CLI_COMPARE_CHECK_HISTORY_H
#define TRAINPROF_SRC_CLI_COMPARE_CHECK_HISTORY_H

#include "cli/options/command.h"

/* Prints the result for a baseline in a format of tp_output_format(). Returns an exit status:
 * undecided is TP_EXIT_UNDECIDED. */
int tp_check_history(const struct tp_cli *cli, const char *baseline, const char *format);

#endif
