/* SPDX-License-Identifier: Apache-2.0 */
/* Operators, calls and functions that the threads of an imported trace recorded, by their time. */
#ifndef TRAINPROF_SRC_REPORT_VIEW_VIEW_SPANS_H
#define TRAINPROF_SRC_REPORT_VIEW_VIEW_SPANS_H

#include "trainprof/model/profile.h"

struct tp_view_span_cost {
	uint32_t name;   /* string of the trace */
	uint64_t n;      /* spans of that name */
	uint64_t own_ns; /* without the spans within them; in the judged window, of all threads */
};

/* The largest first; *all_ns is their sum. Freed with free(). */
struct tp_view_span_cost *tp_view_span_costs(const struct tp_profile *profile, size_t *n,
					     uint64_t *all_ns);

#endif
