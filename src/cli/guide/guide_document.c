/* SPDX-License-Identifier: Apache-2.0 */
/* Builds pages of the guide, and prints them. */
#include "guide_document.h"

#include "topics.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/report/report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMN_LABEL = 2, COLUMN_FIELD = 12, COLUMN_ITEM = 26, NARROW = 64 };

void tp_guide_document_init(struct tp_guide_document *document, const char *name, const char *title,
			    const char *kind)
{
	*document = (struct tp_guide_document){0};
	tp_arena_init(&document->arena);
	document->name = tp_arena_strdup(&document->arena, name);
	document->title = tp_arena_strdup(&document->arena, title);
	document->kind = kind;
}

void tp_guide_document_release(struct tp_guide_document *document)
{
	tp_arena_release(&document->arena);
	free(document->blocks);
	*document = (struct tp_guide_document){0};
}

/* ---- building ---- */

static struct tp_document_block *add_block(struct tp_guide_document *document,
					   enum tp_document_block_kind kind, const char *text)
{
	TP_ARRAY_PUSH(document->blocks, document->n_blocks, document->blocks_capacity) =
		(struct tp_document_block){.kind = kind,
					   .text = tp_arena_strdup(&document->arena, text)};
	return &document->blocks[document->n_blocks - 1];
}

void tp_guide_document_heading(struct tp_guide_document *document, const char *text)
{
	add_block(document, TP_DOCUMENT_HEADING, text);
}

void tp_guide_document_paragraphs(struct tp_guide_document *document, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		bool is_point = len > 2 && strncmp(text, "- ", 2) == 0;
		size_t skip = is_point ? 2 : 0;
		char *line = tp_strndup(text + skip, len - skip);
		if (*line)
			add_block(document, is_point ? TP_DOCUMENT_POINT : TP_DOCUMENT_PARAGRAPH,
				  line);
		free(line);
		text += len + (text[len] == '\n');
	}
}

void tp_guide_document_field(struct tp_guide_document *document, const char *label,
			     const char *text)
{
	if (text)
		add_block(document, TP_DOCUMENT_FIELD, text)->label =
			tp_arena_strdup(&document->arena, label);
}

void tp_guide_document_field_printf(struct tp_guide_document *document, const char *label,
				    const char *format, ...)
{
	struct tp_buf text = {0};
	va_list args;
	va_start(args, format);
	tp_buf_vprintf(&text, format, args);
	va_end(args);
	tp_guide_document_field(document, label, tp_buf_text(&text));
	tp_buf_release(&text);
}

void tp_guide_document_rule_link(char *out, size_t size, const char *rule)
{
	static const char prefix[] = "idiom/";
	if (strncmp(rule, prefix, sizeof(prefix) - 1) == 0)
		snprintf(out, size, "../../rules/idioms/%s.json", rule + sizeof(prefix) - 1);
	else
		snprintf(out, size, "../../rules/bottlenecks/%s.json", rule);
}

void tp_guide_document_item(struct tp_guide_document *document, const char *label, const char *name,
			    const char *link, const char *text)
{
	struct tp_document_block *block =
		add_block(document, label ? TP_DOCUMENT_FIELD : TP_DOCUMENT_ITEM, text);
	block->label = tp_arena_strdup(&document->arena, label);
	block->name = tp_arena_strdup(&document->arena, name);
	block->link = tp_arena_strdup(&document->arena, link);
}

void tp_guide_document_text(struct tp_guide_document *document, const char *text)
{
	add_block(document, TP_DOCUMENT_TEXT, text);
}

/* ---- on a terminal ---- */

