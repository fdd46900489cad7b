/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a record of rocprofv3's JSON and its inner objects in one pass. */
#include "rocprof_record.h"

#include "trainprof/base/memory.h"

#include <string.h>

#define FIELD(key, member)                                                                         \
	{                                                                                          \
		key, sizeof(key) - 1, offsetof(struct tp_rocprof_record, member)                   \
	}

static void field_read(struct tp_rocprof_record *record, const struct tp_json_slice *key,
		       const struct tp_json_slice *value)
{
	/* Sorted by length. */
	static const struct {
		const char *key;
		size_t len;
		size_t offset;
	} fields[] = {
		FIELD("kind", kind),
		FIELD("bytes", bytes),
		FIELD("agent_id", agent),
		FIELD("queue_id", queue),
		FIELD("internal", correlation),
		FIELD("kernel_id", kernel),
		FIELD("thread_id", thread),
		FIELD("operation", operation),
		FIELD("src_agent_id", source),
		FIELD("dst_agent_id", target),
		FIELD("end_timestamp", end_ns),
		FIELD("start_timestamp", start_ns),
	};
	size_t i = 0;
	while (i < TP_ARRAY_LEN(fields) && fields[i].len < key->len)
		i++;
	for (; i < TP_ARRAY_LEN(fields) && fields[i].len == key->len; i++) {
		if (memcmp(fields[i].key, key->text, key->len) != 0)
			continue;
		int64_t number = tp_rocprof_integer(value);
		memcpy((char *)record + fields[i].offset, &number, sizeof(number));
		return;
	}
}

/* Multiplies the sides of {"x": 512, "y": 1, "z": 1}; 0 if the product is too large. */
static void side_read(struct tp_rocprof_record *record, const struct tp_json_slice *size,
		      const struct tp_json_slice *value)
{
	bool is_grid = TP_JSON_SLICE_IS(size, "grid_size");
	uint64_t *volume = is_grid ? &record->n_items : &record->n_threads;
	bool *is_known = is_grid ? &record->has_items : &record->has_threads;
	int64_t side = tp_rocprof_integer(value);
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

/* Reads a record and its inner objects in one pass. {"handle": 5} stands for the number. */
void tp_rocprof_record_read(struct tp_rocprof_record *record, const struct tp_json_slice *object)
{
	enum { DEPTH_MAX = 4 };
	struct tp_json_walk walk = tp_json_walk_init(object);
	struct tp_json_slice parents[DEPTH_MAX + 1] = {0};
	struct tp_json_slice key;
	struct tp_json_slice value;
	for (size_t depth = 0;;) {
		skip_ends(&walk, &depth);
		if (!tp_json_walk_to_value(&walk, &key))
			return;
		if (depth < DEPTH_MAX && walk.at < walk.end && *walk.at == '{') {
			parents[++depth] = key;
			walk.at++;
			continue;
		}
		if (!tp_json_walk_read_value(&walk, &value))
			return;
		if (depth && key.len == 1)
			side_read(record, &parents[depth], &value);
		else
			field_read(record,
				   depth && TP_JSON_SLICE_IS(&key, "handle") ? &parents[depth]
									     : &key,
				   &value);
	}
}
