/*
 * Puts the frames of samples together. Exports write a stack's rows one after the other, innermost
 * first; whatever comes in between or in another order is put right as far as memory goes.
 */
#include "nsys_stacks.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE, DEPTH, SYMBOL, MODULE, KERNEL, UNRESOLVED, SPECIAL, N_COLUMNS };
/* Numbers of strings, or until 2019 the strings themselves. */
static const char *const columns[N_COLUMNS] = {"id",         "stackDepth", "symbol",      "module",
					       "kernelMode", "unresolved", "specialEntry"};

enum { NO_FRAME = 0 /* what is further out is unknown */ };

struct row {
	uint64_t sample;
	uint32_t depth;
	uint32_t frame;
};

struct reading {
	struct tp_nsys_stacks *stacks;
	struct tp_nsys_threads *threads;
	struct row *rows;
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

static uint32_t frame_make(struct reading *reading, const struct tp_nsys_cell *cells)
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
	/* In the place of a name there is the address then. */
	if (cells[UNRESOLVED].number || is_text(symbol, symbol_len, "[Unknown]"))
		symbol_len = 0;
	if (is_text(module, module_len, "[Unknown]"))
		module_len = 0;
	if (is_kernel) {
		module = kernel;
		module_len = strlen(kernel);
	}
	return tp_teller_frame(reading->threads->teller,
			       is_kernel ? TP_FRAME_KERNEL : TP_FRAME_NATIVE, module, module_len,
			       symbol, symbol_len);
}

/* Millions of rows name few functions. */
static uint32_t frame_find(struct reading *reading, const struct tp_nsys_cell *cells)
{
	int64_t symbol = cells[SYMBOL].number;
	int64_t module = cells[MODULE].number;
	uint64_t frame;
	unsigned how = (cells[KERNEL].number != 0) | (cells[UNRESOLVED].number != 0) << 1 |
		       (cells[SPECIAL].number != 0) << 2;
	if (cells[SYMBOL].type != TP_NSYS_INTEGER || cells[MODULE].type != TP_NSYS_INTEGER ||
	    (uint64_t)symbol >> 31 || (uint64_t)module >> 29)
		return frame_make(reading, cells);
	uint64_t key = (uint64_t)symbol << 32 | (uint64_t)module << 3 | how;
	if (!tp_map_get(&reading->stacks->frames, key, &frame)) {
		frame = frame_make(reading, cells);
		tp_map_set(&reading->stacks->frames, key, frame);
	}
	return (uint32_t)frame;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;
	if (x->sample != y->sample)
		return x->sample < y->sample ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

/* The frames of one sample, or as many as came together. Gives back how many were no use. */
static size_t stack_add(struct reading *reading, const struct row *rows, size_t n)
{
	struct tp_map *known = &reading->stacks->by_sample;
	uint64_t there = 0;
	bool is_new = !tp_map_get(known, rows[0].sample, &there);
	uint32_t stack = (uint32_t)there;
	uint64_t reached = there >> 32; /* plus one */
	size_t n_lost = 0;
	if (is_new && known->n >= TP_NSYS_STACKS_MOST)
		return n;
	for (size_t i = 0; i < n; i++) {
		bool is_deep = rows[i].depth >= TP_STACK_MAX_FRAMES - 1;
		if (rows[i].depth < reached) {
			n_lost++; /* twice, or after one further out */
			continue;
		}
		reached = (uint64_t)rows[i].depth + 1;
		stack = tp_teller_caller(reading->threads->teller, stack,
					 is_deep ? NO_FRAME : rows[i].frame, &reading->is_full);
		if (is_deep)
			break;
	}
	tp_map_set(known, rows[0].sample, reached << 32 | stack);
	return n_lost;
}

static void rows_add(struct reading *reading)
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

static void row_read(struct reading *reading, const struct tp_nsys_cell *cells)
{
	const struct tp_nsys_cell *depth = &cells[DEPTH];
	if (cells[SAMPLE].type != TP_NSYS_INTEGER || depth->type != TP_NSYS_INTEGER ||
	    depth->number < 0 || depth->number >= UINT32_MAX) {
		tp_nsys_threads_skip(reading->threads, "a frame tells no sample or depth");
		return;
	}
	struct row row = {.sample = (uint64_t)cells[SAMPLE].number,
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
	struct reading reading = {.stacks = stacks, .threads = threads, .is_in_order = true};
	struct tp_nsys_rows *rows =
		tp_nsys_rows_open(threads->db, "SAMPLING_CALLCHAINS", columns, N_COLUMNS);
	const struct tp_nsys_cell *cells;
	while (rows && (cells = tp_nsys_rows_next(rows)))
		row_read(&reading, cells);
	tp_nsys_rows_close(rows);
	rows_add(&reading);
	if (reading.is_full)
		tp_nsys_threads_skip(threads, "stacks of samples end too early or are too many");
	free(reading.rows);
}

uint32_t tp_nsys_stacks_find(const struct tp_nsys_stacks *stacks, const struct tp_nsys_cell *sample)
{
	uint64_t stack = 0;
	if (sample->type == TP_NSYS_INTEGER)
		(void)tp_map_get(&stacks->by_sample, (uint64_t)sample->number, &stack);
	return (uint32_t)stack;
}

void tp_nsys_stacks_release(struct tp_nsys_stacks *stacks)
{
	tp_map_release(&stacks->by_sample);
	tp_map_release(&stacks->frames);
}
