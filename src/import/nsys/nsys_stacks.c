/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the stacks of samples from their frames. Exports write a stack's rows one after the
 * other, innermost first; interleaved or unordered rows are sorted as far as memory allows. */
#include "nsys_stacks.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE, DEPTH, SYMBOL, MODULE, KERNEL, UNRESOLVED, SPECIAL, N_COLUMNS };
/* Numbers of strings, or until 2019 the strings themselves. */
static const char *const columns[N_COLUMNS] = {"id",         "stackDepth", "symbol",      "module",
					       "kernelMode", "unresolved", "specialEntry"};

enum { NO_FRAME = 0 /* everything further out is unknown */ };

struct frame_row {
	uint64_t sample;
	uint32_t depth;
	uint32_t frame;
};

struct frame_reading {
	struct tp_nsys_stacks *stacks;
	struct tp_nsys_threads *threads;
	struct frame_row *rows;
	size_t n_rows;
	size_t rows_capacity;
	bool is_in_order;
	bool is_full;
};

static bool is_text(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(text, word, len);
}

/* ---- frames -------------------------------------------------------------------------------- */

static uint32_t frame_make(struct frame_reading *reading, const struct tp_sqlite_cell *cells)
{
	static const char kernel[] = "[kernel]";
	size_t symbol_len;
	size_t module_len;
	const struct tp_nsys_names *names = reading->threads->names;
	const char *symbol = tp_nsys_names_text(names, &cells[SYMBOL], &symbol_len);
	const char *module = tp_nsys_names_text(names, &cells[MODULE], &module_len);
	bool is_kernel = cells[KERNEL].number != 0;
	if (cells[SPECIAL].number || is_text(symbol, symbol_len, "[Max depth]") ||
	    is_text(symbol, symbol_len, "[Broken backtraces]"))
		return NO_FRAME;
	/* The symbol is an address instead of a name. */
	if (cells[UNRESOLVED].number || is_text(symbol, symbol_len, "[Unknown]"))
		symbol_len = 0;
	if (is_text(module, module_len, "[Unknown]"))
		module_len = 0;
	if (is_kernel) {
		module = kernel;
		module_len = strlen(kernel);
	}
	uint32_t frame = tp_thread_emitter_frame(reading->threads->emitter,
						 is_kernel ? TP_FRAME_KERNEL : TP_FRAME_NATIVE,
						 module, module_len, symbol, symbol_len);
	reading->is_full |= !frame;
	return frame;
}

