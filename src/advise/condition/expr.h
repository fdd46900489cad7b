/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions and figures of rules: three-valued logic over facts with units.
 *
 *   step.dataloader_ratio > $part.high and not (loader.workers >= 1 or known(loader.sleep_ratio))
 *   min(1, (1 - step.dataloader_ratio) / step.dataloader_ratio)
 *
 * Operators, weakest first: or, and, not, < <= > >= == !=, + -, * /, unary -. Functions: min(a, b,
 * …) max(a, b, …) first(a, b, …): the first that is known; ceil(a) floor(a) known(fact)
 * sure(condition). A comparison with something unknown is unknown; "unknown and false" is false, "unknown or true" is true. Division by zero is unknown.
 * Numbers carry their 95 % interval along; sure(c) is true only when c holds on all of it.
 * An expression lives in the arena of its place and is immutable: any thread may evaluate it.
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

/* A figure that a rule names once and uses as $name. */
struct tp_local {
	const char *name;
	const char *written;
	const struct tp_expr *expr;
};

/* Where a text stands and what it may name. */
struct tp_expr_scope {
	const char *file;
	unsigned line;
	const struct tp_thresholds *thresholds;
	const struct tp_local *locals; /* looked up first */
	size_t n_locals;
	struct tp_arena *arena;
};

enum tp_expr_type { TP_EXPR_CONDITION, TP_EXPR_NUMBER };

/*
 * Parse and check names, operators and units. Errors  TP_PARSE with file, line, column and, for an
 * unknown name, the nearest one.
 */
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
/* Mark the facts it names; those under known(), and in first() all but the last, only when
 * `with_known`: they need not be known. */
void tp_expr_facts(const struct tp_expr *expr, bool with_known, bool used[TP_MAX_FACTS]);
/* The comparisons it makes and what they see, at most `max`; returns how many. Negated: as they
 * are when the whole must not hold. */
size_t tp_expr_evidence(const struct tp_expr *expr, const struct tp_quantity *facts, bool negated,
			struct tp_evidence *out, size_t max);

#endif
