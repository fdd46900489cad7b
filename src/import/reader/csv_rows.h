/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of comma-separated values from a stream, one after the other: fields may be quoted,
 * lines end with LF or CRLF. Memory is one line of TP_CSV_LINE_MAX; longer lines are skipped. */
#ifndef TRAINPROF_SRC_IMPORT_READER_CSV_ROWS_H
#define TRAINPROF_SRC_IMPORT_READER_CSV_ROWS_H

#include "import/json/json_walk.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_stream;

enum { TP_CSV_FIELDS_MAX = 64, TP_CSV_LINE_MAX = 64 << 10 };

enum tp_csv_item {
	TP_CSV_END,
	TP_CSV_ROW,
	TP_CSV_BAD, /* a line too long, with too many fields, or with an unclosed quote */
};

struct tp_csv {
	struct tp_stream *stream;
	char *window; /* heap: TP_CSV_LINE_MAX and TP_JSON_WALK_SLACK bytes */
	size_t at;    /* [at, end) has been read and not yet returned */
	size_t end;
	bool is_drained;
	/* Fields of the last row, without their quotes; borrowed until the next. */
	struct tp_json_slice fields[TP_CSV_FIELDS_MAX];
	size_t n_fields;
};

void tp_csv_init(struct tp_csv *csv, struct tp_stream *stream);
void tp_csv_release(struct tp_csv *csv);

/* Empty lines are not rows. */
enum tp_csv_item tp_csv_next(struct tp_csv *csv);

/* Splits a line into fields in place and removes quotes. Returns false if it is malformed. */
bool tp_csv_cut(struct tp_csv *csv, char *line, size_t len);

#endif