/* Millions of rows name few functions. */
static uint32_t frame_find(struct frame_reading *reading, const struct tp_sqlite_cell *cells)
{
	int64_t symbol = cells[SYMBOL].number;
	int64_t module = cells[MODULE].number;
	uint64_t frame;
	unsigned how = (cells[KERNEL].number != 0) | (cells[UNRESOLVED].number != 0) << 1 |
		       (cells[SPECIAL].number != 0) << 2;
	if (cells[SYMBOL].type != TP_SQLITE_INTEGER || cells[MODULE].type != TP_SQLITE_INTEGER ||
	    (uint64_t)symbol >> 31 || (uint64_t)module >> 29)
		return frame_make(reading, cells);
	uint64_t key = (uint64_t)symbol << 32 | (uint64_t)module << 3 | how;
	if (!tp_map_get(&reading->stacks->frames, key, &frame)) {
		frame = frame_make(reading, cells);
		if (reading->stacks->frames.n < TP_THREAD_EMITTER_FRAMES_MAX)
			tp_map_set(&reading->stacks->frames, key, frame);
	}
	return (uint32_t)frame;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct frame_row *x = a;
	const struct frame_row *y = b;
	if (x->sample != y->sample)
		return x->sample < y->sample ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static struct tp_nsys_stack *stack_find(const struct tp_nsys_stacks *stacks, uint64_t sample)
{
	size_t at;
	uint64_t late;
	TP_FIND_FIRST(at, 0, stacks->n_ordered, stacks->items[at].sample >= sample);
	if (at < stacks->n_ordered && stacks->items[at].sample == sample)
		return &stacks->items[at];
	if (stacks->late.n > 0 && tp_map_get(&stacks->late, sample, &late))
		return &stacks->items[late];
	return NULL;
}

/* Returns NULL if there are too many. */
static struct tp_nsys_stack *stack_make(struct tp_nsys_stacks *stacks, uint64_t sample)
{
	bool is_ordered = stacks->n == stacks->n_ordered &&
			  (stacks->n == 0 || stacks->items[stacks->n - 1].sample < sample);
	if (stacks->n >= TP_NSYS_STACKS_MAX ||
	    (!is_ordered && stacks->late.n >= TP_NSYS_STACKS_UNSORTED))
		return NULL;
	if (!is_ordered)
		tp_map_set(&stacks->late, sample, stacks->n);
	TP_ARRAY_PUSH(stacks->items, stacks->n, stacks->capacity) =
		(struct tp_nsys_stack){.sample = sample};
	stacks->n_ordered += is_ordered;
	return &stacks->items[stacks->n - 1];
}

/* Adds the frames of one sample, or those of them that came together. Returns the number of
 * unusable ones. */
static size_t stack_add(struct frame_reading *reading, const struct frame_row *rows, size_t n)
{
	struct tp_nsys_stack *stack = stack_find(reading->stacks, rows[0].sample);
	size_t n_lost = 0;
	if (!stack)
		stack = stack_make(reading->stacks, rows[0].sample);
	if (!stack) {
		reading->is_full = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		bool is_deep = rows[i].depth >= TP_STACK_MAX_FRAMES - 1;
		if (rows[i].depth < stack->reached) {
			n_lost++; /* duplicate, or after one further out */
			continue;
		}
		stack->reached = rows[i].depth + 1;
		stack->stack = tp_thread_emitter_caller(reading->threads->emitter, stack->stack,
							is_deep ? NO_FRAME : rows[i].frame,
							&reading->is_full);
		if (is_deep)
			break;
	}
	return n_lost;
}

static void rows_add(struct frame_reading *reading)
{
	if (!reading->is_in_order)
		qsort(reading->rows, reading->n_rows, sizeof(*reading->rows), by_place);
	for (size_t i = 0; i < reading->n_rows;) {
		size_t n = 1;
		while (i + n < reading->n_rows &&
		       reading->rows[i + n].sample == reading->rows[i].sample)
			n++;
		for (size_t lost = stack_add(reading, &reading->rows[i], n); lost > 0; lost--)
			tp_nsys_threads_skip(reading->threads,
					     "a frame of a sample comes twice or too late");
		i += n;
	}
	reading->n_rows = 0;
	reading->is_in_order = true;
}

static void row_read(struct frame_reading *reading, const struct tp_sqlite_cell *cells)
{
	const struct tp_sqlite_cell *depth = &cells[DEPTH];
	if (cells[SAMPLE].type != TP_SQLITE_INTEGER || depth->type != TP_SQLITE_INTEGER ||
	    depth->number < 0 || depth->number >= UINT32_MAX) {
		tp_nsys_threads_skip(reading->threads, "a frame has no sample or depth");
		return;
	}
	struct frame_row row = {.sample = (uint64_t)cells[SAMPLE].number,
				.depth = (uint32_t)depth->number,
				.frame = frame_find(reading, cells)};
	if (reading->n_rows == TP_NSYS_FRAMES_SORTED)
		rows_add(reading);
	if (reading->n_rows > 0 && by_place(&reading->rows[reading->n_rows - 1], &row) > 0)
		reading->is_in_order = false;
	TP_ARRAY_PUSH(reading->rows, reading->n_rows, reading->rows_capacity) = row;
}

void tp_nsys_stacks_read(struct tp_nsys_stacks *stacks, struct tp_nsys_threads *threads)
{
	struct frame_reading reading = {.stacks = stacks, .threads = threads, .is_in_order = true};
	struct tp_sqlite_rows *rows =
		tp_sqlite_rows_open(threads->db, "SAMPLING_CALLCHAINS", columns, N_COLUMNS);
	const struct tp_sqlite_cell *cells;
	while (rows && (cells = tp_sqlite_rows_next(rows)))
		row_read(&reading, cells);
	tp_sqlite_rows_close(rows);
	rows_add(&reading);
	if (reading.is_full)
		tp_nsys_threads_skip(threads, "stacks of samples end too early or are too many");
	free(reading.rows);
}

uint32_t tp_nsys_stacks_find(const struct tp_nsys_stacks *stacks,
			     const struct tp_sqlite_cell *sample)
{
	const struct tp_nsys_stack *stack = NULL;
	if (sample->type == TP_SQLITE_INTEGER)
		stack = stack_find(stacks, (uint64_t)sample->number);
	return stack ? stack->stack : 0;
}

void tp_nsys_stacks_release(struct tp_nsys_stacks *stacks)
{
	free(stacks->items);
	tp_map_release(&stacks->late);
	tp_map_release(&stacks->frames);
}
