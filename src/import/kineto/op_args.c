/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the args of kernels and copies. Names of keys: pytorch/kineto,
 * libkineto/src/output_json.cpp and CuptiActivity.cpp, read 2026-11-22. */
#include "op_args.h"

#include "import/reader/communicator_name.h"
#include "import/reader/rank_writer.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/span.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the field if the key (of the same length) is its name. */
static struct tp_json_slice *field_if(struct tp_json_slice *field, const struct tp_json_slice *key,
				      const char *name)
{
	return memcmp(key->text, name, key->len) == 0 ? field : NULL;
}

static struct tp_json_slice *field_of_short_key(struct tp_op_args *args,
						const struct tp_json_slice *key)
{
	switch (key->text[1]) {
	case 'l':
		return field_if(&args->block, key, "block");
	case 'y':
		return field_if(&args->bytes, key, "bytes");
	case 't':
		return field_if(&args->type, key, "dtype");
	default:
		return NULL;
	}
}

/* By length first, because most keys are none of these. */
static struct tp_json_slice *field_of(struct tp_op_args *args, const struct tp_json_slice *key)
{
	switch (key->len) {
	case 3:
		return field_if(&args->sequence, key, key->text[0] == 'S' ? "Seq" : "seq");
	case 4:
		return key->text[0] == 'R' ? field_if(&args->rank, key, "Rank")
					   : field_if(&args->grid, key, "grid");
	case 5:
		return field_of_short_key(args, key);
	case 6:
		return key->text[0] == 'd' ? field_if(&args->device, key, "device")
					   : field_if(&args->stream, key, "stream");
	case 8:
		return key->text[0] == 'D' ? field_if(&args->receiver, key, "Dst Rank")
					   : field_if(&args->sender, key, "Src Rank");
	case 10:
		return field_if(&args->group_size, key, "Group size");
	case 11:
		return key->text[0] == 'c' ? field_if(&args->correlation, key, "correlation")
					   : field_if(&args->group_ranks, key, "Group Ranks");
	case 13:
		return field_if(&args->n_elements, key, "In msg nelems");
	case 15:
		return field_if(&args->collective, key, "Collective name");
	case 18:
		return field_if(&args->group, key, "Process Group Name");
	case 19:
		return field_if(&args->group_ranks, key, "Process Group Ranks");
	case 25:
		return field_if(&args->group_words, key, "Process Group Description");
	default:
		return NULL;
	}
}

void tp_op_args_read(struct tp_op_args *out, const struct tp_json_slice *args)
{
	struct tp_json_walk walk = tp_json_walk_init(args);
	struct tp_json_slice key;
	struct tp_json_slice value;
	struct tp_buf scratch = {0};
	*out = (struct tp_op_args){0};
	while (tp_json_walk_next(&walk, &key, &value)) {
		if (key.is_escaped)
			key = tp_json_slice_unescape(&key, &scratch);
		struct tp_json_slice *field = field_of(out, &key);
		if (field)
			*field = value;
	}
	if (scratch.data)
		tp_buf_release(&scratch);
}

/* Volume of [50, 1, 1]; 0 if it is malformed or more than `most`. */
static uint64_t volume_of(const struct tp_json_slice *list, uint64_t most)
{
	struct tp_json_walk walk = tp_json_walk_init(list);
	struct tp_json_slice key;
	struct tp_json_slice value;
	uint64_t product = list->type == TP_JSON_SLICE_LIST;
	while (tp_json_walk_next(&walk, &key, &value)) {
		uint64_t n = tp_json_slice_count(&value, UINT32_MAX);
		if (__builtin_mul_overflow(product, n, &product) || product > most)
			return 0;
	}
	return product;
}