/* The label is printed once for consecutive blocks that have it. */
static void print_field(struct tp_page *page, const struct tp_document_block *block,
			const struct tp_document_block *before)
{
	bool is_repeated = before && before->label && strcmp(before->label, block->label) == 0;
	if (!is_repeated) {
		tp_page_column(page, COLUMN_LABEL);
		tp_page_add(page, TP_PAINT_BOLD, block->label);
		tp_page_add(page, TP_PAINT_NONE, " ");
	}
	tp_page_column(page, COLUMN_FIELD);
	if (!block->name) {
		tp_page_wrap(page, COLUMN_FIELD, TP_PAINT_NONE, block->text, 0);
		return;
	}
	/* Names are meant to be typed: they are never cut. */
	size_t indent = COLUMN_FIELD + 2;
	if (tp_text_width(block->name) + 2 > tp_page_room(page)) {
		tp_page_end(page);
		indent = COLUMN_LABEL + 2;
		tp_page_column(page, COLUMN_LABEL);
	}
	tp_page_addf(page, TP_PAINT_BOLD, "%s  ", block->name);
	tp_page_wrap(page, indent, TP_PAINT_NONE, block->text, 0);
}

static void print_item(struct tp_page *page, const struct tp_document_block *block)
{
	bool is_narrow = page->style->width < NARROW;
	tp_page_column(page, COLUMN_LABEL);
	tp_page_addf(page, TP_PAINT_BOLD, "%s ", block->name);
	if (page->columns > COLUMN_ITEM || is_narrow)
		tp_page_add(page, TP_PAINT_NONE, " ");
	else
		tp_page_column(page, COLUMN_ITEM);
	tp_page_wrap(page, is_narrow ? COLUMN_LABEL + 2 : COLUMN_ITEM, TP_PAINT_NONE, block->text,
		     0);
}

/* True for an empty line where the kind changes, and around paragraphs. */
static bool needs_blank_line(const struct tp_document_block *block,
			     const struct tp_document_block *before)
{
	if (!before)
		return true;
	if (before->kind == TP_DOCUMENT_HEADING)
		return false;
	return block->kind != before->kind || block->kind == TP_DOCUMENT_PARAGRAPH;
}

static void print_block(struct tp_page *page, const struct tp_document_block *block,
			const struct tp_document_block *before)
{
	if (needs_blank_line(block, before))
		tp_page_end(page);
	switch (block->kind) {
	case TP_DOCUMENT_HEADING:
		tp_page_wrap(page, 0, TP_PAINT_BOLD, block->text, 0);
		break;
	case TP_DOCUMENT_PARAGRAPH:
		tp_page_wrap(page, 0, TP_PAINT_NONE, block->text, 0);
		break;
	case TP_DOCUMENT_POINT:
		tp_page_add(page, TP_PAINT_NONE, "  - ");
		tp_page_wrap(page, 4, TP_PAINT_NONE, block->text, 0);
		break;
	case TP_DOCUMENT_FIELD:
		print_field(page, block, before);
		break;
	case TP_DOCUMENT_ITEM:
		print_item(page, block);
		break;
	case TP_DOCUMENT_TEXT:
		tp_topic_text(page, block->text);
		break;
	}
}

void tp_guide_document_print(const struct tp_guide_document *document, struct tp_page *page)
{
	tp_page_addf(page, TP_PAINT_BOLD, "%s  ", document->name);
	tp_page_wrap(page, 2, TP_PAINT_NONE, document->title, 0);
	for (size_t i = 0; i < document->n_blocks; i++)
		print_block(page, &document->blocks[i], i ? &document->blocks[i - 1] : NULL);
}

/* ---- as Markdown ---- */

/* Escapes the characters that Markdown would interpret. */
static void add_plain(struct tp_buf *out, const char *text)
{
	for (const char *p = text; *p; p++) {
		if (*p == '<')
			tp_buf_puts(out, "&lt;");
		else if (*p == '&')
			tp_buf_puts(out, "&amp;");
		else if (strchr("\\`*_[]|#", *p))
			tp_buf_printf(out, "\\%c", *p);
		else
			tp_buf_putc(out, *p);
	}
}

