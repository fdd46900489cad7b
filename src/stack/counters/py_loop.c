/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the iterators of for loops, which are on the value stacks of frames. */
#include "py_loop.h"

#include "py_counter_slot.h"
#include "py_object.h"

enum {
	WORD = 8,
	MAX_LOOP_FRAMES = 40, /* frames whose for loops are examined: notebooks have deep stacks */
	MAX_CANDIDATES = 24,  /* words of value stacks that are read together */
	MAX_INSTANCES = 16,   /* iterators of Python classes */
	HELD_RANGES = 2,      /* that is_held() reads */
	MAX_HEADS = MAX_CANDIDATES + TP_PY_COUNTERS_MAX_SOURCES,
	MAX_EXPECTED = MAX_HEADS + HELD_RANGES * MAX_CANDIDATES,
};

_Static_assert((int)MAX_EXPECTED <= (int)TP_PY_MEMORY_EXPECT_MAX &&
		       (int)MAX_HEADS * TP_PY_ITERATOR_HEAD_BYTES +
				       HELD_RANGES * MAX_CANDIDATES * WORD <=
			       (int)TP_PY_MEMORY_EXPECT_BYTES,
	       "all that is expected fits");

/* Iterators of Python classes, whose attributes are read after all positions: the first read that
 * was not expected makes what is_held() reads too old. */
