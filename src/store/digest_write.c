/* SPDX-License-Identifier: Apache-2.0 */
/* Writes digests: the data of a rank that a job needs, in frames of at most 2 KiB. */
#include "trainprof/store/rank_digest.h"

#include "checksum.h"
#include "digest_fields.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"

#include <stdio.h>
#include <string.h>

enum { PAYLOAD_MAX = TP_DIGEST_FRAME_MAX - TP_DIGEST_FRAME_HEAD };

static const unsigned char magic[8] = {'T', 'P', 'D', 'I', 'G', '\r', '\n', 0x1a};

void tp_digest_put_header(struct tp_buf *out)
{
	unsigned char head[TP_DIGEST_HEADER_SIZE] = {0};
	struct tp_checksum checksum;
	tp_checksum_init(&checksum);
	memcpy(head, magic, sizeof(magic));
	tp_put_u16(head + 8, 1);
	tp_put_u32(head + 12, tp_checksum_add(&checksum, 0, head, 12));
	tp_buf_add(out, head, sizeof(head));
}

static void put_frame(struct tp_buf *out, uint32_t kind, const void *payload, size_t size)
{
	unsigned char head[TP_DIGEST_FRAME_HEAD];
	struct tp_checksum checksum;
	tp_checksum_init(&checksum);
	size_t at = out->len;
	tp_put_u32(head, kind);
	tp_put_u32(head + 4, (uint32_t)size);
	tp_put_u32(head + 8, 0);
	tp_buf_add(out, head, sizeof(head));
	tp_buf_add(out, payload, size);
	unsigned char *frame = (unsigned char *)out->data + at;
	tp_put_u32(frame + 8, tp_digest_checksum(&checksum, frame, out->len - at));
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static const char *label_name(char *out, size_t size, enum tp_label label)
{
	snprintf(out, size, "%s.%s", tp_part_name(tp_label_part(label)), tp_label_name(label));
	return out;
}

static void put_code(struct tp_buf *out, unsigned number, const struct tp_job_code *code)
{
	struct tp_buf message = {0};
	char label[48];
	const struct tp_digest_code item = {.code = *code,
					    .label = label_name(label, sizeof(label), code->label)};
	tp_digest_put_fields(&message, tp_digest_code_fields, tp_digest_n_code_fields, &item);
	if (out->len + message.len + 8 <= PAYLOAD_MAX)
		tp_digest_put_bytes(out, number, tp_buf_text(&message), message.len);
	tp_buf_release(&message);
}

/* Writes name and time, one message each: the numbers of labels differ between versions. */
static void put_labels(struct tp_buf *out, const struct tp_job_rank *rank)
{
	for (int label = 0; label < TP_N_LABELS; label++) {
		char name[48];
		const struct tp_digest_code item = {.code = {.step_ns = rank->label_ns[label]},
						    .label = label_name(name, sizeof(name),
									(enum tp_label)label)};
		struct tp_buf message = {0};
		if (rank->label_ns[label] < 0.5)
			continue;
		tp_digest_put_fields(&message, tp_digest_code_fields, tp_digest_n_code_fields,
				     &item);
		tp_digest_put_bytes(out, TP_DIGEST_LABELS, tp_buf_text(&message), message.len);
		tp_buf_release(&message);
	}
}

/* Places come last: those that do not fit are the ones with the least time. */
static void put_rank(struct tp_buf *out, const struct tp_job_rank *rank)
{
	struct tp_buf payload = {0};
	tp_digest_put_fields(&payload, tp_digest_rank_fields, tp_digest_n_rank_fields, rank);
	tp_digest_put_bytes(&payload, TP_DIGEST_BY, tp_version(), strlen(tp_version()));
	put_labels(&payload, rank);
	if (rank->last_place)
		put_code(&payload, TP_DIGEST_LAST_PLACE, rank->last_place);
	for (size_t i = 0; i < rank->n_codes; i++)
		put_code(&payload, TP_DIGEST_CODE, &rank->codes[i]);
	put_frame(out, TP_DIGEST_RANK, tp_buf_text(&payload), payload.len);
	tp_buf_release(&payload);
}

static void put_advice(struct tp_buf *out, const struct tp_job_advice *advice, size_t n)
{
	struct tp_buf payload = {0};
	for (size_t i = 0; i < n; i++) {
		struct tp_buf message = {0};
		tp_digest_put_fields(&message, tp_digest_advice_fields, tp_digest_n_advice_fields,
				     &advice[i]);
		if (payload.len + message.len + 8 <= PAYLOAD_MAX)
			tp_digest_put_bytes(&payload, 1, tp_buf_text(&message), message.len);
		tp_buf_release(&message);
	}
	if (n)
		put_frame(out, TP_DIGEST_ADVICE, tp_buf_text(&payload), payload.len);
	tp_buf_release(&payload);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Returns microseconds since the rank started; steps are longer than the rounding error. */
static uint64_t us_since(const struct tp_job_rank *rank, uint64_t ns)
{
	int64_t since = (int64_t)(ns - rank->started_ns);
	return (uint64_t)((since + (since < 0 ? -500 : 500)) / 1000);
}

/* A frame has as many steps as fit. Its first varint is the time from which the first step's start
 * is counted. */
static void put_steps(struct tp_buf *out, const struct tp_job_rank *rank)
{
	enum { STEP_MAX = 3 * TP_VARINT_MAX_BYTES };
	unsigned char bytes[PAYLOAD_MAX];
	size_t i = 0;
	while (i < rank->n_steps) {
		uint64_t end_us = us_since(rank, rank->steps[i].start_ns);
		uint64_t length_us = 0;
		unsigned char *at = tp_varint_put(bytes, tp_delta_encode(end_us, 0));
		for (; i < rank->n_steps && at + STEP_MAX <= bytes + sizeof(bytes); i++) {
			const struct tp_job_step *step = &rank->steps[i];
			uint64_t start_us = us_since(rank, step->start_ns);
			uint64_t before_us = length_us;
			at = tp_varint_put(at, tp_delta_encode(start_us, end_us));
			end_us = us_since(rank, step->end_ns);
			length_us = end_us - start_us;
			at = tp_varint_put(at, tp_delta_encode(length_us, before_us));
			at = tp_varint_put(at, (step->peer_ns + 500) / 1000 << 1 |
						       (unsigned)step->is_judged);
		}
		put_frame(out, TP_DIGEST_STEPS, bytes, (size_t)(at - bytes));
	}
}

void tp_digest_put_rank(struct tp_buf *out, const struct tp_job_rank *rank,
			const struct tp_job_advice *advice, size_t n_advice)
{
	put_rank(out, rank);
	put_advice(out, advice, n_advice);
	put_steps(out, rank);
}

/* ---- a job ----------------------------------------------------------------------------------- */

void tp_digest_put_source(struct tp_buf *out, const char *name, uint64_t n_bytes)
{
	struct tp_buf payload = {0};
	size_t len = strlen(name);
	tp_digest_put_varint(&payload, n_bytes);
	/* The end of a path is more specific than its beginning. */
	tp_buf_puts(&payload, len > PAYLOAD_MAX / 2 ? name + len - PAYLOAD_MAX / 2 : name);
	put_frame(out, TP_DIGEST_SOURCE, payload.data, payload.len);
	tp_buf_release(&payload);
}

void tp_digest_put_end(struct tp_buf *out, const struct tp_digest_counts *counts)
{
	unsigned char payload[24];
	tp_put_u64(payload, counts->n_sources);
	tp_put_u64(payload + 8, counts->n_ranks);
	tp_put_u64(payload + 16, counts->n_unreadable);
	put_frame(out, TP_DIGEST_END, payload, sizeof(payload));
}
