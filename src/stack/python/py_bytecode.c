/* SPDX-License-Identifier: Apache-2.0 */
/* Finds FOR_ITER and its jump in the bytecode of CPython 3.8 to 3.14. */
#include "py_bytecode.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_CODE_BYTES = 1 << 16, /* in longer functions, loops after this limit are not found */
	MAX_LOOPS = 64,
	MAX_LOCALS = 1024,
	MAX_STACK = 256,
	MAX_ITEMS = 4096,
	MAX_EXTENDED = 0xffffff,
	JUMP_BACKWARD_311 = 140,
	JUMP_BACKWARD_QUICK_311 = 38,
	/* A loop that ends with `if …: break` jumps back if the condition is false. */
	JUMP_BACKWARD_IF_FIRST_311 = 173,
	JUMP_BACKWARD_IF_LAST_311 = 176,
	WORD = 8,
};

/* Opcode numbers: Include/opcode.h of each version, opcode_ids.h from 3.13 on. Those of 3.14 were
 * not tested with a running interpreter; END_FOR at the end of a jump has to confirm them. */
struct opcode_numbers {
	uint8_t minor_min, minor_max;
	uint8_t extended, extended_quick;
	uint8_t for_iter, special_first, special_last, instrumented_first, instrumented_last;
	uint8_t end_for; /* 0 = none */
	/* Opcodes that set the loop's variable; 0 = none. The combined ones do that and something
	 * else. */
	uint8_t store_fast, store_fast_load, store_fast_store;
	uint8_t store_name, store_global;
};

static const struct opcode_numbers numbers[] = {
	{8, 10, 144, 144, 93, 93, 93, 93, 93, 0, 125, 0, 0, 90, 97},
	{11, 11, 144, 34, 93, 93, 93, 93, 93, 0, 125, 161, 167, 90, 97},
	{12, 12, 144, 144, 93, 62, 65, 248, 248, 4, 125, 154, 158, 90, 97},
	{13, 13, 71, 71, 72, 187, 190, 243, 243, 11, 110, 111, 112, 114, 113},
	{14, 14, 69, 69, 70, 170, 175, 234, 247, 9, 0, 0, 0, 0, 0},
};

static const struct opcode_numbers *numbers_of(unsigned minor)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(numbers); i++)
		if (minor >= numbers[i].minor_min && minor <= numbers[i].minor_max)
			return &numbers[i];
	return NULL;
}

static bool is_for_iter(const struct opcode_numbers *of, uint8_t opcode)
{
	return opcode == of->for_iter ||
	       (opcode >= of->special_first && opcode <= of->special_last) ||
	       (opcode >= of->instrumented_first && opcode <= of->instrumented_last);
}

/* 3.11: returns true if some jump in the loop leads back to its start; caches of other instructions
 * may look like a jump. */
static bool jumps_back(const uint8_t *bytes, size_t start, size_t end)
{
	uint64_t extended = 0;
	for (size_t at = start; at + 1 < end; at += 2) {
		uint64_t argument = extended << 8 | bytes[at + 1];
		bool is_jump = bytes[at] == JUMP_BACKWARD_311 ||
			       bytes[at] == JUMP_BACKWARD_QUICK_311 ||
			       (bytes[at] >= JUMP_BACKWARD_IF_FIRST_311 &&
				bytes[at] <= JUMP_BACKWARD_IF_LAST_311);
		/* The jump leads to FOR_ITER, or to the prefixes that extend its argument: at most
		 * three. */
		uint64_t length = at + 2 - start;
		if (is_jump && 2 * argument >= length && 2 * argument <= length + 6)
			return true;
		extended = bytes[at] == 144 || bytes[at] == 34 ? argument & MAX_EXTENDED : 0;
	}
	return false;
}

static bool is_loop(const struct opcode_numbers *of, const uint8_t *bytes, size_t size,
		    size_t start, size_t end)
{
	if (end > size || end <= start)
		return false;
	if (of->end_for)
		return end + 1 < size && bytes[end] == of->end_for;
	return of->minor_min != 11 || jumps_back(bytes, start, end);
}

/* Finds the variable that the instruction after FOR_ITER sets, if it sets one. */
static void find_target(const struct opcode_numbers *of, unsigned minor, const uint8_t *bytes,
			size_t at, struct tp_py_for_loop *loop)
{
	uint8_t opcode = bytes[at];
	uint8_t argument = bytes[at + 1];
	if (opcode == 0 || of->store_fast == 0)
		return;
	/* From 3.13 on a combined instruction has both variable numbers in its argument. */
	bool is_joined = opcode == of->store_fast_load || opcode == of->store_fast_store;
	if (opcode == of->store_fast || is_joined) {
		loop->target_kind = TP_PY_TARGET_LOCAL;
		loop->target = is_joined && minor >= 13 ? argument >> 4 : argument;
	} else if (opcode == of->store_name || opcode == of->store_global) {
		loop->target_kind = TP_PY_TARGET_NAME;
		loop->target = argument;
	}
}

