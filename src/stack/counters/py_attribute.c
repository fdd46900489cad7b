/* SPDX-License-Identifier: Apache-2.0 */
/* Follows pointers from an object to its type and to the table of its attributes. */
#include "py_attribute.h"

#include "py_globals.h"
#include "stack/python/py_text.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORD = 8,
	/* PyTypeObject, the same from 3.8 to 3.14. */
	TYPE_NAME = 24,
	TYPE_BASIC_SIZE = 32,
	TYPE_FLAGS = 168,
	TYPE_NEXT = 224,
	TYPE_MEMBERS = 240,
	TYPE_BASE = 256,
	/* PyMemberDef */
	MEMBER_TYPE = 8,
	MEMBER_OFFSET = 16,
	MEMBER_BYTES = 40,
	MEMBER_OBJECT = 16, /* T_OBJECT_EX */
	MAX_SLOTS = 16,     /* of one class */
	MAX_BASES = 4,
	TYPE_DICT_OFFSET = 288,
	TYPE_BYTES = 296,
	FLAG_INLINE_VALUES = 1 << 2, /* from 3.13 on */
	FLAG_MANAGED_DICT = 1 << 4,  /* from 3.11 on */
	FLAG_IMMUTABLE = 1 << 8,     /* from 3.10 on: made by C */
	FLAG_HEAP = 1 << 9,
	MAX_TYPES = 8192,
	MAX_ENTRIES = 96,
	MAX_ENTRY_BYTES = 24,
	HEAD_BYTES = 40,
	KIND_GENERAL = 0,
	KIND_SPLIT = 2,
	MAX_BASIC_SIZE = 1 << 20,
	BEFORE_OBJECT = 32, /* 3.11: offset of the values before the object; 24 bytes before it is
			       the dictionary */
	BEFORE_DICT = 24,
	PAGE = 4096,
};

/* The table of an object's attributes. */
struct attribute_table {
	uint64_t keys;
	uint64_t values; /* 0 = in the table itself */
	uint64_t entries;
	size_t entry_bytes;
	size_t key_at;
	size_t n;
	uint8_t bytes[MAX_ENTRIES * MAX_ENTRY_BYTES];
	uint64_t words[MAX_ENTRIES];
	uint64_t guards[2]; /* pointer to the dictionary, and its pointer to the table */
	uint64_t guard_words[2];
};

void tp_py_attributes_init(struct tp_py_attributes *self, struct tp_py_memory *mem,
			   const struct tp_py_layout *layout, uint64_t int_type)
{
	*self = (struct tp_py_attributes){.mem = mem, .layout = layout, .int_type = int_type};
	tp_strtab_init(&self->names);
}

void tp_py_attributes_release(struct tp_py_attributes *self)
{
	tp_map_release(&self->types);
	free(self->items);
	tp_strtab_release(&self->names);
	tp_buf_release(&self->scratch);
}

static bool is_object(uint64_t word)
{
	return word % WORD == 0 && word >= PAGE && word < UINT64_C(1) << 56;
}

/* ---- types ---- */

/* Reads a C string, truncated if it is longer or a page ends; "" if it cannot be read. */
static void load_name(struct tp_py_attributes *self, char name[TP_PY_ATTRIBUTE_TYPE_NAME],
		      uint64_t address)
{
	size_t left = (size_t)(PAGE - address % PAGE);
	size_t max = TP_PY_ATTRIBUTE_TYPE_NAME - 1;
	memset(name, 0, TP_PY_ATTRIBUTE_TYPE_NAME);
	if (address < PAGE || !tp_py_memory_get(self->mem, address, name, left < max ? left : max))
		memset(name, 0, TP_PY_ATTRIBUTE_TYPE_NAME);
}

static void load_type(struct tp_py_attributes *self, struct tp_py_type *type)
{
	uint8_t bytes[TYPE_BYTES];
	if (!tp_py_memory_get(self->mem, type->address, bytes, sizeof(bytes)))
		return;
	type->flags = tp_py_memory_u64(bytes + TYPE_FLAGS);
	type->basic_size = tp_py_memory_u64(bytes + TYPE_BASIC_SIZE);
	type->dict_offset = (int64_t)tp_py_memory_u64(bytes + TYPE_DICT_OFFSET);
	type->is_iterator = tp_py_memory_u64(bytes + TYPE_NEXT) != 0;
	type->members = tp_py_memory_u64(bytes + TYPE_MEMBERS);
	type->base = tp_py_memory_u64(bytes + TYPE_BASE);
	bool is_fixed = self->layout->minor >= 10 && (type->flags & FLAG_IMMUTABLE);
	type->is_class = (type->flags & FLAG_HEAP) && !is_fixed;
	if (type->is_class &&
	    !tp_py_memory_get_u64(self->mem, type->address + self->layout->type_keys, &type->keys))
		type->keys = 0;
	load_name(self, type->name, tp_py_memory_u64(bytes + TYPE_NAME));
}

