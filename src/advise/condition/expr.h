/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions and figures of rules: three-valued logic over facts with units.
 *
 *   step.dataloader_ratio > $part.high and not (loader.workers >= 1 or known(loader.sleep_ratio))
 *   min(1, (1 - step.dataloader_ratio) / step.dataloader_ratio)
 *
 * Operators, weakest first: or, and, not, < <= > >= == !=, + -, * /, unary -. Functions: min(a, b,
 * …) max(a, b, …) first(a, b, …): the first that is known; ceil(a) floor(a) known(fact)
 * sure(condition). A comparison with something unknown is unknown; "unknown and false" is false,
 * "unknown or true" is true. Division by zero is unknown. Numbers have their 95 % interval; sure(c)
 * is true only if c holds on the whole interval. An expression lives in the arena of its scope and
 * is immutable: any thread may evaluate it.
 */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_EXPR_H
#define TRAINPROF_SRC_ADVISE_CONDITION_EXPR_H

#include "dimension.h"
#include "threshold.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/status.h"
#include "trainprof/model/fact_id.h"
#include "trainprof/model/finding.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_EXPR_MAX_LENGTH = 1000, TP_EXPR_MAX_SIZE = 1000, TP_EXPR_MAX_DEPTH = 24 };

struct tp_expr;

/* A figure that a rule defines once and uses as $name. */
struct tp_local {
	const char *name;
	const char *written;
	const struct tp_expr *expr;
};

/* The place of a text and the names that it may use. */
struct tp_expr_scope {
	const char *file;
	unsigned line;
	const struct tp_thresholds *thresholds;
	const struct tp_local *locals; /* searched first */
	size_t n_locals;
	struct tp_arena *arena;
};

enum tp_expr_type { TP_EXPR_CONDITION, TP_EXPR_NUMBER };

/* Parses, and checks names, operators and units.
 * Errors  TP_PARSE with file, line, column and, for an unknown name, the most similar one. */
TP_MUST_CHECK enum tp_status tp_expr_parse(const struct tp_expr **out, const char *text,
					   enum tp_expr_type want,
					   const struct tp_expr_scope *place, struct tp_error *err);

enum tp_truth_value { TP_NO, TP_YES, TP_UNKNOWN };

struct tp_truth {
	enum tp_truth_value value;
	bool is_certain; /* holds on the whole of every interval */
};

/* In base units; low <= value <= high. */
struct tp_number {
	bool is_known;
	double value;
	double low;
	double high;
};

/* `facts` has tp_n_facts entries. */
struct tp_truth tp_expr_truth(const struct tp_expr *expr, const struct tp_quantity *facts);
struct tp_number tp_expr_number(const struct tp_expr *expr, const struct tp_quantity *facts);

const struct tp_dimension *tp_expr_dimension(const struct tp_expr *expr);
/* Marks the facts that the expression names; those under known(), and all but the last one in
 * first(), only if `with_known`: they need not be known. */
void tp_expr_facts(const struct tp_expr *expr, bool with_known, bool used[TP_MAX_FACTS]);
/* Lists the comparisons of the expression and the values that they see, at most `max`; returns
 * their number. `negated`: for an expression that must not hold. */
size_t tp_expr_evidence(const struct tp_expr *expr, const struct tp_quantity *facts, bool negated,
			struct tp_evidence *out, size_t max);

#endif
