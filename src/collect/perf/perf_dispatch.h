/* SPDX-License-Identifier: Apache-2.0 */
/* Interprets perf records: they update the tree of threads, the stays on CPUs and the samples, in
 * the order of time. Missing records become gaps, merged to about one per second. */
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

/* A period in which something was not recorded; it grows until it is emitted. */
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

	bool is_paused;       /* update the state, emit no samples */
	bool drops_stacks;    /* a ring is filling: do not unwind */
	unsigned keep_one_in; /* unwind one of this many */

	/* When attached: event id -> the thread that it was opened for. A thread that already
	 * existed has its own events, and may also have copies of its creator's events; only one of
	 * the two is used, the task's listens_to. NULL = there are no duplicates. Borrowed. */
	const struct tp_map *listeners;
	const struct tp_map *leaves; /* ids of the switch-out events; NULL = none. Borrowed */
	bool is_wide; /* events are per CPU and cover all processes: a thread that is not in the
			 tree is not ours, and joins it only when one of our threads creates it */
	uint64_t since_ns;  /* older records came from other events */
	bool is_joining;    /* threads are still getting events, see perf_attach.h */
	uint64_t n_unheard; /* number of duplicate records */

	uint64_t last_ns;     /* time of the last record */
	uint64_t *n_switches; /* switches out, by CPU, including those of other programs: each
				 record costs the same */
	uint64_t n_samples;   /* each represents one period of CPU time */
	uint64_t n_leavings;  /* samples of threads leaving a CPU, including those that are not
				 emitted */
	pid_t target;
	uint64_t n_target_samples; /* samples of its first thread */
	uint64_t n_strange_switches;
	uint64_t n_lost;
	uint64_t n_bad; /* records that could not be decoded */

	struct tp_perf_gap lost;
	struct tp_perf_gap dropped;   /* stacks, while a ring was filling */
	struct tp_perf_gap throttled; /* by the kernel */
	struct perf_exiting *leavers; /* processes whose events ended */
	size_t n_leavers;
	size_t leavers_capacity;
};

/* The source name in gaps. */
extern const char tp_perf_source[];

void tp_perf_dispatch_init(struct tp_perf_dispatch *feed, const struct tp_host *host,
			   struct tp_task_tree *tree, struct tp_sink *sink,
			   const struct tp_perf_layout *layout, uint32_t n_cpus);
void tp_perf_dispatch_release(struct tp_perf_dispatch *feed);

/* From now on records come from per-CPU events, and records older than `since_ns` are ignored. */
void tp_perf_dispatch_go_system_wide(struct tp_perf_dispatch *feed,
				     const struct tp_perf_layout *layout, uint64_t since_ns);

/* Processes one record of one ring; records come in the order of time. */
void tp_perf_dispatch_record(struct tp_perf_dispatch *feed, const void *bytes, size_t size);

/* Updates where threads are at this moment from the switches that are in the rings but not read
 * yet: the newest 5 ms of records are held back for sorting, and a busy machine switches several
 * times in that time. */
void tp_perf_dispatch_peek(struct tp_perf_dispatch *feed, struct tp_perf_ring *rings,
			   size_t n_rings);

/* About once per second and at the end (`is_last`): emits gaps and checks processes whose events
 * ended. */
void tp_perf_dispatch_flush(struct tp_perf_dispatch *feed, uint64_t now_ns, bool is_last);

#endif
