/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the computing is done number by number. An instruction says so of itself only when it
 * is arithmetic, and most of a loop's are not: so those of each function that are speak for all of
 * its time.
 */
#ifndef TRAINPROF_SRC_ANALYZE_FACTS_SCALAR_MATH_H
#define TRAINPROF_SRC_ANALYZE_FACTS_SCALAR_MATH_H

#include "analyze/analysis.h"

#include "trainprof/base/map.h"

/* Equal slices of the window, so that shares get an interval. */
enum { TP_SCALAR_SLICES = 50 };

struct tp_scalar {
	struct tp_map index;             /* function -> row */
	struct tp_scalar_function *rows; /* heap */
	size_t n;
	size_t capacity;
};

/* Time of computing in a stack. */
void tp_scalar_add(struct tp_scalar *scalar, const struct tp_trace *trace, uint32_t stack,
		   size_t slice, double ns);
/* Time of each slice in scalar code; false when no arithmetic was seen. */
bool tp_scalar_sum(const struct tp_scalar *scalar, double out[TP_SCALAR_SLICES]);
void tp_scalar_release(struct tp_scalar *scalar);

#endif
