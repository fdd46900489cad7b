/* SPDX-License-Identifier: Apache-2.0 */
/* Compares runs statistically. The unit is the run: its steps are correlated, and runs differ by
 * more than steps do, so no interval here counts steps. docs/design/gate.md. */
#ifndef TRAINPROF_GATE_GATE_H
#define TRAINPROF_GATE_GATE_H

#include "trainprof/base/json.h"
#include "trainprof/base/status.h"
#include "trainprof/model/gate_thresholds.h"
#include "trainprof/model/run_diff.h"
#include "trainprof/model/run_values.h"

/* The slowdown that is tolerated if none is given, as a constant for tables of options. */
#define TP_GATE_DEFAULT_MARGIN 0.03

/* ---- statistics ---- */

/* The quantile p of Student's t distribution with df degrees of freedom; 0 < p < 1, df > 0 need not
 * be whole. */
double tp_student_quantile(double p, double df);
/* The probability that Fisher's F exceeds f >= 0, an infinite one included. */
double tp_fisher_tail(double f, double df_above, double df_below);

/* The value of one run, and the standard error from its own steps (0 = exact). */
struct tp_run_value {
	double value;
	double error;
};

/* The value of a fact that is known. Half of a 95 % interval is about two standard errors. */
struct tp_run_value tp_run_value_of(const struct tp_quantity *quantity);

/* Design of the comparison: how the runs of both sides are matched. */
struct tp_gate_design {
	bool is_paired; /* base[i] and now[i] ran one after the other as a pair; n_base == n_now */
	double confidence; /* 0.95 */
	double noise; /* standard deviation between runs, in the unit of the values, used if no side
			 has two runs */
	double spread_min; /* the least such deviation that is believed; 0 for exact counts */
	const bool *is_now_first; /* the order within each pair; NULL = unknown, then a drift of the
				     machine is not taken out */
};

struct tp_gate_estimate {
	double value; /* mean(now) - mean(base) */
	double low;
	double high;
	double spread; /* standard deviation between runs, without what pairs or a drift explain */
	bool is_assumed;
};

/* The difference of means with its interval. Each side has at least one value. */
void tp_gate_estimate_make(struct tp_gate_estimate *out, const struct tp_run_value *base,
			   size_t n_base, const struct tp_run_value *now, size_t n_now,
			   const struct tp_gate_design *design);

/* The same for logarithms: value, low and high are ratios now / base; spread and the design's noise
 * are relative. All values are above 0. */
void tp_gate_ratio_make(struct tp_gate_estimate *out, const struct tp_run_value *base,
			size_t n_base, const struct tp_run_value *now, size_t n_now,
			const struct tp_gate_design *design);

/* Decides if `ratio` exceeds 1 + margin: significantly, certainly not, or unknown. */
enum tp_gate_answer tp_gate_verdict(const struct tp_gate_estimate *ratio, double margin);

/* ---- pairs that are measured one after the other ---- */

/* The goal of measuring pairs. */
struct tp_pairs_plan {
	size_t fixed; /* exact number of pairs, judged once at the end; 0 = until they decide */
	size_t most;  /* upper limit otherwise */
	double margin_ratio; /* smaller differences count as none */
};

enum tp_pairs_state {
	TP_PAIRS_MORE,      /* measure another pair */
	TP_PAIRS_DIFFERENT, /* the interval excludes "no difference" */
	TP_PAIRS_ALIKE,     /* it lies within the margin on both sides */
	TP_PAIRS_UNDECIDED, /* the limit is reached */
};

/* Fewer pairs say nothing: with two of them Student's t is 12.7. */
enum { TP_PAIRS_LEAST = 3 };

/* The confidence of each interval. Checking after each pair and stopping at a welcome result is
 * wrong more often than each single check; the intervals are therefore wider, so that all checks
 * together hold 95 %. */
double tp_pairs_confidence(const struct tp_pairs_plan *plan);

/* Judges n pairs; the ratio is now / base. is_now_first may be NULL: tp_gate_design. */
enum tp_pairs_state tp_pairs_judge(struct tp_gate_estimate *ratio, const struct tp_run_value *base,
				   const struct tp_run_value *now, const bool *is_now_first,
				   size_t n, const struct tp_pairs_plan *plan);

/* Returns true if what usual steps decided, with this ratio, is not so of the whole loop:
 * special_ratio is that of tp_gate_special_ratio(). */
bool tp_pairs_hide_special(enum tp_pairs_state state, double ratio, double special_ratio);

/* The approximate number of further pairs until an interval of that spread decides. */
size_t tp_pairs_needed(const struct tp_gate_estimate *ratio, size_t n,
		       const struct tp_pairs_plan *plan);

/* ---- runs ---- */

/* Extracts the values of a report, or of the report of a job. Texts are copied into the arena.
 * Errors  TP_VERSION for another schema, TP_PARSE for a document that is no report or contradicts
 * itself. */
TP_MUST_CHECK enum tp_status tp_run_values_read(struct tp_run_values *out,
						const struct tp_json_doc *report, const char *name,
						struct tp_arena *arena, struct tp_error *err);

struct tp_diff_request {
	const struct tp_run_values *const *base;
	size_t n_base;
	const struct tp_run_values *const *now;
	size_t n_now;
	bool is_paired;
	const bool *is_now_first; /* of each pair; NULL = unknown */
	double confidence;        /* 0 = 0.95 */
	bool has_gate;
	double margin_ratio;
	bool is_ignored[TP_N_LIKENESSES];
	const char *const *warnings; /* additional ones, borrowed */
	size_t n_warnings;
};

/* Returns how many times as long the loop takes per usual step in the new runs as in the base runs,
 * because of evaluations, checkpoints and slow steps alone; 1 if that is unknown or small. If it is
 * not 1, the times of usual steps do not decide which runs are slower. */
double tp_gate_special_ratio(const struct tp_diff_request *request);

/* Compares. The result is in the arena; runs and warnings are borrowed. */
void tp_run_diff_make(struct tp_run_diff *out, const struct tp_diff_request *request,
		      struct tp_arena *arena);

#endif
