/* SPDX-License-Identifier: Apache-2.0 */
/* Writes strings and numbers of JSON. */
#include "json_stream.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/text.h"

#include <inttypes.h>

void tp_export_json_text(FILE *out, const char *text)
{
	struct tp_buf valid = {0};
	tp_text_add_utf8(&valid, text);
	putc('"', out);
	for (const char *p = tp_buf_text(&valid); *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == '<' || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
	tp_buf_release(&valid);
}

void tp_export_json_member(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	tp_export_json_text(out, text);
}

void tp_export_json_decimals(FILE *out, uint64_t value)
{
	fprintf(out, "%" PRIu64, value / 1000);
	if (value % 1000)
		fprintf(out, ".%03u", (unsigned)(value % 1000));
}
