/* SPDX-License-Identifier: Apache-2.0 */
/* A page of the guide before it is shown: headings, paragraphs, fields and lists. The same document
 * is printed on a terminal, written as Markdown, and searched. */
#ifndef TRAINPROF_SRC_CLI_GUIDE_GUIDE_DOCUMENT_H
#define TRAINPROF_SRC_CLI_GUIDE_GUIDE_DOCUMENT_H

#include "trainprof/base/arena.h"
#include "trainprof/report/page.h"

#include <stdbool.h>
#include <stddef.h>

enum tp_document_block_kind {
	TP_DOCUMENT_HEADING,
	TP_DOCUMENT_PARAGRAPH,
	TP_DOCUMENT_POINT, /* an item of a list of sentences */
	TP_DOCUMENT_FIELD, /* a label and a text; the label is printed once for fields in a row that
			      share it */
	TP_DOCUMENT_ITEM,  /* an item of a list of pages */
	TP_DOCUMENT_TEXT,  /* preformatted lines */
};

struct tp_document_block {
	enum tp_document_block_kind kind;
	const char *label; /* FIELD */
	const char *name;  /* another page: ITEM, FIELD; NULL = none */
	const char *link;  /* its place in Markdown; NULL = a page in the same folder */
	const char *text;
};

struct tp_guide_document {
	struct tp_arena arena; /* all texts are copies */
	const char *name;      /* argument of `guide`, and the file's name */
	const char *title;
	const char *kind; /* "technique", for lists of pages */
	bool is_list;     /* mentions everything: no useful search result */
	struct tp_document_block *blocks;
	size_t n_blocks;
	size_t blocks_capacity;
};

void tp_guide_document_init(struct tp_guide_document *document, const char *name, const char *title,
			    const char *kind);
void tp_guide_document_release(struct tp_guide_document *document);

void tp_guide_document_heading(struct tp_guide_document *document, const char *text);
/* Adds the paragraphs of a text, one per line; "- " at the beginning of a line makes it an item of
 * a list. */
void tp_guide_document_paragraphs(struct tp_guide_document *document, const char *text);
/* Adds nothing if the text is NULL. */
void tp_guide_document_field(struct tp_guide_document *document, const char *label,
			     const char *text);
void tp_guide_document_field_printf(struct tp_guide_document *document, const char *label,
				    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The path of a rule's file relative to docs/guide/. */
void tp_guide_document_rule_link(char *out, size_t size, const char *rule);
/* Adds another page and its subject; after a label, or in a list if the label is NULL. */
void tp_guide_document_item(struct tp_guide_document *document, const char *label, const char *name,
			    const char *link, const char *text);
void tp_guide_document_text(struct tp_guide_document *document, const char *text);

void tp_guide_document_print(const struct tp_guide_document *document, struct tp_page *page);
void tp_guide_document_markdown(const struct tp_guide_document *document, struct tp_buf *out);
/* Scores how relevant the page is for a word; 0 = not at all. Case and common endings are ignored,
 * and the beginning of a word is enough. */
unsigned tp_guide_document_score(const struct tp_guide_document *document, const char *word);

#endif
