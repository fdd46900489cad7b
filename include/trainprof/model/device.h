/* SPDX-License-Identifier: Apache-2.0 */
/* What analysis found out about devices, their kernels, and the waits of ranks for each other. */
#ifndef TRAINPROF_MODEL_DEVICE_H
#define TRAINPROF_MODEL_DEVICE_H

#include "trainprof/model/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name in code, name in data */
#define TP_OP_MAP(X)                                                                               \
	X(COMPUTE, "compute")             /* kernels that do not communicate */                    \
	X(COMMUNICATION, "communication") /* kernels that do */                                    \
	X(COPY, "copy")                   /* copies and fills */

enum tp_op_class {
#define X(id, name) TP_OP_##id,
	TP_OP_MAP(X)
#undef X
		TP_N_OP_CLASSES
};

const char *tp_op_class_name(enum tp_op_class class);

/* Why a device had nothing to do between two pieces of work. */
#define TP_GAP_MAP(X)                                                                              \
	X(LATENCY, "latency")       /* work was queued already; shorter than 6 us */               \
	X(DEPENDENCY, "dependency") /* work was queued already: it waited for another stream */    \
	X(LAUNCH, "launch")         /* the call that launched it was under way all the time */     \
	X(SYNC, "sync")             /* the host came late: it had waited for the device */         \
	X(ALLOC, "alloc")           /* late: it allocated or freed memory */                       \
	X(DATALOADER, "dataloader") /* late: it waited for data */                                 \
	X(CALLS, "calls")           /* late: it was in other calls of the device's runtime */      \
	X(HOST, "host")             /* late: everything else it does */                            \
	X(UNKNOWN, "unknown")       /* no call is known that launched what came next */

enum tp_gap_cause {
#define X(id, name) TP_GAP_##id,
	TP_GAP_MAP(X)
#undef X
		TP_N_GAP_CAUSES
};

const char *tp_gap_cause_name(enum tp_gap_cause cause);

/* A stretch of a judged window that is given to one label. */
struct tp_device_piece {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_label label;
};

/* One device of one rank; of a rank that uses none, its threads alone (number -1, no ops). */
struct tp_device_result {
	uint32_t rank; /* index into run.ranks */
	int32_t number;

	/* From its first piece of work to its last, whatever the steps are. */
	uint64_t n_ops[TP_N_OP_CLASSES];
	uint64_t n_unlinked; /* without a call that launched them: not given to any step */
	uint64_t span_ns;
	uint64_t busy_ns;
	uint64_t union_ns[TP_N_OP_CLASSES];
	uint64_t exposed_communication_ns; /* no kernel computes */
	uint64_t exposed_copy_ns;          /* no kernel at all */
	uint64_t overlap_ns;               /* kernels compute and communicate */

	/* The judged windows: one per step, or one in all. */
	uint64_t window_ns;
	uint64_t window_busy_ns;     /* of it, in any piece of work */
	uint64_t own_ns[TP_N_PARTS]; /* sums to window_ns */
	/* The same with each wait for a late rank given to what that did; not_captured_ns of
	 * communication is what it did where it has no record. Equal to own_ns with one rank. */
	uint64_t after_ns[TP_N_PARTS];
	uint64_t not_captured_ns;
	uint64_t gap_ns[TP_N_GAP_CAUSES]; /* idle between pieces of work, in the windows */
	uint64_t wait_caused_ns;          /* exposed waits of all others that are handed to it */
	uint64_t n_steps;
	const uint64_t *ops_per_step; /* n_steps: launched in each */
	const uint64_t *step_ns;      /* n_steps: by the clock of the thread that marks them */
	const struct tp_device_piece *pieces; /* of the judged windows, in order; sum to own_ns */
	size_t n_pieces;
};

/* The kernels and copies of one name, over all devices, in the judged windows; by time. */
struct tp_kernel_result {
	uint32_t name;      /* string of the trace */
	const char *row;    /* of the patterns; "unknown" */
	const char *family; /* "gemm" */
	enum tp_op_class class;
	bool is_weak; /* the name is little evidence */
	uint64_t n;
	uint64_t time_ns;       /* sum of lengths */
	uint64_t overlapped_ns; /* of it, beside communication */
	double slowdown;        /* mean beside communication / mean alone; 0 = unknown */
};

/* One collective that was matched over its ranks; in order of time. */
struct tp_collective_result {
	uint32_t name;  /* string: of the late rank's kernel */
	uint32_t group; /* string: communicator */
	uint32_t late;  /* index into devices: the last to arrive */
	uint32_t n_members;
	uint64_t arrival_ns;        /* of the late one, on the clock of the first rank */
	uint64_t arrival_spread_ns; /* from the first arrival to that */
	uint64_t end_spread_ns;
	uint64_t transfer_ns;    /* from the last arrival to the last end */
	const uint64_t *wait_ns; /* by device; 0 for those that are no members */
};

/* What a rank that came late did meanwhile: summed over everybody who waited for it. */
struct tp_blame_result {
	uint32_t device;     /* index into devices */
	enum tp_label label; /* COMMUNICATION_UNCAPTURED: it has no record there */
	uint64_t time_ns;    /* of exposed waits */
};

#endif
