/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of actions with the run's own command and numbers, so that they can be typed. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_EXAMPLE_H
#define TRAINPROF_SRC_ADVISE_JUDGE_EXAMPLE_H

#include "judge.h"

/*
 * In an example of a rule %COMMAND stands for the program as it was started, %CPUS for the number
 * of CPUs it may use and %FEWER for one CPU less. What is not known becomes YOUR_COMMAND or N.
 * NULL for NULL.
 */
const char *tp_example_fill(const struct tp_rule_context *matter, const char *example);

#endif
