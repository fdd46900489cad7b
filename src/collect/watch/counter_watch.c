/* SPDX-License-Identifier: Apache-2.0 */
/* Detects which counters look like steps, and keeps a breakpoint on one or two of them. */
#include "counter_watch.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"

#include <errno.h>
#include <stdlib.h>

enum {
	CHANGES_MIN = 4,     /* before a counter is watched */
	GROWTH_MAX = 16,     /* strides between two reads: a larger growth is no counting */
	ODD_PER_CHANGE = 20, /* one of this many changes may be odd */
	RESTART_CHANGES = 4, /* a counter that restarts more often counts parts of a step */
	MISSED_MAX = 3,      /* reads that did not find it: one may have been cut short */
	COUNTERS_MAX = 256,  /* imports alone create dozens */
	OPENINGS_MAX = 1000,
	SEEN_MAX = 64, /* counters of one call that may be chosen */
};

#define SEEN_MIN_NS (300 * TP_NS_PER_MS)
#define RETRY_NS    (5 * TP_NS_PER_S)
#define REOPEN_NS   (300 * TP_NS_PER_MS)
/* Slower counters count epochs, and their steps are so long that the error of a sample is
 * negligible. */
static const double rate_min_hz = 0.2;
/* Maximum difference of the rates of two counters that count the same. */
static const double same_rate = 0.05;

struct tp_watched_counter {
	struct tp_counter_watch *owner;
	uint32_t task;
	uint32_t name;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t value;
	uint64_t growth;
	uint64_t stride; /* what all growths are multiples of, such as the size of a batch */
	uint32_t n_changes;
	uint32_t n_odd;
	uint32_t n_restarts;
	uint64_t address;
	unsigned width;
	bool is_steady;  /* the address was the same the last two times */
	bool is_refused; /* was too fast once: never watched again */
	unsigned n_missed;
	unsigned n_openings;
	uint64_t opened_ns;
	struct tp_watch *watch; /* NULL = not watched now */
};

void tp_counter_watch_init(struct tp_counter_watch *self, struct tp_watch_list *list,
			   struct tp_sink *sink)
{
	*self = (struct tp_counter_watch){.list = list, .sink = sink};
}

void tp_counter_watch_release(struct tp_counter_watch *self)
{
	for (size_t i = 0; i < self->n; i++)
		free(self->counters[i]);
	free(self->counters);
	tp_map_release(&self->by_key);
}

static struct tp_watched_counter *counter_of(struct tp_counter_watch *self, uint32_t task,
					     uint32_t name)
{
	uint64_t key = (uint64_t)task << 32 | name;
	uint64_t index;
	if (tp_map_get(&self->by_key, key, &index))
		return self->counters[index];
	if (self->n == COUNTERS_MAX)
		return NULL;
	struct tp_watched_counter *counter = tp_alloc(sizeof(*counter));
	*counter = (struct tp_watched_counter){.owner = self, .task = task, .name = name};
	tp_map_set(&self->by_key, key, self->n);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	TP_ARRAY_PUSH(self->counters, self->n, self->capacity) = counter;
	return counter;
}

/* Returns true if the counter counted up to that value in strides. What a first growth of many is a
 * multiple of is not known, so it is neither counted nor odd. */
static bool counts_to(struct tp_watched_counter *counter, uint64_t value)
{
	uint64_t growth = value - counter->value;
	bool is_first = counter->stride == 0;
	uint64_t common = growth;
	for (uint64_t rest, b = counter->stride; b; b = rest) { /* greatest common divisor */
		rest = common % b;
		common = b;
	}
	counter->stride = common;
	bool is_counted = growth / common <= GROWTH_MAX && (!is_first || growth <= GROWTH_MAX);
	counter->n_odd += !is_counted && !is_first;
	counter->growth += is_counted ? growth : 0;
	return is_counted;
}

