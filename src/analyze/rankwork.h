/*
 * What the passes over the spans of ranks hand to each other. A rank is one process of the job;
 * each of its devices is partitioned for itself, with the rank's threads beside it.
 */
#ifndef TRAINPROF_SRC_ANALYZE_RANKWORK_H
#define TRAINPROF_SRC_ANALYZE_RANKWORK_H

#include "kernelclass.h"
#include "lanes.h"
#include "spanclass.h"

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
	uint64_t launch_start_ns; /* equal to its end: no call is known */
	uint64_t launch_end_ns;
	uint32_t name;
	uint32_t detail;
	uint32_t launch_track;
	uint16_t track;
	uint8_t class;  /* enum tp_op_class */
	uint8_t label;  /* enum tp_label */
	int32_t step;   /* that launched it; NO_STEP */
	uint32_t order; /* place among the ops in order of launches */
};

enum { NO_STEP = -1 };

static inline bool tp_op_is_linked(const struct tp_op *op)
{
	return op->launch_end_ns > op->launch_start_ns;
}

/* A device of a rank, or of a rank without devices the place of its threads. */
struct tp_device_work {
	uint32_t rank; /* index into ranks */
	int32_t number;
	struct tp_op *ops; /* by start; heap */
	size_t n_ops;
	struct tp_interval *windows; /* one per step, or one; heap */
	size_t n_windows;
	struct tp_intervals lanes[TP_N_LABELS]; /* unions, of what the device does */
	struct tp_lane_piece *pieces;           /* heap; only where ranks are joined */
	uint8_t *piece_labels;
	size_t n_pieces;
	size_t pieces_capacity;
};

struct tp_rank_work {
	uint32_t *threads; /* tracks, heap */
	size_t n_threads;
	uint32_t main; /* track of the thread that trains; TP_NO_TASK without threads */
	bool has_device;
	struct tp_intervals lanes[TP_N_LABELS]; /* unions, of what its threads do */
	struct tp_interval *steps;              /* by the thread's clock, heap; shared by devices */
	uint8_t *step_is_cut;
	size_t n_steps;
	size_t steps_capacity;
	uint64_t first_ns; /* of all its spans */
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
};

/* In this order; each says what it needs and gives. */
void tp_ranks_build(struct tp_rank_analysis *analysis);
void tp_ranks_release(struct tp_rank_analysis *analysis);

#endif
