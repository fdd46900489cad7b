/* SPDX-License-Identifier: Apache-2.0 */
/* Reads digests frame by frame, without trusting them. */
#include "trainprof/store/rank_digest.h"

#include "checksum.h"
#include "digest_fields.h"

#include "trainprof/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tp_digest_reader {
	FILE *file;
	char *path;
	struct tp_checksum checksum;
	uint64_t offset;
	unsigned char frame[TP_DIGEST_FRAME_MAX];
};

static const unsigned char magic[8] = {'T', 'P', 'D', 'I', 'G', '\r', '\n', 0x1a};

bool tp_digest_is_one(const char *path)
{
	unsigned char head[sizeof(magic)];
	FILE *file = fopen(path, "rbe");
	bool is_one = file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
		      memcmp(head, magic, sizeof(head)) == 0;
	if (file)
		fclose(file);
	return is_one;
}

static enum tp_status check_header(struct tp_digest_reader *reader, struct tp_error *err)
{
	unsigned char head[TP_DIGEST_HEADER_SIZE];
	size_t n = fread(head, 1, sizeof(head), reader->file);
	if (n < sizeof(magic) || memcmp(head, magic, sizeof(magic)) != 0)
		return tp_fail(err, TP_PARSE, "'%s' is not a digest", reader->path);
	if (n < sizeof(head))
		return tp_fail(err, TP_PARSE, "'%s' is truncated", reader->path);
	if (tp_get_u32(head + 12) != tp_checksum_add(&reader->checksum, 0, head, 12))
		return tp_fail(err, TP_PARSE, "'%s' is damaged", reader->path);
	if (tp_get_u16(head + 8) != 1)
		return tp_fail(err, TP_VERSION, "'%s' is a digest of version %u; this reads 1",
			       reader->path, tp_get_u16(head + 8));
	reader->offset = sizeof(head);
	return TP_OK;
}

enum tp_status tp_digest_open(struct tp_digest_reader **out, const char *path, struct tp_error *err)
{
	FILE *file = fopen(path, "rbe");
	if (!file)
		return tp_fail_errno(err, errno, "cannot read '%s'", path);
	struct tp_digest_reader *reader = tp_alloc(sizeof(*reader));
	reader->file = file;
	reader->path = tp_strdup(path);
	tp_checksum_init(&reader->checksum);
	enum tp_status status = check_header(reader, err);
	if (status == TP_OK)
		*out = reader;
	else
		tp_digest_close(reader);
	return status;
}

void tp_digest_close(struct tp_digest_reader *reader)
{
	if (!reader)
		return;
	fclose(reader->file);
	free(reader->path);
	free(reader);
}

enum tp_status tp_digest_next(struct tp_digest_reader *reader, struct tp_digest_frame *out,
			      struct tp_error *err)
{
	unsigned char *frame = reader->frame;
	size_t n = fread(frame, 1, TP_DIGEST_FRAME_HEAD, reader->file);
	uint32_t size = n == TP_DIGEST_FRAME_HEAD ? tp_get_u32(frame + 4) : 0;
	if (n < TP_DIGEST_FRAME_HEAD)
		return tp_fail(err, TP_PARSE, "'%s' is truncated", reader->path);
	if (size > TP_DIGEST_FRAME_MAX - TP_DIGEST_FRAME_HEAD)
		return tp_fail(err, TP_PARSE, "'%s' is damaged", reader->path);
	if (fread(frame + TP_DIGEST_FRAME_HEAD, 1, size, reader->file) != size)
		return tp_fail(err, TP_PARSE, "'%s' is truncated", reader->path);
	size += TP_DIGEST_FRAME_HEAD;
	if (tp_get_u32(frame + 8) != tp_digest_checksum(&reader->checksum, frame, size))
		return tp_fail(err, TP_PARSE, "'%s' is damaged", reader->path);
	*out = (struct tp_digest_frame){.kind = tp_get_u32(frame),
					.bytes = frame,
					.size = size,
					.payload = frame + TP_DIGEST_FRAME_HEAD,
					.payload_size = size - TP_DIGEST_FRAME_HEAD,
					.offset = reader->offset};
	reader->offset += size;
	return TP_OK;
}

