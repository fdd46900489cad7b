/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a baseline: its saves, oldest first, and the point at which it became slower. */
#ifndef TRAINPROF_MODEL_RUN_HISTORY_H
#define TRAINPROF_MODEL_RUN_HISTORY_H

#include "trainprof/model/run_diff.h"

/* One save: runs of one commit. Texts are NULL if unknown; everything is in the reader's arena. */
struct tp_history_save {
	const char *saved_at; /* "2026-11-20T14:03:11Z" */
	const char *commit;
	const char *machine;
	const char *reason;
	bool is_of_steps; /* false: times are those of whole runs */
	const double *time_ns;
	size_t n_times;            /* one per run, at least one */
	const char *const *advice; /* ids of the rules that fired, the best first */
	size_t n_advice;
	const char *place; /* place with the most time: "train.py:41 (load)" */
};

struct tp_run_history {
	struct tp_history_save *saves;
	size_t n;
};

/* Consecutive saves that take the same time. */
struct tp_history_level {
	size_t first;
	size_t n;
	double time_ns;
};

enum { TP_HISTORY_LEVELS_MAX = 32 };

struct tp_history_result {
	const struct tp_run_history *history; /* borrowed */
	size_t n_left_out; /* oldest saves that cannot be compared with the last one */
	struct tp_history_level levels[TP_HISTORY_LEVELS_MAX];
	size_t n_levels;
	/* Slow change per save that was taken out of the times of levels (they are those at the
	 * first save, then) and of `change`; 0 = none was found. */
	double drift_ratio;
	enum tp_gate_answer answer;
	double margin_ratio;
	size_t best;    /* the fastest level */
	size_t culprit; /* start of the last levels, all slower than `best`; set on failure */
	struct tp_change change;       /* time of the last level, as ratio to the best one */
	const char *undecided_because; /* NULL unless undecided */
};

#endif
