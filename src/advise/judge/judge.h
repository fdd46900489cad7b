/* SPDX-License-Identifier: Apache-2.0 */
/* One rule and one run: does it fire, how surely, and what does it say? */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_JUDGE_H
#define TRAINPROF_SRC_ADVISE_JUDGE_JUDGE_H

#include "advise/rulebook/book.h"
#include "gain.h"

#include "trainprof/model/finding.h"

/* The run as rules see it. */
struct tp_rule_context {
	const struct tp_rulebook *book;
	const struct tp_quantity *facts; /* tp_n_facts */
	struct tp_sentence_words terms;  /* of sentences: "each step" */
	struct tp_gain_input basis;
	const struct tp_run_info *run;    /* of a recording, or NULL */
	const struct tp_profile *profile; /* that idioms are in, or NULL */
	const char *pids;                 /* of other programs that use the CPUs, or NULL */
	struct tp_arena *arena;           /* for all texts of findings */
};

/* What shares are of, by facts alone: a step, unless there are none. */
const char *tp_rule_context_whole(const struct tp_rulebook *book, const struct tp_quantity *facts);

/* The whole finding, and its gain with the fractions behind it. Texts are in matter->arena. */
struct tp_finding tp_judge_rule(const struct tp_rule_context *matter, const struct tp_rule *rule,
				struct tp_gain *gain);

#endif