uint64_t tp_digest_offset(const struct tp_digest_reader *reader)
{
	return reader->offset;
}

bool tp_digest_get_source(const struct tp_digest_frame *frame, char *name, size_t size,
			  uint64_t *n_bytes)
{
	struct tp_varint_cursor cursor = {.at = frame->payload,
					  .end = frame->payload + frame->payload_size};
	*n_bytes = tp_varint_get(&cursor);
	snprintf(name, size, "%.*s", (int)(cursor.end - cursor.at), (const char *)cursor.at);
	return !cursor.is_bad;
}

bool tp_digest_is_readable(const struct tp_digest_frame *frame)
{
	struct tp_varint_cursor cursor = {.at = frame->payload,
					  .end = frame->payload + frame->payload_size};
	struct tp_digest_value value;
	while (tp_digest_get_value(&cursor, &value))
		if (value.number == TP_DIGEST_UNREADABLE)
			return false;
	return !cursor.is_bad;
}

/* ---- a job ----------------------------------------------------------------------------------- */

/* Maximum number of steps of all ranks together: half a gigabyte. */
enum { STEPS_HELD_MAX = 1 << 24, STEPS_HELD_MIN = 64 };

struct load {
	struct tp_job *job;
	const char *path;
	const char *directory;
	const char *written_by;
	struct tp_job_rank *rank; /* the rank whose steps are being read; NULL = none */
	size_t steps_capacity;
	size_t n_held_max; /* maximum number of steps per rank */
	bool is_other_version;
};

static enum tp_label label_by_name(const char *name)
{
	enum tp_label label = name ? tp_label_find(name) : TP_N_LABELS;
	return label < TP_N_LABELS ? label : TP_LABEL_IDLE_UNKNOWN;
}

static bool read_code(struct load *load, struct tp_job_code *out,
		      const struct tp_digest_value *value)
{
	struct tp_digest_code item = {0};
	bool is_good = tp_digest_get_fields(&item, tp_digest_code_fields, tp_digest_n_code_fields,
					    value, &load->job->texts);
	*out = item.code;
	out->label = label_by_name(item.label);
	return is_good;
}

/* Reads a field of a rank that is a message, or unknown. */
static bool read_part(struct load *load, struct tp_job_rank *rank,
		      const struct tp_digest_value *value)
{
	struct tp_job_code code = {0};
	const char *by = load->written_by;
	if (!value->is_bytes)
		return true;
	if (value->number == TP_DIGEST_BY) {
		load->is_other_version |= by && (strlen(by) != value->size ||
						 memcmp(by, value->bytes, value->size) != 0);
		return true;
	}
	if (value->number != TP_DIGEST_LABELS && value->number != TP_DIGEST_CODE &&
	    value->number != TP_DIGEST_LAST_PLACE)
		return true;
	if (!read_code(load, &code, value))
		return false;
	if (value->number == TP_DIGEST_LABELS)
		rank->label_ns[code.label] += code.step_ns;
	else if (value->number == TP_DIGEST_LAST_PLACE)
		rank->last_place = tp_arena_copy(&load->job->arena, &code, sizeof(code));
	else if (rank->n_codes < TP_JOB_PLACES_MAX)
		rank->codes[rank->n_codes++] = code;
	return true;
}

