/* SPDX-License-Identifier: Apache-2.0 */
/* Prints results on stdout and reports failed writes. */
#include "output.h"

#include "cli/options/settings.h"
#include "messages.h"
#include "output_file.h"
#include "trainprof/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int print(const char *bytes, size_t size)
{
	if (tp_file_write_all(STDOUT_FILENO, bytes, size))
		return TP_EXIT_OK;
	struct tp_error err;
	(void)tp_fail_errno(&err, errno, "write error");
	tp_message_error(NULL, &err);
	return TP_EXIT_FILE;
}

int tp_output_page(const struct tp_page *page)
{
	return print(tp_buf_text(&page->out), page->out.len);
}

int tp_output_text(const char *text)
{
	return print(text, strlen(text));
}

int tp_output_text_to(const char *path, const char *text, size_t size)
{
	struct tp_error err = {0};
	if (tp_output_file_is_stdout(path))
		return tp_output_text(text);
	if (tp_file_write(path, text, size, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	return TP_EXIT_OK;
}

int tp_output_buf(struct tp_buf *buf)
{
	int status = tp_output_text(tp_buf_text(buf));
	tp_buf_release(buf);
	return status;
}

const char *const tp_output_formats[] = {"text", "json", "markdown", NULL};

const char *tp_output_format(const struct tp_output_format *format)
{
	return format->is_json ? "json" : format->is_markdown ? "markdown" : format->word;
}

/* Column in which the texts of a rule start, after the names of its fields. */
enum { RULE_INDENT = 10 };

void tp_output_add_rule(struct tp_page *page, char *text)
{
	for (char *line = text; line && *line;) {
		char *end = strchr(line, '\n');
		if (end)
			*end = '\0';
		tp_page_wrap(page, RULE_INDENT, TP_PAINT_NONE, line, 0);
		line = end ? end + 1 : NULL;
	}
}

/* TRAINPROF_PAGER, PAGER, less; NULL if no pager is wanted. */
static const char *find_pager(size_t n_lines)
{
	struct winsize size = {0};
	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
	    n_lines < size.ws_row)
		return NULL;
	const char *pager = tp_settings_env("TRAINPROF_PAGER");
	if (!pager)
		pager = tp_settings_env("PAGER");
	if (!pager)
		pager = "less";
	return strcmp(pager, "cat") != 0 ? pager : NULL;
}

static int print_paged(const char *bytes, size_t size, size_t n_lines)
{
	const char *pager = find_pager(n_lines);
	if (!pager)
		return print(bytes, size);
	/* F: quit if it fits on one screen, R: colours, X: the text stays on the screen. */
	setenv("LESS", "FRX", 0); /* NOLINT(concurrency-mt-unsafe): no thread here */
	FILE *pipe = popen(pager, "w");
	if (!pipe)
		return print(bytes, size);
	fwrite(bytes, 1, size, pipe);
	/* 127: the shell did not find the pager and nothing was shown. */
	return pclose(pipe) >> 8 == 127 ? print(bytes, size) : TP_EXIT_OK;
}

int tp_output_paged(const struct tp_page *page)
{
	return print_paged(tp_buf_text(&page->out), page->out.len, page->n_lines);
}

int tp_output_paged_text(const char *text)
{
	size_t n_lines = 0;
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n_lines++;
	return print_paged(text, strlen(text), n_lines);
}
