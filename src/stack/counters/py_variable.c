/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whole numbers in variables. A variable that had the same object before and after the object
 * was read held it meanwhile. */
#include "py_variable.h"

#include "py_counter_slot.h"
#include "py_number.h"

#include <string.h>

enum {
	MAX_READ = TP_PY_COUNTERS_MAX_READ,
	LOCALS_BYTES = TP_PY_COUNTER_MAX_LOCALS * 8,
	MAX_BYTES = TP_PY_COUNTER_MAX_FRAMES * LOCALS_BYTES +
		    TP_PY_COUNTERS_MAX_BODIES * TP_PY_GLOBALS_MAX_BYTES,
	WORD = 8,
};

/* The variables of one frame as bytes of its memory, read before the objects in them and again
 * after. */
struct variables {
	const struct tp_py_code *code;
	const struct tp_py_globals *globals; /* NULL = local variables */
	uint64_t address;
	uint64_t code_again; /* of the frame, read again: its memory may belong to another call */
	uint64_t first_slot; /* of local variables */
	size_t stride;       /* bytes from one variable to the next */
	size_t value_at;     /* byte offset of the value in an entry */
	size_t n;
	const uint8_t *bytes;
	uint8_t *again;
	uint64_t table_again; /* table of the globals, read again */
};

/* Variables of all frames that are examined in this reading. */
struct snapshot {
	struct variables of[TP_PY_COUNTER_MAX_FRAMES];
	size_t n;
	size_t n_bodies;
	size_t used;
	uint8_t bytes[MAX_BYTES];
	uint8_t again[MAX_BYTES];
};

/* A variable that is examined in this reading. */
struct pending {
	const struct variables *variables;
	size_t index;
	uint64_t slot;
	uint8_t object[TP_PY_NUMBER_BYTES];
};

/* Frames in chunks are contiguous: the variables of one end where the next begins. */
static size_t locals_size(const struct tp_py_stack *stack, size_t at, uint64_t address, uint32_t n)
{
	uint64_t size = (uint64_t)WORD * n;
	for (size_t i = 0; i < at; i++) {
		uint64_t next = stack->frames[i].address;
		if (next >= address && next - address < size)
			size = next - address;
	}
	return (size_t)size;
}

static void add(struct snapshot *snapshot, struct variables variables)
{
	variables.bytes = snapshot->bytes + snapshot->used;
	variables.again = snapshot->again + snapshot->used;
	snapshot->used += variables.n * variables.stride;
	snapshot->of[snapshot->n++] = variables;
}

/* Only the outermost bodies are read: a module that is imported runs no training loop. */
static void add_body(struct tp_py_counters *self, const struct tp_py_stack_frame *frame,
		     const struct tp_py_code *code, struct snapshot *snapshot)
{
	if (snapshot->n_bodies == TP_PY_COUNTERS_MAX_BODIES)
		return;
	struct tp_py_counter_body *body = &self->bodies[snapshot->n_bodies++];
	struct tp_py_globals *globals = &body->globals;
	uint8_t *bytes = snapshot->bytes + snapshot->used;
	if (!tp_py_globals_read(globals, self->mem, self->layout, frame->address, bytes))
		return;
	body->look = self->n_looks;
	body->n_last =
		globals->n < TP_PY_COUNTERS_BODY_LAST ? globals->n : TP_PY_COUNTERS_BODY_LAST;
	memcpy(body->last, bytes + (globals->n - body->n_last) * globals->entry_bytes,
	       body->n_last * globals->entry_bytes);
	add(snapshot, (struct variables){.code = code,
					 .globals = globals,
					 .address = globals->address,
					 .stride = globals->entry_bytes,
					 .value_at = globals->key_at + WORD,
					 .n = globals->n});
}

/* Reads the variables of the outermost frames that have candidates; the local ones from the copy of
 * the stack, or by one call. */