struct instances {
	struct tp_py_counter_root roots[MAX_INSTANCES];
	uint64_t objects[MAX_INSTANCES];
	size_t n;
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

/* Returns true if the frame is still that of the function, and has the iterator. */
static bool is_held(struct tp_py_counters *self, const struct tp_py_counter_root *root)
{
	uint64_t word = 0;
	uint64_t code = 0;
	const struct tp_process_range pieces[HELD_RANGES] = {
		{root->address, &word, WORD},
		{root->frame + self->layout->frame_code, &code, WORD},
	};
	return self->mem->read(self->mem, pieces, HELD_RANGES) == HELD_RANGES &&
	       word == root->word && tp_py_counter_is_code(self, code, root->code);
}

/* If the frame still has the iterator after its position was read, the iterator was alive. */
static void read_position(struct tp_py_counters *self, struct tp_py_counter_list *list,
			  const struct tp_py_counter_root *root,
			  const struct tp_py_position *position)
{
	struct tp_py_counter_root loop = *root;
	loop.is_range = position->is_range;
	loop.is_number = position->is_range && position->is_number;
	loop.is_down = position->is_relative;
	const char *label = tp_py_counter_label(self, &loop, NULL);
	uint64_t slot = tp_py_counter_slot_of_label(self, root, label);
	if (slot == TP_PY_COUNTER_NO_SLOT || !is_held(self, root))
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

static void add_object(struct instances *instances, const struct tp_py_counter_root *root,
		       uint64_t object)
{
	if (instances->n == MAX_INSTANCES)
		return;
	instances->roots[instances->n] = *root;
	instances->objects[instances->n++] = object;
}

static void read_loop(struct tp_py_counters *self, struct tp_py_counter_list *list,
		      const struct tp_py_counter_root *root, struct tp_py_iterators *iterators,
		      struct instances *instances)
{
	struct tp_py_position position;
	if (!tp_py_iterators_position(iterators, root->object, &position))
		return;
	if (position.address)
		read_position(self, list, root, &position);
	else
		add_object(instances, root, position.object);
	/* PyTorch's loader counts the batches that it returned, which shows that it yields
	 * batches. */
	if (position.inner)
		add_object(instances, root, position.inner);
}

/* The name is kept with its slot, so that it is read once; "" if there is none. */
static const char *target_name(struct tp_py_counters *self, const struct tp_py_counter_root *root,
			       const struct tp_py_bytecode *bytecode,
			       const struct tp_py_for_loop *loop)
{
	uint64_t slot =
		tp_py_counter_slot_of(self, root->code, tp_hash_mix(root->number, loop->end));
	if (loop->target_kind == TP_PY_TARGET_UNKNOWN || slot == TP_PY_COUNTER_NO_SLOT)
		return NULL;
	if (!self->slots[slot].name) {
		bool is_local = loop->target_kind == TP_PY_TARGET_LOCAL;
		const char *name =
			tp_py_counter_name_in(self,
					      is_local ? bytecode->local_names : bytecode->names,
					      loop->target);
		self->slots[slot].name = name ? name : "";
	}
	return self->slots[slot].name[0] ? self->slots[slot].name : NULL;
}

static uint32_t number_of_loop(const struct tp_py_for_loop *loop)
{
	return (1U << 16) + loop->start;
}

/* The instruction alone shows which loops run; their counters are not needed. */
static void note_running(struct tp_py_counters *self, const struct tp_py_counter_root *root,
			 const struct tp_py_bytecode *bytecode, uint64_t offset)
{
	if (offset > INT32_MAX) {
		tp_py_live_loops_note_unknown(&self->loops);
		return;
	}
	tp_py_live_loops_note_function(&self->loops, root->code->address);
	for (size_t i = 0; i < bytecode->n_loops; i++)
		if (offset >= bytecode->loops[i].start && offset < bytecode->loops[i].end)
			tp_py_live_loops_note_loop(&self->loops, root->code->address,
						   number_of_loop(&bytecode->loops[i]));
}

static void read_loops_of(struct tp_py_counters *self, struct tp_py_counter_list *list,
			  struct tp_py_counter_root *root, const struct tp_py_stack *stack,
			  const struct tp_py_stack_frame *frame, struct tp_py_iterators *iterators,
			  struct instances *instances)
{
	struct tp_py_live_loop live[TP_PY_ITERATOR_MAX_LIVE];
	uint64_t words[TP_PY_ITERATOR_MAX_STACK];
	const struct tp_py_bytecode *bytecode = tp_py_bytecodes_get(&self->bytecodes, root->code);
	uint64_t offset = frame->instr - root->code->bytecode;
	size_t n_words = bytecode->n_stack < TP_PY_ITERATOR_MAX_STACK ? bytecode->n_stack
								      : TP_PY_ITERATOR_MAX_STACK;
	uint64_t address =
		frame->address + self->layout->frame_size + (uint64_t)WORD * bytecode->n_locals;
	note_running(self, root, bytecode, offset);
	if (bytecode->n_loops == 0 || n_words == 0 || offset > INT32_MAX ||
	    !tp_py_counter_stack_words(self, stack, address, words, n_words))
		return;
	size_t n =
		tp_py_iterators_live(iterators, bytecode, (uint32_t)offset, words, n_words, live);
	for (size_t i = 0; i < n; i++) {
		root->address = address + live[i].word * WORD;
		root->word = words[live[i].word];
		root->object = live[i].object;
		root->line = live[i].loop.line ? live[i].loop.line : 1;
		root->number = number_of_loop(&live[i].loop);
		root->name = target_name(self, root, bytecode, &live[i].loop);
		read_loop(self, list, root, iterators, instances);
	}
}

/* The objects of a running loop that a value stack may hold. */
struct candidate {
	uint64_t address; /* of the word */
	uint64_t frame;
	uint64_t object;
};

/* Finds them in the copy of the stack: the iterators of a frame's loops are at the bottom of its
 * value stack, sometimes after what a with block left there. */
static size_t find_candidates(struct tp_py_counters *self, const struct tp_py_stack *stack,
			      const struct tp_py_code_cache *codes, struct candidate *out)
{
	size_t n = 0;
	for (size_t i = stack->n_frames, met = 0; i > 0 && met < MAX_LOOP_FRAMES; i--, met++) {
		const struct tp_py_stack_frame *frame = &stack->frames[i - 1];
		const struct tp_py_code *code = tp_py_code_get(codes, frame->code);
		if (!code)
			continue;
		const struct tp_py_bytecode *bytecode = tp_py_bytecodes_get(&self->bytecodes, code);
		uint64_t offset = frame->instr - code->bytecode;
		uint64_t address = frame->address + self->layout->frame_size +
				   (uint64_t)WORD * bytecode->n_locals;
		size_t n_words = 0;
		for (size_t k = 0; k < bytecode->n_loops; k++)
			n_words += offset >= bytecode->loops[k].start &&
				   offset < bytecode->loops[k].end;
		n_words += n_words > 0;
		for (size_t k = 0; k < n_words && k < bytecode->n_stack && n < MAX_CANDIDATES;
		     k++) {
			const uint8_t *word =
				tp_py_copy_latest(&stack->copy, address + k * WORD, WORD);
			uint64_t object =
				word ? tp_py_counter_object(self, tp_py_memory_u64(word)) : 0;
			if (tp_py_counter_is_address(object))
				out[n++] = (struct candidate){address + k * WORD, frame->address,
							      object};
		}
	}
	return n;
}

/* Appends the ranges that is_held() reads of the candidates; returns the number of all ranges. In
 * the order of addresses, so that those on one page of the stack are read as one range: frames
 * begin with the outermost, and the code of a frame lies before its value stack. */
static size_t add_held(const struct tp_py_counters *self, struct tp_process_range *ranges, size_t n,
		       const struct candidate *candidates, size_t n_candidates)
{
	for (size_t i = 0; i < n_candidates; i++) {
		uint64_t code = candidates[i].frame + self->layout->frame_code;
		ranges[n++] = (struct tp_process_range){code, NULL, WORD};
		ranges[n++] = (struct tp_process_range){candidates[i].address, NULL, WORD};
	}
	return n;
}

static const struct tp_process_range *source_of(const struct tp_py_counter_sources *sources,
						uint64_t iterator)
{
	for (size_t i = 0; i < sources->n; i++)
		if (sources->iterators[i] == iterator)
			return &sources->ranges[i];
	return NULL;
}

/* Appends the heads, and the objects over which the loops iterated last time; returns the number of
 * ranges. */
static size_t add_heads(const struct tp_py_counters *self, struct tp_process_range *ranges,
			const struct candidate *candidates, size_t n_candidates)
{
	size_t n = n_candidates;
	for (size_t i = 0; i < n_candidates; i++) {
		const struct tp_process_range *source =
			source_of(&self->sources, candidates[i].object);
		ranges[i] = (struct tp_process_range){candidates[i].object, NULL,
						      TP_PY_ITERATOR_HEAD_BYTES};
		if (source && n < MAX_HEADS)
			ranges[n++] = *source;
	}
	tp_py_memory_sort(ranges, n_candidates);
	tp_py_memory_sort(ranges + n_candidates, n - n_candidates);
	return n;
}

/* Finds what the iterators take from, and remembers it; returns how many ranges these are, 0 if
 * they were read after the heads. */
static size_t find_sources(struct tp_py_counters *self, struct tp_py_iterators *iterators,
			   const struct candidate *candidates, size_t n_candidates,
			   struct tp_process_range *ranges)
{
	struct tp_py_counter_sources *kept = &self->sources;
	const struct tp_py_counter_sources before = *kept;
	size_t n = 0;
	bool is_read = true;
	kept->n = 0;
	for (size_t i = 0; i < n_candidates; i++) {
		uint64_t iterator = candidates[i].object;
		const struct tp_process_range *expected = source_of(&before, iterator);
		struct tp_process_range range;
		if (!tp_py_iterators_second(iterators, iterator, &range))
			continue;
		is_read = is_read && expected && expected->address == range.address &&
			  expected->size == range.size;
		ranges[n++] = range;
		if (kept->n == TP_PY_COUNTERS_MAX_SOURCES)
			continue;
		kept->iterators[kept->n] = iterator;
		kept->ranges[kept->n++] = range;
	}
	tp_py_memory_sort(ranges, n);
	return is_read ? 0 : n;
}

/* By one call, two if some iterators take from others that were not known. */
static void expect_loops(struct tp_py_counters *self, const struct tp_py_stack *stack,
			 struct tp_py_iterators *iterators)
{
	struct candidate candidates[MAX_CANDIDATES];
	struct tp_process_range ranges[MAX_EXPECTED];
	size_t n_candidates = find_candidates(self, stack, iterators->codes, candidates);
	size_t n_held = HELD_RANGES * n_candidates;
	if (n_candidates == 0)
		return;
	size_t n = add_heads(self, ranges, candidates, n_candidates);
	n = add_held(self, ranges, n, candidates, n_candidates);
	tp_py_memory_expect(self->mem, ranges, n, n_held);
	n = find_sources(self, iterators, candidates, n_candidates, ranges);
	if (n == 0)
		return;
	n = add_held(self, ranges, n, candidates, n_candidates);
	tp_py_memory_expect(self->mem, ranges, n, n_held);
}

void tp_py_loops_read(struct tp_py_counters *self, struct tp_py_counter_list *list,
		      const struct tp_py_stack *stack, struct tp_py_code_cache *codes)
{
	struct tp_py_iterators iterators = {self->mem, self->layout, &self->attributes,
					    &self->bytecodes, codes};
	struct instances instances;
	instances.n = 0;
	tp_py_live_loops_begin(&self->loops, stack->is_whole);
	expect_loops(self, stack, &iterators);
	for (size_t i = stack->n_frames, met = 0; i > 0 && met < MAX_LOOP_FRAMES; i--, met++) {
		const struct tp_py_stack_frame *frame = &stack->frames[i - 1];
		struct tp_py_counter_root root = {.code = tp_py_code_get(codes, frame->code),
						  .frame = frame->address};
		if (root.code)
			read_loops_of(self, list, &root, stack, frame, &iterators, &instances);
		else
			tp_py_live_loops_note_unknown(&self->loops);
	}
	tp_py_memory_expect(self->mem, NULL, 0, 0);
	for (size_t i = 0; i < instances.n; i++)
		tp_py_objects_read_attributes(self, list, &instances.roots[i],
					      instances.objects[i]);
}
