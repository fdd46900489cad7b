/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the passes over the spans of ranks hand to each other. A rank is one process of the job;
 * each of its devices is partitioned for itself, with the rank's threads beside it.
 */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_RANK_DATA_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_RANK_DATA_H

#include "analyze/classify/kernel_class.h"
#include "analyze/classify/span_class.h"
#include "analyze/numeric/intervals.h"
#include "analyze/timeline/hot_stacks.h"
#include "rank_host.h"

#include "trainprof/model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a name means, looked up once. */
struct tp_name_info {
	const struct tp_kernel_row *row; /* of kernels; NULL where none has the name */
	uint8_t sense[TP_N_SPAN_KINDS];  /* enum tp_span_sense, of spans on threads */
};

/* One piece of work on a device, with the call that launched it. */
struct tp_op {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t launch_start_ns; /* of the call; 0 unless is_linked */
	uint64_t launch_end_ns;
	uint32_t name;
	uint32_t detail;
	uint32_t launch_track;
	uint16_t track;
	uint8_t class; /* enum tp_op_class */
	uint8_t label; /* enum tp_label */
	bool is_linked;
	int32_t step; /* that launched it; TP_NO_STEP */
};

enum { TP_NO_STEP = -1 };

/* A stretch of a window that is given to one label. */
struct tp_rank_segment {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_label label;
	uint32_t window;
};

/* A device of a rank, or of a rank without devices the place of its threads. */
struct tp_device_work {
	uint32_t rank; /* index into ranks */
	int32_t number;
	struct tp_op *ops; /* by start; heap */
	size_t n_ops;
	/* One per step, or equal slices of all that was seen; heap. Judged are [from, to): steps at
	 * the ends that were not seen whole are left out. */
	struct tp_interval *windows;
	size_t n_windows;
	size_t from;
	size_t to;
	struct tp_intervals lanes[TP_N_LABELS]; /* unions, of what the device does */
	uint64_t (*own_ns)[TP_N_LABELS];        /* by window; heap */
	/* The same with waits handed over; own_ns itself where nothing was. */
	uint64_t (*after_ns)[TP_N_LABELS];
	struct tp_rank_segment *pieces; /* of the judged windows, without holes; heap */
	size_t n_pieces;
	size_t pieces_capacity;
	/* In the judged windows: unions; the same without what only waits or may; and what went on
	 * alone. */
	uint64_t total_ns[TP_N_PARTS];
	uint64_t busy_ns[TP_N_PARTS];
	uint64_t solo_ns[TP_N_PARTS];
	uint64_t wait_caused_ns;
};

/* Launched in a judged step; of no step: lies in the judged windows. */
static inline bool tp_op_is_in_window(const struct tp_device_work *device, const struct tp_op *op)
{
	if (op->step != TP_NO_STEP)
		return (size_t)op->step >= device->from && (size_t)op->step < device->to;
	return device->to > device->from && op->start_ns < device->windows[device->to - 1].end_ns &&
	       op->end_ns > device->windows[device->from].start_ns;
}

struct tp_rank_work {
	uint32_t *threads; /* tracks, heap */
	size_t n_threads;
	uint32_t main; /* track of the thread that trains; TP_NO_TASK without threads */
	bool has_device;
	struct tp_intervals lanes[TP_N_LABELS]; /* unions, of what its threads do */
	struct tp_rank_host host;               /* of its main thread, beside spans */
	struct tp_intervals steps; /* by the clock of its threads, ascending, disjoint */
	uint64_t first_ns;         /* of all its spans */
	uint64_t last_ns;
};

struct tp_rank_analysis {
	const struct tp_trace *trace;
	const struct tp_patterns *patterns;
	const struct tp_analyze_options *options;
	struct tp_profile *profile;
	struct tp_arena *arena;     /* the profile's */
	struct tp_name_info *names; /* by string id */
	struct tp_rank_work *ranks; /* by rank; heap, as the next */
	size_t n_ranks;
	struct tp_device_work *devices; /* in order of ranks, then of numbers */
	size_t n_devices;
	size_t devices_capacity;
	struct tp_hot_table hot; /* stacks of main threads, while no device works */
	/* Of a run that was sampled while it used devices: the thread that carries the training
	 * loop and the rank it belongs to. TP_NO_TASK: there is none, as in imported traces. */
	uint32_t main_task;
	uint32_t own;
	bool is_joined; /* several devices communicate, or one thread's time is cut by them */
	bool has_repeats_only;        /* steps were found without an optimizer in them */
	struct tp_intervals untraced; /* between windows of tracing, and losses; heap */
	struct tp_intervals shut;     /* of that, between windows; heap */
};

/* When work was traced first, of any device; UINT64_MAX: never. */
uint64_t tp_ranks_first_work(const struct tp_rank_analysis *analysis);
/* In this order. */
void tp_ranks_build(struct tp_rank_analysis *analysis);
/* Steps of ranks, windows of devices, and which step launched each op. Sets how they were found in
 * the profile. */
void tp_ranks_find_steps(struct tp_rank_analysis *analysis);
/* Parts of that, for those who know steps already: by marks; by the period of launches, else by the
 * optimizer; and the windows of steps that ranks have. The first two say whether there are any. */
bool tp_ranks_steps_from_marks(struct tp_rank_analysis *analysis);
bool tp_ranks_steps_from_launches(struct tp_rank_analysis *analysis);
void tp_ranks_find_windows(struct tp_rank_analysis *analysis);
/* own_ns, total_ns, solo_ns, and pieces where several devices communicate. */
void tp_ranks_partition(struct tp_rank_analysis *analysis);
/* Matches collectives over devices and hands waits over: after_ns, collectives and blames of the
 * profile. Needs pieces. */
void tp_ranks_join(struct tp_rank_analysis *analysis);
/* Parts, labels, shares and steps of the profile, largest loss. */
void tp_ranks_sum(struct tp_rank_analysis *analysis);
/* Results of devices. */
void tp_ranks_describe_devices(struct tp_rank_analysis *analysis);
/* Results of kernels; gives back how much longer they took because communication ran beside. */
double tp_ranks_describe_kernels(struct tp_rank_analysis *analysis);
/* Warns where much of the work has no call that launched it. Needs facts. */
void tp_ranks_warn_links(struct tp_profile *profile);
/* One of them: whether kernels get slower. */
void tp_ranks_set_drift(struct tp_rank_analysis *analysis);
/* device.capability, ten times CUDA's number, and whether such a device has matrix units. */
void tp_ranks_set_capability(struct tp_profile *profile, double capability);
/* Facts about both. */
void tp_ranks_set_facts(struct tp_rank_analysis *analysis, double added_ns);
void tp_ranks_release(struct tp_rank_analysis *analysis);

#endif
