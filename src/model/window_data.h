/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of a window; see trainprof/model/window.h. window.c adds and drops records, window_cut.c
 * cuts traces. */
#ifndef TRAINPROF_SRC_MODEL_WINDOW_DATA_H
#define TRAINPROF_SRC_MODEL_WINDOW_DATA_H

#include "trainprof/model/window.h"

/* A task, and the part of its past that determines its present state. */
struct kept_task {
	struct tp_task task;
	struct tp_run last;     /* the last run that ended before the kept interval */
	struct tp_sample wait;  /* the last sample that saw it waiting before the kept interval */
	uint64_t newest_end_ns; /* latest end of its stays, even if they are not kept */
	uint64_t on_since_ns;   /* seen on a CPU after that; 0 = was not */
	enum tp_run_end newest_how;
	bool has_stay, has_last, has_wait;
	bool is_wanted; /* used while tasks are dropped */
};

struct tp_window {
	struct tp_sink sink; /* must be first: the sink's put converts it back to the window */
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
	struct tp_track *tracks; /* of whole devices: few */
	size_t n_tracks, tracks_capacity;
	size_t n_left; /* records that the last trim left */
};

/* Returns true if the reading belongs to a device, identified by a track id. */
bool tp_window_is_of_device(const struct tp_gauge *gauge);
/* Returns the index of the track with that id; n_tracks if the window does not have it. */
uint32_t tp_window_track(const struct tp_window *window, uint32_t id);
/* The key is equal for readings of one metric and subject. */
static inline uint64_t tp_window_gauge_key(const struct tp_gauge *gauge)
{
	return (uint64_t)gauge->metric << 32 | gauge->task;
}

/* Drops records that ended before from_ns, except those that determine the state after it. */
void tp_window_trim(struct tp_window *window, uint64_t from_ns);

#endif
