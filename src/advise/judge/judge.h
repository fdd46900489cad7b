/* SPDX-License-Identifier: Apache-2.0 */
/* Judges one rule for one run: whether it fires, how surely, and with which texts. */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_JUDGE_H
#define TRAINPROF_SRC_ADVISE_JUDGE_JUDGE_H

#include "advise/rulebook/book.h"
#include "gain.h"

#include "trainprof/model/finding.h"

/* The run as the rules see it. */
struct tp_rule_context {
	const struct tp_rulebook *book;
	const struct tp_quantity *facts; /* tp_n_facts */
	struct tp_sentence_words terms;  /* words of sentences: "each step" */
	struct tp_gain_input basis;
	const struct tp_run_info *run;    /* description of a recording, or NULL */
	const struct tp_profile *profile; /* profile with the matches of idioms, or NULL */
	const char *pids;                 /* other programs that use the CPUs, or NULL */
	struct tp_arena *arena;           /* holds all texts of findings */
};

/* The whole that shares refer to, by facts alone: a step, unless there are none. */
const char *tp_rule_context_whole(const struct tp_rulebook *book, const struct tp_quantity *facts);

/* Returns what the run shows of the rule's own idiom; NULL if nothing, or if it has none. */
const struct tp_idiom_result *tp_judge_find_idiom(const struct tp_rule_context *context,
						  const struct tp_rule *rule);

/* Returns the whole finding, and its gain with the underlying fractions. Texts are in
 * context->arena. */
struct tp_finding tp_judge_rule(const struct tp_rule_context *context, const struct tp_rule *rule,
				struct tp_gain *gain);

/* Writes the gain as it is printed. */
void tp_judge_state_gain(struct tp_finding *finding, const struct tp_rule_context *context,
			 struct tp_gain gain);

#endif
