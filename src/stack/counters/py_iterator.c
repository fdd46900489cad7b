/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the fields of CPython's own iterators. */
#include "py_iterator.h"

#include "trainprof/base/memory.h"

#include <string.h>

enum {
	WORD = 8,
	TAGS = 7,       /* 3.14: low bits of _PyStackRef */
	MAX_FOLLOW = 6, /* length of a chain of iterators that read from each other */
	ITERATOR_BYTES = 48,
	TUPLE_ITEMS = 24,
	RANGE_START = 16, /* _PyRangeIterObject from 3.12 on */
	RANGE_STEP = 24,
	RANGE_LENGTH = 32,
	ENUMERATE_INNER = 24,
};

enum iterator_form { COUNTS, FALLS, RANGE, ENUMERATE, FOLLOW, FOLLOW_TUPLE, GENERATOR };
enum total_form {
	NO_TOTAL,
	TOTAL,
	LEFT,
	SIZE
}; /* a field; a field to add to the position; the size of the object that a field points to */

/* Found by the name of the type; `field` is an offset in the object, the same from 3.8 to 3.14 if
 * no version is given. */
struct iterator_row {
	const char *name;
	enum iterator_form form;
	uint8_t field;
	uint8_t minor_max; /* 0 = all versions */
	enum total_form total_form;
	uint8_t total_field;
};

static const struct iterator_row rows[] = {
	{"range_iterator", COUNTS, 16, 11, TOTAL, 40},
	{"range_iterator", RANGE, 0, 0, LEFT, 32},
	{"list_iterator", COUNTS, 16, 0, SIZE, 24},
	{"list_reverseiterator", FALLS, 16, 0, SIZE, 24},
	{"tuple_iterator", COUNTS, 16, 0, SIZE, 24},
	{"str_iterator", COUNTS, 16, 0, SIZE, 24},
	{"str_ascii_iterator", COUNTS, 16, 0, SIZE, 24},
	{"bytes_iterator", COUNTS, 16, 0, SIZE, 24},
	{"bytearray_iterator", COUNTS, 16, 0, SIZE, 24},
	{"iterator", COUNTS, 16, 0, NO_TOTAL, 0},
	{"arrayiterator", COUNTS, 16, 0, NO_TOTAL, 0},
	{"reversed", FALLS, 16, 0, NO_TOTAL, 0},
	{"enumerate", ENUMERATE, 16, 0, NO_TOTAL, 0},
	{"dict_keyiterator", COUNTS, 32, 0, LEFT, 48},
	{"dict_valueiterator", COUNTS, 32, 0, LEFT, 48},
	{"dict_itemiterator", COUNTS, 32, 0, LEFT, 48},
	{"set_iterator", FALLS, 40, 0, TOTAL, 24},
	{"zip", FOLLOW_TUPLE, 24, 0, NO_TOTAL, 0},
	{"map", FOLLOW_TUPLE, 16, 0, NO_TOTAL, 0},
	{"filter", FOLLOW, 24, 0, NO_TOTAL, 0},
	{"itertools.count", COUNTS, 16, 0, NO_TOTAL, 0},
	{"itertools.islice", COUNTS, 48, 0, NO_TOTAL, 0},
	{"itertools.repeat", FALLS, 24, 0, NO_TOTAL, 0},
	{"itertools.chain", FOLLOW, 24, 0, NO_TOTAL, 0},
	{"itertools.starmap", FOLLOW, 24, 0, NO_TOTAL, 0},
	{"itertools.takewhile", FOLLOW, 24, 0, NO_TOTAL, 0},
	{"itertools.dropwhile", FOLLOW, 24, 0, NO_TOTAL, 0},
	{"itertools.filterfalse", FOLLOW, 24, 0, NO_TOTAL, 0},
	{"itertools.accumulate", FOLLOW, 24, 0, NO_TOTAL, 0},
	{"itertools.zip_longest", FOLLOW_TUPLE, 32, 0, NO_TOTAL, 0},
	{"itertools.batched", FOLLOW, 16, 0, NO_TOTAL, 0},
	{"itertools.pairwise", FOLLOW, 16, 0, NO_TOTAL, 0},
	{"itertools.cycle", FOLLOW, 16, 0, NO_TOTAL, 0},
	{"generator", GENERATOR, 0, 0, NO_TOTAL, 0},
};

static const struct iterator_row *row_of(const struct tp_py_type *type, unsigned minor)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, type->name) == 0 &&
		    (rows[i].minor_max == 0 || minor <= rows[i].minor_max))
			return &rows[i];
	return NULL;
}

static uint64_t clear_tags(const struct tp_py_iterators *self, uint64_t word)
{
	return self->layout->minor >= 14 ? word & ~(uint64_t)TAGS : word;
}

/* Searches the value stack from its bottom for the loops' iterators; with blocks leave other
 * objects there. */
