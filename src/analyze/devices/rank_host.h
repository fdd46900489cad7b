/* SPDX-License-Identifier: Apache-2.0 */
/* Activity of a rank's main thread where it has no spans: from its samples and the switches of its
 * CPU, if a trace has them. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_RANK_HOST_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_RANK_HOST_H

#include "analyze/numeric/intervals.h"

#include "trainprof/model/part.h"
#include "trainprof/model/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_analysis;
struct tp_rank_analysis;
struct tp_rank_work;

/* An interval of the main thread with one label. */
struct tp_host_segment {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_label label;
	enum tp_state state;
	uint32_t stack; /* 0 = unknown */
};

/* Segments ascend and are disjoint; the time between them is unknown. */
struct tp_rank_host {
	struct tp_host_segment *pieces; /* heap */
	size_t n;
	size_t capacity;
	struct tp_intervals known; /* union of the segments */
	struct tp_intervals loads; /* union of the segments in the loader; only set by
				      tp_rank_host_use_labels() */
	bool has_switches;         /* some switches show whether it blocked or was preempted */
	bool has_samples;
	bool has_os_calls; /* of any of its threads */
	uint32_t leader;   /* task of its process */
};

/* Fills the rank's host; needs its main thread and the timelines of `threads`
 * (tp_pass_timelines()). Stays empty if the trace has no samples, switches or operating system
 * calls of the thread. */
void tp_rank_host_build(struct tp_rank_analysis *analysis, uint32_t number,
			const struct tp_analysis *threads);
/* The same for the thread that tp_pass_main_thread() has labelled: on a live recording its waits
 * for the loader are distinguished by the activity of the loader. */
void tp_rank_host_use_labels(struct tp_rank_analysis *analysis, uint32_t number,
			     const struct tp_analysis *threads);
void tp_rank_host_release(struct tp_rank_host *host);

/* Returns the first segment that ends after time_ns; NULL if there is none. *cursor, initially 0,
 * moves forward. */
const struct tp_host_segment *tp_rank_host_at(const struct tp_rank_host *host, size_t *cursor,
					      uint64_t time_ns);

#endif
