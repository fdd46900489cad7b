/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a record of rocprofv3's JSON and its inner objects in one pass. */
#include "rocprof_record.h"

#include "trainprof/base/memory.h"

#include <string.h>

/* The meaning of keys: places in struct tp_rocprof_record, and objects with sides. */
enum {
	UNWANTED,
	KIND,
	OPERATION,
	THREAD,
	CORRELATION,
	START,
	END,
	AGENT,
	SOURCE,
	TARGET,
	QUEUE,
	KERNEL,
	BYTES,
	BLOCK_SIDE,
	GRID_SIDE
};

_Static_assert((int)BLOCK_SIDE == (int)TP_ROCPROF_MEMBERS, "members are numbered as they stand");

static const struct {
	const char *key;
	uint8_t member;
} keys[] = {
	{"kind", KIND},
	{"operation", OPERATION},
	{"thread_id", THREAD},
	{"internal", CORRELATION},
	{"start_timestamp", START},
	{"end_timestamp", END},
	{"agent_id", AGENT},
	{"src_agent_id", SOURCE},
	{"dst_agent_id", TARGET},
	{"queue_id", QUEUE},
	{"kernel_id", KERNEL},
	{"bytes", BYTES},
	{"workgroup_size", BLOCK_SIDE},
	{"grid_size", GRID_SIDE},
};

static uint8_t key_find(const struct tp_json_slice *key)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(keys); i++)
		if (strlen(keys[i].key) == key->len &&
		    memcmp(keys[i].key, key->text, key->len) == 0)
			return keys[i].member;
	return UNWANTED;
}

/* Multiplies the sides of {"x": 512, "y": 1, "z": 1}; 0 if the product is too large. */
static void side_add(struct tp_rocprof_record *record, int member, int64_t side)
{
	bool is_grid = member == GRID_SIDE;
	uint64_t *volume = is_grid ? &record->n_items : &record->n_threads;
	bool *is_known = is_grid ? &record->has_items : &record->has_threads;
	if (!*is_known)
		*volume = 1;
	*is_known = true;
	if (side < 0 || side > UINT32_MAX ||
	    __builtin_mul_overflow(*volume, (uint64_t)side, volume))
		*volume = 0;
}

/* Skips commas and ends of inner objects. */
static void skip_ends(struct tp_json_walk *walk, uint8_t *depth)
{
	for (;;) {
		walk->at = tp_json_walk_space(walk->at, walk->end);
		bool is_end = walk->at < walk->end && *walk->at == '}' && *depth;
		if (!is_end && (walk->at >= walk->end || *walk->at != ','))
			return;
		*depth = (uint8_t)(*depth - is_end);
		walk->at++;
	}
}

/* {"handle": 5} stands for the number, and of objects with sides each side counts. */
static uint8_t member_of(const struct tp_rocprof_place *place, const struct tp_json_slice *key)
{
	uint8_t parent = place->parents[place->depth];
	if (place->depth && key->len == 1)
		return parent >= TP_ROCPROF_MEMBERS ? parent : UNWANTED;
	bool is_handle = place->depth && TP_JSON_SLICE_IS(key, "handle");
	uint8_t member = is_handle ? parent : key_find(key);
	return member < TP_ROCPROF_MEMBERS ? member : UNWANTED;
}

static bool is_object(const struct tp_json_walk *walk)
{
	return walk->at < walk->end && *walk->at == '{';
}

/* Advances to the next value that is no object to be entered, and remembers the way to it. Returns
 * its member; -1 at the end, and if the next text is not a member. */
static int member_parse(struct tp_rocprof_records *reader, struct tp_json_walk *walk,
			unsigned *node, struct tp_rocprof_place *place)
{
	const char *begin = walk->at;
	struct tp_json_slice key;
	for (;;) {
		skip_ends(walk, &place->depth);
		if (!tp_json_walk_to_value(walk, &key))
			return -1;
		if (place->depth == TP_ROCPROF_DEPTH_MAX || !is_object(walk))
			break;
		place->parents[++place->depth] = key_find(&key);
		walk->at++;
	}
	uint8_t member = member_of(place, &key);
	size_t len = walk->at < walk->end ? (size_t)(walk->at - begin) : SIZE_MAX;
	*node = tp_json_shape_add(&reader->shape, *node, begin, len, member);
	if (*node != TP_JSON_SHAPE_NOWHERE)
		reader->places[*node] = *place;
	return member;
}

/* The same with what is remembered: the way to the next value is compared as a whole. */
static inline int member_next(struct tp_rocprof_records *reader, struct tp_json_walk *walk,
			      unsigned *node, struct tp_rocprof_place *place)
{
	struct tp_json_walk matched = *walk;
	unsigned after = *node;
	int member = tp_json_shape_match(&reader->shape, &matched, &after);
	if (member >= 0 &&
	    (*matched.at != '{' || reader->places[after].depth == TP_ROCPROF_DEPTH_MAX)) {
		*walk = matched;
		*node = after;
		return member;
	}
	if (*node != TP_JSON_SHAPE_NOWHERE)
		*place = reader->places[*node];
	/* Where a number was remembered, an object is not: that would be looked for first. */
	if (member >= 0)
		*node = TP_JSON_SHAPE_NOWHERE;
	return member_parse(reader, walk, node, place);
}

/* Reads digits up to the end of a member, without moving on for anything else. */
static inline bool plain_number_read(struct tp_json_walk *walk, int64_t *out)
{
	enum { DIGITS_MAX = 18 }; /* more could exceed 63 bits */
	const char *at = walk->at;
	const char *last = walk->end - at > DIGITS_MAX ? at + DIGITS_MAX : walk->end;
	int64_t value = 0;
	while (at < last && *at >= '0' && *at <= '9')
		value = 10 * value + (*at++ - '0');
	if (at == walk->at || (*at != ',' && *at != '}'))
		return false;
	walk->at = at;
	*out = value;
	return true;
}

const char *tp_rocprof_record_read(struct tp_rocprof_records *reader,
				   struct tp_rocprof_record *record, const char *at,
				   const char *end)
{
	struct tp_json_walk walk = {.at = at + 1, .end = end, .is_object = true};
	struct tp_rocprof_place place = {0};
	struct tp_json_slice value;
	unsigned node = 0;
	int64_t number;
	int member;
	while ((member = member_next(reader, &walk, &node, &place)) >= 0) {
		if (!plain_number_read(&walk, &number)) {
			if (!tp_json_walk_read_value(&walk, &value))
				return NULL;
			number = tp_rocprof_integer(&value);
		}
		if (member >= TP_ROCPROF_MEMBERS)
			side_add(record, member, number);
		else
			record->members[member] = number;
	}
	bool is_closed = !walk.is_malformed && walk.at < end && *walk.at == '}';
	return is_closed ? walk.at + 1 : NULL;
}
