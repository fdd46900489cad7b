/* SPDX-License-Identifier: Apache-2.0 */
/* Gives running events new sampling periods, so that no loop is in step with them. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_PERIOD_UPDATE_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_PERIOD_UPDATE_H

#include "collect/process/fd_cache.h"
#include "perf_dispatch.h"
#include "perf_event.h"
#include "perf_period.h"

#include <stdint.h>

struct tp_perf_period_update {
	struct tp_perf_period_schedule pace;
	const struct tp_host *host; /* borrowed, as the next two */
	const struct tp_perf_events *events;
	const struct tp_perf_dispatch *feed;
	struct tp_fd_cache shelf; /* of the one file below */
	struct tp_fd_cache_slot stat_file;
	double n_before; /* of the first thread's samples, less periods, when events became wide */
	uint32_t n_rare; /* periods drawn that the pace does not count */
	uint32_t turn;   /* the CPU that had the last of them in turn */
};

/* Events are open and told by the feed. `redraw->pace.seed` stays. */
void tp_perf_period_update_start(struct tp_perf_period_update *redraw, const struct tp_host *host,
				 const struct tp_perf_events *events,
				 const struct tp_perf_dispatch *feed, uint64_t now_ns);
void tp_perf_period_update_release(struct tp_perf_period_update *redraw);

/* At the beginning of a poll, whose time has nothing to do with what the target does. */
void tp_perf_period_update_on_poll(struct tp_perf_period_update *redraw);
/* All CPUs now: another rate, or other events. */
void tp_perf_period_update_all(struct tp_perf_period_update *redraw);
/* The events are of CPUs from now on. */
void tp_perf_period_update_system_wide(struct tp_perf_period_update *redraw, uint64_t now_ns);

#endif
