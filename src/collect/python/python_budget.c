/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the cost of each rate. */
#include "python_budget.h"

static const double aim_share = 0.5;
static const double limit_share = 0.75;
static const double margin = 0.8;

/* Returns the smallest factor for which the cost fits; `full` is the cost of the full rate. */
static unsigned factor_for(const struct tp_python_budget *budget, double full, double share)
{
	double aim = budget->max_ratio * aim_share * budget->n_used * share;
	double limit = budget->max_ratio * limit_share * budget->n_allowed * share;
	unsigned factor = full > aim ? 2 : 1;
	while (factor < TP_PYTHON_FACTOR_MAX && full / factor > limit)
		factor *= 2;
	return factor;
}

unsigned tp_python_budget_factor(const struct tp_python_budget *budget, double ratio,
				 unsigned factor)
{
	double full = ratio * factor;
	unsigned wanted = factor_for(budget, full, 1);
	if (wanted >= factor)
		return wanted;
	wanted = factor_for(budget, full, margin);
	return wanted < factor ? wanted : factor;
}
