/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What conditions say about each other without a run: a box of all values that facts may have
 * where some conditions hold, and whether another one then holds always, never or sometimes.
 * Sound but not complete: "sometimes" may be more than there is. Facts are shares, times, counts,
 * sizes and rates, so none is below zero; one of unit "bool" is 0 or 1.
 */
#ifndef TRAINPROF_SRC_ADVISE_CONDITION_BOUNDS_H
#define TRAINPROF_SRC_ADVISE_CONDITION_BOUNDS_H

#include "expr.h"

struct tp_bounds {
	double low[TP_MAX_FACTS]; /* in the facts' own units */
	double high[TP_MAX_FACTS];
	bool is_empty; /* conditions contradict each other */
};

enum tp_bounds_truth { TP_NEVER, TP_SOMETIMES, TP_ALWAYS };

void tp_bounds_init(struct tp_bounds *bounds);
/* Keep what is possible where the condition holds. Only comparisons of a fact with a number that
 * must all hold narrow it; the rest is left as it is. */
void tp_bounds_apply(struct tp_bounds *bounds, const struct tp_expr *condition);
/* Where all facts are known; a fact that is not makes it neither true nor false. */
enum tp_bounds_truth tp_bounds_truth(const struct tp_bounds *bounds,
				     const struct tp_expr *condition);

#endif
