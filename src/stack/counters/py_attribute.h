/* SPDX-License-Identifier: Apache-2.0 */
/* Types of objects, and the whole numbers among the attributes of instances of Python classes:
 * attributes in a dictionary of the instance, in its inline values, or in __slots__. */
#ifndef TRAINPROF_SRC_STACK_COUNTERS_PY_ATTRIBUTE_H
#define TRAINPROF_SRC_STACK_COUNTERS_PY_ATTRIBUTE_H

#include "stack/python/py_layout.h"
#include "stack/python/py_memory.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/map.h"
#include "trainprof/base/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PY_ATTRIBUTE_MAX = 12, TP_PY_ATTRIBUTE_TYPE_NAME = 48 };

struct tp_py_type {
	uint64_t address;
	char name[TP_PY_ATTRIBUTE_TYPE_NAME]; /* tp_name of the type; "" = cannot be read */
	bool is_class;                        /* created by a class statement */
	bool is_iterator;                     /* has __next__ */
	bool has_no_slots;                    /* none of its own, as was found */
	uint64_t flags;
	uint64_t basic_size;
	int64_t dict_offset;
	uint64_t keys;
	uint64_t members; /* its own members in __slots__ */
	uint64_t base;    /* its first base class; 0 = unknown */
};

/* An attribute that held a whole number when the object was searched. */
struct tp_py_attribute {
	const char *name; /* valid until release */
	uint64_t address; /* of the pointer to its value */
	/* Words on the path to the attribute, with the values they had: if one has changed, the
	 * address is invalid. */
	uint64_t guards[2];
	uint64_t guard_words[2];
};

/* An attribute that held an instance of a Python class. */
struct tp_py_inner_object {
	const char *name; /* valid until release */
	uint64_t address; /* address of the pointer to it */
	uint64_t object;
};

struct tp_py_attributes {
	struct tp_py_memory *mem;
	const struct tp_py_layout *layout;
	uint64_t int_type;
	struct tp_map types; /* address -> index */
	struct tp_py_type *items;
	size_t n;
	size_t capacity;
	struct tp_strtab names;
	struct tp_buf scratch;
};

void tp_py_attributes_init(struct tp_py_attributes *self, struct tp_py_memory *mem,
			   const struct tp_py_layout *layout, uint64_t int_type);
void tp_py_attributes_release(struct tp_py_attributes *self);

/* Returns the type of an object; NULL if the memory is invalid. Valid until the next call. */
const struct tp_py_type *tp_py_attributes_type(struct tp_py_attributes *self, uint64_t object);

/* The same, for an object whose type pointer was already read. */
const struct tp_py_type *tp_py_attributes_known_type(struct tp_py_attributes *self,
						     uint64_t address);

/* Returns the number of attributes found. Makes about seven system calls, or two where the object
 * has no dictionary yet. */
size_t tp_py_attributes_find(struct tp_py_attributes *self, uint64_t object,
			     struct tp_py_attribute out[TP_PY_ATTRIBUTE_MAX]);

/* Finds the instances that the object's attributes hold, up to `max`; returns their number. Makes
 * about as many system calls. */
size_t tp_py_attributes_find_objects(struct tp_py_attributes *self, uint64_t object,
				     struct tp_py_inner_object *out, size_t max);

/* Reads the objects held by attributes of these names: values[i] for names[i], 0 if there is none.
 * Returns false if the object is no instance of a Python class, or cannot be read. */
bool tp_py_attributes_get(struct tp_py_attributes *self, uint64_t object, const char *const *names,
			  size_t n_names, uint64_t *values);

#endif
