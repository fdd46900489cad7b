/* SPDX-License-Identifier: Apache-2.0 */
/* Compares conditions without a run: holds a box of all values that facts may have if some
 * conditions hold, and determines whether another condition then holds always, never or sometimes.
 * Sound but not complete: "sometimes" may be too cautious. Facts are shares, times, counts, sizes
 * and rates, so none is below zero; a fact with the unit "bool" is 0 or 1. */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_BOUNDS_H
#define TRAINPROF_SRC_ADVISE_CONDITION_BOUNDS_H

#include "expr.h"

struct tp_bounds {
	double low[TP_MAX_FACTS]; /* in the facts' own units */
	double high[TP_MAX_FACTS];
	bool is_empty; /* the conditions contradict each other */
};

enum tp_bounds_truth { TP_NEVER, TP_SOMETIMES, TP_ALWAYS };

void tp_bounds_init(struct tp_bounds *bounds);
/* Restricts the box to the values for which the condition holds. Only comparisons of a fact with a
 * number that must all hold restrict it; other conditions are ignored. */
void tp_bounds_apply(struct tp_bounds *bounds, const struct tp_expr *condition);
/* The truth if all facts are known; an unknown fact makes the condition neither true nor false. */
enum tp_bounds_truth tp_bounds_truth(const struct tp_bounds *bounds,
				     const struct tp_expr *condition);

#endif
