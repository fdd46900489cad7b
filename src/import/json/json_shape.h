/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the members of objects whose keys mostly come in an order that was seen before, as those of
 * trace events do. The bytes between two values are remembered with the field that their key stands
 * for, and compared as a whole: a fraction of the work of parsing them, with the same results.
 */
#ifndef TRAINPROF_SRC_IMPORT_JSON_JSON_SHAPE_H
#define TRAINPROF_SRC_IMPORT_JSON_JSON_SHAPE_H

#include "json_walk.h"

#include <stdint.h>

enum { TP_JSON_SHAPE_BYTES = 2 * TP_BYTE_MASK_BYTES, TP_JSON_SHAPE_NODES = 256 };

/* A key after those above it in the tree. */
struct tp_json_shape_node {
	char bytes[TP_JSON_SHAPE_BYTES]; /* from the end of the value before to this key's value */
	uint32_t mask;                   /* one bit for each of its bytes */
	uint8_t len;
	uint8_t field;
	uint16_t child;   /* index of the first key seen after it; 0 = none */
	uint16_t sibling; /* of the next key seen in its place; 0 = none */
};

/* Node 0 is the begin of an object. Zero-initialised is empty and valid. */
struct tp_json_shape {
	struct tp_json_shape_node nodes[TP_JSON_SHAPE_NODES];
	uint16_t n_nodes; /* without node 0 */
};

/* Maps keys to fields. */
struct tp_json_fields {
	/* Returns the number of the field; 0 = of none. */
	uint8_t (*find)(const void *self, const struct tp_json_slice *key);
	const void *self;
};

/* After a key that cannot be remembered: the rest of the object is parsed. */
enum { TP_JSON_SHAPE_NOWHERE = UINT16_MAX };

static inline bool tp_json_shape_fits(const struct tp_json_shape_node *node, const char *at,
				      const char *end)
{
	uint32_t same = tp_byte_mask_same(at, node->bytes) |
			tp_byte_mask_same(at + TP_BYTE_MASK_BYTES, node->bytes + TP_BYTE_MASK_BYTES)
				<< TP_BYTE_MASK_BYTES;
	return !(~same & node->mask) && end - at > node->len && (unsigned char)at[node->len] > ' ';
}

/* Remembers the bytes from `at` to the next value, and its field, after what is at `place`. Returns
 * their place. */
unsigned tp_json_shape_add(struct tp_json_shape *shape, unsigned place, const char *at, size_t len,
			   uint8_t field);
/* Parses the next key and remembers it. */
int tp_json_shape_parse(struct tp_json_shape *shape, struct tp_json_walk *walk, unsigned *place,
			const struct tp_json_fields *fields, struct tp_buf *scratch);

/* Advances to the next value if what precedes it is remembered, and returns its field; -1
 * otherwise. */
static inline int tp_json_shape_match(const struct tp_json_shape *shape, struct tp_json_walk *walk,
				      unsigned *place)
{
	if (*place == TP_JSON_SHAPE_NOWHERE || walk->at >= walk->end)
		return -1;
	for (unsigned i = shape->nodes[*place].child; i; i = shape->nodes[i].sibling) {
		const struct tp_json_shape_node *node = &shape->nodes[i];
		if (!tp_json_shape_fits(node, walk->at, walk->end))
			continue;
		walk->at += node->len;
		*place = i;
		return node->field;
	}
	return -1;
}

/* Advances to the next value and returns the field of its key; -1 at the end, and if the next text
 * is not a member. `place` is 0 at the begin of an object. */
static inline int tp_json_shape_next(struct tp_json_shape *shape, struct tp_json_walk *walk,
				     unsigned *place, const struct tp_json_fields *fields,
				     struct tp_buf *scratch)
{
	int known = tp_json_shape_match(shape, walk, place);
	if (known >= 0)
		return known;
	/* Copies, so that the caller's can stay in registers. */
	struct tp_json_walk parsed = *walk;
	unsigned after = *place;
	int field = tp_json_shape_parse(shape, &parsed, &after, fields, scratch);
	*walk = parsed;
	*place = after;
	return field;
}

#endif
