/* SPDX-License-Identifier: Apache-2.0 */
/* Sums the time of stacks that consist of the same functions. */
#include "hot_stacks.h"

#include "trainprof/base/memory.h"

#include <assert.h>
#include <stdlib.h>

enum { MAX_HOT = 2000 };

/* Stacks with the same functions share a row, because the sampled instruction is random. */
static uint64_t hash_path(const struct tp_trace *trace, uint32_t id)
{
	const struct tp_stack *stack = tp_trace_stack(trace, id);
	uint64_t path = stack->n_frames;
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		uint64_t place = frame->kind == TP_FRAME_PYTHON ? stack->frames[i]
				 : frame->function_start        ? frame->function_start
				 : frame->symbol                ? frame->symbol
								: frame->address;
		path = tp_hash_mix(path, tp_hash_mix(frame->module, place));
	}
	return path;
}

/* A recording has few stacks and many samples of each. */
static uint64_t path_of(struct tp_hot_table *table, uint32_t id)
{
	if (!table->paths)
		table->paths = tp_alloc(table->trace->n_stacks * sizeof(*table->paths));
	if (!table->paths[id])
		table->paths[id] = hash_path(table->trace, id);
	return table->paths[id];
}

static uint64_t hot_key(struct tp_hot_table *table, const struct tp_hot_stack *hot)
{
	uint64_t who = (uint64_t)hot->task << 32 | (uint64_t)hot->state << 8 | (uint64_t)hot->part;
	return tp_hash_mix(path_of(table, hot->stack), who);
}

void tp_hot_table_add(struct tp_hot_table *table, const struct tp_hot_stack *hot)
{
	uint64_t at;
	if (!hot->stack)
		return;
	uint64_t key = hot_key(table, hot);
	if (!tp_map_get(&table->index, key, &at)) {
		tp_map_set(&table->index, key, table->n);
		TP_ARRAY_PUSH(table->rows, table->n, table->capacity) = *hot;
		return;
	}
	assert(at < table->n);
	table->rows[at].time_ns += hot->time_ns;
}

static int hot_order(const void *a, const void *b)
{
	const struct tp_hot_stack *x = a;
	const struct tp_hot_stack *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

void tp_hot_table_finish(struct tp_hot_table *table, struct tp_profile *profile)
{
	if (table->n)
		qsort(table->rows, table->n, sizeof(*table->rows), hot_order);
	profile->n_hot = table->n < MAX_HOT ? table->n : MAX_HOT;
	profile->hot =
		tp_arena_copy(&profile->arena, table->rows, profile->n_hot * sizeof(*table->rows));
	tp_hot_table_release(table);
}

void tp_hot_table_release(struct tp_hot_table *table)
{
	tp_map_release(&table->index);
	free(table->rows);
	free(table->paths);
	*table = (struct tp_hot_table){.trace = table->trace};
}