static bool read_variables(struct tp_py_counters *self, const struct tp_py_stack *stack,
			   const struct tp_py_code_cache *codes, struct snapshot *out)
{
	struct tp_process_range pieces[TP_PY_COUNTER_MAX_FRAMES];
	size_t n = 0;
	for (size_t i = stack->n_frames, met = 0; i > 0 && met < TP_PY_COUNTER_MAX_FRAMES;
	     i--, met++) {
		const struct tp_py_stack_frame *frame = &stack->frames[i - 1];
		const struct tp_py_code *code = tp_py_code_get(codes, frame->code);
		if (code && code->is_body)
			add_body(self, frame, code, out);
		if (!code || code->is_body)
			continue;
		uint32_t n_read;
		uint64_t first_slot = tp_py_counter_slots_of_locals(self, code, &n_read);
		if (tp_py_counter_is_row_given_up(self, first_slot, n_read))
			continue;
		uint64_t address = frame->address + self->layout->frame_size;
		size_t size = locals_size(stack, i - 1, address, n_read);
		if (size == 0)
			continue;
		const uint8_t *kept = tp_py_copy_latest(&stack->copy, address, size);
		if (kept)
			memcpy(out->bytes + out->used, kept, size);
		else
			pieces[n++] =
				(struct tp_process_range){address, out->bytes + out->used, size};
		add(out, (struct variables){.code = code,
					    .address = address,
					    .first_slot = first_slot,
					    .stride = WORD,
					    .n = size / WORD});
	}
	return n == 0 || self->mem->read(self->mem, pieces, n) == n;
}

/* Returns the address of the name of a global variable. */
static uint64_t name_of(const struct variables *variables, size_t index)
{
	const uint8_t *entry = variables->bytes + index * variables->stride;
	return tp_py_memory_u64(entry + variables->globals->key_at);
}

static uint64_t word_of(const struct variables *variables, size_t index)
{
	return tp_py_memory_u64(variables->bytes + index * variables->stride + variables->value_at);
}

/* Returns the address of the object if it may hold a number; 0 if the variable is skipped. */
static uint64_t object_of(struct tp_py_counters *self, const struct variables *variables,
			  size_t index, uint64_t *slot)
{
	uint64_t word = word_of(variables, index);
	if (!variables->globals)
		word = tp_py_counter_object(self, word);
	*slot = variables->globals
			? tp_py_counter_slot_of(self, variables->code, name_of(variables, index))
			: variables->first_slot + index;
	if (word == 0 || tp_py_counter_is_given_up(self, *slot))
		return 0;
	if (tp_py_counter_is_address(word))
		return word;
	self->slots[*slot].n_misses = TP_PY_COUNTER_MAX_FAILED;
	return 0;
}

static size_t collect_of(struct tp_py_counters *self, const struct variables *variables,
			 struct pending *pending, struct tp_process_range *pieces, size_t max)
{
	size_t n = 0;
	size_t from = variables->globals && variables->n ? self->turn % variables->n : 0;
	for (size_t i = 0; i < variables->n; i++) {
		uint64_t slot;
		size_t index = (from + i) % variables->n;
		uint64_t object = object_of(self, variables, index, &slot);
		if (object == 0)
			continue;
		if (n == max) {
			self->turn = variables->globals ? index : 0;
			break;
		}
		pending[n].variables = variables;
		pending[n].index = index;
		pending[n].slot = slot;
		pieces[n] =
			(struct tp_process_range){object, pending[n].object, TP_PY_NUMBER_BYTES};
		n++;
	}
	return n;
}

/* Local variables first: they are few. */
static size_t collect(struct tp_py_counters *self, const struct snapshot *snapshot,
		      struct pending *pending, struct tp_process_range *pieces)
{
	size_t n = 0;
	for (int globals = 0; globals <= 1; globals++)
		for (size_t i = 0; i < snapshot->n; i++)
			if ((snapshot->of[i].globals != NULL) == globals)
				n += collect_of(self, &snapshot->of[i], pending + n, pieces + n,
						MAX_READ - n);
	return n;
}

/* If a variable still has the same object, it was not set meanwhile: so the object was alive. */
static bool held(const struct tp_py_counters *self, const struct pending *pending)
{
	const struct variables *v = pending->variables;
	size_t at = pending->index * v->stride;
	bool is_same_place = v->globals ? v->table_again == v->globals->table
					: tp_py_counter_is_code(self, v->code_again, v->code);
	return is_same_place && memcmp(v->bytes + at, v->again + at, v->stride) == 0;
}

static void give_up(struct tp_py_counters *self, const struct pending *pending, size_t n,
		    const void *object)
{
	for (size_t i = 0; i < n; i++)
		if (pending[i].object == object)
			self->slots[pending[i].slot].n_misses = TP_PY_COUNTER_MAX_FAILED;
}

