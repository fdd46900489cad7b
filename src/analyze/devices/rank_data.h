/* SPDX-License-Identifier: Apache-2.0 */
/* Data that the passes over the spans of ranks share. A rank is one process of the job; each of its
 * devices is partitioned separately, together with the rank's threads. */
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

/* Meaning of a name, looked up once. */
struct tp_name_info {
	const struct tp_kernel_row
		*row; /* pattern of kernels with that name; NULL = not looked up yet */
	uint8_t sense[TP_N_SPAN_KINDS]; /* enum tp_span_sense, for spans on threads */
};

/* One operation on a device, with the call that launched it. */
struct tp_op {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t launch_start_ns; /* start of the launching call; 0 unless is_linked */
	uint64_t launch_end_ns;
	uint32_t name;
	uint32_t detail;
	uint32_t launch_track;
	uint16_t track;
	uint8_t class; /* enum tp_op_class */
	uint8_t label; /* enum tp_label */
	bool is_linked;
	int32_t step; /* step of the launching call; TP_NO_STEP */
};

enum {
	TP_NO_STEP = -1,
	TP_STEP_LEFT_OUT = -2, /* of a step that is no steady one */
};

/* An interval of a window with one label. */
struct tp_rank_segment {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_label label;
	uint32_t window;
};

/* A device of a rank; for a rank without devices, its threads. */
struct tp_device_work {
	uint32_t rank; /* index into ranks */
	int32_t number;
	struct tp_op *ops; /* by start; heap */
	size_t n_ops;
	/* One per step, or equal slices of the recorded time; heap. Windows [from, to) are judged:
	 * incomplete steps are before and behind them, others that are not steady nowhere. */
	struct tp_interval *windows;
	size_t n_windows;
	size_t from;
	size_t to;
	/* Covers all steps that were found, judged or not; in the arena. */
	uint64_t *ops_per_step;
	uint64_t *step_ns;
	size_t n_steps;
	struct tp_intervals lanes[TP_N_LABELS]; /* unions of the device's activity */
	uint64_t (*own_ns)[TP_N_LABELS];        /* by window; heap */
	/* The same with waits attributed to late ranks; own_ns itself if none were. */
	uint64_t (*after_ns)[TP_N_LABELS];
	struct tp_rank_segment *pieces; /* segments of the judged windows, without gaps; heap */
	size_t n_pieces;
	size_t pieces_capacity;
	/* In the judged windows: unions; unions without activities that wait or may wait; and the
	 * time in which nothing else went on. */
	uint64_t total_ns[TP_N_PARTS];
	uint64_t busy_ns[TP_N_PARTS];
	uint64_t solo_ns[TP_N_PARTS];
	uint64_t wait_caused_ns;
};

/* Returns the judged windows: a view of device->windows, not to be freed. */
static inline struct tp_intervals tp_device_judged(const struct tp_device_work *device)
{
	return (struct tp_intervals){.items = device->windows + device->from,
				     .n = device->to - device->from};
}

/* Returns true if the operation was launched in a judged step or, if it belongs to no step,
 * reaches into a judged window. */
bool tp_op_is_in_window(const struct tp_device_work *device, const struct tp_op *op);

struct tp_rank_work {
	uint32_t *threads; /* tracks, heap */
	size_t n_threads;
	uint32_t main; /* track of the training thread; TP_NO_TASK without threads */
	bool has_device;
	struct tp_intervals lanes[TP_N_LABELS]; /* unions of its threads' activity */
	struct tp_rank_host host;               /* of its main thread, in addition to spans */
	struct tp_intervals steps; /* on the clock of its threads, ascending, disjoint */
	uint64_t first_ns;         /* of all its spans */
	uint64_t last_ns;
};

struct tp_analysis;

