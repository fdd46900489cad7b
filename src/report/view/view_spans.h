/* SPDX-License-Identifier: Apache-2.0 */
/* Time of operators, calls and functions that the threads of an imported trace recorded. */
#ifndef TRAINPROF_SRC_REPORT_VIEW_VIEW_SPANS_H
#define TRAINPROF_SRC_REPORT_VIEW_VIEW_SPANS_H

#include "trainprof/model/profile.h"

struct tp_view_span_cost {
	uint32_t name;   /* string of the trace */
	uint64_t n;      /* number of spans of that name */
	uint64_t own_ns; /* without the spans within them; in the judged window, of all threads */
};

/* Sorted by time, the largest first; *all_ns is their sum. Freed with free(). */
struct tp_view_span_cost *tp_view_span_costs(const struct tp_profile *profile, size_t *n,
					     uint64_t *all_ns);

#endif
