/* SPDX-License-Identifier: Apache-2.0 */
/* Reads distributedInfo and deviceProperties. */
#include "kineto_job.h"

#include "import/json/json_walk.h"
#include "import/reader/rank_writer.h"

#include "trainprof/base/arena.h"

#include <string.h>

enum { DEVICES_MAX = 256 };

static void read_distributed(struct tp_rank_info *info, const struct tp_json_slice *object)
{
	int64_t number;
	struct tp_json_slice rank = tp_json_slice_find(object, "rank");
	struct tp_json_slice n_ranks = tp_json_slice_find(object, "world_size");
	if (tp_json_slice_integer(&rank, &number) && number >= 0)
		info->number = number;
	info->n_ranks = (uint32_t)tp_json_slice_count(&n_ranks, UINT32_MAX);
}

static const char *text_of(const struct tp_json_slice *piece, struct tp_arena *arena)
{
	struct tp_buf scratch = {0};
	size_t len;
	const char *text = tp_json_slice_text(piece, &scratch, &len);
	const char *copy = len ? tp_arena_strndup(arena, text, len) : NULL;
	tp_buf_release(&scratch);
	return copy;
}

static void device_read(struct tp_device_info *out, const struct tp_json_slice *object,
			struct tp_arena *arena)
{
	struct tp_json_slice id = tp_json_slice_find(object, "id");
	struct tp_json_slice name = tp_json_slice_find(object, "name");
	struct tp_json_slice n = tp_json_slice_find(object, "numSms");
	struct tp_json_slice memory = tp_json_slice_find(object, "totalGlobalMem");
	struct tp_json_slice major = tp_json_slice_find(object, "computeMajor");
	struct tp_json_slice minor = tp_json_slice_find(object, "computeMinor");
	*out = (struct tp_device_info){
		.number = (int32_t)tp_json_slice_count(&id, INT32_MAX),
		.name = text_of(&name, arena),
		.n_processors = (uint32_t)tp_json_slice_count(&n, UINT32_MAX),
		.memory_bytes = tp_json_slice_count(&memory, INT64_MAX),
		.capability = 10 * (uint32_t)tp_json_slice_count(&major, 1000) +
			      (uint32_t)tp_json_slice_count(&minor, 9),
	};
}

static void read_devices(struct tp_rank_writer *writer, const struct tp_json_slice *list)
{
	struct tp_device_info devices[DEVICES_MAX];
	struct tp_arena arena = {0};
	struct tp_json_walk walk = tp_json_walk_init(list);
	struct tp_json_slice key;
	struct tp_json_slice value;
	size_t n = 0;
	while (list->type == TP_JSON_SLICE_LIST && n < DEVICES_MAX &&
	       tp_json_walk_next(&walk, &key, &value))
		if (value.type == TP_JSON_SLICE_OBJECT)
			device_read(&devices[n++], &value, &arena);
	tp_rank_writer_devices(writer, devices, n);
	tp_arena_release(&arena);
}

static void read_host(struct tp_rank_writer *writer, const struct tp_json_slice *value)
{
	struct tp_buf scratch = {0};
	size_t len;
	const char *text = tp_json_slice_text(value, &scratch, &len);
	if (len)
		tp_rank_info(writer)->host = tp_rank_writer_text(writer, text, len);
	tp_buf_release(&scratch);
}

bool tp_kineto_job_read(struct tp_rank_writer *writer, const struct tp_json_slice *key,
			const struct tp_json_slice *value)
{
	if (TP_JSON_SLICE_IS(key, "distributedInfo")) {
		read_distributed(tp_rank_info(writer), value);
		return true;
	}
	if (TP_JSON_SLICE_IS(key, "deviceProperties")) {
		read_devices(writer, value);
		return true;
	}
	if (TP_JSON_SLICE_IS(key, "host_name") || TP_JSON_SLICE_IS(key, "hostname"))
		read_host(writer, value);
	return TP_JSON_SLICE_IS(key, "schemaVersion") ||
	       TP_JSON_SLICE_IS(key, "baseTimeNanoseconds");
}
