/* Reads distributedInfo and deviceProperties. */
#include "kineto_job.h"

#include "import/json/json_walk.h"
#include "import/reader/rank_writer.h"

#include "trainprof/base/arena.h"

#include <string.h>

enum { DEVICES_MOST = 256 };

static void take_distributed(struct tp_rank_info *info, const struct tp_piece *object)
{
	int64_t number;
	struct tp_piece rank = tp_piece_find(object, "rank");
	struct tp_piece n_ranks = tp_piece_find(object, "world_size");
	if (tp_piece_integer(&rank, &number) && number >= 0)
		info->number = number;
	info->n_ranks = (uint32_t)tp_piece_count(&n_ranks, UINT32_MAX);
}

static const char *text_of(const struct tp_piece *piece, struct tp_arena *arena)
{
	struct tp_buf scratch = {0};
	size_t len;
	const char *text = tp_piece_text(piece, &scratch, &len);
	const char *copy = len ? tp_arena_strndup(arena, text, len) : NULL;
	tp_buf_release(&scratch);
	return copy;
}

static void device_read(struct tp_device_info *out, const struct tp_piece *object,
			struct tp_arena *arena)
{
	struct tp_piece id = tp_piece_find(object, "id");
	struct tp_piece name = tp_piece_find(object, "name");
	struct tp_piece n = tp_piece_find(object, "numSms");
	struct tp_piece memory = tp_piece_find(object, "totalGlobalMem");
	struct tp_piece major = tp_piece_find(object, "computeMajor");
	struct tp_piece minor = tp_piece_find(object, "computeMinor");
	*out = (struct tp_device_info){
		.number = (int32_t)tp_piece_count(&id, INT32_MAX),
		.name = text_of(&name, arena),
		.n_processors = (uint32_t)tp_piece_count(&n, UINT32_MAX),
		.memory_bytes = tp_piece_count(&memory, INT64_MAX),
		.capability = 10 * (uint32_t)tp_piece_count(&major, 1000) +
			      (uint32_t)tp_piece_count(&minor, 9),
	};
}

static void take_devices(struct tp_rank_writer *writer, const struct tp_piece *list)
{
	struct tp_device_info devices[DEVICES_MOST];
	struct tp_arena arena = {0};
	struct tp_walk walk = tp_walk_into(list);
	struct tp_piece key;
	struct tp_piece value;
	size_t n = 0;
	while (list->type == TP_PIECE_LIST && n < DEVICES_MOST && tp_walk_next(&walk, &key, &value))
		if (value.type == TP_PIECE_OBJECT)
			device_read(&devices[n++], &value, &arena);
	tp_rank_devices(writer, devices, n);
	tp_arena_release(&arena);
}

static void take_host(struct tp_rank_writer *writer, const struct tp_piece *value)
{
	struct tp_buf scratch = {0};
	size_t len;
	const char *text = tp_piece_text(value, &scratch, &len);
	if (len)
		tp_rank_info(writer)->host = tp_rank_text(writer, text, len);
	tp_buf_release(&scratch);
}

bool tp_kineto_job_take(struct tp_rank_writer *writer, const struct tp_piece *key,
			const struct tp_piece *value)
{
	if (TP_PIECE_IS(key, "distributedInfo")) {
		take_distributed(tp_rank_info(writer), value);
		return true;
	}
	if (TP_PIECE_IS(key, "deviceProperties")) {
		take_devices(writer, value);
		return true;
	}
	if (TP_PIECE_IS(key, "host_name") || TP_PIECE_IS(key, "hostname"))
		take_host(writer, value);
	return TP_PIECE_IS(key, "schemaVersion") || TP_PIECE_IS(key, "baseTimeNanoseconds");
}
