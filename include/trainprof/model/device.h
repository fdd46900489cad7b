/* SPDX-License-Identifier: Apache-2.0 */
/* Results of analysis about devices, their kernels, and the waits of ranks for each other. */
#ifndef TRAINPROF_MODEL_DEVICE_H
#define TRAINPROF_MODEL_DEVICE_H

#include "trainprof/model/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name in code, name in data */
#define TP_OP_MAP(X)                                                                               \
	X(COMPUTE, "compute")             /* kernels except communication */                       \
	X(COMMUNICATION, "communication") /* communication kernels */                              \
	X(COPY, "copy")                   /* copies and memsets */

enum tp_op_class {
#define X(id, name) TP_OP_##id,
	TP_OP_MAP(X)
#undef X
		TP_N_OP_CLASSES
};

const char *tp_op_class_name(enum tp_op_class class);

/* Why a device was idle between two pieces of work. */
#define TP_GAP_MAP(X)                                                                              \
	X(LATENCY, "latency")       /* work was queued already; shorter than 6 us */               \
	X(DEPENDENCY, "dependency") /* work was queued already and waited for another stream */    \
	X(LAUNCH, "launch")         /* the launching call was in progress the whole time */        \
	X(SYNC, "sync")             /* the CPU side was late: it had waited for the device */      \
	X(ALLOC, "alloc")           /* late: it allocated or freed memory */                       \
	X(DATALOADER, "dataloader") /* late: it waited for data */                                 \
	X(CALLS, "calls")           /* late: it was in other calls of the device's runtime */      \
	X(HOST, "host")             /* late: it did anything else */                               \
	X(UNKNOWN, "unknown")       /* the call that launched the next work is unknown */

enum tp_gap_cause {
#define X(id, name) TP_GAP_##id,
	TP_GAP_MAP(X)
#undef X
		TP_N_GAP_CAUSES
};

const char *tp_gap_cause_name(enum tp_gap_cause cause);

/* A stretch of a judged window that belongs to one label. */
struct tp_device_piece {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_label label;
};

/* One device of one rank; for a rank without devices, its threads alone (number -1, no ops). */
struct tp_device_result {
	uint32_t rank; /* index into run.ranks */
	int32_t number;

	/* From its first to its last piece of work, independent of steps. */
	uint64_t n_ops[TP_N_OP_CLASSES];
	uint64_t n_unlinked; /* without a known launching call: assigned to no step */
	uint64_t span_ns;
	uint64_t busy_ns;
	uint64_t union_ns[TP_N_OP_CLASSES];
	uint64_t exposed_communication_ns; /* while no kernel computes */
	uint64_t exposed_copy_ns;          /* while no kernel runs at all */
	uint64_t overlap_ns;               /* while kernels both compute and communicate */

	/* The judged windows: one per step, or a single one. */
	uint64_t window_ns;
	uint64_t window_busy_ns;     /* in the windows, in any piece of work */
	uint64_t own_ns[TP_N_PARTS]; /* sums to window_ns */
	/* The same, with each wait for a late rank charged to what that rank did; not_captured_ns
	 * of communication is its time without records. Equal to own_ns with one rank. */
	uint64_t after_ns[TP_N_PARTS];
	uint64_t not_captured_ns;
	uint64_t gap_ns[TP_N_GAP_CAUSES]; /* idle time between pieces of work, in the windows */
	uint64_t wait_caused_ns; /* exposed waits of all other ranks that are charged to it */
	uint64_t n_steps;
	const uint64_t *ops_per_step; /* n_steps values: launched in each */
	const uint64_t *step_ns; /* n_steps values: by the clock of the thread that marks them */
	const struct tp_device_piece
		*pieces; /* of the judged windows, in order; they sum to own_ns */
	size_t n_pieces;
};

/* Kernels and copies of one name, over all devices, in the judged windows; sorted by time. */
struct tp_kernel_result {
	uint32_t name;      /* string id of the trace */
	const char *row;    /* row of the patterns; "unknown" */
	const char *family; /* "gemm" */
	enum tp_op_class class;
	bool is_weak; /* only the kernel's name says so, which is weak evidence */
	uint64_t n;
	uint64_t time_ns;       /* sum of durations */
	uint64_t overlapped_ns; /* part of it that overlaps with communication */
	double slowdown;        /* mean during communication / mean otherwise; 0 = unknown */
};

/* One collective that was matched across its ranks; sorted by time. */
struct tp_collective_result {
	uint32_t name;  /* string id: name of the late rank's kernel */
	uint32_t group; /* string id: the communicator */
	uint32_t late;  /* index into devices: the last one to arrive */
	uint32_t n_members;
	uint64_t arrival_ns;        /* arrival of the late one, on the clock of the first rank */
	uint64_t arrival_spread_ns; /* from the first arrival to the last */
	uint64_t end_spread_ns;
	uint64_t transfer_ns;    /* from the last arrival to the last end */
	const uint64_t *wait_ns; /* by device; 0 for devices that are not members */
};

/* The activity of a late rank while others waited for it, summed over all that waited. */
struct tp_blame_result {
	uint32_t device;     /* index into devices */
	enum tp_label label; /* COMMUNICATION_UNCAPTURED: there is no record of it */
	uint64_t time_ns;    /* of exposed waits */
};

#endif
