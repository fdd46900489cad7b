/* SPDX-License-Identifier: Apache-2.0 */
/* Records in rocprofv3's JSON. */
#ifndef TRAINPROF_SRC_IMPORT_ROCM_ROCPROF_RECORD_H
#define TRAINPROF_SRC_IMPORT_ROCM_ROCPROF_RECORD_H

#include "import/json/json_shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_ROCPROF_MEMBERS = 13 };

/* Members of records, at any depth. */
struct tp_rocprof_record {
	union {
		struct {
			int64_t unwanted; /* the last of the others */
			int64_t kind, operation, thread, correlation, start_ns, end_ns;
			int64_t agent, source, target, queue, kernel, bytes;
		};
		int64_t members[TP_ROCPROF_MEMBERS];
	};
	uint64_t n_threads, n_items; /* per block, per grid */
	bool has_threads, has_items;
};

enum { TP_ROCPROF_DEPTH_MAX = 4 };

/* Where in a record a member is. */
struct tp_rocprof_place {
	uint8_t depth;
	uint8_t parents[TP_ROCPROF_DEPTH_MAX + 1]; /* what their keys stand for; the first: none */
};

/* State that is kept from one record to the next: the order of members. Zero-initialised is empty
 * and valid. */
struct tp_rocprof_records {
	struct tp_json_shape shape;
	struct tp_rocprof_place places[TP_JSON_SHAPE_NODES]; /* by node */
};

/* Returns the number, -1 for anything else. Most are a few digits, for which the general parser
 * takes longer. */
static inline int64_t tp_rocprof_integer(const struct tp_json_slice *value)
{
	enum { DIGITS_MAX = 18 };
	int64_t number = 0;
	size_t i = 0;
	if (value->type == TP_JSON_SLICE_WORD && value->len <= DIGITS_MAX)
		for (; i < value->len && value->text[i] >= '0' && value->text[i] <= '9'; i++)
			number = 10 * number + (value->text[i] - '0');
	if (i && i == value->len)
		return number;
	number = -1;
	(void)tp_json_slice_integer(value, &number);
	return number;
}

/* Sets the members that the record at `at` has, up to one that is malformed. Returns the byte after
 * it; NULL if it is malformed or does not end before `end`. */
const char *tp_rocprof_record_read(struct tp_rocprof_records *reader,
				   struct tp_rocprof_record *record, const char *at,
				   const char *end);

#endif