const struct tp_py_type *tp_py_attributes_type(struct tp_py_attributes *self, uint64_t object)
{
	uint64_t address;
	if (!is_object(object) ||
	    !tp_py_memory_get_u64(self->mem, object + self->layout->object_type, &address))
		return NULL;
	return tp_py_attributes_known_type(self, address);
}

static struct tp_py_type *known_type(struct tp_py_attributes *self, uint64_t address)
{
	uint64_t index;
	if (!is_object(address))
		return NULL;
	if (tp_map_get(&self->types, address, &index))
		return &self->items[index];
	if (self->n >= MAX_TYPES)
		return NULL;
	tp_map_set(&self->types, address, self->n);
	TP_ARRAY_PUSH(self->items, self->n, self->capacity) =
		(struct tp_py_type){.address = address};
	load_type(self, &self->items[self->n - 1]);
	return &self->items[self->n - 1];
}

const struct tp_py_type *tp_py_attributes_known_type(struct tp_py_attributes *self,
						     uint64_t address)
{
	return known_type(self, address);
}

/* ---- tables ---- */

/* From 3.13 on the values follow a header word. */
static uint64_t first_value(const struct tp_py_layout *layout, uint64_t values)
{
	return values && layout->minor >= 13 ? values + WORD : values;
}

static bool use_dict(struct tp_py_attributes *self, uint64_t dict, struct attribute_table *table)
{
	uint64_t values;
	struct tp_process_range pieces[] = {
		{dict + self->layout->dict_keys, &table->keys, WORD},
		{dict + self->layout->dict_values, &values, WORD},
	};
	if (!is_object(dict) || self->mem->read(self->mem, pieces, 2) != 2)
		return false;
	table->values = first_value(self->layout, values);
	table->guards[1] = dict + self->layout->dict_keys;
	table->guard_words[1] = table->keys;
	return true;
}

/* 3.11 has both pointers; 3.12 has one, whose lowest bit shows which of them it is. */
static bool use_dict_of_class(struct tp_py_attributes *self, uint64_t object,
			      const struct tp_py_type *type, struct attribute_table *table)
{
	uint64_t words[2];
	if (!tp_py_memory_get(self->mem, object - BEFORE_OBJECT, words, sizeof(words)))
		return false;
	table->keys = type->keys;
	table->guards[0] = object - BEFORE_DICT;
	table->guard_words[0] = words[1];
	if (self->layout->minor == 11) {
		table->values = words[0];
		table->guards[1] = object - BEFORE_OBJECT;
		table->guard_words[1] = words[0];
		return words[0] ? true : use_dict(self, words[1], table);
	}
	if (self->layout->minor == 12) {
		table->values = words[1] & 1 ? words[1] + 1 : 0;
		return words[1] & 1 ? true : use_dict(self, words[1], table);
	}
	if (words[1])
		return use_dict(self, words[1], table);
	table->values = first_value(self->layout, object + type->basic_size);
	return (type->flags & FLAG_INLINE_VALUES) && type->basic_size < MAX_BASIC_SIZE;
}

static bool find_table(struct tp_py_attributes *self, uint64_t object,
		       const struct tp_py_type *type, struct attribute_table *table)
{
	uint64_t dict;
	if (self->layout->minor >= 11 && (type->flags & FLAG_MANAGED_DICT))
		return use_dict_of_class(self, object, type, table);
	if (type->dict_offset <= 0 || type->dict_offset > MAX_BASIC_SIZE ||
	    !tp_py_memory_get_u64(self->mem, object + (uint64_t)type->dict_offset, &dict))
		return false;
	table->guards[0] = object + (uint64_t)type->dict_offset;
	table->guard_words[0] = dict;
	return use_dict(self, dict, table);
}

static bool read_entries(struct tp_py_attributes *self, struct attribute_table *table)
{
	const struct tp_py_layout *layout = self->layout;
	uint8_t head[HEAD_BYTES];
	if (!is_object(table->keys) ||
	    !tp_py_memory_get(self->mem, table->keys, head, sizeof(head)))
		return false;
	uint64_t indices = tp_py_globals_index_bytes(layout, head);
	uint64_t n = tp_py_memory_u64(head + layout->keys_n_entries);
	unsigned kind = layout->keys_kind ? head[layout->keys_kind] : KIND_GENERAL;
	if (indices == 0 || n > indices || kind > KIND_SPLIT)
		return false;
	table->n = n < MAX_ENTRIES ? (size_t)n : MAX_ENTRIES;
	table->key_at = kind == KIND_GENERAL ? WORD : 0;
	table->entry_bytes = table->key_at + 2 * (size_t)WORD;
	table->entries = table->keys + layout->keys_indices + indices;
	return tp_py_memory_get(self->mem, table->entries, table->bytes,
				table->n * table->entry_bytes) &&
	       (!table->values || tp_py_memory_get(self->mem, table->values, table->words,
						   table->n * sizeof(table->words[0])));
}

