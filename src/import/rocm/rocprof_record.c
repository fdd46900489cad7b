/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a record of rocprofv3's JSON and its inner objects in one pass. */
#include "rocprof_record.h"

#include "trainprof/base/memory.h"

#include <string.h>

/* Returns the place of a member in the record; NULL for one that is not needed. A third of a file
 * are members that are not: their length says so. */
static int64_t *field_of(struct tp_rocprof_record *record, const struct tp_json_slice *key)
{
	switch (key->len) {
	case 4:
		return TP_JSON_SLICE_IS(key, "kind") ? &record->kind : NULL;
	case 5:
		return TP_JSON_SLICE_IS(key, "bytes") ? &record->bytes : NULL;
	case 8:
		return TP_JSON_SLICE_IS(key, "agent_id")   ? &record->agent
		       : TP_JSON_SLICE_IS(key, "queue_id") ? &record->queue
		       : TP_JSON_SLICE_IS(key, "internal") ? &record->correlation
							   : NULL;
	case 9:
		return TP_JSON_SLICE_IS(key, "kernel_id")   ? &record->kernel
		       : TP_JSON_SLICE_IS(key, "thread_id") ? &record->thread
		       : TP_JSON_SLICE_IS(key, "operation") ? &record->operation
							    : NULL;
	case 12:
		return TP_JSON_SLICE_IS(key, "src_agent_id")   ? &record->source
		       : TP_JSON_SLICE_IS(key, "dst_agent_id") ? &record->target
							       : NULL;
	case 13:
		return TP_JSON_SLICE_IS(key, "end_timestamp") ? &record->end_ns : NULL;
	case 15:
		return TP_JSON_SLICE_IS(key, "start_timestamp") ? &record->start_ns : NULL;
	default:
		return NULL;
	}
}

/* Multiplies the sides of {"x": 512, "y": 1, "z": 1}; 0 if the product is too large. */
static void side_add(struct tp_rocprof_record *record, const struct tp_json_slice *size,
		     int64_t side)
{
	bool is_grid = TP_JSON_SLICE_IS(size, "grid_size");
	uint64_t *volume = is_grid ? &record->n_items : &record->n_threads;
	bool *is_known = is_grid ? &record->has_items : &record->has_threads;
	if (!is_grid && !TP_JSON_SLICE_IS(size, "workgroup_size"))
		return;
	if (!*is_known)
		*volume = 1;
	*is_known = true;
	if (side < 0 || side > UINT32_MAX ||
	    __builtin_mul_overflow(*volume, (uint64_t)side, volume))
		*volume = 0;
}

/* Skips commas and ends of inner objects. */
static void skip_ends(struct tp_json_walk *walk, size_t *depth)
{
	for (;;) {
		walk->at = tp_json_walk_space(walk->at, walk->end);
		bool is_end = walk->at < walk->end && *walk->at == '}' && *depth;
		if (!is_end && (walk->at >= walk->end || *walk->at != ','))
			return;
		*depth -= is_end;
		walk->at++;
	}
}

/* ---- what rocprofv3 itself writes: no blanks, no escapes, whole numbers ---- */

/* Reads "key": without moving on for anything else. */
static inline bool plain_key_read(struct tp_json_walk *walk, struct tp_json_slice *key)
{
	const char *text = walk->at + 1;
	if (walk->at >= walk->end || *walk->at != '"')
		return false;
	unsigned ends = tp_byte_mask_text_end(text);
	if (!ends)
		return false;
	size_t len = (size_t)__builtin_ctz(ends);
	if (text[len] != '"' || text[len + 1] != ':' || text + len + 2 >= walk->end ||
	    (unsigned char)text[len + 2] <= ' ')
		return false;
	*key = (struct tp_json_slice){.text = text, .len = len, .type = TP_JSON_SLICE_TEXT};
	walk->at = text + len + 2;
	return true;
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

/* Reads a record and its inner objects in one pass. {"handle": 5} stands for the number. */
void tp_rocprof_record_read(struct tp_rocprof_record *record, const struct tp_json_slice *object)
{
	enum { DEPTH_MAX = 4 };
	struct tp_json_walk walk = tp_json_walk_init(object);
	struct tp_json_slice parents[DEPTH_MAX + 1];
	struct tp_json_slice key;
	struct tp_json_slice value;
	int64_t number;
	parents[0] = (struct tp_json_slice){0};
	for (size_t depth = 0;;) {
		skip_ends(&walk, &depth);
		if (!plain_key_read(&walk, &key) && !tp_json_walk_to_value(&walk, &key))
			return;
		if (depth < DEPTH_MAX && walk.at < walk.end && *walk.at == '{') {
			parents[++depth] = key;
			walk.at++;
			continue;
		}
		if (!plain_number_read(&walk, &number)) {
			if (!tp_json_walk_read_value(&walk, &value))
				return;
			number = tp_rocprof_integer(&value);
		}
		if (depth && key.len == 1) {
			side_add(record, &parents[depth], number);
			continue;
		}
		bool is_handle = depth && TP_JSON_SLICE_IS(&key, "handle");
		int64_t *field = field_of(record, is_handle ? &parents[depth] : &key);
		if (field)
			*field = number;
	}
}
