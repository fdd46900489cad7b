/* SPDX-License-Identifier: Apache-2.0 */
/* How often threads that run Python are sampled, from what that was found to cost. */
#ifndef TRAINPROF_SRC_COLLECT_PYTHON_PYTHON_BUDGET_H
#define TRAINPROF_SRC_COLLECT_PYTHON_PYTHON_BUDGET_H

struct tp_python_budget {
	double max_ratio; /* of the CPUs that the program may use, for all of measuring */
	double n_allowed; /* such CPUs */
	double n_used;    /* of them */
};

enum { TP_PYTHON_FACTOR_MAX = 8 };

/*
 * The factor on the period, 1, 2, 4 or 8, for a cost of `ratio` CPUs at the present factor. Half of
 * max_ratio of the CPUs in use is aimed at: for that the rate is halved, and no more. Beyond that
 * it is lowered only where three quarters of max_ratio of the CPUs that may be used are not enough.
 * It rises where the cost is expected to stay a fifth below those.
 */
unsigned tp_python_budget_factor(const struct tp_python_budget *budget, double ratio,
				 unsigned factor);

#endif
