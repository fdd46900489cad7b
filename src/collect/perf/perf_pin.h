/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads whose sampling events must stay their own.
 *
 * When a thread and the child that it has just made follow each other on a CPU, the kernel lets
 * them swap their inherited events instead of taking down one set and putting up the other
 * (perf_event_context_sched_out). The child then ends with the period that its parent had almost
 * reached, and the parent goes on with a fresh one: a loop that makes a thread each round and joins
 * it was sampled 2 to 7 times too rarely, or never. An event that is not inherited, of no use
 * besides, makes the two sets differ. It is for those only that make children all the time, and
 * that switch rarely: without swapping a switch costs 1 to 3 us more, and children that are made
 * meanwhile never swap again.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_PIN_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_PIN_H

#include "collect/process/task_tree.h"

struct tp_perf_pin;

struct tp_perf_pins {
	struct tp_perf_pin *items; /* heap: threads that made children lately */
	size_t n;
	size_t capacity;
	uint64_t settled_ns;
	unsigned n_open;
};

/* About once a second, while switch records are on: they count how often a thread switches. When
 * they go off, release. */
void tp_perf_pins_update(struct tp_perf_pins *pins, const struct tp_task_tree *tree,
			 uint64_t now_ns);
/* Closes all; they may be settled again. */
void tp_perf_pins_release(struct tp_perf_pins *pins);

#endif