static uint64_t value_of(const struct attribute_table *table, size_t i)
{
	return table->values ? table->words[i]
			     : tp_py_memory_u64(table->bytes + i * table->entry_bytes +
						table->key_at + WORD);
}

static uint64_t address_of(const struct attribute_table *table, size_t i)
{
	return table->values ? table->values + i * WORD
			     : table->entries + i * table->entry_bytes + table->key_at + WORD;
}

/* Reads the type of each value; 0 if it cannot be read. */
static void read_types(struct tp_py_attributes *self, const struct attribute_table *table,
		       uint64_t types[MAX_ENTRIES])
{
	struct tp_process_range pieces[MAX_ENTRIES];
	size_t which[MAX_ENTRIES];
	size_t n = 0;
	for (size_t i = 0; i < table->n; i++) {
		types[i] = 0;
		if (!is_object(value_of(table, i)))
			continue;
		which[n] = i;
		pieces[n++] =
			(struct tp_process_range){value_of(table, i) + self->layout->object_type,
						  &types[i], WORD};
	}
	for (size_t at = 0; at < n;) {
		at += self->mem->read(self->mem, pieces + at, n - at);
		if (at < n)
			types[which[at++]] = 0;
	}
}

/* Finds the table of an instance of a Python class; the type may be NULL. */
static bool open_table(struct tp_py_attributes *self, uint64_t object,
		       const struct tp_py_type *type, struct attribute_table *table)
{
	*table = (struct attribute_table){0};
	return type && type->is_class && find_table(self, object, type, table) &&
	       read_entries(self, table);
}

/* The first bytes of the names of a table's entries. */
struct entry_names {
	struct tp_process_range first[MAX_ENTRIES];
	bool is_read[MAX_ENTRIES];
	size_t n;
	size_t of_entry[MAX_ENTRIES]; /* index in `first` */
	uint8_t bytes[MAX_ENTRIES][TP_PY_TEXT_FIRST_BYTES];
};

/* Reads, by one call, the names of those entries that are wanted. */
static void read_names(struct tp_py_attributes *self, const struct attribute_table *table,
		       const bool wanted[MAX_ENTRIES], struct entry_names *out)
{
	out->n = 0;
	for (size_t i = 0; i < table->n; i++) {
		uint64_t key =
			tp_py_memory_u64(table->bytes + i * table->entry_bytes + table->key_at);
		out->of_entry[i] = SIZE_MAX;
		if (!wanted[i] || !is_object(key))
			continue;
		out->of_entry[i] = out->n;
		out->first[out->n] = tp_py_text_first(self->layout, key, out->bytes[out->n]);
		out->n++;
	}
	tp_py_memory_read_each(self->mem, out->first, out->n, out->is_read);
}

/* NULL = it was not wanted, or cannot be read. */
static const char *name_of(struct tp_py_attributes *self, const struct entry_names *names, size_t i)
{
	size_t at = names->of_entry[i];
	if (at == SIZE_MAX || !names->is_read[at] ||
	    !tp_py_text_read_rest(&self->scratch, self->mem, self->layout, &names->first[at]))
		return NULL;
	return tp_strtab_text(&self->names,
			      tp_strtab_intern_len(&self->names, tp_buf_text(&self->scratch),
						   self->scratch.len));
}

/* ---- slots ---- */

/* Returns true if the slot that this member describes holds a whole number. */
static bool read_slot(struct tp_py_attributes *self, uint64_t object,
		      const uint8_t member[MEMBER_BYTES], struct tp_py_attribute *out)
{
	uint64_t value;
	uint64_t type;
	char name[TP_PY_ATTRIBUTE_TYPE_NAME];
	uint64_t offset = tp_py_memory_u64(member + MEMBER_OFFSET);
	if (tp_py_memory_u32(member + MEMBER_TYPE) != MEMBER_OBJECT || offset > MAX_BASIC_SIZE ||
	    !tp_py_memory_get_u64(self->mem, object + offset, &value) || !is_object(value) ||
	    !tp_py_memory_get_u64(self->mem, value + self->layout->object_type, &type) ||
	    type != self->int_type)
		return false;
	load_name(self, name, tp_py_memory_u64(member));
	*out = (struct tp_py_attribute){
		.name = tp_strtab_text(&self->names,
				       tp_strtab_intern_len(&self->names, name, strlen(name))),
		.address = object + offset,
	};
	return name[0] != '\0';
}