/* Reads, by one call, the objects and then the variables again: by address, the code of a frame
 * before its variables, so that what is on one page of the stack is read as one range. */
static bool read_objects(struct tp_py_counters *self, struct snapshot *snapshot,
			 const struct pending *pending, struct tp_process_range *pieces,
			 size_t n_objects)
{
	size_t n = n_objects;
	tp_py_memory_sort(pieces, n_objects);
	for (size_t i = 0; i < snapshot->n; i++) {
		struct variables *v = &snapshot->of[i];
		if (v->globals)
			pieces[n++] = (struct tp_process_range){v->globals->dictionary +
									self->layout->dict_keys,
								&v->table_again, WORD};
		else
			pieces[n++] =
				(struct tp_process_range){v->address - self->layout->frame_size +
								  self->layout->frame_code,
							  &v->code_again, WORD};
		pieces[n++] = (struct tp_process_range){v->address, v->again, v->n * v->stride};
	}
	size_t n_read = self->mem->read(self->mem, pieces, n);
	/* An address that cannot be read is no object; the others are read the next time. */
	if (n_read < n_objects)
		give_up(self, pending, n_objects, pieces[n_read].out);
	return n_read == n;
}

/* Returns the name of a variable, which is read once; NULL = it cannot be read. */
static const char *text_of(struct tp_py_counters *self, const struct pending *pending)
{
	const struct variables *variables = pending->variables;
	struct tp_py_counter_slot *slot = &self->slots[pending->slot];
	if (slot->name)
		return slot->name;
	if (variables->globals)
		slot->name = tp_py_counter_text(self, name_of(variables, pending->index));
	else
		slot->name = tp_py_counter_name_in(
			self, tp_py_bytecodes_get(&self->bytecodes, variables->code)->local_names,
			(uint32_t)pending->index);
	return slot->name;
}

/* Returns the address of the pointer to the variable's number. */
static uint64_t address_of(const struct pending *pending)
{
	const struct variables *v = pending->variables;
	return v->address + pending->index * v->stride + v->value_at;
}

static bool update_value(struct tp_py_counters *self, const struct pending *pending,
			 uint64_t *value)
{
	struct tp_py_counter_slot *slot = &self->slots[pending->slot];
	if (!tp_py_counter_number(self, pending->object, value)) {
		slot->n_misses += !slot->has_value;
		return false;
	}
	return tp_py_counter_update(self, pending->slot, *value, TP_PY_COUNTER_MAX_GROWTH);
}

static struct tp_python_counter counter_of(struct tp_py_counters *self,
					   const struct pending *pending, uint64_t value)
{
	const struct variables *variables = pending->variables;
	return (struct tp_python_counter){
		.file = variables->code->file,
		.name = variables->code->name,
		.first_line = variables->code->first_line,
		.variable = text_of(self, pending),
		.local = (uint32_t)(variables->globals ? pending->slot : pending->index),
		.kind = TP_PYTHON_COUNTER_VARIABLE,
		.value = value,
		.address = address_of(pending),
		.width = WORD,
		.is_object = true,
	};
}

size_t tp_py_variables_read(struct tp_py_counters *self, const struct tp_py_stack *stack,
			    const struct tp_py_code_cache *codes, struct tp_python_counter *out,
			    size_t max)
{
	struct snapshot snapshot;
	struct pending pending[MAX_READ];
	struct tp_process_range
		pieces[MAX_READ + 2 * TP_PY_COUNTER_MAX_FRAMES + TP_PY_COUNTERS_MAX_BODIES];
	size_t n_found = 0;
	snapshot.n = snapshot.n_bodies = snapshot.used = 0;
	if (!read_variables(self, stack, codes, &snapshot))
		return 0;
	size_t n_objects = collect(self, &snapshot, pending, pieces);
	if (n_objects == 0 || !read_objects(self, &snapshot, pending, pieces, n_objects))
		return 0;
	for (size_t i = 0; i < n_objects && n_found < max; i++) {
		uint64_t value;
		if (!held(self, &pending[i]))
			continue;
		tp_py_counter_note_address(self, address_of(&pending[i]));
		if (update_value(self, &pending[i], &value))
			out[n_found++] = counter_of(self, &pending[i], value);
	}
	return n_found;
}
