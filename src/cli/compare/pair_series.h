/* SPDX-License-Identifier: Apache-2.0 */
/* Runs pairs of two commands, one after the other in random order, until it is known which one is
 * faster (docs/design/gate.md#pairs). The caller prints the result. */
#ifndef TRAINPROF_SRC_CLI_COMPARE_PAIR_SERIES_H
#define TRAINPROF_SRC_CLI_COMPARE_PAIR_SERIES_H

#include "gate_runs.h"
#include "loader_log.h"
#include "pair_run.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/json.h"
#include "trainprof/gate/gate.h"
#include "trainprof/model/fact.h"
#include "trainprof/model/run_diff.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PAIRS_GIVEN_MIN = 3, TP_PAIRS_GIVEN_MAX = 200, TP_PAIRS_UNDECIDED_MAX = 15 };

/* The number that nobody gives. */
#define TP_PAIRS_UNTIL_DECIDED UINT64_MAX

struct tp_pair_series_options {
	uint64_t pairs; /* or TP_PAIRS_UNTIL_DECIDED: at most TP_PAIRS_UNDECIDED_MAX */
	uint64_t warmup;
	uint64_t seed;
	uint64_t time_ns; /* no pair is started after this time */
	double margin_ratio;
};

#define TP_PAIR_SERIES_DEFAULTS                                                                    \
	{                                                                                          \
		.pairs = TP_PAIRS_UNTIL_DECIDED, .warmup = 1, .seed = 1,                           \
		.time_ns = 1800 * TP_NS_PER_S, .margin_ratio = TP_GATE_DEFAULT_MARGIN              \
	}

/* Rows of an option table for a struct tp_pair_series_options at that offset. */
/* clang-format off */
#define TP_PAIR_SERIES_ROWS(at, pairs_text, time_text) \
	{.name = "pairs", .type = TP_OPTION_COUNT, .value = "N", .text = (pairs_text), \
	 .otherwise = "until decided, at most 15", \
	 .offset = (at) + offsetof(struct tp_pair_series_options, pairs)}, \
	{.name = "margin", .type = TP_OPTION_PERCENT, .value = "P", \
	 .text = "ignore smaller differences", .otherwise = "3%", \
	 .offset = (at) + offsetof(struct tp_pair_series_options, margin_ratio)}, \
	{.name = "time", .type = TP_OPTION_DURATION, .value = "TIME", .text = (time_text), \
	 .otherwise = "30m", .offset = (at) + offsetof(struct tp_pair_series_options, time_ns)}, \
	{.name = "warmup", .type = TP_OPTION_COUNT, .value = "N", \
	 .text = "exclude the first N runs of each", .otherwise = "1", \
	 .offset = (at) + offsetof(struct tp_pair_series_options, warmup)}
/* clang-format on */

struct tp_pair_series {
	const struct tp_pair_series_options *options;
	struct tp_pairs_plan plan;
	bool shows_progress;
	const char *commands[2]; /* of the shell; borrowed */
	const char *loader; /* settings of B's DataLoader, or NULL; borrowed, set by the caller */
	const char *directory; /* exists; recordings and logs go below it */
	uint64_t started_ns;
	uint64_t random;
	struct tp_gate_runs sides[2];
	tp_fact_id time; /* the compared fact; tp_n_facts before it is known */
	struct tp_run_value values[2][TP_PAIRS_GIVEN_MAX];
	bool is_b_first[TP_PAIRS_GIVEN_MAX];
	size_t n_pairs; /* that are used */
	size_t n_repeated;
	size_t n_disturbed; /* of these: disturbed, but used all the same */
	struct tp_gate_estimate ratio;
	enum tp_pairs_state state;
	bool hides_special; /* usual steps decided it, and special steps do not agree */
	int failed;         /* index of the side whose program failed; -1 = none */
	struct tp_pair_run end;
	char *log; /* of the last run; heap */
	/* For `loader`: what the first run of B that is over said about it. Heap. */
	char *loader_log;
	struct tp_loader_log loader_said;
};

extern const char *const tp_pair_series_sides[2]; /* "A", "B" */

/* Errors  TP_USAGE for a number of pairs that is too small or too large. */
TP_MUST_CHECK enum tp_status tp_pair_series_check_count(uint64_t pairs, struct tp_error *err);

/* Borrows options, commands and directory. The series is large: it belongs on the heap. */
void tp_pair_series_init(struct tp_pair_series *s, const struct tp_pair_series_options *options,
			 const char *a, const char *b, const char *directory, bool shows_progress);
void tp_pair_series_release(struct tp_pair_series *s);

/* Warms up, then runs pairs until the result is decided, the limit is reached, a signal arrives,
 * one of the programs fails, or tp_pair_series_has_no_loader().
 * Errors  those of tp_pair_run() and tp_gate_runs_add(). */
TP_MUST_CHECK enum tp_status tp_pair_series_run(struct tp_pair_series *s, struct tp_error *err);

/* Returns true if B has made no loader in which a setting could be changed: both sides are equal,
 * and the series has ended. */
bool tp_pair_series_has_no_loader(const struct tp_pair_series *s);

/* Computes the differences between the pairs that are used; there must be at least one. */
void tp_pair_series_diff(struct tp_run_diff *out, const struct tp_pair_series *s,
			 struct tp_arena *arena);

/* Writes "B ended with exit status 7" for a series that failed. */
void tp_pair_series_describe_failed(struct tp_buf *out, const struct tp_pair_series *s);
/* Prints it as a message, with the log to look into. */
void tp_pair_series_print_failed(const struct tp_pair_series *s);
/* Writes the decision, the disturbances, and the place of the recordings. */
void tp_pair_series_describe(struct tp_buf *out, const struct tp_pair_series *s);
/* Writes the members of a document; `diff` may be NULL. */
void tp_pair_series_write(struct tp_json_writer *w, const struct tp_pair_series *s,
			  const struct tp_run_diff *diff);

/* Makes the folder for recordings: `given`, or a new name that ends in `ending`. Heap. */
TP_MUST_CHECK enum tp_status tp_pair_series_make_directory(char **out, const char *given,
							   const char *ending,
							   struct tp_error *err);
#endif
