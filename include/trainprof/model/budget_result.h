/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that a project sets for its runs, and whether they hold. */
#ifndef TRAINPROF_MODEL_BUDGET_RESULT_H
#define TRAINPROF_MODEL_BUDGET_RESULT_H

#include "trainprof/base/arena.h"
#include "trainprof/model/run_diff.h"

#include <stdbool.h>
#include <stddef.h>

/* Causes beyond these are not listed: with more of them nothing is singled out. */
enum { TP_BUDGET_CAUSES_MAX = 6 };

/* One entry of "assert". */
struct tp_assertion {
	const char *name; /* "step.time_ns", "finding:input/..." */
	unsigned line;    /* line in the budget; 0 = from a preset */
	bool is_error;    /* otherwise a warning */
	bool is_off;
	tp_fact_id fact;     /* tp_n_facts for findings */
	const char *pattern; /* pattern of rule names; NULL for facts */
	bool has_max, has_min, has_worse, has_count;
	bool equals_baseline;
	double max, min;
	double max_worse_ratio;
	double max_count;
	const char *min_confidence; /* NULL = any */
	const char *note;           /* NULL = none */
};

struct tp_budget {
	const char *path;
	const struct tp_assertion *assertions;
	size_t n_assertions;
	const char *baseline;     /* name of a baseline; NULL = none */
	double min_steps;         /* for facts about steps; 0 = any */
	double min_runs;          /* 0 = any */
	const char *inconclusive; /* "pass", "warn", "error"; NULL = not given */
};

struct tp_assertion_result {
	const struct tp_assertion *assertion;
	enum tp_gate_answer answer;
	bool is_measured; /* if false nothing is known, and it never passes */
	const char *is;   /* the measured value: "53.5 ms (53.2 to 53.9)" */
	const char *limit;
	const char
		*because; /* reason for a failure or an undecided result; NULL = nothing to add */
};

struct tp_budget_result {
	const struct tp_budget *budget;
	const struct tp_assertion_result *items; /* one for each assertion that is not off */
	size_t n_items;
	size_t n_runs;
	size_t n_failed;       /* errors */
	size_t n_warned;       /* warnings that failed */
	size_t n_undecided;    /* errors */
	size_t n_not_measured; /* part of them */
	/* Likely causes, if something failed and there is a baseline to compare with. */
	const char *causes[TP_BUDGET_CAUSES_MAX];
	size_t n_causes;
	const char *next; /* the command that shows more; NULL = nothing failed */
};

#endif
