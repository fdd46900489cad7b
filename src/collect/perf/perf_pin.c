/* SPDX-License-Identifier: Apache-2.0 */
/* Pins the events of threads that create children all the time. */
#include "perf_pin.h"

#include "perf_event.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <unistd.h>

#define TP_LOG_DOMAIN "collect"
#include "trainprof/base/log.h"

enum {
	NOT_OPEN = -1,
	SECONDS_TO_OPEN = 2, /* seconds with forks, minus those without */
	SECONDS_KEPT = 8,
	PINS_MAX = 16,
};

/* At 3 us each, 0.3 per cent of a CPU. */
static const double switches_max_hz = 1000;

struct tp_perf_pin {
	uint32_t task;
	pid_t tid;
	int fd;
	unsigned n_seconds; /* with forks, minus those without */
	uint64_t n_births;  /* at the last update */
	uint64_t n_runs;
};

static struct tp_perf_pin *pin_of(struct tp_perf_pins *pins, const struct tp_task_tree_task *task)
{
	for (size_t i = 0; i < pins->n; i++)
		if (pins->items[i].task == task->info.id)
			return &pins->items[i];
	return NULL;
}

static void find_parents(struct tp_perf_pins *pins, const struct tp_task_tree *tree)
{
	size_t cursor = 0;
	const struct tp_task_tree_task *task;
	while ((task = tp_task_tree_next(tree, &cursor)))
		if (task->n_births && !pin_of(pins, task))
			TP_ARRAY_PUSH(pins->items, pins->n, pins->capacity) =
				(struct tp_perf_pin){.task = task->info.id,
						     .tid = task->info.tid,
						     .fd = NOT_OPEN,
						     .n_runs = task->n_runs};
}

static void pin_close(struct tp_perf_pins *pins, struct tp_perf_pin *pin)
{
	if (pin->fd == NOT_OPEN)
		return;
	close(pin->fd);
	pin->fd = NOT_OPEN;
	pins->n_open--;
}

static void pin_open(struct tp_perf_pins *pins, struct tp_perf_pin *pin)
{
	if (pins->n_open >= PINS_MAX)
		return;
	pin->fd = tp_perf_open_idle(pin->tid);
	if (pin->fd < 0) {
		pin->fd = NOT_OPEN;
		return;
	}
	pins->n_open++;
	tp_info("the events of thread %d stay its own", (int)pin->tid);
}

static void pin_update(struct tp_perf_pins *pins, struct tp_perf_pin *pin,
		       const struct tp_task_tree_task *task, double seconds)
{
	double switches_hz = (double)(task->n_runs - pin->n_runs) / seconds;
	bool is_fertile = task->n_births != pin->n_births;
	pin->n_runs = task->n_runs;
	pin->n_births = task->n_births;
	if (is_fertile && pin->n_seconds < SECONDS_KEPT)
		pin->n_seconds++;
	else if (!is_fertile && pin->n_seconds > 0)
		pin->n_seconds--;
	if (pin->fd == NOT_OPEN && pin->n_seconds >= SECONDS_TO_OPEN &&
	    switches_hz < switches_max_hz)
		pin_open(pins, pin);
	else if (pin->n_seconds == 0 || switches_hz > 2 * switches_max_hz)
		pin_close(pins, pin);
}

void tp_perf_pins_update(struct tp_perf_pins *pins, const struct tp_task_tree *tree,
			 uint64_t now_ns)
{
	double seconds = (double)(now_ns - pins->settled_ns) / (double)TP_NS_PER_S;
	size_t n_kept = 0;
	pins->settled_ns = now_ns;
	find_parents(pins, tree);
	for (size_t i = 0; i < pins->n; i++) {
		struct tp_perf_pin *pin = &pins->items[i];
		const struct tp_task_tree_task *task = tp_task_tree_find(tree, pin->tid);
		if (task && task->info.id == pin->task && seconds > 0) {
			pin_update(pins, pin, task, seconds);
			pins->items[n_kept++] = *pin;
		} else {
			pin_close(pins, pin);
		}
	}
	pins->n = n_kept;
}

void tp_perf_pins_release(struct tp_perf_pins *pins)
{
	for (size_t i = 0; i < pins->n; i++)
		pin_close(pins, &pins->items[i]);
	free(pins->items);
	*pins = (struct tp_perf_pins){0};
}
