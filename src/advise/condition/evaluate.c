/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates conditions in Kleene's three-valued logic, with an interval for each number. */
#include "expr.h"

#include "node.h"

#include <math.h>
#include <string.h>

static const struct tp_number unknown_number;

/* The bounds may be infinite, the value may not. */
static struct tp_number number_of(double value, double low, double high)
{
	if (!isfinite(value))
		return unknown_number;
	return (struct tp_number){.is_known = true,
				  .value = value,
				  .low = isnan(low) ? -INFINITY : fmin(low, value),
				  .high = isnan(high) ? INFINITY : fmax(high, value)};
}

static struct tp_number number_of_fact(tp_fact_id fact, const struct tp_quantity *facts,
				       double scale)
{
	const struct tp_quantity *fact_value = &facts[fact];
	if (!fact_value->is_known)
		return unknown_number;
	double value = fact_value->value * scale;
	if (!fact_value->has_interval)
		return number_of(value, value, value);
	return number_of(value, fact_value->low * scale, fact_value->high * scale);
}

/* The extremes of products and quotients are at the corners. */
static struct tp_number number_from_bounds(double value, const double corner[4])
{
	return number_of(value, fmin(fmin(corner[0], corner[1]), fmin(corner[2], corner[3])),
			 fmax(fmax(corner[0], corner[1]), fmax(corner[2], corner[3])));
}