struct tp_rank_analysis {
	const struct tp_trace *trace;
	const struct tp_patterns *patterns;
	const struct tp_analyze_options *options;
	struct tp_profile *profile;
	struct tp_arena *arena;     /* the profile's */
	struct tp_name_info *names; /* by string id */
	struct tp_rank_work *ranks; /* by rank; heap, as is devices */
	size_t n_ranks;
	struct tp_device_work *devices; /* in order of ranks, then of device numbers */
	size_t n_devices;
	size_t devices_capacity;
	struct tp_hot_table hot; /* stacks of main threads, while no device works */
	/* For a run that was sampled while it used devices: the thread that runs the training loop
	 * and the rank it belongs to. TP_NO_TASK = none, as in imported traces. */
	uint32_t main_task;
	uint32_t own;
	bool is_joined; /* several devices communicate, or their work splits one thread's time */
	bool has_repeats_only; /* steps were found without an optimizer in them */
	/* The device whose steps are reported; NULL = the one with the longest mean step. */
	const struct tp_device_work *reported;
	/* Steps that are reported and not judged, beside incomplete ones; in the arena. */
	struct tp_step *left_out;
	size_t n_left_out;
	struct tp_intervals untraced; /* time between tracing windows, and losses; heap */
	struct tp_intervals shut;     /* only the time between tracing windows; heap */
};

/* Returns the start of the first traced work of any device; UINT64_MAX = none. */
uint64_t tp_ranks_first_work(const struct tp_rank_analysis *analysis);
/* Call the functions below in this order. */
void tp_ranks_build(struct tp_rank_analysis *analysis);
/* Finds the steps of ranks, the windows of devices, and the step that launched each op. Records in
 * the profile how they were found. */
void tp_ranks_find_steps(struct tp_rank_analysis *analysis);
/* The single stages of tp_ranks_find_steps(), for callers that know steps already: steps from
 * marks; steps from the period of launches, else from the optimizer; windows from the ranks' steps.
 * The first two return true if there are any steps. */
bool tp_ranks_steps_from_marks(struct tp_rank_analysis *analysis);
bool tp_ranks_steps_from_launches(struct tp_rank_analysis *analysis);
void tp_ranks_find_windows(struct tp_rank_analysis *analysis);
/* Decides which steps of an imported trace are steady, as tp_pass_steady() does, and leaves the
 * others out of the windows. Sets step times, window_reason, and facts about checkpoints and
 * evaluations. `job` has the same profile. */
void tp_ranks_find_steady(struct tp_rank_analysis *analysis, struct tp_analysis *job);
/* Sets own_ns, total_ns, solo_ns, and pieces if several devices communicate. */
void tp_ranks_partition(struct tp_rank_analysis *analysis);
/* Sets part_ns of steps that are not judged: ascending and disjoint, on the device's clock. */
void tp_ranks_partition_steps(const struct tp_rank_analysis *analysis,
			      const struct tp_device_work *device, struct tp_step *steps, size_t n);
/* Matches collectives over devices and attributes waits to late ranks: after_ns, and collectives
 * and blames of the profile. Needs pieces. */
void tp_ranks_join(struct tp_rank_analysis *analysis);
/* Returns the device with the longest mean step of the judged ones; NULL = none has steps. */
const struct tp_device_work *tp_ranks_slow_device(const struct tp_rank_analysis *analysis);
/* Sets parts, labels, shares and steps of the profile, and the largest loss; step times are the
 * caller's. */
void tp_ranks_sum(struct tp_rank_analysis *analysis);
/* Sets the results of devices. */
void tp_ranks_describe_devices(struct tp_rank_analysis *analysis);
/* Sets the results of kernels; returns how much longer they took because of concurrent
 * communication. */
double tp_ranks_describe_kernels(struct tp_rank_analysis *analysis);
/* Warns if much of the work has no call that launched it. Needs facts. */
void tp_ranks_warn_links(struct tp_profile *profile);
/* Sets device.kernel_drift_ratio: whether kernels become slower. */
void tp_ranks_set_drift(struct tp_rank_analysis *analysis);
/* Sets device.capability, ten times CUDA's number, and whether such a device has matrix units. */
void tp_ranks_set_capability(struct tp_profile *profile, double capability);
/* Sets the facts about devices and kernels. */
void tp_ranks_set_facts(struct tp_rank_analysis *analysis, double added_ns);
void tp_ranks_release(struct tp_rank_analysis *analysis);

#endif
