/* SPDX-License-Identifier: Apache-2.0 */
/* Fills errors and names statuses. */
#include "trainprof/base/status.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { FILES_ENOUGH = 4096 };

enum tp_status tp_fail(struct tp_error *err, enum tp_status status, const char *format, ...)
{
	if (!err)
		return status;
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	err->status = status;
	err->next[0] = '\0';
	return status;
}

static enum tp_status status_of_errno(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return TP_ABSENT;
	case EACCES:
	case EPERM:
	case EROFS:
		return TP_DENIED;
	case EEXIST:
		return TP_EXISTS;
	default:
		return TP_IO;
	}
}

const char *tp_errno_text(int error)
{
	static _Thread_local char text[80];
	char unknown[40];
	/* Always English, because only the locale of characters is ever set. */
	snprintf(text, sizeof(text), "%s", strerror_r(error, unknown, sizeof(unknown)));
	/* Lower the first letter, but not that of an abbreviation ("RFS specific error"). */
	if (isupper((unsigned char)text[0]) && !isupper((unsigned char)text[1]))
		text[0] = (char)tolower((unsigned char)text[0]);
	return text;
}

enum tp_status tp_fail_errno(struct tp_error *err, int error, const char *format, ...)
{
	enum tp_status status = status_of_errno(error);
	if (!err)
		return status;
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	size_t used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, "%s%s", used ? ": " : "",
		 tp_errno_text(error));
	err->status = status;
	err->next[0] = '\0';
	if (error == EMFILE)
		tp_error_next_more_files(err);
	return status;
}

void tp_error_next(struct tp_error *err, const char *format, ...)
{
	if (!err)
		return;
	va_list args;
	va_start(args, format);
	vsnprintf(err->next, sizeof(err->next), format, args);
	va_end(args);
}

void tp_error_next_more_files(struct tp_error *err)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return;
	if (limit.rlim_cur < FILES_ENOUGH && limit.rlim_max >= FILES_ENOUGH)
		tp_error_next(err, "ulimit -n %d", FILES_ENOUGH);
	else
		tp_error_next(err, "ulimit -n $(ulimit -Hn)");
}

void tp_error_next_word(struct tp_error *err, const char *before, const char *word,
			const char *after)
{
	struct tp_buf line = {0};
	if (!err)
		return;
	tp_buf_puts(&line, before);
	tp_text_add_word(&line, word);
	tp_buf_puts(&line, after);
	bool fits = line.len < sizeof(err->next);
	snprintf(err->next, sizeof(err->next), "%s", fits ? tp_buf_text(&line) : "");
	tp_buf_release(&line);
}

const char *tp_status_text(enum tp_status status)
{
	static const char *const texts[] = {
#define X(name, text) text,
		TP_STATUS_MAP(X)
#undef X
	};
	return (unsigned)status < sizeof(texts) / sizeof(texts[0]) ? texts[status] : "unknown";
}
