/* SPDX-License-Identifier: Apache-2.0 */
/* Maps cold parts to the functions to which they belong. */
#include "cold_split.h"

#include "trainprof/base/map.h"
#include "trainprof/model/trace.h"

#include <string.h>

/* Returns the length of "train" for "train.cold" and "train.cold.3"; 0 for others. */
static size_t hot_length(const char *symbol)
{
	static const char mark[] = ".cold";
	const char *cold = strstr(symbol, mark);
	if (!cold)
		return 0;
	const char *rest = cold + strlen(mark);
	return !*rest || *rest == '.' ? (size_t)(cold - symbol) : 0;
}

/* Returns a key of module and name of the frame's function; sets *is_cold if it is in the cold
 * part. */
static uint64_t key_of(const struct tp_trace *trace, uint32_t id, bool *is_cold)
{
	const struct tp_frame *frame = &trace->frames[id];
	const char *name = tp_trace_string(trace, frame->symbol);
	size_t len = frame->kind == TP_FRAME_NATIVE ? hot_length(name) : 0;
	*is_cold = len != 0;
	return tp_hash_mix((uint64_t)frame->kind << 32 | frame->module,
			   tp_hash_bytes(name, len ? len : strlen(name)));
}

/* Collects the functions that have a cold part, each with one of its hot frames (0 = none was
 * seen). */
static void find_split(struct tp_map *split, const struct tp_trace *trace)
{
	bool is_cold;
	for (uint32_t id = 1; id < trace->n_frames; id++) {
		uint64_t key = key_of(trace, id, &is_cold);
		if (is_cold)
			tp_map_set(split, key, 0);
	}
	for (uint32_t id = 1; split->n && id < trace->n_frames; id++) {
		uint64_t key = key_of(trace, id, &is_cold);
		uint64_t hot;
		if (!is_cold && tp_map_get(split, key, &hot) && !hot)
			tp_map_set(split, key, id);
	}
}

void tp_cold_split_find(struct tp_map *hot_of_cold, const struct tp_trace *trace)
{
	struct tp_map split = {0};
	*hot_of_cold = (struct tp_map){0};
	find_split(&split, trace);
	for (uint32_t id = 1; split.n && id < trace->n_frames; id++) {
		bool is_cold;
		uint64_t key = key_of(trace, id, &is_cold);
		uint64_t hot;
		if (is_cold && tp_map_get(&split, key, &hot) && hot)
			tp_map_set(hot_of_cold, id, hot);
	}
	tp_map_release(&split);
}
