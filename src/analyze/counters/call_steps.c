/* SPDX-License-Identifier: Apache-2.0 */
/* Derives steps from function calls that a breakpoint recorded. */
#include "call_steps.h"

#include "analyze/thresholds.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <stdlib.h>

static bool is_call(const struct tp_analysis *analysis, const struct tp_mark *mark)
{
	return mark->kind == TP_MARK_CALL && mark->task == analysis->main_task;
}

/* Finds the function with most calls; returns false if there are none. */
static bool find_function(const struct tp_analysis *analysis, uint32_t *name)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_map counts = {0};
	uint64_t most = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		uint64_t n = 0;
		if (!is_call(analysis, mark))
			continue;
		(void)tp_map_get(&counts, mark->name, &n);
		tp_map_set(&counts, mark->name, ++n);
		if (n > most) {
			most = n;
			*name = mark->name;
		}
	}
	tp_map_release(&counts);
	return most > 0;
}

/* Keeps the longer of two sequences of calls; the other one is released and empty. */
static void keep_longer(struct tp_counter_steps *kept, struct tp_counter_steps *other)
{
	struct tp_counter_steps empty = {.name = other->name};
	if (other->n > kept->n) {
		free(kept->borders);
		*kept = *other;
	} else {
		free(other->borders);
	}
	*other = empty;
}

/* A missing number means that calls were lost: the calls before and after it are not joined. The
 * longest sequence without a loss provides the steps. */
static void collect(struct tp_counter_steps *out, const struct tp_analysis *analysis, uint32_t name)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_counter_steps now = {.name = name};
	size_t capacity = 0;
	uint64_t number = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (!is_call(analysis, mark) || mark->name != name)
			continue;
		if (now.n && mark->value != number + 1) {
			keep_longer(out, &now);
			capacity = 0;
		}
		number = mark->value;
		TP_ARRAY_PUSH(now.borders, now.n, capacity) = mark->time_ns;
	}
	keep_longer(out, &now);
	out->n_exact = out->n_writes = out->n;
}

bool tp_call_steps_find(struct tp_counter_steps *out, const struct tp_analysis *analysis)
{
	uint32_t name = 0;
	*out = (struct tp_counter_steps){0};
	if (!find_function(analysis, &name))
		return false;
	collect(out, analysis, name);
	tp_counter_steps_measure(out, analysis);
	if (out->n > TP_LOOP_ROUNDS_MIN && out->regularity >= TP_COUNTER_ALIKE_MIN)
		return true;
	tp_counter_steps_release(out);
	return false;
}
