/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the collectives of several devices, aligns the clocks of their ranks, and finds the
 * device that arrived last. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_COLLECTIVE_MATCH_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_COLLECTIVE_MATCH_H

#include "rank_data.h"

#define TP_NO_COLLECTIVE UINT32_MAX

/* A communication kernel of a device, and the latest end of it and the kernels before it. */
struct tp_comm_kernel {
	uint32_t op; /* index into ops */
	uint32_t collective;
	uint64_t reach_ns;
};

struct tp_comm_kernels {
	struct tp_comm_kernel *items; /* by start */
	size_t n;
	size_t capacity;
};

/* One device's kernel in a collective. */
struct tp_collective_part {
	uint32_t device;
	uint32_t kernel; /* index into kernels */
};

struct tp_collective {
	size_t first; /* index into parts */
	size_t n;
	uint32_t group;
	uint32_t late;      /* device that arrived last */
	int64_t arrival_ns; /* of the late device, on the reference clock */
};

/* offset = base + slope * (time - middle), of a rank's clock from the reference clock. */
struct tp_rank_clock {
	bool is_known;
	double base_ns;
	double slope;
	double middle_ns;
};

/* All arrays are on the heap; collectives are in order of communicators. */
struct tp_collectives {
	struct tp_rank_analysis *analysis;
	struct tp_comm_kernels *kernels; /* by device */
	struct tp_collective_part *parts;
	size_t n_parts;
	size_t parts_capacity;
	struct tp_collective *items;
	size_t n;
	size_t capacity;
	struct tp_rank_clock *clocks; /* by rank */
};

void tp_collectives_init(struct tp_collectives *all, struct tp_rank_analysis *analysis);
void tp_collectives_release(struct tp_collectives *all);

/* Matches the i-th kernel of a communicator over its members, or those with one sequence number if
 * the trace has them. On a contradiction the communicator is left unmatched, and
 * profile->not_joined has the reason. */
void tp_collectives_match(struct tp_collectives *all);
/* Aligns the clocks by the ends of collectives, which coincide, then finds arrivals and late
 * devices. */
void tp_collectives_align(struct tp_collectives *all);

const struct tp_op *tp_comm_kernel_op(const struct tp_collectives *all, uint32_t device,
				      uint32_t kernel);
/* Converts a rank's time to the reference clock, and back. An event before another rank's trace
 * begins may have a time below 0 on the other's clock. */
int64_t tp_collectives_aligned(const struct tp_collectives *all, uint32_t rank, uint64_t time_ns);
int64_t tp_collectives_local(const struct tp_collectives *all, uint32_t rank, int64_t time_ns);

#endif
