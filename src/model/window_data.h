/* SPDX-License-Identifier: Apache-2.0 */
/* What a window holds; trainprof/model/window.h. Taken and forgotten in window.c, cut in
 * window_cut.c. */
#ifndef TRAINPROF_SRC_MODEL_WINDOW_DATA_H
#define TRAINPROF_SRC_MODEL_WINDOW_DATA_H

#include "trainprof/model/window.h"

/* A task, and what of its past speaks for the present. */
struct kept_task {
	struct tp_task task;
	struct tp_run last;     /* that ended before what is held */
	struct tp_sample wait;  /* the last look at it waiting before what is held */
	uint64_t newest_end_ns; /* of its stays, held or not */
	uint64_t on_since_ns;   /* found on a CPU after that; 0 = was not */
	enum tp_run_end newest_how;
	bool has_stay, has_last, has_wait;
	bool is_wanted; /* while tasks are dropped */
};

struct tp_window {
	struct tp_sink sink; /* first: the sink's put gets back to the window */
	uint64_t keep_ns;
	uint64_t last_ns;
	struct tp_map slots; /* task id -> index into tasks */
	struct kept_task *tasks;
	size_t n_tasks, tasks_capacity;
	struct tp_run *runs;
	size_t n_runs, runs_capacity;
	struct tp_sample *samples;
	size_t n_samples, samples_capacity;
	struct tp_gauge *gauges;
	size_t n_gauges, gauges_capacity;
	struct tp_mark *marks;
	size_t n_marks, marks_capacity;
	struct tp_gap *gaps;
	size_t n_gaps, gaps_capacity;
	struct tp_source *sources;
	size_t n_sources, sources_capacity;
	struct tp_track *tracks; /* of devices as a whole: few */
	size_t n_tracks, tracks_capacity;
	size_t n_left; /* records that the last trim left */
};

/* Whether it is a device's, told by the id of a track. */
bool tp_window_is_of_device(const struct tp_gauge *gauge);
/* Where the track of that id is; n_tracks when it is not held. */
uint32_t tp_window_track(const struct tp_window *window, uint32_t id);
/* The same for readings of one metric and subject. */
static inline uint64_t tp_window_gauge_key(const struct tp_gauge *gauge)
{
	return (uint64_t)gauge->metric << 32 | gauge->task;
}

/* Forget what ended before from_ns, but for what speaks for the time after it. */
void tp_window_trim(struct tp_window *window, uint64_t from_ns);

#endif
