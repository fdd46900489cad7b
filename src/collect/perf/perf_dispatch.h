/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each perf record means: it feeds the tree of threads, the stays on CPUs and the samples, in
 * the order of time. Records that are missing become gaps, joined to about one a second.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_DISPATCH_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_DISPATCH_H

#include "perf_callchain.h"
#include "perf_decode.h"
#include "perf_oncpu.h"
#include "perf_ring.h"

#include "trainprof/base/map.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_exiting;

/* A stretch in which something was not recorded, growing until it is put. */
struct tp_perf_gap {
	uint64_t start_ns; /* 0 = none */
	uint64_t end_ns;
	uint64_t n;
};

struct tp_perf_dispatch {
	const struct tp_host *host;
	struct tp_task_tree *tree;
	struct tp_sink *sink;
	struct tp_perf_layout layout;
	struct tp_perf_oncpu runs;
	struct tp_perf_callchain stacks;
	uint32_t n_cpus;

	bool is_paused;       /* keep the books, put no samples */
	bool drops_stacks;    /* a ring is filling: do not unwind */
	unsigned keep_one_in; /* unwind one of so many */

	/* Attached: event id -> the thread that it was opened for. A thread that existed has events
	 * of its own, and may have copies of its creator's as well: each is told of by one of them
	 * only, the task's listens_to. NULL: there are no two. Borrowed. */
	const struct tp_map *listeners;
	const struct tp_map
		*leaves;    /* ids of events that sample who leaves a CPU; NULL: none. Borrowed */
	bool is_wide;       /* events are of CPUs and tell of everybody: who is not in the tree is
			     * none of ours, and gets there by birth only */
	uint64_t since_ns;  /* what is older was told by other events */
	bool is_joining;    /* threads are still being given events, see perf_attach.h */
	uint64_t n_unheard; /* records told twice */

	uint64_t last_ns;     /* time of the last record */
	uint64_t *n_switches; /* ways out, by CPU, strangers' included: records cost the same */
	uint64_t n_samples;   /* each stands for a period of CPU time */
	uint64_t n_leavings;  /* of threads that leave a CPU, those included that are not put */
	pid_t target;
	uint64_t n_target_samples; /* of its first thread */
	uint64_t n_strange_switches;
	uint64_t n_lost;
	uint64_t n_bad; /* records that made no sense */

	struct tp_perf_gap lost;
	struct tp_perf_gap dropped;   /* stacks, while a ring was filling */
	struct tp_perf_gap throttled; /* by the kernel */
	struct perf_exiting *leavers; /* processes whose events ended: with them, or before */
	size_t n_leavers;
	size_t leavers_capacity;
};

/* The name under which gaps are put. */
extern const char tp_perf_source[];

void tp_perf_dispatch_init(struct tp_perf_dispatch *feed, const struct tp_host *host,
			   struct tp_task_tree *tree, struct tp_sink *sink,
			   const struct tp_perf_layout *layout, uint32_t n_cpus);
void tp_perf_dispatch_release(struct tp_perf_dispatch *feed);

/* From now on records are those of events of CPUs, and what is older than `since_ns` is left out.
 */
void tp_perf_dispatch_go_system_wide(struct tp_perf_dispatch *feed,
				     const struct tp_perf_layout *layout, uint64_t since_ns);

/* Take one record of one ring; records come in the order of time. */
void tp_perf_dispatch_record(struct tp_perf_dispatch *feed, const void *bytes, size_t size);

/* Where threads are at this moment, by switches that are in the rings and not taken yet: 5 ms of
 * records are held back for their order, in which a busy machine switches several times. */
void tp_perf_dispatch_peek(struct tp_perf_dispatch *feed, struct tp_perf_ring *rings,
			   size_t n_rings);

/* About once a second and at the end (`is_last`): put gaps, look after processes that left. */
void tp_perf_dispatch_flush(struct tp_perf_dispatch *feed, uint64_t now_ns, bool is_last);

#endif
