/* SPDX-License-Identifier: Apache-2.0 */
/* Call paths that launched a kernel, in a trace whose threads recorded their functions. */
#ifndef TRAINPROF_SRC_REPORT_VIEW_VIEW_LAUNCHES_H
#define TRAINPROF_SRC_REPORT_VIEW_VIEW_LAUNCHES_H

#include "trainprof/model/profile.h"

enum { TP_VIEW_LAUNCH_DEPTH = 64 }; /* deeper paths lose their outermost callers */

struct tp_view_launch_path {
	uint32_t names[TP_VIEW_LAUNCH_DEPTH]; /* strings of the trace, innermost first */
	size_t depth;
	uint64_t time_ns; /* of the kernels that it launched */
	uint64_t n;       /* kernels */
};

struct tp_view_launches {
	struct tp_view_launch_path *paths; /* heap, the longest time first */
	size_t n_paths;
	uint64_t all_ns;    /* of all kernels of that name, with a known launch or not */
	bool has_functions; /* more than the outermost Python function, which import always keeps */
};

/* Finds the launches of the kernels of that name that begin in the judged window. Functions of
 * Python, operators and ranges are callers; names that each object or step has of its own, such as
 * "nn.Module: Linear_7", are left out. */
void tp_view_launches_find(struct tp_view_launches *out, const struct tp_profile *profile,
			   uint32_t kernel);
void tp_view_launches_release(struct tp_view_launches *launches);

#endif
