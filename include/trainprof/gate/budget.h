/* SPDX-License-Identifier: Apache-2.0 */
/* Reads budgets and checks runs against them. */
#ifndef TRAINPROF_GATE_BUDGET_H
#define TRAINPROF_GATE_BUDGET_H

#include "trainprof/base/json.h"
#include "trainprof/base/status.h"
#include "trainprof/model/budget_result.h"

/* Texts are copied into the arena. Unknown, misspelt or contradictory entries are refused with the
 * line and the nearest name. Errors  TP_PARSE, TP_VERSION. */
TP_MUST_CHECK enum tp_status tp_budget_read(struct tp_budget *out, const struct tp_json_doc *doc,
					    struct tp_arena *arena, struct tp_error *err);

/* The runs to check and, if the budget needs them, those of the baseline. */
struct tp_budget_runs {
	const struct tp_run_values *const *now;
	size_t n_now;
	const struct tp_run_values *const *base;
	size_t n_base;
	bool is_paired; /* now[i] ran together with base[i], and commands differ on purpose */
	const bool *is_now_first;         /* of each pair; NULL = unknown */
	bool is_ignored[TP_N_LIKENESSES]; /* aspects in which both sides may differ */
};

/* Errors  TP_USAGE: a pattern matches no rule of the reports; a required baseline is missing. */
TP_MUST_CHECK enum tp_status tp_budget_check(struct tp_budget_result *out,
					     const struct tp_budget *budget,
					     const struct tp_budget_runs *runs,
					     struct tp_arena *arena, struct tp_error *err);

#endif
