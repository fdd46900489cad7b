/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the iterators of for loops, which are on the value stacks of frames. */
#include "py_loop.h"

#include "py_counter_slot.h"
#include "py_object.h"

#include "trainprof/base/memory.h"

#include <string.h>

enum {
	WORD = 8,
	MAX_PLACES = 1 << 16,
	MAX_LOOP_FRAMES = 40, /* frames whose for loops are examined: notebooks have deep stacks */
};

/* What is remembered of a loop. */
struct tp_py_loop_place {
	const char *name; /* name of the loop's variable; NULL until read, "" = none */
	struct tp_py_read_interval interval;
	bool has_counted;
	uint32_t at;      /* index of the iterator in the value stack */
	uint64_t word;    /* the word there when it was read; 0 = none yet */
	uint64_t address; /* address of the iterator's position; 0 = none */
	uint64_t object;  /* instance whose attributes may count; 0 = none */
};

/* A falling counter is counted from its first seen value. */
static uint64_t count_up(struct tp_py_counter_slot *slot, const struct tp_py_position *position,
			 uint64_t value)
{
	if (!position->is_relative)
		return value;
	if (slot->object != position->object || value > slot->highest) {
		slot->object = position->object;
		slot->highest = value + 1;
	}
	return slot->highest - value;
}

/* If the frame still has the iterator after its position was read, the iterator was alive. */
static void read_position(struct tp_py_counters *self, struct tp_py_counter_list *list,
			  const struct tp_py_counter_root *root,
			  const struct tp_py_position *position)
{
	uint64_t word = 0;
	struct tp_py_counter_root loop = *root;
	loop.is_range = position->is_range;
	loop.is_number = position->is_range && position->is_number;
	loop.is_down = position->is_relative;
	const char *label = tp_py_counter_label(self, &loop, NULL);
	uint64_t slot = tp_py_counter_slot_of_label(self, root, label);
	if (slot == TP_PY_COUNTER_NO_SLOT ||
	    !tp_py_memory_get_u64(self->mem, root->address, &word) || word != root->word)
		return;
	uint64_t value = count_up(&self->slots[slot], position, position->value);
	uint64_t total = position->is_relative ? self->slots[slot].highest : position->total;
	struct tp_python_counter counter = {
		.variable = label,
		.kind = TP_PYTHON_COUNTER_ITERATOR,
		.value = value,
		.total = total == self->slots[slot].total ? 0 : total,
		.address = position->address,
		.is_falling = position->is_falling,
	};
	size_t n = list->n;
	tp_py_counter_emit(self, list, root, counter, slot);
	if (list->n > n)
		self->slots[slot].total = total;
}

static void read_loop(struct tp_py_counters *self, struct tp_py_counter_list *list,
		      const struct tp_py_counter_root *root, struct tp_py_loop_place *place,
		      struct tp_py_iterators *iterators)
{
	struct tp_py_position position;
	size_t n_changed = list->n_changed;
	place->address = place->object = 0;
	if (tp_py_iterators_position(iterators, root->object, &position)) {
		/* PyTorch's loader counts the batches that it returned, which shows that it yields
		 * batches. */
		place->address = position.address;
		place->object = position.address ? position.inner : position.object;
	}
	if (place->address)
		read_position(self, list, root, &position);
	if (place->object)
		tp_py_objects_read_attributes(self, list, root, place->object);
	place->word = root->word;
	place->has_counted |= list->n_changed > n_changed;
	tp_py_read_interval_read(&place->interval, list->n_changed > n_changed);
}

/* Valid until the next call; NULL = there are too many. */
static struct tp_py_loop_place *place_of(struct tp_py_counters *self, const struct tp_py_code *code,
					 const struct tp_py_for_loop *loop)
{
	uint64_t index;
	uint64_t key = tp_hash_mix(code->identity, (uint64_t)loop->start << 32 | loop->end);
	if (tp_map_get(&self->place_by_key, key, &index))
		return &self->places[index];
	if (self->n_places == MAX_PLACES)
		return NULL;
	tp_map_set(&self->place_by_key, key, self->n_places);
	TP_ARRAY_PUSH(self->places, self->n_places, self->places_capacity) =
		(struct tp_py_loop_place){0};
	return &self->places[self->n_places - 1];
}

/* The name is kept, so that it is read once; "" if there is none. */
static const char *target_name(struct tp_py_counters *self, struct tp_py_loop_place *place,
			       const struct tp_py_bytecode *bytecode,
			       const struct tp_py_for_loop *loop)
{
	if (loop->target_kind == TP_PY_TARGET_UNKNOWN)
		return NULL;
	if (!place->name) {
		bool is_local = loop->target_kind == TP_PY_TARGET_LOCAL;
		const char *name =
			tp_py_counter_name_in(self,
					      is_local ? bytecode->local_names : bytecode->names,
					      loop->target);
		place->name = name ? name : "";
	}
	return place->name[0] ? place->name : NULL;
}

static uint32_t number_of_loop(const struct tp_py_for_loop *loop)
{
	return (1U << 16) + loop->start;
}

static bool is_running(const struct tp_py_for_loop *loop, uint64_t offset)
{
	return offset >= loop->start && offset < loop->end;
}

/* The instruction alone shows which loops run; their counters are not needed. */
static void note_running(struct tp_py_counters *self, const struct tp_py_code *code,
			 const struct tp_py_bytecode *bytecode, uint64_t offset)
{
	if (offset > INT32_MAX) {
		tp_py_live_loops_note_unknown(&self->loops);
		return;
	}
	tp_py_live_loops_note_function(&self->loops, code->address);
	for (size_t i = 0; i < bytecode->n_loops; i++)
		if (is_running(&bytecode->loops[i], offset))
			tp_py_live_loops_note_loop(&self->loops, code->address,
						   number_of_loop(&bytecode->loops[i]));
}