static void add_link(struct tp_buf *out, const struct tp_document_block *block)
{
	if (!block->name)
		return;
	tp_buf_printf(out, "[%s](", block->name);
	tp_buf_puts(out, block->link ? block->link : block->name);
	tp_buf_puts(out, block->link ? ") " : ".md) ");
}

static void add_markdown(struct tp_buf *out, const struct tp_document_block *block,
			 const struct tp_document_block *before)
{
	if (!before || block->kind != before->kind || block->kind == TP_DOCUMENT_PARAGRAPH)
		tp_buf_putc(out, '\n');
	if (block->kind == TP_DOCUMENT_TEXT) {
		tp_buf_printf(out, "```text\n%s```\n", block->text);
		return;
	}
	if (block->kind == TP_DOCUMENT_HEADING)
		tp_buf_puts(out, "## ");
	else if (block->kind != TP_DOCUMENT_PARAGRAPH)
		tp_buf_puts(out, "- ");
	if (block->label)
		tp_buf_printf(out, "**%s** ", block->label);
	add_link(out, block);
	add_plain(out, block->text);
	tp_buf_putc(out, '\n');
}

void tp_guide_document_markdown(const struct tp_guide_document *document, struct tp_buf *out)
{
	tp_buf_puts(out, "# ");
	size_t at = out->len;
	add_plain(out, document->title);
	out->data[at] = (char)toupper((unsigned char)out->data[at]);
	tp_buf_printf(out, "\n\n`trainprof guide %s`\n", document->name);
	for (size_t i = 0; i < document->n_blocks; i++)
		add_markdown(out, &document->blocks[i], i ? &document->blocks[i - 1] : NULL);
}

/* ---- searching ---- */

/* The length of the common beginning of related words, roughly: "pinned" and "pin", "caching" and
 * "caches". */
static size_t word_base_length(const char *word)
{
	static const char *const endings[] = {"ing", "ed", "es", "s", "e"};
	enum { STEM_MIN = 3 };
	size_t len = strlen(word);
	for (size_t i = 0; i < TP_ARRAY_LEN(endings); i++) {
		size_t end = strlen(endings[i]);
		if (len < end + STEM_MIN || strcasecmp(word + len - end, endings[i]) != 0)
			continue;
		len -= end;
		bool is_doubled = i < 2 && len > STEM_MIN && word[len - 1] == word[len - 2];
		return len - is_doubled;
	}
	return len;
}

/* Counts the places in a text at which a related word begins. */
static unsigned count_word_starts(const char *text, const char *word, size_t len)
{
	unsigned n = 0;
	if (!text || !len)
		return 0;
	for (const char *p = text; *p; p++) {
		bool is_begin = p == text || !isalnum((unsigned char)p[-1]);
		n += is_begin && strncasecmp(p, word, len) == 0;
	}
	return n;
}

/* A match in the name counts more than one in the title, and that more than any number of mentions.
 * Lists mention everything. */
unsigned tp_guide_document_score(const struct tp_guide_document *document, const char *word)
{
	enum { NAME = 400, BEGIN_OF_NAME = 100, TITLE = 30, MENTIONS_MAX = 40, OF_A_LIST = 1 };
	unsigned most = document->is_list ? OF_A_LIST : MENTIONS_MAX;
	unsigned mentions = 0;
	size_t len = word_base_length(word);
	if (strcasecmp(document->name, word) == 0)
		return NAME;
	unsigned score = count_word_starts(document->name, word, len) ? BEGIN_OF_NAME : 0;
	score += count_word_starts(document->title, word, len) ? TITLE : 0;
	for (size_t i = 0; i < document->n_blocks; i++) {
		const struct tp_document_block *block = &document->blocks[i];
		mentions += count_word_starts(block->label, word, len) +
			    count_word_starts(block->name, word, len) +
			    count_word_starts(block->text, word, len);
	}
	mentions = 2 * mentions;
	return score + (mentions < most ? mentions : most);
}