size_t tp_py_iterators_live(struct tp_py_iterators *self, const struct tp_py_bytecode *bytecode,
			    uint32_t offset, const uint64_t *words, size_t n_words,
			    struct tp_py_live_loop out[TP_PY_ITERATOR_MAX_LIVE])
{
	size_t n = 0;
	size_t at = 0;
	for (size_t i = 0; i < bytecode->n_loops && n < TP_PY_ITERATOR_MAX_LIVE; i++) {
		const struct tp_py_for_loop *loop = &bytecode->loops[i];
		if (offset < loop->start || offset >= loop->end)
			continue;
		const struct tp_py_type *type = NULL;
		for (; at < n_words; at++) {
			type = tp_py_attributes_type(self->attributes, clear_tags(self, words[at]));
			if (type && type->is_iterator)
				break;
		}
		if (at == n_words)
			break;
		out[n++] = (struct tp_py_live_loop){*loop, at, clear_tags(self, words[at])};
		at++;
	}
	return n;
}

/* ---- generators ---- */

static bool find_frame(struct tp_py_iterators *self, uint64_t generator, uint64_t *frame)
{
	*frame = generator + self->layout->generator_frame;
	return self->layout->minor >= 11 ||
	       (tp_py_memory_get_u64(self->mem, *frame, frame) && *frame);
}

static const struct tp_py_code *code_of(struct tp_py_iterators *self, const uint8_t *frame)
{
	uint64_t address = clear_tags(self, tp_py_memory_u64(frame + self->layout->frame_code));
	const struct tp_py_code *code = tp_py_code_get(self->codes, address);
	if (code || address == 0)
		return code;
	tp_py_code_request(self->codes, address);
	if (tp_py_code_read(self->codes) == TP_PY_CODE_BAD)
		return NULL;
	return tp_py_code_get(self->codes, address);
}

static uint32_t offset_of(const struct tp_py_iterators *self, const struct tp_py_code *code,
			  const uint8_t *frame)
{
	const struct tp_py_layout *layout = self->layout;
	if (layout->minor >= 11)
		return (uint32_t)(tp_py_memory_u64(frame + layout->frame_instr) - code->bytecode);
	return tp_py_memory_u32(frame + layout->frame_instr) * (layout->minor == 10 ? 2 : 1);
}

/* Finds the iterator of the innermost running loop of a suspended generator; returns false if it is
 * suspended outside of loops. */
static bool follow_suspended(struct tp_py_iterators *self, uint64_t object, uint64_t *next)
{
	uint64_t frame;
	uint8_t bytes[TP_PY_LAYOUT_MAX_FRAME_BYTES];
	uint64_t words[TP_PY_ITERATOR_MAX_STACK];
	struct tp_py_live_loop live[TP_PY_ITERATOR_MAX_LIVE];
	if (!find_frame(self, object, &frame) ||
	    !tp_py_memory_get(self->mem, frame, bytes, tp_py_layout_frame_bytes(self->layout)))
		return false;
	const struct tp_py_code *code = code_of(self, bytes);
	const struct tp_py_bytecode *bytecode =
		code ? tp_py_bytecodes_get(self->bytecodes, code) : NULL;
	if (!bytecode || bytecode->n_loops == 0 || bytecode->n_stack > TP_PY_ITERATOR_MAX_STACK)
		return false;
	uint64_t at = frame + self->layout->frame_size + (uint64_t)WORD * bytecode->n_locals;
	if (!tp_py_memory_get(self->mem, at, words, WORD * (size_t)bytecode->n_stack))
		return false;
	size_t n = tp_py_iterators_live(self, bytecode, offset_of(self, code, bytes), words,
					bytecode->n_stack, live);
	if (n == 0)
		return false;
	*next = live[n - 1].object;
	return true;
}

/* ---- fields ---- */

static bool read_field(struct tp_py_iterators *self, struct tp_py_position *out, uint64_t field,
		       bool is_falling)
{
	out->address = out->object + field;
	out->is_falling = is_falling;
	/* A reverse iterator is at -1 in its last iteration. */
	return tp_py_memory_get_u64(self->mem, out->address, &out->value) &&
	       (out->value <= INT64_MAX || (is_falling && out->value == UINT64_MAX));
}

/* From 3.12 on it has the next number and how many are left, but no position. */
static bool read_range(struct tp_py_iterators *self, struct tp_py_position *out)
{
	uint8_t bytes[ITERATOR_BYTES];
	if (!tp_py_memory_get(self->mem, out->object, bytes, RANGE_LENGTH + WORD))
		return false;
	uint64_t start = tp_py_memory_u64(bytes + RANGE_START);
	uint64_t step = tp_py_memory_u64(bytes + RANGE_STEP);
	if (start > INT64_MAX || step > INT64_MAX || step == 0)
		return read_field(self, out, RANGE_LENGTH, true);
	out->is_number = true;
	out->address = out->object + RANGE_START;
	out->value = start / step;
	return true;
}

