/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes documents: reading ends for any contents, and cJSON reads everything that our grammar
 * accepts. */
#include "trainprof/base/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every value has a line, every string is valid enough as UTF-8 to be written again. */
static void value_visit(const struct tp_json *value, struct tp_json_writer *w)
{
	if (!tp_json_line(value))
		abort();
	switch (tp_json_type(value)) {
	case TP_JSON_OBJECT:
	case TP_JSON_ARRAY:
		tp_json_open(w, tp_json_type(value) == TP_JSON_OBJECT ? '{' : '[');
		TP_JSON_EACH (item, value) {
			if (tp_json_key(item))
				tp_json_write_key(w, tp_json_key(item));
			value_visit(item, w);
		}
		tp_json_close(w, tp_json_type(value) == TP_JSON_OBJECT ? '}' : ']');
		break;
	case TP_JSON_STRING:
		tp_json_write_string(w, tp_json_string(value));
		break;
	case TP_JSON_NUMBER:
		tp_json_write_number(w, tp_json_number(value, 0));
		break;
	case TP_JSON_BOOL:
		tp_json_write_bool(w, tp_json_bool(value, false));
		break;
	case TP_JSON_NULL:
		tp_json_write_null(w);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_json_doc *doc;
	struct tp_json_doc *again;
	struct tp_error err = {0};
	/* The text is always followed by a NUL. */
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	if (tp_json_parse(&doc, text, size, "d", &err) == TP_OK) {
		struct tp_json_writer w = {0};
		value_visit(tp_json_root(doc), &w);
		/* The output can be read again, unless indentation made it too long. */
		if (w.out.len <= TP_JSON_MAX_BYTES) {
			if (tp_json_parse(&again, w.out.data, w.out.len, "again", &err))
				abort();
			tp_json_free(again);
		}
		tp_json_writer_release(&w);
		tp_json_free(doc);
	} else if (!strcmp(err.text, "d: not readable")) {
		/* Complete, because the text quotes the document's own keys elsewhere. */
		abort();
	}
	free(text);
	return 0;
}