static bool read_rank(struct load *load, const struct tp_digest_frame *frame)
{
	struct tp_varint_cursor cursor = {.at = frame->payload,
					  .end = frame->payload + frame->payload_size};
	struct tp_job *job = load->job;
	struct tp_digest_value value;
	struct tp_job_rank rank = {.directory = load->directory,
				   .digest = load->path,
				   .digest_offset = frame->offset};
	while (tp_digest_get_value(&cursor, &value)) {
		tp_digest_set_field(&rank, tp_digest_rank_fields, tp_digest_n_rank_fields, &value,
				    &job->texts);
		if (!read_part(load, &rank, &value))
			return false;
	}
	if (cursor.is_bad || rank.number < -1 || (unsigned)rank.end >= TP_N_END_KINDS)
		return false;
	if (!job->label)
		job->label = rank.label;
	TP_ARRAY_PUSH(job->ranks, job->n_ranks, job->ranks_capacity) = rank;
	load->rank = &job->ranks[job->n_ranks - 1];
	load->steps_capacity = 0;
	return true;
}

/* Drops all but the last n_held_max steps. While reading, twice as many are collected first, so
 * that few steps are moved. */
static void drop_early_steps(struct load *load)
{
	struct tp_job_rank *rank = load->rank;
	if (rank->n_steps <= load->n_held_max)
		return;
	size_t n = rank->n_steps - load->n_held_max;
	for (size_t i = 0; i < n; i++)
		rank->n_judged -= rank->steps[i].is_judged;
	memmove(rank->steps, rank->steps + n, load->n_held_max * sizeof(*rank->steps));
	rank->n_steps -= n;
	rank->n_early += n;
}

static bool read_steps(struct load *load, const struct tp_digest_frame *frame)
{
	struct tp_varint_cursor cursor = {.at = frame->payload,
					  .end = frame->payload + frame->payload_size};
	struct tp_job_rank *rank = load->rank;
	uint64_t end_us = tp_delta_decode(tp_varint_get(&cursor), 0);
	uint64_t length_us = 0;
	while (rank && !cursor.is_bad && cursor.at < cursor.end) {
		uint64_t start_us = tp_delta_decode(tp_varint_get(&cursor), end_us);
		length_us = tp_delta_decode(tp_varint_get(&cursor), length_us);
		uint64_t peer = tp_varint_get(&cursor);
		if (cursor.is_bad || length_us > UINT32_MAX * UINT64_C(1000))
			return false;
		end_us = start_us + length_us;
		uint64_t peer_us = peer >> 1 < length_us ? peer >> 1 : length_us;
		TP_ARRAY_PUSH(rank->steps, rank->n_steps, load->steps_capacity) =
			(struct tp_job_step){.start_ns = rank->started_ns + 1000 * start_us,
					     .end_ns = rank->started_ns + 1000 * end_us,
					     .peer_ns = 1000 * peer_us,
					     .is_judged = peer & 1};
		rank->n_judged += peer & 1;
		if (rank->n_steps >= 2 * load->n_held_max)
			drop_early_steps(load);
	}
	return !cursor.is_bad;
}

static void end_rank(struct load *load)
{
	struct tp_job_rank *rank = load->rank;
	double sum_ns = 0;
	if (!rank)
		return;
	drop_early_steps(load);
	for (size_t i = 0; i < rank->n_steps; i++)
		if (rank->steps[i].is_judged)
			sum_ns += (double)(rank->steps[i].end_ns - rank->steps[i].start_ns);
	rank->step_ns = rank->n_judged ? sum_ns / (double)rank->n_judged : 0;
	if (rank->steps)
		rank->steps = tp_realloc(rank->steps, rank->n_steps * sizeof(*rank->steps));
	load->rank = NULL;
}

static bool read_frame(struct load *load, const struct tp_digest_frame *frame)
{
	char name[TP_DIGEST_FRAME_MAX];
	uint64_t n_bytes;
	switch (frame->kind) {
	case TP_DIGEST_SOURCE:
		end_rank(load);
		if (!tp_digest_get_source(frame, name, sizeof(name), &n_bytes))
			return false;
		load->directory = tp_arena_strdup(&load->job->arena, name);
		return true;
	case TP_DIGEST_RANK:
		end_rank(load);
		return read_rank(load, frame);
	case TP_DIGEST_STEPS:
		return read_steps(load, frame);
	default:
		return true;
	}
}