/* Lists, tuples, strings and bytes have their size at the same offset. */
static bool read_total(struct tp_py_iterators *self, const struct iterator_row *row,
		       const struct tp_py_position *position, uint64_t *total)
{
	if (row->total_form == NO_TOTAL ||
	    !tp_py_memory_get_u64(self->mem, position->object + row->total_field, total) ||
	    (row->total_form == SIZE &&
	     !tp_py_memory_get_u64(self->mem, *total + self->layout->object_size, total)))
		return false;
	if (row->total_form == LEFT)
		*total += position->value;
	bool is_last = position->is_falling && position->value == UINT64_MAX;
	return (is_last || *total >= position->value) && *total <= INT64_MAX;
}

/* A reverse list iterator has the index of the next item: one more is left. */
static void count_up(struct tp_py_position *out, const struct iterator_row *row, bool has_total,
		     uint64_t total)
{
	bool is_last = out->value == UINT64_MAX;
	uint64_t n_left = is_last ? 0 : out->value + (row->total_form == SIZE);
	out->is_relative = !has_total || n_left > total;
	if (out->is_relative && is_last)
		out->value = 0;
	if (!out->is_relative)
		out->value = total - n_left;
}

/* Reads the position of an iterator that has it itself. */
static bool read_own_position(struct tp_py_iterators *self, const struct iterator_row *row,
			      struct tp_py_position *out)
{
	uint64_t total = 0;
	bool is_read = row->form == RANGE ? read_range(self, out)
					  : read_field(self, out, row->field, row->form == FALLS);
	if (!is_read)
		return false;
	bool has_total =
		(row->form != RANGE || !out->is_falling) && read_total(self, row, out, &total);
	if (out->is_falling)
		count_up(out, row, has_total, total);
	if (has_total && !out->is_relative)
		out->total = total;
	return true;
}

static bool has_own_position(const struct iterator_row *row)
{
	return row && (row->form == COUNTS || row->form == FALLS || row->form == RANGE);
}

/* enumerate() is as far from its end as its inner iterator; its start value is unknown. */
static bool read_counted(struct tp_py_iterators *self, const struct iterator_row *row,
			 struct tp_py_position *out)
{
	struct tp_py_position inner = {0};
	if (!tp_py_memory_get_u64(self->mem, out->object + ENUMERATE_INNER, &out->inner) ||
	    !read_field(self, out, row->field, false))
		return false;
	inner.object = out->inner;
	const struct tp_py_type *type = tp_py_attributes_type(self->attributes, out->inner);
	const struct iterator_row *of_inner = type ? row_of(type, self->layout->minor) : NULL;
	if (has_own_position(of_inner) && read_own_position(self, of_inner, &inner) && inner.total)
		out->total = out->value + inner.total - inner.value;
	return true;
}

bool tp_py_iterators_second(struct tp_py_iterators *self, uint64_t object,
			    struct tp_process_range *out)
{
	const struct tp_py_type *type = tp_py_attributes_type(self->attributes, object);
	const struct iterator_row *row =
		type && !type->is_class ? row_of(type, self->layout->minor) : NULL;
	if (!row || row->form == GENERATOR || (has_own_position(row) && row->total_form != SIZE))
		return false;
	uint64_t field = row->form == ENUMERATE  ? ENUMERATE_INNER
			 : has_own_position(row) ? row->total_field
						 : row->field;
	uint64_t next;
	if (!tp_py_memory_get_u64(self->mem, object + field, &next))
		return false;
	*out = (struct tp_process_range){.address = next, .size = TP_PY_ITERATOR_HEAD_BYTES};
	if (row->form == FOLLOW_TUPLE)
		*out = (struct tp_process_range){.address = next + TUPLE_ITEMS, .size = WORD};
	else if (has_own_position(row))
		*out = (struct tp_process_range){.address = next + self->layout->object_size,
						 .size = WORD};
	return true;
}

static bool follow(struct tp_py_iterators *self, const struct iterator_row *row, uint64_t *object)
{
	uint64_t next;
	if (row->form == GENERATOR)
		return follow_suspended(self, *object, object);
	if (!tp_py_memory_get_u64(self->mem, *object + row->field, &next) ||
	    (row->form == FOLLOW_TUPLE &&
	     !tp_py_memory_get_u64(self->mem, next + TUPLE_ITEMS, &next)))
		return false;
	*object = next;
	return true;
}

bool tp_py_iterators_position(struct tp_py_iterators *self, uint64_t object,
			      struct tp_py_position *out)
{
	for (int i = 0; i < MAX_FOLLOW; i++) {
		const struct tp_py_type *type = tp_py_attributes_type(self->attributes, object);
		*out = (struct tp_py_position){.object = object};
		if (!type)
			return false;
		if (type->is_class)
			return true;
		const struct iterator_row *row = row_of(type, self->layout->minor);
		if (!row)
			return false;
		out->is_range = i == 0 && strcmp(row->name, "range_iterator") == 0;
		if (has_own_position(row))
			return read_own_position(self, row, out);
		if (row->form == ENUMERATE)
			return read_counted(self, row, out);
		if (!follow(self, row, &object))
			return false;
	}
	return false;
}
