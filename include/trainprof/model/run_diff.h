/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between two groups of runs, and how sure they are. */
#ifndef TRAINPROF_MODEL_RUN_DIFF_H
#define TRAINPROF_MODEL_RUN_DIFF_H

#include "trainprof/model/run_values.h"

/* A difference with its 95 % interval. */
struct tp_change {
	bool is_known;
	double base; /* means over the runs of a side */
	double now;
	double difference; /* new - base; for a ratio new / base */
	double low;
	double high;
	bool is_sure;    /* the interval excludes "no difference" */
	const char *why; /* why it is unknown; NULL when known */
};

/* The basis of an interval. */
struct tp_spread {
	double run_to_run_ratio; /* standard deviation between runs, relative */
	bool is_assumed;         /* a default, because there is one run on each side */
	bool is_paired;
	size_t n_base;
	size_t n_now;
	double smallest_ratio; /* smaller changes cannot be detected */
};

enum tp_gate_answer { TP_GATE_PASS, TP_GATE_FAIL, TP_GATE_UNDECIDED };

/* "pass", "fail", "undecided". */
const char *tp_gate_verdict_name(enum tp_gate_answer answer);

enum tp_likeness { TP_LIKE_WORKLOAD, TP_LIKE_MACHINE, TP_LIKE_SOFTWARE, TP_N_LIKENESSES };

const char *tp_comparable_name(enum tp_likeness aspect);

/* Something that should be equal in both groups but is not. */
struct tp_unlike {
	enum tp_likeness aspect;
	const char *what; /* "CPU", "arguments" */
	const char *base;
	const char *now;
	bool is_ignored; /* by --ignore, or because nothing depends on it */
};

enum tp_item_kind { TP_ITEM_FINDING, TP_ITEM_SETTING, TP_ITEM_PLACE, TP_N_ITEM_KINDS };

const char *tp_item_kind_name(enum tp_item_kind kind);

/* An item that only one side has, or that differs. */
struct tp_diff_item {
	enum tp_item_kind kind;
	const char *name; /* id of a rule, name of a setting, place */
	const char *base; /* its text on that side; NULL = absent */
	const char *now;
};

/* Advice of the base that the other side no longer gets. */
struct tp_promise {
	const struct tp_value_finding *finding;
	bool has_fact;
	tp_fact_id fact; /* the fact that should have moved */
	double before;
	double after;
	/* The speed-up as it was promised: of a step, or of the loop for each usual step. */
	double measured, measured_low, measured_high;
	bool is_reached; /* the measured interval meets the promised one */
};

enum { TP_DIFF_ITEMS_MAX = 40, TP_DIFF_UNLIKE_MAX = 16, TP_DIFF_PROMISES_MAX = 8 };

struct tp_run_diff {
	const struct tp_run_values *const *base; /* borrowed; at least one each */
	const struct tp_run_values *const *now;
	struct tp_spread spread;
	bool is_of_steps;       /* otherwise of the whole window */
	struct tp_change step;  /* ns */
	struct tp_change ratio; /* of times, new / base */
	struct tp_change parts[TP_N_PARTS];
	enum tp_part order[TP_N_PARTS]; /* of the base, largest first */
	struct tp_unlike unlike[TP_DIFF_UNLIKE_MAX];
	size_t n_unlike;
	bool is_comparable;
	const char *unsound_because; /* runs that are not comparable, or one that failed: their
					times do not say which is faster; NULL = they do */
	double special_ratio;        /* tp_gate_special_ratio() */
	bool hides_special;          /* tp_pairs_hide_special(): steps do not speak for the loop */
	bool is_unfinished;          /* pairs decide nothing: no change is called sure */
	const char *warnings[8];     /* reasons that weaken or bound the comparison */
	size_t n_warnings;
	struct tp_diff_item items[TP_DIFF_ITEMS_MAX];
	size_t n_items;
	size_t n_left_out; /* items beyond the limit */
	struct tp_promise promises[TP_DIFF_PROMISES_MAX];
	size_t n_promises;
	bool has_gate;
	double margin_ratio; /* a slowdown up to this passes */
	enum tp_gate_answer answer;
	const char *undecided_because; /* NULL unless undecided */
};

/* Its program ended with a status other than 0, or by a signal. */
bool tp_run_has_failed(const struct tp_run_values *run);
/* The words after a time in texts: " per step"; nothing where whole runs are compared. */
const char *tp_run_diff_per_step(const struct tp_run_diff *diff);

#endif
