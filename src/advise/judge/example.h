/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of actions with the run's own command and numbers, so that they can be typed. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_EXAMPLE_H
#define TRAINPROF_SRC_ADVISE_JUDGE_EXAMPLE_H

#include "judge.h"

/* In an example of a rule %COMMAND is replaced by the command line of the program, %CPUS by the
 * number of CPUs it may use and %FEWER by one CPU less. Unknown values become YOUR_COMMAND or N.
 * NULL returns NULL. */
const char *tp_example_fill(const struct tp_rule_context *matter, const char *example);

#endif
