/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of actions with the run's own command and numbers, so that they can be typed. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_EXAMPLE_H
#define TRAINPROF_SRC_ADVISE_JUDGE_EXAMPLE_H

#include "judge.h"

/* The words that an action puts before the command to apply it to the unchanged program; NULL = no
 * such words exist. */
const char *tp_example_prefix(const struct tp_rule_context *context,
			      const struct tp_rule_action *action);
/* The action's example; NULL if it has none. %COMMAND is replaced by the command line of the
 * program, %CPUS by the number of CPUs it may use, %FEWER by one CPU less, and %CAPTURE_DEVICE and
 * the like by what records more with the tool that wrote the trace (capture_words.h). Unknown
 * values become YOUR_COMMAND or N. A prefix stands where it reaches the program
 * (tp_run_info_add_command()). */
const char *tp_example_of(const struct tp_rule_context *context,
			  const struct tp_rule_action *action);

#endif
