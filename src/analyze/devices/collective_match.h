/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives of several devices: which kernels are the same one, on which clocks, and who came
 * last.
 */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_COLLECTIVE_MATCH_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_COLLECTIVE_MATCH_H

#include "rank_data.h"

#define TP_NO_COLLECTIVE UINT32_MAX

/* A communication kernel of a device, and how far it and those before it reach. */
struct tp_comm_kernel {
	uint32_t op; /* index */
	uint32_t collective;
	uint64_t reach_ns;
};

struct tp_comm_kernels {
	struct tp_comm_kernel *items; /* by start */
	size_t n;
	size_t capacity;
};

/* A device's kernel in a collective. */
struct tp_collective_part {
	uint32_t device;
	uint32_t talk; /* index */
};

struct tp_collective {
	size_t first; /* in parts */
	size_t n;
	uint32_t group;
	uint32_t late;      /* device */
	int64_t arrival_ns; /* of the late one, on the clock of the reference */
};

/* offset = base + slope * (time - middle), of a rank's clock against the reference. */
struct tp_rank_clock {
	bool is_known;
	double base_ns;
	double slope;
	double middle_ns;
};

/* All of it is heap; collectives in order of communicators. */
struct tp_collectives {
	struct tp_rank_analysis *analysis;
	struct tp_comm_kernels *talks; /* by device */
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

/*
 * Match the i-th kernel of a communicator over its members, or those of one sequence number where
 * the trace has them. What contradicts itself ends the communicator, and profile->not_joined says
 * so.
 */
void tp_collectives_match(struct tp_collectives *all);
/* By the ends of collectives, which agree: clocks, then arrivals and late ones. */
void tp_collectives_align(struct tp_collectives *all);

const struct tp_op *tp_comm_kernel_op(const struct tp_collectives *all, uint32_t device,
				      uint32_t talk);
/* A rank's time on the clock of the reference, and back. What one rank did before another's trace
 * begins may have a time below 0 on the other's clock. */
int64_t tp_collectives_aligned(const struct tp_collectives *all, uint32_t rank, uint64_t time_ns);
int64_t tp_collectives_local(const struct tp_collectives *all, uint32_t rank, int64_t time_ns);

#endif
