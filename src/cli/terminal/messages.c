/* SPDX-License-Identifier: Apache-2.0 */
/* Prints errors and what to type next. */
#include "messages.h"

#include "progress.h"

#include "cli/options/command.h"
#include "trainprof/base/buf.h"
#include "trainprof/base/file.h"
#include "trainprof/base/text.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages contain one character that some terminals lack; names may contain any. */
static void to_charset(struct tp_buf *text)
{
	static const char dots[] = "…";
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		return;
	for (char *p = text->data; p && (p = strstr(p, dots)); p += sizeof(dots) - 1)
		memcpy(p, "...", sizeof(dots) - 1);
	for (char *p = text->data; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
}

/* Names come from files and argv: they must not control the terminal. One write, so that the
 * program's own output does not split a message. */
static void emit(struct tp_buf *text)
{
	struct tp_buf safe = {0};
	tp_text_add_safe(&safe, tp_buf_text(text));
	to_charset(&safe);
	tp_progress_clear();
	/* If writing fails, there is no other place to report it. */
	(void)tp_file_write_all(STDERR_FILENO, tp_buf_text(&safe), safe.len);
	tp_buf_release(&safe);
	tp_buf_release(text);
}

static void add_next(struct tp_buf *text, const char *next)
{
	if (next && *next)
		tp_buf_printf(text, "  next: %s\n", next);
}

void tp_message_error(const char *command, const struct tp_error *err)
{
	struct tp_buf text = {0};
	tp_buf_printf(&text, "trainprof%s%s: %s\n", command ? " " : "", command ? command : "",
		      err->text);
	add_next(&text, err->next);
	emit(&text);
}

void tp_message_print(const char *next, const char *format, ...)
{
	struct tp_buf text = {0};
	va_list args;
	tp_buf_puts(&text, "trainprof: ");
	va_start(args, format);
	tp_buf_vprintf(&text, format, args);
	va_end(args);
	tp_buf_putc(&text, '\n');
	add_next(&text, next);
	emit(&text);
}

void tp_message_print_lines(const char *lines)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");
		tp_message_print(NULL, "%.*s", (int)len, lines);
		lines += len + (lines[len] == '\n');
	}
}

int tp_exit_status(const struct tp_error *err)
{
	switch (err->status) {
	case TP_OK:
		return TP_EXIT_OK;
	case TP_USAGE:
		return TP_EXIT_USAGE;
	case TP_DENIED:
	case TP_BUSY:
		return TP_EXIT_REFUSED;
	case TP_NOMEM:
		return TP_EXIT_INTERNAL;
	case TP_IO:
	case TP_PARSE:
	case TP_VERSION:
	case TP_ABSENT:
	case TP_EXISTS:
	case TP_TARGET:
		break;
	}
	return TP_EXIT_FILE;
}

int tp_message_error_status(const char *command, const struct tp_error *err)
{
	tp_message_error(command, err);
	return tp_exit_status(err);
}
