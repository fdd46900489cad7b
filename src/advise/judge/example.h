/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of actions with the run's own command and numbers, so that they can be typed. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_EXAMPLE_H
#define TRAINPROF_SRC_ADVISE_JUDGE_EXAMPLE_H

#include "judge.h"

/* In an example of a rule %COMMAND is replaced by the command line of the program, %CPUS by the
 * number of CPUs it may use, %FEWER by one CPU less, and %CAPTURE_DEVICE and the like by what
 * records more with the tool that wrote the trace (capture_words.h). Unknown values become
 * YOUR_COMMAND or N. NULL returns NULL. */
const char *tp_example_fill(const struct tp_rule_context *context, const char *example);

#endif