/* Size of a c10::ScalarType; c10/core/ScalarType.h of pytorch, read 2026-11-22. */
static uint64_t type_bytes(const struct tp_json_slice *type)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} types[] = {
		{"Byte", 1},          {"Char", 1},           {"Bool", 1},   {"Float8_e5m2", 1},
		{"Float8_e4m3fn", 1}, {"Short", 2},          {"Half", 2},   {"BFloat16", 2},
		{"Int", 4},           {"Float", 4},          {"Long", 8},   {"Double", 8},
		{"ComplexFloat", 8},  {"ComplexDouble", 16}, {"UInt16", 2}, {"UInt32", 4},
		{"UInt64", 8},        {"ComplexHalf", 4},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(types); i++)
		if (strlen(types[i].name) == type->len &&
		    memcmp(types[i].name, type->text, type->len) == 0)
			return types[i].bytes;
	return 0;
}

static uint32_t string_of(struct tp_rank_writer *writer, const struct tp_json_slice *piece,
			  struct tp_buf *scratch)
{
	size_t len;
	const char *text = tp_json_slice_text(piece, scratch, &len);
	return tp_rank_writer_string(writer, text, len);
}

/* The communicator's name, otherwise its description, with its members. */
static uint32_t group_of(const struct tp_op_args *args, struct tp_rank_writer *writer,
			 struct tp_buf *scratch)
{
	struct tp_buf name = {0};
	size_t len;
	const char *text = tp_json_slice_text(&args->group, scratch, &len);
	if (!len)
		text = tp_json_slice_text(&args->group_words, scratch, &len);
	tp_communicator_name(&name, text, len, &args->group_ranks);
	uint32_t id = tp_rank_writer_string(writer, name.data, name.len);
	tp_buf_release(&name);
	return id;
}

/* A send and the receive that it meets are one exchange of two ranks, whatever communicator they
 * use. Sequence numbers count all exchanges of a rank, so the order within the pair matches them.
 */
static void pair_exchange(struct tp_detail *detail, const struct tp_op_args *args,
			  struct tp_rank_writer *writer)
{
	int64_t own = tp_rank_info(writer)->number;
	bool is_send = TP_JSON_SLICE_IS(&args->collective, "send");
	const struct tp_json_slice *peer = is_send ? &args->receiver : &args->sender;
	int64_t other;
	char name[64];
	if (own < 0 && !tp_json_slice_integer(&args->rank, &own))
		return;
	if ((!is_send && !TP_JSON_SLICE_IS(&args->collective, "recv")) ||
	    !tp_json_slice_integer(peer, &other) || other < 0 || own < 0)
		return;
	int len = snprintf(name, sizeof(name), "rank %" PRId64 " to rank %" PRId64,
			   is_send ? own : other, is_send ? other : own);
	detail->group = tp_rank_writer_string(writer, name, (size_t)len);
	detail->op = tp_rank_writer_string(writer, "sendrecv", strlen("sendrecv"));
	detail->sequence = 0;
	detail->n_ranks = 2;
}

static void add_collective(struct tp_detail *detail, const struct tp_op_args *args,
			   struct tp_rank_writer *writer, struct tp_buf *scratch)
{
	int64_t sequence;
	uint64_t n = tp_json_slice_count(&args->n_elements, INT64_MAX);
	if (!detail->bytes && __builtin_mul_overflow(n, type_bytes(&args->type), &detail->bytes))
		detail->bytes = 0;
	detail->op = string_of(writer, &args->collective, scratch);
	detail->type = string_of(writer, &args->type, scratch);
	detail->group = group_of(args, writer, scratch);
	detail->n_ranks = (uint32_t)tp_json_slice_count(&args->group_size, UINT32_MAX);
	if (tp_json_slice_integer(&args->sequence, &sequence) && sequence >= 0 &&
	    sequence < UINT32_MAX)
		detail->sequence = (uint32_t)sequence + 1;
	pair_exchange(detail, args, writer);
}

uint32_t tp_op_args_detail(const struct tp_op_args *args, struct tp_rank_writer *writer,
			   struct tp_buf *scratch)
{
	struct tp_detail detail = {
		.bytes = tp_json_slice_count(&args->bytes, INT64_MAX),
		.blocks = volume_of(&args->grid, UINT64_MAX),
		.threads = (uint32_t)volume_of(&args->block, UINT32_MAX),
	};
	if (args->collective.len)
		add_collective(&detail, args, writer, scratch);
	return tp_rank_writer_detail(writer, &detail);
}
