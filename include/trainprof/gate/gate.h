/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges runs against each other. The unit is the run: its steps resemble each other and runs
 * differ by more than steps do, so no interval here counts steps. docs/design/gate.md.
 */
#ifndef TRAINPROF_GATE_GATE_H
#define TRAINPROF_GATE_GATE_H

#include "trainprof/base/json.h"
#include "trainprof/base/status.h"
#include "trainprof/model/run_diff.h"
#include "trainprof/model/run_values.h"

/* What two runs of one program differ by where nobody measured it, and what is no regression:
 * docs/design/gate.md#noise. */
#define TP_GATE_ASSUMED_NOISE  0.02
#define TP_GATE_DEFAULT_MARGIN 0.03

/* ---- statistics ---- */

/* The x below which Student's t with df degrees of freedom is with probability p; 0 < p < 1, df > 0
 * need not be whole. */
double tp_student_quantile(double p, double df);

/* What one run says, and how well its own steps know it (standard error, 0 = exactly). */
struct tp_run_value {
	double value;
	double error;
};

/* How runs of both sides belong together. */
struct tp_gate_design {
	bool is_paired;    /* base[i] and now[i] ran one beside the other; n_base == n_now */
	double confidence; /* 0.95 */
	double noise;      /* standard deviation between runs, in the unit of the values, that is
			      assumed where no side has two runs */
};

struct tp_gate_estimate {
	double value; /* mean(now) - mean(base) */
	double low;
	double high;
	double spread; /* standard deviation between runs: of a difference of a pair / sqrt(2) */
	bool is_assumed;
};

/* The difference of means with its interval. Each side has at least one value. */
void tp_gate_estimate_make(struct tp_gate_estimate *out, const struct tp_run_value *base,
			   size_t n_base, const struct tp_run_value *now, size_t n_now,
			   const struct tp_gate_design *design);

/* The same of logarithms: value, low and high are ratios now / base, spread and the design's noise
 * are relative. All values are above 0. */
void tp_gate_ratio_make(struct tp_gate_estimate *out, const struct tp_run_value *base,
			size_t n_base, const struct tp_run_value *now, size_t n_now,
			const struct tp_gate_design *design);

/* Whether `ratio` is above 1 + margin: by more than chance, surely not, or neither is known. */
enum tp_gate_answer tp_gate_verdict(const struct tp_gate_estimate *ratio, double margin);

/* ---- pairs that are measured one after the other ---- */

/* What pairs are measured for. */
struct tp_pairs_plan {
	size_t fixed;        /* so many, and looked at once; 0 = until they decide */
	size_t most;         /* of those */
	double margin_ratio; /* a smaller difference is none */
};

enum tp_pairs_state {
	TP_PAIRS_MORE,      /* measure another one */
	TP_PAIRS_DIFFERENT, /* the interval leaves out "no difference" */
	TP_PAIRS_ALIKE,     /* it lies within the margin on both sides */
	TP_PAIRS_UNDECIDED, /* there are as many as are wanted */
};

/* Fewer say nothing: with two pairs Student's t is 12.7. */
enum { TP_PAIRS_LEAST = 3 };

/* Of each interval. Who looks after each pair and stops when he likes the answer is wrong more
 * often than each look is: those intervals are wider, so that all looks together hold 95 %. */
double tp_pairs_confidence(const struct tp_pairs_plan *plan);

/* What n pairs say; the ratio is of now / base. */
enum tp_pairs_state tp_pairs_judge(struct tp_gate_estimate *ratio, const struct tp_run_value *base,
				   const struct tp_run_value *now, size_t n,
				   const struct tp_pairs_plan *plan);

/* About how many pairs would have to be added until an interval of that spread decides. */
size_t tp_pairs_needed(const struct tp_gate_estimate *ratio, size_t n,
		       const struct tp_pairs_plan *plan);

/* ---- runs ---- */

/*
 * Take the values out of a report. Texts are copied into the arena.
 * Errors  TP_VERSION for another schema, TP_PARSE for what is no report or contradicts itself.
 */
TP_MUST_CHECK enum tp_status tp_run_values_read(struct tp_run_values *out,
						const struct tp_json_doc *report, const char *name,
						struct tp_arena *arena, struct tp_error *err);

struct tp_diff_request {
	const struct tp_run_values *const *base;
	size_t n_base;
	const struct tp_run_values *const *now;
	size_t n_now;
	bool is_paired;
	double confidence; /* 0 = 0.95 */
	bool has_gate;
	double margin_ratio;
	bool is_ignored[TP_N_LIKENESSES];
	const char *const *warnings; /* more of them, borrowed */
	size_t n_warnings;
};

/* Compare. What was made is in the arena; runs and warnings are borrowed. */
void tp_run_diff_make(struct tp_run_diff *out, const struct tp_diff_request *request,
		      struct tp_arena *arena);

#endif
