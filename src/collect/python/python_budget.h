/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses how often threads that run Python are sampled, from the measured cost. */
#ifndef TRAINPROF_SRC_COLLECT_PYTHON_PYTHON_BUDGET_H
#define TRAINPROF_SRC_COLLECT_PYTHON_PYTHON_BUDGET_H

struct tp_python_budget {
	double max_ratio; /* of the CPUs that the program may use, for all measuring together */
	double n_allowed; /* number of these CPUs */
	double n_used;    /* number of them in use */
};

enum { TP_PYTHON_FACTOR_MAX = 8 };

/* Returns the factor on the period, 1, 2, 4 or 8, for a cost of `ratio` CPUs at the present factor.
 * The aim is half of max_ratio of the CPUs in use: for that the rate is halved, but not reduced
 * further. It is reduced further only if three quarters of max_ratio of the allowed CPUs are
 * exceeded. It rises if the expected cost is a fifth below these limits. */
unsigned tp_python_budget_factor(const struct tp_python_budget *budget, double ratio,
				 unsigned factor);

#endif