static void update(struct tp_watched_counter *counter, const struct tp_python_counter *seen,
		   uint64_t now_ns)
{
	if (counter->first_ns == 0) {
		counter->first_ns = now_ns;
	} else if (seen->value > counter->value) {
		counter->n_changes += counts_to(counter, seen->value);
	} else if (seen->value > 1 && seen->value < counter->value) {
		counter->n_odd++;
	} else if (seen->value < counter->value) {
		counter->n_restarts++;
	}
	counter->is_steady = counter->address == seen->address;
	counter->address = seen->address;
	counter->width = seen->width;
	counter->value = seen->value;
	counter->last_ns = now_ns;
}

static double rate_hz(const struct tp_watched_counter *counter)
{
	double seconds = (double)(counter->last_ns - counter->first_ns) / (double)TP_NS_PER_S;
	/* Few at once are as many rounds between two looks. */
	uint64_t stride = counter->stride > GROWTH_MAX ? counter->stride : 1;
	return seconds > 0 ? (double)counter->growth / (double)stride / seconds : 0;
}

/* `counter` was seen now. */
static bool is_candidate(const struct tp_counter_watch *self,
			 const struct tp_watched_counter *counter, uint64_t now_ns)
{
	double rate = rate_hz(counter);
	return !counter->watch && !counter->is_refused && counter->is_steady &&
	       counter->address != 0 && counter->n_changes >= CHANGES_MIN &&
	       now_ns - counter->first_ns >= SEEN_MIN_NS &&
	       counter->n_odd * ODD_PER_CHANGE <= counter->n_changes &&
	       counter->n_restarts * RESTART_CHANGES <= counter->n_changes && rate >= rate_min_hz &&
	       rate <= tp_watch_list_rate_max_hz(self->list) &&
	       counter->n_openings < OPENINGS_MAX &&
	       (counter->n_openings == 0 || now_ns - counter->opened_ns >= REOPEN_NS);
}

static void on_hit(void *context, const struct tp_watch *watch, uint64_t time_ns, uint64_t number)
{
	struct tp_watched_counter *counter = context;
	if (number == 0) {
		counter->watch = NULL;
		counter->is_refused = counter->is_refused || watch->end == TP_WATCH_TOO_FAST;
		return;
	}
	const struct tp_mark mark = {.kind = TP_MARK_WRITE,
				     .task = counter->task,
				     .name = counter->name,
				     .time_ns = time_ns,
				     .value = number};
	tp_sink_mark(counter->owner->sink, &mark);
}

/* Returns the counter of the i-th watch if there is one and it is of this task; else NULL. */
static struct tp_watched_counter *watched(const struct tp_counter_watch *self, size_t i,
					  uint32_t task)
{
	const struct tp_watch *watch = &self->list->watches[i];
	if (!watch->is_used || watch->fn != on_hit || watch->task != task)
		return NULL;
	return watch->context;
}

/* True if a counter with the same rate is already watched. */
static bool has_equal(const struct tp_counter_watch *self, const struct tp_watched_counter *counter)
{
	double rate = rate_hz(counter);
	for (size_t i = 0; i < TP_WATCHES_MAX; i++) {
		const struct tp_watched_counter *other = watched(self, i, counter->task);
		double differs = other ? rate_hz(other) - rate : 0;
		if (other && differs <= same_rate * rate && -differs <= same_rate * rate)
			return true;
	}
	return false;
}

/* The slower of two counters is watched: the inner ones of nested loops are parts of steps. */
static struct tp_watched_counter *choose(const struct tp_counter_watch *self,
					 struct tp_watched_counter *best,
					 struct tp_watched_counter *counter, uint64_t now_ns)
{
	bool is_better = is_candidate(self, counter, now_ns) && !has_equal(self, counter) &&
			 (!best || rate_hz(counter) < rate_hz(best));
	return is_better ? counter : best;
}

