/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that run Python, each with a sampling event of its own that wakes us at every sample: its
 * Python frames are read some 0.1 ms after its machine stack was taken, and both are put together.
 * The samples that the inherited events take of these threads are left out meanwhile.
 */
#ifndef TRAINPROF_SRC_COLLECT_PYTHON_PYTHON_SAMPLING_H
#define TRAINPROF_SRC_COLLECT_PYTHON_PYTHON_SAMPLING_H

#include "collect/callstack/python_processes.h"
#include "collect/perf/perf_callchain.h"
#include "collect/perf/perf_event.h"
#include "collect/process/fd_cache.h"

#include "trainprof/collect/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_sampler;

struct tp_python_sampling {
	const struct tp_collect_context *context;
	struct tp_perf_setup setup;
	struct tp_perf_callchain stacks;
	struct python_sampler *items;
	size_t n;
	size_t capacity;
	int epoll_fd; /* readable when a sample was taken */
	uint64_t seed;
	unsigned factor; /* on the period, so that wake-ups stay within what measuring may cost */
	unsigned n_warming; /* periods in which the cost does not count yet */
	double asked_ns;    /* time so far, */
	double kept_ns;     /* and divided by the factors that were in force */
	uint64_t rated_ns;
	uint64_t rated_samples; /* n_samples then */
	double cost_ns;         /* of CPU time, since rated_ns */
	uint64_t n_samples;
	uint64_t n_late;        /* read too long after their sample */
	uint64_t n_unread;      /* Python did not hold still */
	uint64_t n_lost;        /* the ring was full */
	double delay_sum_ns;    /* from a sample to the reading */
	struct tp_map tried_ns; /* task -> when it was last found to run no Python */
	struct tp_python_places places;
	struct tp_fd_cache stat_files; /* of threads that are followed */
};

/* setup: as perf's events have it. The descriptor lives until release. Returns 0, or an errno: then
 * there is nothing to release. */
int tp_python_sampling_init(struct tp_python_sampling *follow,
			    const struct tp_collect_context *context,
			    const struct tp_perf_setup *setup);
void tp_python_sampling_release(struct tp_python_sampling *follow);

/* Read what was sampled just now. Soon after the descriptor became readable. */
void tp_python_sampling_read(struct tp_python_sampling *follow);
/* Now and then: follow threads that run Python, let go of those that ended, keep within what
 * measuring may cost, draw periods anew. Not while paused. */
void tp_python_sampling_update(struct tp_python_sampling *follow, uint64_t now_ns);
/* Of the rate that was asked for, in the mean so far; 1 where nothing was sampled. */
double tp_python_sampling_kept_ratio(const struct tp_python_sampling *follow);
/* No samples from now on. */
void tp_python_sampling_stop(struct tp_python_sampling *follow);

#endif
