/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that was recorded, sorted, in one arena. The store's reader, importers and tests build
 * it through the same sink. */
#ifndef TRAINPROF_MODEL_TRACE_H
#define TRAINPROF_MODEL_TRACE_H

#include "trainprof/base/arena.h"
#include "trainprof/model/record.h"
#include "trainprof/model/run_info.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Times are ns since run.started_ns. Invariants after tp_trace_build(): tasks by id; runs by (task,
 * start), never overlapping within a task, with a length unless they end TP_RUN_OPEN; samples and
 * leavings by (task, time); gauges by (metric, task, time); marks and gaps by time; spans of a
 * track as tp_spans_sort() sorts them. Ids are in range, except ranks of tracks, which may be
 * unknown to run.ranks.
 *
 * Time in which the program or trainprof was stopped is removed: the time after it follows
 * directly, and counters do not include what they grew by meanwhile.
 */
/* A gap or a stop with the times of the clock: as if no time had been removed. */
struct tp_timed_gap {
	const char *source; /* borrowed from the trace; TP_STOP_SOURCE for a stop */
	const char *reason;
	pid_t pid; /* the process that was stopped; 0 = all, or no stop */
	uint64_t start_ns;
	uint64_t end_ns; /* at the latest the end of the recording */
	uint64_t n_lost; /* lost records, 0 = none, or unknown */
};

/* The spans of one track. */
struct tp_track_spans {
	struct tp_span *items; /* heap */
	size_t n;
	size_t capacity;
};

struct tp_trace {
	struct tp_arena arena;
	struct tp_run_info run;
	bool is_partial; /* the recording was not closed */
	/* When the kernel ended the program, if that was recorded; else when trainprof noticed, but
	 * at most a while after the last record; else the last record. */
	uint64_t end_ns;
	bool is_end_cut; /* the recording claims a later end than its records support */

	const char **strings; /* by id */
	size_t n_strings;
	struct tp_frame *frames; /* by id, 0 unused */
	size_t n_frames;
	struct tp_stack *stacks; /* by id, 0 empty */
	size_t n_stacks;

	struct tp_task *tasks;
	size_t n_tasks;
	struct tp_run *runs;
	size_t n_runs;
	struct tp_sample *samples;
	size_t n_samples;
	struct tp_sample *leavings; /* TP_SAMPLE_SWITCH_OUT samples; not among the others */
	size_t n_leavings;
	struct tp_gauge *gauges;
	size_t n_gauges;
	struct tp_mark *marks;
	size_t n_marks;
	struct tp_gap *gaps;
	size_t n_gaps; /* without those of TP_STOP_SOURCE */
	struct tp_stopped_time *stops;
	size_t n_stops;
	struct tp_timed_gap *timed_gaps; /* gaps and stops, by start */
	size_t n_timed_gaps;
	uint64_t
		left_out_ns[TP_N_STOP_KINDS]; /* overlapping times count once, for the first kind */
	struct tp_source *sources;
	size_t n_sources;
	struct tp_track *tracks;      /* by id */
	struct tp_track_spans *spans; /* by track */
	size_t n_tracks;
	struct tp_detail *details; /* by id, 0 unused */
	size_t n_details;

	size_t *run_index;    /* runs of task i: [run_index[i], run_index[i+1]) */
	size_t *sample_index; /* samples of task i, by the same rule */
	uint64_t n_dropped;   /* records refused because an id or time was invalid */
};

/* A sink that collects records for a trace. */
struct tp_trace_builder {
	struct tp_sink sink;
	struct tp_record *records; /* heap; everything except definitions and the following */
	size_t n_records;
	size_t records_capacity;
	/* Separate, because they are by far the most and a struct tp_record is twice or three times
	 * as large. tp_trace_build() frees them as soon as it has sorted them. */
	struct tp_run *runs;
	size_t n_runs;
	size_t runs_capacity;
	struct tp_sample *samples;
	size_t n_samples;
	size_t samples_capacity;
	/* Separate and by track for the same reason; may name unknown tracks until they are
	 * checked. */
	struct tp_track_spans *spans;
	size_t n_spans;
	size_t spans_capacity;
};

void tp_trace_builder_init(struct tp_trace_builder *builder);
void tp_trace_builder_release(struct tp_trace_builder *builder);

/* Sorts, checks and indexes what the builder holds. `run` is copied. Invalid records (unknown task,
 * end before start, overlap within a task) are dropped or clipped, and counted. */
void tp_trace_build(struct tp_trace *out, struct tp_trace_builder *builder,
		    const struct tp_run_info *run);
void tp_trace_release(struct tp_trace *trace);

const char *tp_trace_string(const struct tp_trace *trace, uint32_t id);
const struct tp_stack *tp_trace_stack(const struct tp_trace *trace, uint32_t id);
/* Gauges of one metric and task (for devices: track), sorted by time; n is 0 if there are none. */
const struct tp_gauge *tp_trace_gauges(const struct tp_trace *trace, enum tp_metric metric,
				       uint32_t task, size_t *n);
/* Growth of a counter inside [from, to), linear between readings; false without two readings. */
bool tp_trace_counter_delta(const struct tp_trace *trace, enum tp_metric metric, uint32_t task,
			    uint64_t from_ns, uint64_t to_ns, double *out);
/* Records that are lost: what sources and gaps count, the larger number of each source, since both
 * may count the same loss; and records that were dropped because they are damaged. */
uint64_t tp_trace_n_lost(const struct tp_trace *trace);

#endif