/* Returns the fastest watched counter of the thread if the thread uses its share of registers and
 * this one is slower; otherwise NULL. */
static struct tp_watched_counter *to_be_replaced(const struct tp_counter_watch *self,
						 const struct tp_watched_counter *chosen)
{
	struct tp_watched_counter *fastest = NULL;
	size_t n_watched = 0;
	for (size_t i = 0; i < TP_WATCHES_MAX; i++) {
		struct tp_watched_counter *counter = watched(self, i, chosen->task);
		if (!counter)
			continue;
		n_watched++;
		if (!fastest || rate_hz(counter) > rate_hz(fastest))
			fastest = counter;
	}
	return n_watched == TP_WATCHES_PER_THREAD && rate_hz(fastest) > rate_hz(chosen) ? fastest
											: NULL;
}

/* Registers in use may become free later; what the kernel lacks or forbids does not change. */
static void note_failure(struct tp_counter_watch *self, uint64_t now_ns)
{
	if (self->list->failure == 0 || self->list->failure == ESRCH)
		return;
	self->retry_ns = now_ns + RETRY_NS;
}

static void begin_watch(struct tp_counter_watch *self, const struct tp_task_tree_task *task,
			struct tp_watched_counter *counter, uint64_t now_ns)
{
	const struct tp_breakpoint_place place = {.tid = task->info.tid,
						  .address = counter->address,
						  .len = counter->width};
	struct tp_watched_counter *replaced = to_be_replaced(self, counter);
	if (replaced)
		tp_watch_list_close(self->list, replaced->watch);
	self->list->failure = 0;
	counter->n_missed = 0;
	counter->n_openings++;
	counter->opened_ns = now_ns;
	counter->watch = tp_watch_list_open(self->list, task, &place, now_ns, on_hit, counter);
	if (!counter->watch)
		note_failure(self, now_ns);
}

/* Stops watching the counters that are no longer at their address. */
static void check_watched(struct tp_counter_watch *self, const struct tp_task_tree_task *task,
			  uint64_t now_ns, tp_counter_is_at_fn *is_at, const void *context)
{
	for (size_t i = 0; i < TP_WATCHES_MAX; i++) {
		struct tp_watched_counter *counter = watched(self, i, task->info.id);
		if (!counter)
			continue;
		bool has_moved = counter->address != counter->watch->address;
		bool is_there = !has_moved && (counter->last_ns == now_ns ||
					       is_at(context, task, counter->watch->address));
		counter->n_missed = is_there ? 0 : counter->n_missed + 1;
		if (has_moved || counter->n_missed >= MISSED_MAX)
			tp_watch_list_close(self->list, counter->watch);
	}
}

void tp_counter_watch_update(struct tp_counter_watch *self, const struct tp_task_tree_task *task,
			     const struct tp_python_counter *counters, const uint32_t *names,
			     size_t n, uint64_t now_ns, tp_counter_is_at_fn *is_at,
			     const void *context)
{
	struct tp_watched_counter *seen[SEEN_MAX];
	struct tp_watched_counter *chosen = NULL;
	size_t n_seen = 0;
	for (size_t i = 0; i < n; i++) {
		struct tp_watched_counter *counter =
			counters[i].kind == TP_PYTHON_COUNTER_SETTING ||
					counters[i].kind == TP_PYTHON_COUNTER_LOOP_END
				? NULL
				: counter_of(self, task->info.id, names[i]);
		if (!counter)
			continue;
		update(counter, &counters[i], now_ns);
		if (n_seen < SEEN_MAX)
			seen[n_seen++] = counter;
	}
	check_watched(self, task, now_ns, is_at, context);
	if (self->is_off || now_ns < self->retry_ns)
		return;
	/* Only one that exists now can be watched. */
	for (size_t i = 0; i < n_seen; i++)
		chosen = choose(self, chosen, seen[i], now_ns);
	if (chosen)
		begin_watch(self, task, chosen, now_ns);
}
