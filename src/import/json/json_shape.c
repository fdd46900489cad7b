/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the keys of objects. */
#include "json_shape.h"

#include <string.h>

/* More keys than that in one place are data, and not worth being compared. */
enum { SIBLINGS_MAX = 8 };

unsigned tp_json_shape_add(struct tp_json_shape *shape, unsigned place, const char *at, size_t len,
			   uint8_t field)
{
	if (place == TP_JSON_SHAPE_NOWHERE || len > TP_JSON_SHAPE_BYTES)
		return TP_JSON_SHAPE_NOWHERE;
	uint16_t *link = &shape->nodes[place].child;
	for (unsigned n = 0; *link; n++) {
		if (n + 1 == SIBLINGS_MAX)
			return TP_JSON_SHAPE_NOWHERE;
		link = &shape->nodes[*link].sibling;
	}
	/* Objects of a new kind may follow: begin again. */
	if (shape->n_nodes + 1 == TP_JSON_SHAPE_NODES) {
		shape->n_nodes = 0;
		shape->nodes[0].child = 0;
		return TP_JSON_SHAPE_NOWHERE;
	}
	*link = ++shape->n_nodes;
	struct tp_json_shape_node *node = &shape->nodes[*link];
	*node = (struct tp_json_shape_node){.mask = (uint32_t)(UINT64_C(1) << len) - 1,
					    .len = (uint8_t)len,
					    .field = field};
	memcpy(node->bytes, at, len);
	return shape->n_nodes;
}

int tp_json_shape_parse(struct tp_json_shape *shape, struct tp_json_walk *walk, unsigned *place,
			const struct tp_json_fields *fields, struct tp_buf *scratch)
{
	const char *at = walk->at;
	struct tp_json_slice key;
	if (!tp_json_walk_to_value(walk, &key))
		return -1;
	struct tp_json_slice plain = tp_json_slice_unescape(&key, scratch);
	uint8_t field = fields->find(fields->self, &plain);
	/* Without a value it has no end that could be compared. */
	if (walk->at >= walk->end)
		*place = TP_JSON_SHAPE_NOWHERE;
	else
		*place = tp_json_shape_add(shape, *place, at, (size_t)(walk->at - at), field);
	return field;
}
