/* SPDX-License-Identifier: Apache-2.0 */
/* Sets new sampling periods on running events, so that no loop is synchronous with them. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_PERIOD_UPDATE_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_PERIOD_UPDATE_H

#include "collect/process/fd_cache.h"
#include "perf_dispatch.h"
#include "perf_event.h"
#include "perf_period.h"

#include <stdint.h>

struct tp_perf_period_update {
	struct tp_perf_period_schedule pace;
	const struct tp_host *host; /* borrowed */
	const struct tp_perf_events *events;
	const struct tp_perf_dispatch *feed;
	struct tp_fd_cache shelf; /* for the one file below */
	struct tp_fd_cache_slot stat_file;
	double n_before; /* samples of the first thread minus periods, at the change to per-CPU
			    events */
	uint32_t n_rare; /* periods drawn that `pace` does not count */
	uint32_t turn;   /* the CPU that got the last of them */
};

/* Events are open and processed by the dispatcher. Keeps `redraw->pace.seed`. */
void tp_perf_period_update_start(struct tp_perf_period_update *redraw, const struct tp_host *host,
				 const struct tp_perf_events *events,
				 const struct tp_perf_dispatch *feed, uint64_t now_ns);
void tp_perf_period_update_release(struct tp_perf_period_update *redraw);

/* Called at the beginning of a poll, at a time that is independent of the target. */
void tp_perf_period_update_on_poll(struct tp_perf_period_update *redraw);
/* Sets new periods on all CPUs now: the rate or the events changed. */
void tp_perf_period_update_all(struct tp_perf_period_update *redraw);
/* The events are per-CPU events from now on. */
void tp_perf_period_update_system_wide(struct tp_perf_period_update *redraw, uint64_t now_ns);

#endif
