/* SPDX-License-Identifier: Apache-2.0 */
/* stdout of a command: written completely, checked for errors, and paged on a terminal. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_OUTPUT_H
#define TRAINPROF_SRC_CLI_TERMINAL_OUTPUT_H

#include "cli/options/command.h"
#include "trainprof/report/page.h"

/* Prints the page's lines and returns the exit status: 0, or 4 with a message. */
int tp_output_page(const struct tp_page *page);
/* The same through a pager, if stdout is a terminal with fewer lines than the page. */
int tp_output_paged(const struct tp_page *page);
int tp_output_paged_text(const char *text);
int tp_output_text(const char *text);
/* Writes the text to a file, or prints it if the path means stdout (NULL or "-"). */
int tp_output_text_to(const char *path, const char *text, size_t size);
/* Prints the collected text, and releases it. */
int tp_output_buf(struct tp_buf *buf);
/* Adds the page of a rule (tp_rulebook_print); modifies the text. */
void tp_output_add_rule(struct tp_page *page, char *text);

/* Output format of a command; all zero except for `word`, which is never NULL. */
struct tp_output_format {
	const char *word;
	bool is_json;
	bool is_markdown;
};

/* "text", "json", "markdown". */
const char *tp_output_format(const struct tp_output_format *format);
/* Words of --format, NULL-terminated. */
extern const char *const tp_output_formats[];

/* Rows of an option table for a struct tp_output_format at that offset. */
/* clang-format off */
#define TP_OUTPUT_FORMAT_ROWS(at, of) \
	{.name = "format", .type = TP_OPTION_CHOICE, .value = "WHAT", \
	 .text = of "text, json, markdown", .otherwise = "text", .choices = tp_output_formats, \
	 .offset = (at) + offsetof(struct tp_output_format, word)}, \
	{.name = "json", .type = TP_OPTION_FLAG, .text = "same as --format=json", \
	 .offset = (at) + offsetof(struct tp_output_format, is_json)}, \
	{.name = "markdown", .type = TP_OPTION_FLAG, .text = "same as --format=markdown", \
	 .offset = (at) + offsetof(struct tp_output_format, is_markdown)}
/* The option for tp_output_text_to(), without the place of its value. */
#define TP_OPTION_OUTPUT_FILE \
	.letter = 'o', .name = "output", .type = TP_OPTION_TEXT, .value = "FILE", \
	.text = "write to FILE; - is stdout", .otherwise = "-"
/* clang-format on */

#endif
