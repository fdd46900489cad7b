/* SPDX-License-Identifier: Apache-2.0 */
/* Follows threads that run Python. Each has its own sampling event that wakes us at every sample:
 * its Python frames are read about 0.1 ms after its native stack was taken, and both are merged.
 * The samples of these threads from the inherited events are ignored meanwhile. */
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
	int epoll_fd; /* readable if a sample was taken */
	uint64_t seed;
	unsigned factor;    /* on the period, so that wake-ups stay within the allowed overhead */
	unsigned n_warming; /* periods in which the cost does not count yet */
	double asked_ns;    /* total time so far, */
	double kept_ns;     /* and divided by the factors that were set */
	uint64_t rated_ns;
	uint64_t rated_samples; /* n_samples at rated_ns */
	double cost_ns;         /* CPU time since rated_ns */
	uint64_t n_samples;
	uint64_t n_late;        /* samples read too late */
	uint64_t n_unread;      /* the Python stack changed during the read */
	uint64_t n_lost;        /* because the ring was full */
	double delay_sum_ns;    /* from sample to read */
	struct tp_map tried_ns; /* task -> when it was last found not to run Python */
	struct tp_python_places places;
	struct tp_fd_cache stat_files; /* of followed threads */
};

/* setup: as in perf's events. The descriptor lives until release. Returns 0, or an errno: then
 * there is nothing to release. */
int tp_python_sampling_init(struct tp_python_sampling *follow,
			    const struct tp_collect_context *context,
			    const struct tp_perf_setup *setup);
void tp_python_sampling_release(struct tp_python_sampling *follow);

/* Reads the samples taken just now. Call soon after the descriptor became readable. */
void tp_python_sampling_read(struct tp_python_sampling *follow);
/* Called now and then: follows threads that run Python, removes those that ended, keeps the cost
 * within the allowed overhead, draws new periods. Not while paused. */
void tp_python_sampling_update(struct tp_python_sampling *follow, uint64_t now_ns);
/* Returns the ratio of the average rate so far to the requested one; 1 if nothing was sampled. */
double tp_python_sampling_kept_ratio(const struct tp_python_sampling *follow);
/* Takes no more samples. */
void tp_python_sampling_stop(struct tp_python_sampling *follow);

#endif
