/* SPDX-License-Identifier: Apache-2.0 */
/* Names unwound frames and interns them as stacks. */
#include "stack_intern.h"

#include "python_merge.h"

#include "trainprof/stack/arith.h"
#include "trainprof/stack/modules.h"
#include "trainprof/stack/symbol.h"

#include <string.h>

/* Flag in the map of ids: the frame runs Python bytecode. */
#define IS_EVALUATION (UINT64_C(1) << 32)

/* A program reaches new places for days, and interrupts hit new places of the kernel all the time.
 * The maps only save naming a place again, which gives the same id: a map of this many places
 * begins again. */
enum { PLACES_MAX = 16384, KERNEL_PLACES_MAX = 2048 };

static void remember(struct tp_map *places, size_t max, uint64_t key, uint64_t id)
{
	if (places->n >= max)
		tp_map_release(places);
	tp_map_set(places, key, id);
}

void tp_stack_intern_init(struct tp_stack_intern *put, struct tp_sink *sink)
{
	memset(put, 0, sizeof(*put));
	put->sink = sink;
}

void tp_stack_intern_release(struct tp_stack_intern *put)
{
	tp_map_release(&put->ids);
	tp_map_release(&put->kernel);
	tp_map_release(&put->python);
}

static uint32_t arith_flag(const struct tp_stack_frame *frame)
{
	static const uint32_t flags[] = {
		[TP_ARITH_SCALAR] = TP_FRAME_SCALAR, [TP_ARITH_VECTOR] = TP_FRAME_VECTOR};
	return frame->flags & TP_FRAME_RETURN ? 0 : flags[tp_arith_at(frame)];
}

/* The slow path: searches the module's tables. */
static uint64_t define_frame(struct tp_stack_intern *put, const struct tp_stack_frame *from)
{
	struct tp_frame frame = {.kind = TP_FRAME_NATIVE,
				 .flags = (from->flags & TP_FRAME_GUESSED) | arith_flag(from),
				 .address = from->address};
	bool is_evaluation = false;
	if (from->module) {
		struct tp_symbol symbol;
		tp_symbol_find(from, &symbol);
		frame.kind = from->module->kind;
		frame.module = tp_sink_string(put->sink, from->module->path);
		frame.symbol = tp_sink_string(put->sink, symbol.name);
		frame.function_start = symbol.end > symbol.start ? symbol.start : 0;
		/* Interrupts hit the kernel anywhere, for as long as the run lasts: by instruction,
		 * frames and stacks would grow without end, and nothing uses the place. */
		if (frame.kind == TP_FRAME_KERNEL && frame.function_start)
			frame.address = frame.function_start;
		is_evaluation = tp_python_merge_is_evaluation(symbol.name);
	}
	return tp_sink_frame(put->sink, &frame) | (is_evaluation ? IS_EVALUATION : 0);
}

/* Returns the frame's id in the lower half and IS_EVALUATION above it. */
static uint64_t frame_entry(struct tp_stack_intern *put, const struct tp_stack_frame *frame)
{
	/* Module pointers live as long as the tree, so they identify modules; 64-bit hashes do not
	 * collide by chance among the some ten thousand places of a run. */
	uint64_t key = tp_hash_mix(tp_hash_mix((uint64_t)(uintptr_t)frame->module, frame->address),
				   frame->flags);
	bool is_kernel = frame->module && frame->module->kind == TP_FRAME_KERNEL;
	struct tp_map *places = is_kernel ? &put->kernel : &put->ids;
	uint64_t id;
	if (!tp_map_get(places, key, &id)) {
		id = define_frame(put, frame);
		remember(places, is_kernel ? KERNEL_PLACES_MAX : PLACES_MAX, key, id);
	}
	return id;
}

uint32_t tp_stack_intern_frames(struct tp_stack_intern *put, const struct tp_stack_frame *frames,
				size_t n, uint32_t flags)
{
	uint32_t ids[TP_STACK_MAX_FRAMES];
	if (n > TP_STACK_MAX_FRAMES) {
		n = TP_STACK_MAX_FRAMES;
		flags |= TP_STACK_TRUNCATED;
	}
	for (size_t i = 0; i < n; i++)
		ids[i] = (uint32_t)frame_entry(put, &frames[i]);
	return n ? tp_sink_stack(put->sink, ids, n, flags) : 0;
}

/* Two calls on one line are two places, and so are two functions with the same name. */
static uint32_t define_python(struct tp_stack_intern *put, const struct tp_python_place *place)
{
	uint32_t file = tp_sink_string(put->sink, place->file);
	uint64_t start = (uint64_t)place->first_line << 32;
	const struct tp_frame frame = {.kind = TP_FRAME_PYTHON,
				       .flags = place->is_generator ? TP_FRAME_GENERATOR : 0,
				       .module = file,
				       .symbol = tp_sink_string(put->sink, place->name),
				       .file = file,
				       .line = place->line,
				       .address = start | place->offset,
				       .function_start = start};
	return tp_sink_frame(put->sink, &frame);
}

/* Identified by the addresses of its texts, which live as long as the interpreter. */
static uint32_t python_id(struct tp_stack_intern *put, const struct tp_python_places *places,
			  size_t at)
{
	const struct tp_python_place *place = &places->items[at];
	uint64_t text =
		tp_hash_mix((uint64_t)(uintptr_t)place->file, (uint64_t)(uintptr_t)place->name);
	uint64_t spot = tp_hash_mix((uint64_t)place->first_line << 32 | place->offset,
				    (uint64_t)place->line << 32 | places->owner);
	uint64_t key = tp_hash_mix(text, spot);
	uint64_t id;
	if (!tp_map_get(&put->python, key, &id)) {
		id = define_python(put, place);
		remember(&put->python, PLACES_MAX, key, id);
	}
	return (uint32_t)id;
}

uint32_t tp_stack_intern_merged(struct tp_stack_intern *put, const struct tp_stack_frame *frames,
				size_t n, uint32_t flags, const struct tp_python_places *places)
{
	uint64_t entries[TP_STACK_MAX_FRAMES];
	bool is_evaluation[TP_STACK_MAX_FRAMES];
	struct tp_python_merge_slot slots[TP_STACK_MAX_FRAMES];
	uint32_t ids[TP_STACK_MAX_FRAMES];
	put->fits = true;
	if (places->n == 0)
		return tp_stack_intern_frames(put, frames, n, flags);
	n = n < TP_STACK_MAX_FRAMES ? n : TP_STACK_MAX_FRAMES;
	for (size_t i = 0; i < n; i++) {
		entries[i] = frame_entry(put, &frames[i]);
		is_evaluation[i] = entries[i] & IS_EVALUATION;
	}
	size_t n_slots = tp_python_merge(slots, TP_STACK_MAX_FRAMES, is_evaluation, n,
					 n == 0 || flags & TP_STACK_TRUNCATED, places->items,
					 places->n, &put->fits);
	put->n_fitting += put->fits;
	put->n_unfitting += !put->fits;
	for (size_t i = 0; i < n_slots; i++)
		ids[i] = slots[i].is_python ? python_id(put, places, slots[i].at)
					    : (uint32_t)entries[slots[i].at];
	return n_slots ? tp_sink_stack(put->sink, ids, n_slots, flags) : 0;
}
