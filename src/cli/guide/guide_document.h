/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of the guide, before it is shown: headings, paragraphs, fields and lists. One sheet is
 * printed on a terminal, written as Markdown, and searched.
 */
#ifndef TRAINPROF_SRC_CLI_GUIDE_GUIDE_DOCUMENT_H
#define TRAINPROF_SRC_CLI_GUIDE_GUIDE_DOCUMENT_H

#include "trainprof/base/arena.h"
#include "trainprof/report/page.h"

#include <stdbool.h>
#include <stddef.h>

enum tp_document_block_kind {
	TP_DOCUMENT_HEADING,
	TP_DOCUMENT_PARAGRAPH,
	TP_DOCUMENT_POINT, /* of a list of sentences */
	TP_DOCUMENT_FIELD, /* several of one label stand below each other */
	TP_DOCUMENT_ITEM,  /* of a list of pages */
	TP_DOCUMENT_TEXT,  /* lines as they are */
};

struct tp_document_block {
	enum tp_document_block_kind kind;
	const char *label; /* FIELD */
	const char *name;  /* another page: ITEM, FIELD; NULL: none */
	const char *link;  /* where it is in Markdown; NULL: a page beside this one */
	const char *text;
};

struct tp_guide_document {
	struct tp_arena arena; /* all texts are copies */
	const char *name;      /* what is typed behind "guide", and the file's name */
	const char *title;
	const char *kind; /* "technique", for lists of pages */
	bool is_list;     /* says a little of everything: no place to send a reader to */
	struct tp_document_block *blocks;
	size_t n_blocks;
	size_t blocks_capacity;
};

void tp_guide_document_init(struct tp_guide_document *sheet, const char *name, const char *title,
			    const char *kind);
void tp_guide_document_release(struct tp_guide_document *sheet);

void tp_guide_document_heading(struct tp_guide_document *sheet, const char *text);
/* Paragraphs of a text, a line each; "- " at the begin of a line makes a point of a list. */
void tp_guide_document_paragraphs(struct tp_guide_document *sheet, const char *text);
/* Nothing when text is NULL. */
void tp_guide_document_field(struct tp_guide_document *sheet, const char *label, const char *text);
void tp_guide_document_field_printf(struct tp_guide_document *sheet, const char *label,
				    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Where the file of a rule lies, as seen from docs/guide/. */
void tp_guide_document_rule_link(char *out, size_t size, const char *rule);
/* Another page and what it is about; behind a label, or in a list when that is NULL. */
void tp_guide_document_item(struct tp_guide_document *sheet, const char *label, const char *name,
			    const char *link, const char *text);
void tp_guide_document_text(struct tp_guide_document *sheet, const char *text);

void tp_guide_document_print(const struct tp_guide_document *sheet, struct tp_page *page);
void tp_guide_document_markdown(const struct tp_guide_document *sheet, struct tp_buf *out);
/* How much the page says about a word, 0: nothing. Case and common endings are ignored, and the
 * begin of a word suffices. */
unsigned tp_guide_document_score(const struct tp_guide_document *sheet, const char *word);

#endif
