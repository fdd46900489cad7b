/* SPDX-License-Identifier: Apache-2.0 */
/* Share of the computation that is scalar. Only arithmetic instructions show whether they are
 * scalar or vector, and most instructions of a loop are not arithmetic: so the arithmetic ones of
 * each function represent all of its time. */
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

/* Adds computing time in a stack. */
void tp_scalar_add(struct tp_scalar *scalar, const struct tp_trace *trace, uint32_t stack,
		   size_t slice, double ns);
/* Returns the scalar time of each slice; false if no sampled instruction was arithmetic. */
bool tp_scalar_sum(const struct tp_scalar *scalar, double out[TP_SCALAR_SLICES]);
void tp_scalar_release(struct tp_scalar *scalar);

#endif
