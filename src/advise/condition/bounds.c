/* SPDX-License-Identifier: Apache-2.0 */
/* Compares conditions by intervals of facts. */
#include "bounds.h"

#include "node.h"

#include <math.h>
#include <string.h>

/* Greater than any time in ns and any size; finite, because infinity times zero is NAN. */
static const double max_value = 1e18;

void tp_bounds_init(struct tp_bounds *bounds)
{
	bounds->is_empty = false;
	for (tp_fact_id i = 0; i < tp_n_facts; i++) {
		bool is_bool = strcmp(tp_fact_desc(i)->unit, "bool") == 0;
		bounds->low[i] = 0;
		bounds->high[i] = is_bool ? 1 : max_value;
	}
}

/* ---- narrowing ---- */

static void clip(struct tp_bounds *bounds, tp_fact_id fact, double low, double high)
{
	bounds->low[fact] = fmax(bounds->low[fact], low);
	bounds->high[fact] = fmin(bounds->high[fact], high);
	bounds->is_empty |= bounds->low[fact] > bounds->high[fact];
}

/* The value without any fact; NAN if the expression needs one. */
static double constant_of(const struct tp_expr *expr)
{
	static const struct tp_quantity unknown[TP_MAX_FACTS];
	struct tp_number number = tp_expr_number(expr, unknown);
	return number.is_known ? number.value : NAN;
}

/* Stores a strict bound (x < 5) as an inclusive one (x <= 5): the difference matters only at 5
 * itself. */
static void apply_compare(struct tp_bounds *bounds, const struct tp_expr *expr, bool holds)
{
	static const enum tp_compare swap[] = {TP_GT, TP_GE, TP_LT, TP_LE, TP_EQ, TP_NE};
	static const enum tp_compare negate[] = {TP_GE, TP_GT, TP_LE, TP_LT, TP_NE, TP_EQ};
	bool is_swapped = expr->left->kind != TP_NODE_FACT;
	const struct tp_expr *fact = is_swapped ? expr->right : expr->left;
	enum tp_compare compare = is_swapped ? swap[expr->compare] : expr->compare;
	if (fact->kind != TP_NODE_FACT)
		return;
	double limit = constant_of(is_swapped ? expr->left : expr->right) / fact->dimension.scale;
	if (isnan(limit))
		return;
	compare = holds ? compare : negate[compare];
	if (compare == TP_LT || compare == TP_LE || compare == TP_EQ)
		clip(bounds, fact->fact, 0, limit);
	if (compare == TP_GT || compare == TP_GE || compare == TP_EQ)
		clip(bounds, fact->fact, limit, max_value);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as a condition, TP_EXPR_MAX_DEPTH */
static void apply_condition(struct tp_bounds *bounds, const struct tp_expr *expr, bool holds)
{
	switch (expr->kind) {
	case TP_NODE_AND:
	case TP_NODE_OR:
		if (holds != (expr->kind == TP_NODE_AND))
			return; /* one of the two is enough */
		apply_condition(bounds, expr->left, holds);
		apply_condition(bounds, expr->right, holds);
		return;
	case TP_NODE_NOT:
		apply_condition(bounds, expr->left, !holds);
		return;
	case TP_NODE_SURE:
		if (holds)
			apply_condition(bounds, expr->left, true);
		return;
	case TP_NODE_FACT:
		clip(bounds, expr->fact, holds, holds);
		return;
	case TP_NODE_COMPARE:
		apply_compare(bounds, expr, holds);
		return;
	default:
		return;
	}
}

void tp_bounds_apply(struct tp_bounds *bounds, const struct tp_expr *condition)
{
	apply_condition(bounds, condition, true);
}

/* ---- truth ---- */

/* The box as intervals, for the evaluator. */
static void fill_facts(const struct tp_bounds *bounds, struct tp_quantity facts[TP_MAX_FACTS])
{
	for (tp_fact_id i = 0; i < tp_n_facts; i++) {
		double low = bounds->low[i];
		double high = bounds->high[i];
		facts[i] =
			(struct tp_quantity){.is_known = true,
					     .has_interval = true,
					     .value = high < max_value ? (low + high) / 2 : low + 1,
					     .low = low,
					     .high = high,
					     .coverage = 1};
	}
}

static enum tp_bounds_truth invert(enum tp_bounds_truth truth)
{
	return (enum tp_bounds_truth)(TP_ALWAYS - truth);
}

static enum tp_bounds_truth min_truth(enum tp_bounds_truth a, enum tp_bounds_truth b)
{
	return a < b ? a : b;
}

static enum tp_bounds_truth truth_of_compare(const struct tp_expr *expr,
					     const struct tp_quantity *facts)
{
	struct tp_truth truth = tp_expr_truth(expr, facts);
	if (truth.value == TP_UNKNOWN || !truth.is_certain)
		return TP_SOMETIMES;
	return truth.value == TP_YES ? TP_ALWAYS : TP_NEVER;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as a condition, TP_EXPR_MAX_DEPTH */
static enum tp_bounds_truth truth_of(const struct tp_expr *expr, const struct tp_quantity *facts)
{
	const struct tp_quantity *fact = &facts[expr->fact];
	switch (expr->kind) {
	case TP_NODE_AND:
		return min_truth(truth_of(expr->left, facts), truth_of(expr->right, facts));
	case TP_NODE_OR:
		return invert(min_truth(invert(truth_of(expr->left, facts)),
					invert(truth_of(expr->right, facts))));
	case TP_NODE_NOT:
		return invert(truth_of(expr->left, facts));
	case TP_NODE_SURE: /* an interval may extend beyond the box */
		return min_truth(truth_of(expr->left, facts), TP_SOMETIMES);
	case TP_NODE_CONSTANT:
		return expr->number != 0 ? TP_ALWAYS : TP_NEVER;
	case TP_NODE_KNOWN:
		return TP_SOMETIMES;
	case TP_NODE_FACT:
		if (fact->low != fact->high)
			return TP_SOMETIMES;
		return fact->value != 0 ? TP_ALWAYS : TP_NEVER;
	default:
		return truth_of_compare(expr, facts);
	}
}

enum tp_bounds_truth tp_bounds_truth(const struct tp_bounds *bounds,
				     const struct tp_expr *condition)
{
	struct tp_quantity facts[TP_MAX_FACTS];
	if (bounds->is_empty)
		return TP_NEVER;
	fill_facts(bounds, facts);
	return truth_of(condition, facts);
}
