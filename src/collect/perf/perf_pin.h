/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the kernel from swapping the sampling events of certain threads.
 *
 * When a thread and its newly created child follow each other on a CPU, the kernel lets them swap
 * their inherited events instead of removing one set and installing the other
 * (perf_event_context_sched_out). The child then ends with the period that its parent had almost
 * reached, and the parent continues with a fresh one: a loop that creates a thread each round and
 * joins it was sampled 2 to 7 times too rarely, or never. An additional event that is not inherited
 * and counts nothing makes the two sets differ. It is only for threads that create children all the
 * time and switch rarely: without swapping a switch costs 1 to 3 us more, and children created
 * meanwhile never swap again.
 */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_PIN_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_PIN_H

#include "collect/process/task_tree.h"

struct tp_perf_pin;

struct tp_perf_pins {
	struct tp_perf_pin *items; /* heap: threads that created children recently */
	size_t n;
	size_t capacity;
	uint64_t settled_ns;
	unsigned n_open;
};

/* Called about once per second while switch records are on, because they count how often a thread
 * switches. When they are turned off, call release. */
void tp_perf_pins_update(struct tp_perf_pins *pins, const struct tp_task_tree *tree,
			 uint64_t now_ns);
/* Closes all; they may be updated again. */
void tp_perf_pins_release(struct tp_perf_pins *pins);

#endif