size_t tp_py_bytecode_find_loops(unsigned minor, const uint8_t *bytes, size_t size,
				 struct tp_py_for_loop *out, size_t max)
{
	const struct opcode_numbers *of = numbers_of(minor);
	uint64_t extended = 0;
	size_t n = 0;
	for (size_t at = 0; of && at + 1 < size && n < max; at += 2) {
		uint64_t argument = extended << 8 | bytes[at + 1];
		bool is_extended = bytes[at] == of->extended || bytes[at] == of->extended_quick;
		extended = is_extended ? argument & MAX_EXTENDED : 0;
		if (is_extended || !is_for_iter(of, bytes[at]))
			continue;
		/* From 3.12 on a cache word follows. */
		uint64_t next = at + (minor >= 12 ? 4 : 2);
		uint64_t end = next + argument * (minor >= 10 ? 2 : 1);
		if (!is_loop(of, bytes, size, at, (size_t)end))
			continue;
		out[n] = (struct tp_py_for_loop){.start = (uint32_t)at, .end = (uint32_t)end};
		if (next + 1 < end)
			find_target(of, minor, bytes, (size_t)next, &out[n]);
		n++;
	}
	return n;
}

/* ---- code objects ------------------------------------------------------------------------ */

void tp_py_bytecodes_init(struct tp_py_bytecodes *self, struct tp_py_memory *mem,
			  const struct tp_py_layout *layout)
{
	*self = (struct tp_py_bytecodes){.mem = mem, .layout = layout};
}

static void clear(struct tp_py_bytecodes *self)
{
	for (size_t i = 0; i < self->n; i++)
		free(self->items[i].loops);
	self->n = 0;
	tp_map_release(&self->by_address);
	self->by_address = (struct tp_map){0};
}

void tp_py_bytecodes_release(struct tp_py_bytecodes *self)
{
	clear(self);
	free(self->items);
}

/* Returns a tuple's length; 0 if there is no tuple. */
static uint32_t length_of(struct tp_py_bytecodes *self, const uint8_t *head, uint32_t at)
{
	uint64_t tuple = at ? tp_py_memory_u64(head + at) : 0;
	uint64_t n = 0;
	if (tuple == 0 || !tp_py_memory_get_u64(self->mem, tuple + self->layout->object_size, &n))
		return 0;
	return n < MAX_LOCALS ? (uint32_t)n : 0;
}

/* Finds the address and the size in bytes of the instructions. */
static bool locate(struct tp_py_bytecodes *self, const uint8_t *head, uint64_t code, uint64_t *at,
		   uint64_t *size)
{
	const struct tp_py_layout *layout = self->layout;
	if (layout->code_qualname) {
		*at = code + layout->code_bytes;
		*size = 2 * (tp_py_memory_u64(head + layout->object_size) & UINT32_MAX);
		return true;
	}
	uint64_t object = tp_py_memory_u64(head + layout->code_bytes);
	*at = object + layout->bytes_data;
	return object != 0 && tp_py_memory_get_u64(self->mem, object + layout->object_size, size);
}

static void load_loops(struct tp_py_bytecodes *self, struct tp_py_bytecode *out,
		       const struct tp_py_code *code, const uint8_t *head)
{
	uint64_t at;
	uint64_t size;
	struct tp_py_for_loop found[MAX_LOOPS];
	if (!locate(self, head, code->address, &at, &size))
		return;
	size = size < MAX_CODE_BYTES ? size : MAX_CODE_BYTES;
	uint8_t *bytes = tp_alloc((size_t)size + 1);
	if (tp_py_memory_get(self->mem, at, bytes, (size_t)size))
		out->n_loops = tp_py_bytecode_find_loops(self->layout->minor, bytes, (size_t)size,
							 found, MAX_LOOPS);
	free(bytes);
	if (out->n_loops == 0)
		return;
	out->loops = tp_alloc(out->n_loops * sizeof(*out->loops));
	memcpy(out->loops, found, out->n_loops * sizeof(*out->loops));
	for (size_t i = 0; i < out->n_loops; i++)
		out->loops[i].line = tp_py_line_table_find(&code->lines, out->loops[i].start);
}

static void load(struct tp_py_bytecodes *self, struct tp_py_bytecode *out,
		 const struct tp_py_code *code)
{
	const struct tp_py_layout *layout = self->layout;
	uint8_t head[TP_PY_LAYOUT_MAX_CODE_BYTES];
	*out = (struct tp_py_bytecode){.identity = code->identity};
	if (!tp_py_memory_get(self->mem, code->address, head, tp_py_layout_code_bytes(layout)))
		return;
	uint64_t n_locals = tp_py_memory_u32(head + layout->code_n_locals);
	uint32_t n_stack = tp_py_memory_u32(head + layout->code_stack_size);
	n_locals += length_of(self, head, layout->code_cells);
	n_locals += length_of(self, head, layout->code_free);
	if (n_locals > MAX_LOCALS || n_stack > MAX_STACK)
		return;
	out->n_locals = (uint32_t)n_locals;
	out->n_stack = n_stack;
	out->local_names = tp_py_memory_u64(head + layout->code_local_names);
	out->names = tp_py_memory_u64(head + layout->code_names);
	load_loops(self, out, code, head);
}

const struct tp_py_bytecode *tp_py_bytecodes_get(struct tp_py_bytecodes *self,
						 const struct tp_py_code *code)
{
	uint64_t index;
	bool is_known = tp_map_get(&self->by_address, code->address, &index);
	if (is_known && self->items[index].identity == code->identity)
		return &self->items[index];
	if (!is_known) {
		if (self->n >= MAX_ITEMS)
			clear(self);
		index = self->n;
		tp_map_set(&self->by_address, code->address, index);
		TP_ARRAY_PUSH(self->items, self->n, self->capacity) = (struct tp_py_bytecode){0};
	}
	free(self->items[index].loops);
	load(self, &self->items[index], code);
	return &self->items[index];
}
