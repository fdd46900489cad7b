/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers variables, and learns which of them are counters. */
#include "py_counter_slot.h"

#include "py_number.h"
#include "stack/python/py_text.h"

#include "trainprof/base/memory.h"

#include <string.h>

enum {
	WORD = 8,
	MAX_SLOTS = 1 << 16,
	MAX_BAD = 4, /* number of changes that do not fit a counter */
	TAGS = 7,    /* 3.14: low bits of _PyStackRef; objects are aligned */
};

static const uint64_t highest_address = UINT64_C(1) << 56;

/* Returns the first of the `n` slots of a key, which are new at first. */
static uint64_t slots_of_key(struct tp_py_counters *self, uint64_t key, uint32_t n)
{
	uint64_t first;
	if (tp_map_get(&self->by_key, key, &first))
		return first;
	if (self->n_slots + n > MAX_SLOTS)
		return TP_PY_COUNTER_NO_SLOT;
	first = self->n_slots;
	tp_map_set(&self->by_key, key, first);
	for (uint32_t i = 0; i < n; i++)
		TP_ARRAY_PUSH(self->slots, self->n_slots, self->capacity) =
			(struct tp_py_counter_slot){0};
	return first;
}

uint64_t tp_py_counter_slot_of(struct tp_py_counters *self, const struct tp_py_code *code,
			       uint64_t variable)
{
	return slots_of_key(self, tp_hash_mix(code->address, variable), 1);
}

uint64_t tp_py_counter_slots_of_locals(struct tp_py_counters *self, const struct tp_py_code *code,
				       uint32_t *n)
{
	*n = tp_py_bytecodes_get(&self->bytecodes, code)->n_locals;
	if (*n < TP_PY_COUNTER_MIN_LOCALS)
		*n = TP_PY_COUNTER_MIN_LOCALS;
	if (*n > TP_PY_COUNTER_MAX_LOCALS)
		*n = TP_PY_COUNTER_MAX_LOCALS;
	return slots_of_key(self, tp_hash_mix(code->address, ~(uint64_t)*n), *n);
}

bool tp_py_counter_is_row_given_up(struct tp_py_counters *self, uint64_t first, uint32_t n)
{
	if (first == TP_PY_COUNTER_NO_SLOT || n == 0 || self->slots[first].is_row_given_up)
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (!tp_py_counter_is_given_up(self, first + i))
			return false;
	return self->slots[first].is_row_given_up = true;
}

bool tp_py_counter_is_given_up(const struct tp_py_counters *self, uint64_t index)
{
	if (index == TP_PY_COUNTER_NO_SLOT)
		return true;
	const struct tp_py_counter_slot *slot = &self->slots[index];
	return slot->n_misses >= TP_PY_COUNTER_MAX_FAILED ||
	       (slot->n_odd > MAX_BAD && slot->n_odd > slot->n_counted);
}

bool tp_py_counter_number(const struct tp_py_counters *self, const uint8_t *object, uint64_t *value)
{
	return tp_py_memory_u64(object + self->layout->object_type) == self->int_type &&
	       tp_py_number_parse(self->layout, object, value);
}

/* A variable may grow by the size of a batch in each round: all growths are multiples of it. The
 * first growth is a multiple of itself, which shows nothing. */
static bool is_by_stride(struct tp_py_counter_slot *slot, uint64_t growth)
{
	bool is_first = slot->stride == 0;
	uint64_t common = growth;
	for (uint64_t rest, b = slot->stride; b; b = rest) { /* greatest common divisor */
		rest = common % b;
		common = b;
	}
	slot->stride = common;
	return !is_first && growth / common <= TP_PY_COUNTER_MAX_GROWTH;
}

bool tp_py_counter_update(struct tp_py_counters *self, uint64_t index, uint64_t value,
			  uint64_t max_growth)
{
	struct tp_py_counter_slot *slot = &self->slots[index];
	bool is_new = !slot->has_value || value != slot->value;
	if (slot->has_value && is_new) {
		uint64_t growth = value > slot->value ? value - slot->value : 0;
		bool is_first = growth > 0 && slot->stride == 0;
		bool is_counted =
			growth > 0 && (is_by_stride(slot, growth) || growth <= max_growth);
		bool is_begun_anew = value <= 1;
		slot->n_counted += is_counted;
		slot->n_odd += !is_counted && !is_begun_anew && !is_first;
	}
	slot->has_value = true;
	slot->value = value;
	return is_new && !tp_py_counter_is_given_up(self, index);
}

bool tp_py_counter_stack_words(struct tp_py_counters *self, const struct tp_py_stack *stack,
			       uint64_t address, uint64_t *out, size_t n)
{
	const uint8_t *kept = tp_py_copy_latest(&stack->copy, address, n * WORD);
	if (!kept)
		return tp_py_memory_get(self->mem, address, out, n * WORD);
	memcpy(out, kept, n * WORD);
	return true;
}

uint64_t tp_py_counter_object(const struct tp_py_counters *self, uint64_t word)
{
	return self->layout->minor >= 14 ? word & ~(uint64_t)TAGS : word;
}

bool tp_py_counter_is_code(const struct tp_py_counters *self, uint64_t word,
			   const struct tp_py_code *code)
{
	return tp_py_counter_object(self, word) == code->address;
}

bool tp_py_counter_is_address(uint64_t word)
{
	return word % WORD == 0 && word >= UINT64_C(4096) && word < highest_address;
}

const char *tp_py_counter_text(struct tp_py_counters *self, uint64_t address)
{
	if (!tp_py_text_read(&self->scratch, self->mem, self->layout, address))
		return NULL;
	return tp_strtab_text(&self->names,
			      tp_strtab_intern_len(&self->names, tp_buf_text(&self->scratch),
						   self->scratch.len));
}

const char *tp_py_counter_name_in(struct tp_py_counters *self, uint64_t tuple, uint32_t number)
{
	uint64_t n;
	uint64_t text;
	uint64_t at = tuple + self->layout->object_size;
	if (tuple == 0 || !tp_py_memory_get_u64(self->mem, at, &n) || number >= n ||
	    !tp_py_memory_get_u64(self->mem, at + WORD + (uint64_t)WORD * number, &text))
		return NULL;
	return tp_py_counter_text(self, text);
}

void tp_py_counter_note_address(struct tp_py_counters *self, uint64_t address)
{
	if (self->n_read < TP_PY_COUNTERS_MAX_ADDRESSES)
		self->read_at[self->n_read++] = address;
}
