/* Reads local variables that hold whole numbers, and learns which of them count something. */
#include "pycounter.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* Loops of training are called by few: frames of the model's layers are not looked at. */
	MAX_FRAMES = 16,
	MAX_LOCALS = 16, /* of a frame; what lies behind the last one is soon given up */
	MAX_READ = 64,   /* numbers by one call */
	MAX_SLOTS = 1 << 16,
	MAX_MISSES = 4,  /* times that a variable was no number */
	MAX_ODD = 4,     /* changes that no counter makes */
	MAX_GROWTH = 16, /* between two readings: faster ones count no steps */
	INT_BYTES = 32,
	DIGIT_BITS = 30,
	SIZE_SHIFT = 3, /* from 3.12 on the size has flags below it; sign: 0 positive, 1 zero */
	SIGN_BITS = 3,
	TAGS = 7, /* 3.14: low bits of _PyStackRef */
	WORD = 8,
};

#define NO_SLOT UINT64_MAX

static const uint64_t highest_address = UINT64_C(1) << 56;

struct tp_pycounter_slot {
	uint64_t value;
	bool has_value;
	uint8_t n_misses;
	uint32_t n_counted; /* changes that a counter makes */
	uint32_t n_odd;
};

/* The variables of one frame, read before the objects in them and after. */
struct locals {
	const struct tp_pycode *code;
	uint64_t address;
	size_t size; /* bytes */
	uint64_t words[MAX_LOCALS];
	uint64_t again[MAX_LOCALS];
};

/* A variable that is looked at in this reading. */
struct pending {
	const struct locals *locals;
	uint32_t local;
	uint64_t slot;
	uint8_t object[INT_BYTES];
};

void tp_pycounters_init(struct tp_pycounters *self, struct tp_pymem *mem,
			const struct tp_pylayout *layout, uint64_t int_type)
{
	*self = (struct tp_pycounters){.mem = mem, .layout = layout, .int_type = int_type};
}

void tp_pycounters_release(struct tp_pycounters *self)
{
	free(self->slots);
	tp_map_release(&self->by_key);
}

/* Its number; NO_SLOT once there are too many. */
static uint64_t slot_of(struct tp_pycounters *self, const struct tp_pycode *code, uint32_t local)
{
	uint64_t key = tp_hash_mix(code->address, local);
	uint64_t index;
	if (tp_map_get(&self->by_key, key, &index))
		return index;
	if (self->n_slots == MAX_SLOTS)
		return NO_SLOT;
	tp_map_set(&self->by_key, key, self->n_slots);
	TP_ARRAY_PUSH(self->slots, self->n_slots, self->capacity) = (struct tp_pycounter_slot){0};
	return self->n_slots - 1;
}

static bool is_given_up(const struct tp_pycounters *self, uint64_t index)
{
	if (index == NO_SLOT)
		return true;
	const struct tp_pycounter_slot *slot = &self->slots[index];
	return slot->n_misses >= MAX_MISSES ||
	       (slot->n_odd > MAX_ODD && slot->n_odd > slot->n_counted);
}

static bool has_candidates(struct tp_pycounters *self, const struct tp_pycode *code)
{
	for (uint32_t local = 0; local < MAX_LOCALS; local++)
		if (!is_given_up(self, slot_of(self, code, local)))
			return true;
	return false;
}

/* ---- numbers ---- */

static bool take_number(const struct tp_pycounters *self, const uint8_t *object, uint64_t *value)
{
	const struct tp_pylayout *layout = self->layout;
	uint64_t size = tp_pymem_u64(object + layout->object_size);
	if (tp_pymem_u64(object + layout->object_type) != self->int_type)
		return false;
	if (layout->minor >= 12) {
		if ((size & SIGN_BITS) > 1)
			return false;
		size = size & 1 ? 0 : size >> SIZE_SHIFT;
	}
	if (size > 2)
		return false;
	const uint8_t *digits = object + layout->object_size + WORD;
	*value = size > 0 ? tp_pymem_u32(digits) : 0;
	if (size > 1)
		*value |= (uint64_t)tp_pymem_u32(digits + 4) << DIGIT_BITS;
	return true;
}

/* Whether it is a counter's number that was not told yet. */
static bool learn(struct tp_pycounters *self, const struct pending *pending, uint64_t *value)
{
	struct tp_pycounter_slot *slot = &self->slots[pending->slot];
	if (!take_number(self, pending->object, value)) {
		slot->n_misses += !slot->has_value;
		return false;
	}
	bool is_new = !slot->has_value || *value != slot->value;
	if (slot->has_value && is_new) {
		bool is_counted = *value > slot->value && *value - slot->value <= MAX_GROWTH;
		bool is_begun_anew = *value <= 1;
		slot->n_counted += is_counted;
		slot->n_odd += !is_counted && !is_begun_anew;
	}
	slot->has_value = true;
	slot->value = *value;
	return is_new && !is_given_up(self, pending->slot);
}

