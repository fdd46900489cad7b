/* SPDX-License-Identifier: Apache-2.0 */
/* Format: RFC 4180, except that a quoted field does not span lines. */
#include "csv_rows.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <stdlib.h>
#include <string.h>

void tp_csv_init(struct tp_csv *csv, struct tp_stream *stream)
{
	*csv = (struct tp_csv){.stream = stream};
	csv->window = tp_alloc(TP_CSV_LINE_MAX + TP_JSON_WALK_SLACK);
}

void tp_csv_release(struct tp_csv *csv)
{
	free(csv->window);
	*csv = (struct tp_csv){0};
}

/* ---- fields ---- */

/* Removes the quotes of a field; `p` is after the opening one. Returns the position after the
 * closing one; a doubled quote becomes one. Returns NULL if there is no closing quote. */
static char *unquote(struct tp_json_slice *field, char *p, const char *end)
{
	char *out = p;
	field->text = out;
	for (; p < end; p++) {
		if (*p == '"' && (p + 1 == end || p[1] != '"')) {
			field->len = (size_t)(out - field->text);
			return p + 1;
		}
		p += *p == '"';
		*out++ = *p;
	}
	return NULL;
}

static char *plain(struct tp_json_slice *field, char *p, const char *end)
{
	field->text = p;
	while (p < end && *p != ',')
		p++;
	field->len = (size_t)(p - field->text);
	return p;
}

bool tp_csv_cut(struct tp_csv *csv, char *line, size_t len)
{
	char *p = line;
	const char *end = line + len;
	csv->n_fields = 0;
	for (;;) {
		if (csv->n_fields == TP_CSV_FIELDS_MAX)
			return false;
		struct tp_json_slice field = {.type = TP_JSON_SLICE_TEXT};
		p = p < end && *p == '"' ? unquote(&field, p + 1, end) : plain(&field, p, end);
		if (!p)
			return false;
		csv->fields[csv->n_fields++] = field;
		if (p == end)
			return true;
		if (*p++ != ',')
			return false;
	}
}

/* ---- lines ---- */

static void fill(struct tp_csv *csv)
{
	csv->end -= csv->at;
	memmove(csv->window, csv->window + csv->at, csv->end);
	csv->at = 0;
	size_t wanted = TP_CSV_LINE_MAX - csv->end;
	size_t n = tp_stream_read(csv->stream, csv->window + csv->end, wanted);
	csv->is_drained = n < wanted;
	csv->end += n;
}

/* Returns the next line, without its end; NULL if there is none. `*is_cut` is set if the line is
 * only the end of one that is too long. */
static char *line_next(struct tp_csv *csv, size_t *len, bool *is_cut)
{
	*is_cut = false;
	for (;;) {
		char *line = csv->window + csv->at;
		size_t n = csv->end - csv->at;
		const char *newline = n ? memchr(line, '\n', n) : NULL;
		if (newline || (csv->is_drained && n)) {
			*len = newline ? (size_t)(newline - line) : n;
			csv->at += *len + (newline != NULL);
			*len -= *len && line[*len - 1] == '\r';
			return line;
		}
		if (csv->is_drained)
			return NULL;
		if (n == TP_CSV_LINE_MAX) {
			*is_cut = true;
			csv->at = csv->end;
		}
		fill(csv);
	}
}

enum tp_csv_item tp_csv_next(struct tp_csv *csv)
{
	char *line;
	size_t len;
	bool is_cut;
	while ((line = line_next(csv, &len, &is_cut))) {
		if (is_cut)
			return TP_CSV_BAD;
		if (len)
			return tp_csv_cut(csv, line, len) ? TP_CSV_ROW : TP_CSV_BAD;
	}
	return is_cut ? TP_CSV_BAD : TP_CSV_END;
}