/* Computes the steps to keep per rank from the number of ranks, which a complete file has at its
 * end. */
static size_t steps_held(const char *path)
{
	unsigned char tail[TP_DIGEST_FRAME_HEAD + 24];
	uint64_t n_ranks = 1;
	FILE *file = fopen(path, "rbe");
	if (file && fseek(file, -(long)sizeof(tail), SEEK_END) == 0 &&
	    fread(tail, 1, sizeof(tail), file) == sizeof(tail) && tp_get_u32(tail) == TP_DIGEST_END)
		n_ranks = tp_get_u64(tail + TP_DIGEST_FRAME_HEAD + 8);
	if (file)
		fclose(file);
	if (n_ranks > STEPS_HELD_MAX / STEPS_HELD_MIN)
		return STEPS_HELD_MIN;
	return STEPS_HELD_MAX / (size_t)(n_ranks ? n_ranks : 1);
}

enum tp_status tp_digest_load(struct tp_job *job, const char *path, const char *directory,
			      const char *written_by, struct tp_error *err)
{
	struct tp_digest_reader *reader = NULL;
	struct tp_digest_frame frame = {0};
	struct load load = {.job = job, .written_by = written_by};
	enum tp_status status = tp_digest_open(&reader, path, err);
	if (status != TP_OK || !reader)
		return status;
	if (!job->texts.n_slots)
		tp_strtab_init(&job->texts);
	load.path = tp_arena_strdup(&job->arena, path);
	load.directory = tp_arena_strdup(&job->arena, directory ? directory : path);
	load.n_held_max = steps_held(path);
	size_t before = job->n_ranks;
	do {
		status = tp_digest_next(reader, &frame, err);
		if (status == TP_OK && !read_frame(&load, &frame))
			status = tp_fail(err, TP_PARSE, "'%s' is malformed", path);
	} while (status == TP_OK && frame.kind != TP_DIGEST_END);
	end_rank(&load);
	tp_digest_close(reader);
	if (load.is_other_version) {
		for (; job->n_ranks > before; job->n_ranks--)
			free(job->ranks[job->n_ranks - 1].steps);
		status = tp_fail(err, TP_VERSION, "'%s' has an unknown format version", path);
	}
	return status;
}

/* ---- advice ---------------------------------------------------------------------------------- */

static void add_advice(struct tp_job *job, const struct tp_digest_frame *frame)
{
	struct tp_varint_cursor cursor = {.at = frame->payload,
					  .end = frame->payload + frame->payload_size};
	struct tp_digest_value value;
	while (tp_digest_get_value(&cursor, &value)) {
		struct tp_job_advice advice = {0};
		if (value.number == 1 && value.is_bytes && job->n_advice < TP_JOB_ADVICE_MAX &&
		    tp_digest_get_fields(&advice, tp_digest_advice_fields,
					 tp_digest_n_advice_fields, &value, &job->texts) &&
		    advice.rule && advice.headline && advice.because)
			job->advice[job->n_advice++] = advice;
	}
}

void tp_digest_load_advice(struct tp_job *job, const struct tp_job_rank *rank)
{
	struct tp_digest_reader *reader = NULL;
	struct tp_digest_frame frame = {0};
	if (!rank->digest || tp_digest_open(&reader, rank->digest, NULL) != TP_OK || !reader)
		return;
	if (fseeko(reader->file, (off_t)rank->digest_offset, SEEK_SET) == 0 &&
	    tp_digest_next(reader, &frame, NULL) == TP_OK && frame.kind == TP_DIGEST_RANK &&
	    tp_digest_next(reader, &frame, NULL) == TP_OK && frame.kind == TP_DIGEST_ADVICE)
		add_advice(job, &frame);
	tp_digest_close(reader);
}
