/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the main thread of a rank does while its spans say nothing of it: by its samples and by the
 * switches of its CPU, where a trace has them.
 */
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

/* A stretch of the main thread's time, given to one label. */
struct tp_host_segment {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_label label;
	enum tp_state state;
	uint32_t stack; /* 0 = unknown */
};

/* Ascending and disjoint; nothing is known between them. */
struct tp_rank_host {
	struct tp_host_segment *pieces; /* heap */
	size_t n;
	size_t capacity;
	struct tp_intervals known; /* their union */
	struct tp_intervals loads; /* of them what lies in the loader; of labels told before only */
	bool has_switches;         /* some tell what a thread did as it lost its CPU */
	bool has_samples;
	bool has_os_calls; /* of any of its threads */
	uint32_t leader;   /* task of its process */
};

/* Fills the rank's host; needs its main thread and the timelines of `threads`
 * (tp_pass_timelines()). Nothing where the trace has neither samples, switches nor calls of the
 * system of the thread. */
void tp_rank_host_build(struct tp_rank_analysis *analysis, uint32_t number,
			const struct tp_analysis *threads);
/* The same of the thread that the foreground pass has labelled: on a live recording its waits for
 * the loader are told apart by what the loader does. */
void tp_rank_host_use_labels(struct tp_rank_analysis *analysis, uint32_t number,
			     const struct tp_analysis *threads);
void tp_rank_host_release(struct tp_rank_host *host);

/*
 * The first piece that ends after time_ns. *cursor is moved forward, from 0 on; NULL when there is
 * none any more.
 */
const struct tp_host_segment *tp_rank_host_at(const struct tp_rank_host *host, size_t *cursor,
					      uint64_t time_ns);

#endif