/* The value stack of a frame. */
struct value_stack {
	uint64_t address;
	uint64_t words[TP_PY_ITERATOR_MAX_STACK];
	size_t n;
};

static bool read_value_stack(struct tp_py_counters *self, const struct tp_py_bytecode *bytecode,
			     const struct tp_py_stack_frame *frame, struct value_stack *out)
{
	size_t offset = self->layout->frame_size + (size_t)WORD * bytecode->n_locals;
	out->n = bytecode->n_stack < TP_PY_ITERATOR_MAX_STACK ? bytecode->n_stack
							      : TP_PY_ITERATOR_MAX_STACK;
	out->address = frame->address + offset;
	const uint8_t *copied = tp_py_stack_copied(frame, offset, out->n * WORD);
	if (copied)
		memcpy(out->words, copied, out->n * WORD);
	return copied || tp_py_memory_get(self->mem, out->address, out->words, out->n * WORD);
}

static bool is_still_there(const struct tp_py_loop_place *place, const struct value_stack *stack)
{
	return place->word && place->at < stack->n && stack->words[place->at] == place->word;
}

/* The iterator of a loop that has counted is read as soon as it is another one. */
static bool is_due(const struct tp_py_loop_place *place, const struct value_stack *stack)
{
	return tp_py_read_interval_is_due(&place->interval) ||
	       (place->has_counted && !is_still_there(place, stack));
}

static void leave_out(struct tp_py_counters *self, struct tp_py_loop_place *place,
		      const struct value_stack *stack)
{
	tp_py_read_interval_skip(&place->interval);
	if (!place->has_counted || !is_still_there(place, stack))
		return;
	if (place->address)
		tp_py_counter_note_address(self, place->address);
	if (place->object)
		tp_py_objects_skip(self, place->object);
}

/* Returns false if there is nothing to read; then the loops were left out. */
static bool has_due(struct tp_py_counters *self, const struct tp_py_counter_root *root,
		    const struct tp_py_bytecode *bytecode, uint64_t offset,
		    const struct value_stack *stack)
{
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < bytecode->n_loops; i++) {
			struct tp_py_loop_place *place =
				is_running(&bytecode->loops[i], offset)
					? place_of(self, root->code, &bytecode->loops[i])
					: NULL;
			if (place && pass == 0 && is_due(place, stack))
				return true;
			if (place && pass == 1)
				leave_out(self, place, stack);
		}
	}
	return false;
}

/* The iterators of the first `n_found` running loops were found. */
static void note_missing(struct tp_py_counters *self, const struct tp_py_code *code,
			 const struct tp_py_bytecode *bytecode, uint64_t offset, size_t n_found)
{
	size_t n = 0;
	for (size_t i = 0; i < bytecode->n_loops; i++) {
		if (!is_running(&bytecode->loops[i], offset) || n++ < n_found)
			continue;
		struct tp_py_loop_place *place = place_of(self, code, &bytecode->loops[i]);
		if (place)
			tp_py_read_interval_read(&place->interval, false);
	}
}

static void read_loops_of(struct tp_py_counters *self, struct tp_py_counter_list *list,
			  struct tp_py_counter_root *root, const struct tp_py_stack_frame *frame,
			  struct tp_py_iterators *iterators)
{
	struct tp_py_live_loop live[TP_PY_ITERATOR_MAX_LIVE];
	struct value_stack stack;
	const struct tp_py_bytecode *bytecode = tp_py_bytecodes_get(&self->bytecodes, root->code);
	uint64_t offset = frame->instr - root->code->bytecode;
	note_running(self, root->code, bytecode, offset);
	if (bytecode->n_loops == 0 || bytecode->n_stack == 0 || offset > INT32_MAX ||
	    !read_value_stack(self, bytecode, frame, &stack) ||
	    !has_due(self, root, bytecode, offset, &stack))
		return;
	size_t n = tp_py_iterators_live(iterators, bytecode, (uint32_t)offset, stack.words, stack.n,
					live);
	note_missing(self, root->code, bytecode, offset, n);
	for (size_t i = 0; i < n; i++) {
		struct tp_py_loop_place *place = place_of(self, root->code, &live[i].loop);
		if (!place)
			continue;
		if (!is_due(place, &stack)) {
			leave_out(self, place, &stack);
			continue;
		}
		place->at = (uint32_t)live[i].word;
		root->address = stack.address + live[i].word * WORD;
		root->word = stack.words[live[i].word];
		root->object = live[i].object;
		root->line = live[i].loop.line ? live[i].loop.line : 1;
		root->number = number_of_loop(&live[i].loop);
		root->name =
			target_name(self, place, tp_py_bytecodes_get(&self->bytecodes, root->code),
				    &live[i].loop);
		read_loop(self, list, root, place, iterators);
	}
	tp_py_memory_end_group(self->mem);
}

void tp_py_loops_read(struct tp_py_counters *self, struct tp_py_counter_list *list,
		      const struct tp_py_stack *stack, struct tp_py_code_cache *codes)
{
	struct tp_py_iterators iterators = {self->mem, self->layout, &self->attributes,
					    &self->bytecodes, codes};
	tp_py_live_loops_begin(&self->loops, stack->is_whole);
	for (size_t i = stack->n_frames, met = 0; i > 0 && met < MAX_LOOP_FRAMES; i--, met++) {
		const struct tp_py_stack_frame *frame = &stack->frames[i - 1];
		struct tp_py_counter_root root = {.code = tp_py_code_get(codes, frame->code)};
		if (root.code)
			read_loops_of(self, list, &root, frame, &iterators);
		else
			tp_py_live_loops_note_unknown(&self->loops);
	}
}
