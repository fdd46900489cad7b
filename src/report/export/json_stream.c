/* SPDX-License-Identifier: Apache-2.0 */
/* Writes strings and numbers of JSON. */
#include "json_stream.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/text.h"

#include <string.h>

/* Uses unlocked output, because one thread writes: locking for each character would take most of
 * the time. */
static void write_bytes(FILE *out, const char *bytes, size_t size)
{
	(void)!fwrite_unlocked(bytes, 1, size, out);
}

static size_t plain_length(const char *text)
{
	const char *p = text;
	while (*p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\' && *p != '<')
		p++;
	return (size_t)(p - text);
}

static void write_escaped(FILE *out, const char *text)
{
	struct tp_buf valid = {0};
	tp_text_add_utf8(&valid, text);
	for (const char *p = tp_buf_text(&valid); *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == '<' || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			write_bytes(out, p, 1);
	}
	tp_buf_release(&valid);
}

void tp_export_json_text(FILE *out, const char *text)
{
	size_t len = plain_length(text);
	write_bytes(out, "\"", 1);
	if (text[len])
		write_escaped(out, text);
	else
		write_bytes(out, text, len);
	write_bytes(out, "\"", 1);
}

void tp_export_json_number(FILE *out, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	write_bytes(out, digits + at, sizeof(digits) - at);
}

void tp_export_json_key(FILE *out, const char *key)
{
	write_bytes(out, ",\"", 2);
	write_bytes(out, key, strlen(key));
	write_bytes(out, "\":", 2);
}

void tp_export_json_member(FILE *out, const char *key, const char *text)
{
	tp_export_json_key(out, key);
	tp_export_json_text(out, text);
}

void tp_export_json_decimals(FILE *out, uint64_t value)
{
	unsigned rest = (unsigned)(value % 1000);
	const char decimals[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
				 (char)('0' + rest % 10)};
	tp_export_json_number(out, value / 1000);
	if (rest)
		write_bytes(out, decimals, sizeof(decimals));
}