/* Appends to the `n` existing attributes; returns the new number. Most classes have no slots, which
 * is remembered. */
static size_t find_slots(struct tp_py_attributes *self, uint64_t object, uint64_t type_address,
			 size_t n, struct tp_py_attribute out[TP_PY_ATTRIBUTE_MAX])
{
	struct tp_py_type *type = known_type(self, type_address);
	for (int level = 0; level < MAX_BASES && type && type->is_class; level++) {
		uint64_t members = type->members;
		uint64_t base = type->base;
		for (int i = 0; i < MAX_SLOTS && n < TP_PY_ATTRIBUTE_MAX && !type->has_no_slots &&
				is_object(members);
		     i++) {
			uint8_t member[MEMBER_BYTES];
			if (!tp_py_memory_get(self->mem, members + (uint64_t)i * MEMBER_BYTES,
					      member, sizeof(member)))
				break;
			if (tp_py_memory_u64(member) == 0) {
				type->has_no_slots = i == 0;
				break;
			}
			n += read_slot(self, object, member, &out[n]);
		}
		type = known_type(self, base);
	}
	return n;
}

/* Finds attributes in the object's dictionary. */
static size_t find_entries(struct tp_py_attributes *self, uint64_t object,
			   const struct tp_py_type *type,
			   struct tp_py_attribute out[TP_PY_ATTRIBUTE_MAX])
{
	struct attribute_table table;
	struct entry_names names;
	uint64_t types[MAX_ENTRIES];
	bool wanted[MAX_ENTRIES];
	size_t n = 0;
	if (!open_table(self, object, type, &table))
		return 0;
	read_types(self, &table, types);
	for (size_t i = 0; i < table.n; i++)
		n += wanted[i] = types[i] == self->int_type && n < TP_PY_ATTRIBUTE_MAX;
	if (n == 0)
		return 0;
	n = 0;
	read_names(self, &table, wanted, &names);
	for (size_t i = 0; i < table.n; i++) {
		const char *name = name_of(self, &names, i);
		if (!name)
			continue;
		out[n] = (struct tp_py_attribute){.name = name, .address = address_of(&table, i)};
		memcpy(out[n].guards, table.guards, sizeof(table.guards));
		memcpy(out[n++].guard_words, table.guard_words, sizeof(table.guard_words));
	}
	return n;
}

/* Attributes of the dictionary come first: their guard words protect all attributes. */
size_t tp_py_attributes_find(struct tp_py_attributes *self, uint64_t object,
			     struct tp_py_attribute out[TP_PY_ATTRIBUTE_MAX])
{
	const struct tp_py_type *type = tp_py_attributes_type(self, object);
	if (!type)
		return 0;
	uint64_t address = type->address; /* finding entries may move the types */
	size_t n = find_entries(self, object, type, out);
	return find_slots(self, object, address, n, out);
}

size_t tp_py_attributes_find_objects(struct tp_py_attributes *self, uint64_t object,
				     struct tp_py_inner_object *out, size_t max)
{
	struct attribute_table table;
	struct entry_names names;
	uint64_t types[MAX_ENTRIES];
	bool wanted[MAX_ENTRIES];
	size_t n = 0;
	if (!open_table(self, object, tp_py_attributes_type(self, object), &table))
		return 0;
	read_types(self, &table, types);
	for (size_t i = 0; i < table.n; i++) {
		const struct tp_py_type *type =
			n < max ? tp_py_attributes_known_type(self, types[i]) : NULL;
		n += wanted[i] = type && type->is_class;
	}
	if (n == 0)
		return 0;
	n = 0;
	read_names(self, &table, wanted, &names);
	for (size_t i = 0; i < table.n; i++) {
		const char *name = name_of(self, &names, i);
		if (name)
			out[n++] = (struct tp_py_inner_object){name, address_of(&table, i),
							       value_of(&table, i)};
	}
	return n;
}

bool tp_py_attributes_get(struct tp_py_attributes *self, uint64_t object, const char *const *names,
			  size_t n_names, uint64_t *values)
{
	struct attribute_table table;
	struct entry_names all;
	bool wanted[MAX_ENTRIES];
	memset(values, 0, n_names * sizeof(*values));
	if (!open_table(self, object, tp_py_attributes_type(self, object), &table))
		return false;
	for (size_t i = 0; i < table.n; i++)
		wanted[i] = true;
	read_names(self, &table, wanted, &all);
	for (size_t i = 0; i < table.n; i++) {
		const char *name = name_of(self, &all, i);
		for (size_t k = 0; name && k < n_names; k++)
			if (strcmp(name, names[k]) == 0)
				values[k] = value_of(&table, i);
	}
	return true;
}
