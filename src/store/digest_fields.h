/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in digests have the Protocol Buffers format: a field is its number and type as a varint,
 * then its value. A table maps fields to the members of a struct, for both directions. */
#ifndef TRAINPROF_SRC_STORE_DIGEST_FIELDS_H
#define TRAINPROF_SRC_STORE_DIGEST_FIELDS_H

#include "trainprof/base/buf.h"
#include "trainprof/base/strtab.h"
#include "trainprof/model/job_result.h"
#include "wire_num.h"

#include <stdbool.h>

enum tp_digest_type {
	TP_DIGEST_TEXT,  /* const char *; NULL is not written */
	TP_DIGEST_U64,   /* uint64_t */
	TP_DIGEST_U32,   /* uint32_t */
	TP_DIGEST_S64,   /* int64_t, zigzag */
	TP_DIGEST_INT,   /* int, pid_t, zigzag */
	TP_DIGEST_FLAG,  /* bool */
	TP_DIGEST_TIME,  /* double, rounded down to whole ns */
	TP_DIGEST_RATIO, /* double, 8 bytes */
};

struct tp_digest_field {
	unsigned number;
	enum tp_digest_type type;
	size_t offset;
};

/* Longer texts are truncated. */
enum { TP_DIGEST_TEXT_MAX = 200 };

/* Appends those fields of an item that are not zero. */
void tp_digest_put_fields(struct tp_buf *out, const struct tp_digest_field *fields, size_t n,
			  const void *item);
void tp_digest_put_bytes(struct tp_buf *out, unsigned number, const void *bytes, size_t size);
void tp_digest_put_varint(struct tp_buf *out, uint64_t value);

/* A decoded field; `value` or `bytes` is set, depending on its type. */
struct tp_digest_value {
	unsigned number;
	bool is_bytes;
	uint64_t value;
	const unsigned char *bytes;
	size_t size;
};

/* Returns false at the end, or if the cursor has become bad. */
bool tp_digest_get_value(struct tp_varint_cursor *cursor, struct tp_digest_value *out);
/* Stores the value in the member with its number, if there is one. Texts go into the table. */
void tp_digest_set_field(void *item, const struct tp_digest_field *fields, size_t n,
			 const struct tp_digest_value *value, struct tp_strtab *texts);
/* Does both, for a message without messages inside. */
bool tp_digest_get_fields(void *item, const struct tp_digest_field *fields, size_t n,
			  const struct tp_digest_value *message, struct tp_strtab *texts);

struct tp_checksum;
uint32_t tp_digest_checksum(const struct tp_checksum *checksum, const unsigned char *frame,
			    size_t size);
enum { TP_DIGEST_FRAME_HEAD = 12 };

/* Tables shared by the writer and the reader. */
extern const struct tp_digest_field tp_digest_rank_fields[];
extern const struct tp_digest_field tp_digest_code_fields[];
extern const struct tp_digest_field tp_digest_advice_fields[];
extern const size_t tp_digest_n_rank_fields;
extern const size_t tp_digest_n_code_fields;
extern const size_t tp_digest_n_advice_fields;

/* Numbers of the messages in a rank, and of a field. */
enum {
	TP_DIGEST_UNREADABLE = 17,
	TP_DIGEST_LABELS = 30,
	TP_DIGEST_CODE = 31,
	TP_DIGEST_LAST_PLACE = 32,
	TP_DIGEST_BY = 33
};

/* A place in the code: its label is a name. */
struct tp_digest_code {
	struct tp_job_code code;
	const char *label;
};

#endif
