/* SPDX-License-Identifier: Apache-2.0 */
/* Distributes the spans of a track to lanes, so that spans in a lane follow or enclose each
 * other. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_SPAN_LANES_H
#define TRAINPROF_SRC_REPORT_EXPORT_SPAN_LANES_H

#include "trainprof/model/span.h"

enum { TP_SPAN_LANES_MAX = 16 };

struct tp_span_lanes {
	uint8_t *of_span; /* heap; TP_SPAN_LANES_MAX: no lane was free, the span is left out */
	unsigned n_lanes;
	size_t n_left_out;
};

/* Expects spans in the order of tp_spans_sort(). */
void tp_span_lanes_build(struct tp_span_lanes *out, const struct tp_span *spans, size_t n);
void tp_span_lanes_release(struct tp_span_lanes *lanes);

#endif