/* ---- reading ---- */

static bool is_address(uint64_t word)
{
	return word % WORD == 0 && word >= UINT64_C(4096) && word < highest_address;
}

/* Frames in chunks lie one behind the other: the variables of one end where the next begins. */
static size_t locals_size(const struct tp_pystack *stack, size_t at, uint64_t address)
{
	uint64_t size = sizeof(((struct locals *)NULL)->words);
	for (size_t i = 0; i < at; i++) {
		uint64_t next = stack->frames[i].address;
		if (next >= address && next - address < size)
			size = next - address;
	}
	return (size_t)size;
}

/* Of the outermost frames that have some; by one call. */
static size_t read_locals(struct tp_pycounters *self, const struct tp_pystack *stack,
			  const struct tp_pycode_cache *codes, struct locals *out)
{
	struct tp_pymem_piece pieces[MAX_FRAMES];
	size_t n = 0;
	for (size_t i = stack->n_frames, met = 0; i > 0 && met < MAX_FRAMES; i--, met++) {
		const struct tp_pystack_frame *frame = &stack->frames[i - 1];
		const struct tp_pycode *code = tp_pycode_get(codes, frame->code);
		if (!code || !has_candidates(self, code))
			continue;
		out[n] = (struct locals){.code = code};
		out[n].address = frame->address + self->layout->frame_size;
		out[n].size = locals_size(stack, i - 1, out[n].address);
		if (out[n].size == 0)
			continue;
		pieces[n] = (struct tp_pymem_piece){out[n].address, out[n].words, out[n].size};
		n++;
	}
	return n ? self->mem->read(self->mem, pieces, n) : 0;
}

static size_t collect(struct tp_pycounters *self, const struct locals *locals, size_t n,
		      struct pending *pending, struct tp_pymem_piece *pieces)
{
	size_t n_pending = 0;
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < MAX_LOCALS && n_pending < MAX_READ; k++) {
			uint64_t word = locals[i].words[k];
			if (self->layout->minor >= 14)
				word &= ~(uint64_t)TAGS;
			uint64_t slot = slot_of(self, locals[i].code, k);
			if (word == 0 || is_given_up(self, slot))
				continue;
			if (!is_address(word)) {
				self->slots[slot].n_misses = MAX_MISSES;
				continue;
			}
			pending[n_pending].locals = &locals[i];
			pending[n_pending].local = k;
			pending[n_pending].slot = slot;
			pieces[n_pending] =
				(struct tp_pymem_piece){word, pending[n_pending].object, INT_BYTES};
			n_pending++;
		}
	return n_pending;
}

/* Whose object is still in it was not set meanwhile: so the object was alive. */
static bool held(const struct pending *pending)
{
	const struct locals *locals = pending->locals;
	return locals->words[pending->local] == locals->again[pending->local];
}

/* By one call: the objects, then the variables again. */
static bool read_objects(struct tp_pycounters *self, struct locals *locals, size_t n,
			 const struct pending *pending, struct tp_pymem_piece *pieces,
			 size_t n_objects)
{
	size_t n_pieces = n_objects;
	for (size_t i = 0; i < n; i++)
		pieces[n_pieces++] =
			(struct tp_pymem_piece){locals[i].address, locals[i].again, locals[i].size};
	size_t n_read = self->mem->read(self->mem, pieces, n_pieces);
	/* What cannot be read is no object; the others have their turn the next time. */
	if (n_read < n_objects)
		self->slots[pending[n_read].slot].n_misses = MAX_MISSES;
	return n_read == n_pieces;
}

size_t tp_pycounters_read(struct tp_pycounters *self, const struct tp_pystack *stack,
			  const struct tp_pycode_cache *codes, struct tp_python_counter *out,
			  size_t max)
{
	struct locals locals[MAX_FRAMES];
	struct pending pending[MAX_READ];
	struct tp_pymem_piece pieces[MAX_READ + MAX_FRAMES];
	size_t n_told = 0;
	if (self->int_type == 0)
		return 0;
	size_t n = read_locals(self, stack, codes, locals);
	size_t n_objects = collect(self, locals, n, pending, pieces);
	if (n_objects == 0 || !read_objects(self, locals, n, pending, pieces, n_objects))
		return 0;
	for (size_t i = 0; i < n_objects && n_told < max; i++) {
		uint64_t value;
		const struct tp_pycode *code = pending[i].locals->code;
		if (!held(&pending[i]) || !learn(self, &pending[i], &value))
			continue;
		out[n_told++] = (struct tp_python_counter){.file = code->file,
							   .name = code->name,
							   .first_line = code->first_line,
							   .local = pending[i].local,
							   .value = value};
	}
	return n_told;
}