static struct tp_number number_mul(struct tp_number a, struct tp_number b)
{
	double corner[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
	return number_from_bounds(a.value * b.value, corner);
}

static struct tp_number number_div(struct tp_number a, struct tp_number b)
{
	if (b.value == 0)
		return unknown_number;
	/* A divisor whose interval touches zero gives no bound: the value is kept, the interval is
	 * unlimited. */
	if (b.low <= 0 && b.high >= 0)
		return number_of(a.value / b.value, -INFINITY, INFINITY);
	/* Does not multiply by the inverse: the quotient of two points must be one point, to the
	 * last bit. */
	double corner[4] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
	return number_from_bounds(a.value / b.value, corner);
}

static struct tp_number number_of_pair(enum tp_node_kind kind, struct tp_number a,
				       struct tp_number b)
{
	if (!a.is_known || !b.is_known)
		return unknown_number;
	switch (kind) {
	case TP_NODE_ADD:
		return number_of(a.value + b.value, a.low + b.low, a.high + b.high);
	case TP_NODE_SUBTRACT:
		return number_of(a.value - b.value, a.low - b.high, a.high - b.low);
	case TP_NODE_MULTIPLY:
		return number_mul(a, b);
	case TP_NODE_DIVIDE:
		return number_div(a, b);
	case TP_NODE_MIN:
		return number_of(fmin(a.value, b.value), fmin(a.low, b.low), fmin(a.high, b.high));
	default:
		return number_of(fmax(a.value, b.value), fmax(a.low, b.low), fmax(a.high, b.high));
	}
}

struct tp_number tp_expr_number(const struct tp_expr *expr, const struct tp_quantity *facts)
{
	struct tp_number a;
	switch (expr->kind) {
	case TP_NODE_NUMBER:
		return number_of(expr->number, expr->number, expr->number);
	case TP_NODE_FACT:
		return number_of_fact(expr->fact, facts, expr->dimension.scale);
	case TP_NODE_NEGATE:
		a = tp_expr_number(expr->left, facts);
		return a.is_known ? number_of(-a.value, -a.high, -a.low) : a;
	case TP_NODE_CEIL:
		a = tp_expr_number(expr->left, facts);
		return a.is_known ? number_of(ceil(a.value), ceil(a.low), ceil(a.high)) : a;
	case TP_NODE_FLOOR:
		a = tp_expr_number(expr->left, facts);
		return a.is_known ? number_of(floor(a.value), floor(a.low), floor(a.high)) : a;
	case TP_NODE_FIRST:
		a = tp_expr_number(expr->left, facts);
		return a.is_known ? a : tp_expr_number(expr->right, facts);
	default:
		a = tp_expr_number(expr->left, facts);
		return number_of_pair(expr->kind, a, tp_expr_number(expr->right, facts));
	}
}

static bool compare_holds(enum tp_compare compare, double a, double b)
{
	switch (compare) {
	case TP_LT:
		return a < b;
	case TP_LE:
		return a <= b;
	case TP_GT:
		return a > b;
	case TP_GE:
		return a >= b;
	case TP_EQ:
		return a == b;
	default:
		return a != b;
	}
}

/* The values decide; the result is certain if no pair of points of the two intervals decides
 * otherwise. */
static struct tp_truth truth_of_compare(enum tp_compare compare, struct tp_number a,
					struct tp_number b)
{
	if (!a.is_known || !b.is_known)
		return (struct tp_truth){.value = TP_UNKNOWN};
	bool holds = compare_holds(compare, a.value, b.value);
	bool is_certain;
	if (compare == TP_EQ || compare == TP_NE) {
		bool are_points = a.low == a.high && b.low == b.high;
		is_certain = are_points || a.high < b.low || b.high < a.low;
	} else {
		is_certain = compare_holds(compare, a.low, b.high) == holds &&
			     compare_holds(compare, a.high, b.low) == holds;
	}
	return (struct tp_truth){.value = holds ? TP_YES : TP_NO, .is_certain = is_certain};
}

/* "and" with `decider` NO, "or" with `decider` YES: that value alone decides. */
static struct tp_truth truth_of_pair(struct tp_truth a, struct tp_truth b,
				     enum tp_truth_value decider)
{
	if (a.value == decider || b.value == decider) {
		bool is_certain = (a.value == decider && a.is_certain) ||
				  (b.value == decider && b.is_certain);
		return (struct tp_truth){.value = decider, .is_certain = is_certain};
	}
	if (a.value == TP_UNKNOWN || b.value == TP_UNKNOWN)
		return (struct tp_truth){.value = TP_UNKNOWN};
	return (struct tp_truth){.value = a.value, .is_certain = a.is_certain && b.is_certain};
}

struct tp_truth tp_expr_truth(const struct tp_expr *expr, const struct tp_quantity *facts)
{
	struct tp_truth a;
	const struct tp_quantity *fact = &facts[expr->fact];
	switch (expr->kind) {
	case TP_NODE_AND:
		a = tp_expr_truth(expr->left, facts);
		return truth_of_pair(a, tp_expr_truth(expr->right, facts), TP_NO);
	case TP_NODE_OR:
		a = tp_expr_truth(expr->left, facts);
		return truth_of_pair(a, tp_expr_truth(expr->right, facts), TP_YES);
	case TP_NODE_NOT:
		a = tp_expr_truth(expr->left, facts);
		if (a.value != TP_UNKNOWN)
			a.value = a.value == TP_YES ? TP_NO : TP_YES;
		return a;
	case TP_NODE_SURE:
		a = tp_expr_truth(expr->left, facts);
		if (a.value == TP_YES && !a.is_certain)
			a.value = TP_NO;
		a.is_certain = true;
		return a;
	case TP_NODE_KNOWN:
		return (struct tp_truth){.value = fact->is_known ? TP_YES : TP_NO,
					 .is_certain = true};
	case TP_NODE_CONSTANT:
		return (struct tp_truth){.value = expr->number != 0 ? TP_YES : TP_NO,
					 .is_certain = true};
	case TP_NODE_FACT:
		if (!fact->is_known)
			return (struct tp_truth){.value = TP_UNKNOWN};
		return (struct tp_truth){.value = fact->value != 0 ? TP_YES : TP_NO,
					 .is_certain = true};
	default:
		return truth_of_compare(expr->compare, tp_expr_number(expr->left, facts),
					tp_expr_number(expr->right, facts));
	}
}

const struct tp_dimension *tp_expr_dimension(const struct tp_expr *expr)
{
	return &expr->dimension;
}

void tp_expr_facts(const struct tp_expr *expr, bool with_known, bool used[TP_MAX_FACTS])
{
	if (!expr)
		return;
	if (expr->kind == TP_NODE_FACT || (expr->kind == TP_NODE_KNOWN && with_known))
		used[expr->fact] = true;
	if (expr->kind != TP_NODE_FIRST || with_known)
		tp_expr_facts(expr->left, with_known, used);
	tp_expr_facts(expr->right, with_known, used);
}

/* ---- evidence ---- */

struct evidence_list {
	const struct tp_quantity *facts;
	struct tp_evidence *items;
	size_t n;
	size_t max;
};

static int holds_of(struct tp_truth truth, bool negated)
{
	if (truth.value == TP_UNKNOWN)
		return -1;
	return (truth.value == TP_YES) != negated;
}

static void evidence_add(struct evidence_list *list, struct tp_evidence evidence)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct tp_evidence *old = &list->items[i];
		if (old->fact == evidence.fact && strcmp(old->op, evidence.op) == 0 &&
		    old->threshold == evidence.threshold)
			return;
	}
	evidence.value = list->facts[evidence.fact];
	if (list->n < list->max)
		list->items[list->n++] = evidence;
}

