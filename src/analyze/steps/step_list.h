/* SPDX-License-Identifier: Apache-2.0 */
/* Steps in the order of time, while they are being collected. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_STEP_LIST_H
#define TRAINPROF_SRC_ANALYZE_STEPS_STEP_LIST_H

#include "analyze/analysis.h"

/* Zero-initialised = empty. */
struct tp_step_list {
	struct tp_step *items; /* heap */
	size_t n;
	size_t capacity;
};

/* Appends a steady step; ignores an empty one. */
void tp_step_list_add(struct tp_step_list *list, uint64_t start_ns, uint64_t end_ns);
/* Returns the median length; 0 if there are no steps. */
double tp_step_list_median_ns(const struct tp_step_list *list);
/* Copies the steps into the profile. The list remains the caller's to free. */
void tp_step_list_store(struct tp_analysis *analysis, const struct tp_step_list *list);

#endif