static const char *compare_sign(enum tp_compare compare, bool swapped, bool negated)
{
	static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
	static const enum tp_compare swap[] = {TP_GT, TP_GE, TP_LT, TP_LE, TP_EQ, TP_NE};
	static const enum tp_compare negate[] = {TP_GE, TP_GT, TP_LE, TP_LT, TP_NE, TP_EQ};
	if (swapped)
		compare = swap[compare];
	if (negated)
		compare = negate[compare];
	return signs[compare];
}

static void evidence_of_compare(struct evidence_list *list, const struct tp_expr *expr,
				bool negated)
{
	int holds = holds_of(tp_expr_truth(expr, list->facts), negated);
	bool swapped = expr->left->kind != TP_NODE_FACT && expr->right->kind == TP_NODE_FACT;
	const struct tp_expr *fact = swapped ? expr->right : expr->left;
	const struct tp_expr *other = swapped ? expr->left : expr->right;
	if (fact->kind == TP_NODE_FACT) {
		struct tp_number threshold = tp_expr_number(other, list->facts);
		evidence_add(list, (struct tp_evidence){
					   .fact = fact->fact,
					   .op = compare_sign(expr->compare, swapped, negated),
					   .threshold = threshold.value / fact->dimension.scale,
					   .has_threshold = threshold.is_known,
					   .holds = holds});
		return;
	}
	bool used[TP_MAX_FACTS] = {false};
	tp_expr_facts(expr, false, used);
	for (tp_fact_id i = 0; i < tp_n_facts; i++)
		if (used[i])
			evidence_add(list,
				     (struct tp_evidence){.fact = i, .op = "", .holds = holds});
}

static void evidence_walk(struct evidence_list *list, const struct tp_expr *expr, bool negated)
{
	switch (expr->kind) {
	case TP_NODE_AND:
	case TP_NODE_OR:
		evidence_walk(list, expr->left, negated);
		evidence_walk(list, expr->right, negated);
		break;
	case TP_NODE_NOT:
		evidence_walk(list, expr->left, !negated);
		break;
	case TP_NODE_SURE:
		evidence_walk(list, expr->left, negated);
		break;
	case TP_NODE_COMPARE:
		evidence_of_compare(list, expr, negated);
		break;
	case TP_NODE_FACT:
		evidence_add(list,
			     (struct tp_evidence){.fact = expr->fact,
						  .op = "",
						  .holds =
							  holds_of(tp_expr_truth(expr, list->facts),
								   negated)});
		break;
	default: /* known() and constants give no evidence */
		break;
	}
}

size_t tp_expr_evidence(const struct tp_expr *expr, const struct tp_quantity *facts, bool negated,
			struct tp_evidence *out, size_t max)
{
	struct evidence_list list = {.facts = facts, .items = out, .max = max};
	evidence_walk(&list, expr, negated);
	return list.n;
}
