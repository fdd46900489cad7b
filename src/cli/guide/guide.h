/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of the guide: their list, and functions that build each one. */
#ifndef TRAINPROF_SRC_CLI_GUIDE_GUIDE_H
#define TRAINPROF_SRC_CLI_GUIDE_GUIDE_H

#include "guide_document.h"

#include "trainprof/advise/advise.h"
#include "trainprof/advise/technique.h"
#include "trainprof/base/status.h"

#include <stdbool.h>

/* All kinds of pages, in this order. */
enum tp_guide_kind {
	TP_GUIDE_TOPIC, /* pages of text, the list of rules, topics of trainprof itself */
	TP_GUIDE_LIMIT,
	TP_GUIDE_TECHNIQUE,
	TP_GUIDE_RULE,
	TP_GUIDE_FACT,
	TP_N_GUIDE_KINDS
};

/* One page by its place; `index` counts from 0 within a kind. */
struct tp_guide_entry {
	enum tp_guide_kind kind;
	size_t index;
};

/* Borrowed; valid as long as the book. */
const char *tp_guide_name(const struct tp_rulebook *book, struct tp_guide_entry place);
const char *tp_guide_title(const struct tp_rulebook *book, struct tp_guide_entry place);
size_t tp_guide_count(const struct tp_rulebook *book, enum tp_guide_kind kind);
/* False if there is no page of that name. */
bool tp_guide_find(const struct tp_rulebook *book, const char *name, struct tp_guide_entry *out);
/* The most similar name of a page, or NULL; borrowed. */
const char *tp_guide_closest(const struct tp_rulebook *book, const char *name);
/* Released by the caller. */
void tp_guide_make(struct tp_guide_document *out, const struct tp_rulebook *book,
		   struct tp_guide_entry place);
/* The text of a rule in words; freed by the caller. NULL if there is no such rule. */
char *tp_guide_rule_text(const struct tp_rulebook *book, const char *id);

/* The contents of single pages. */
void tp_guide_fill_limit(struct tp_guide_document *out, const struct tp_rulebook *book,
			 const struct tp_limit *limit);
void tp_guide_fill_technique(struct tp_guide_document *out, const struct tp_rulebook *book,
			     const struct tp_technique *technique);
/* The lists that follow the text of a page. */
void tp_guide_fill_limits(struct tp_guide_document *document, const struct tp_rulebook *book);
void tp_guide_fill_techniques(struct tp_guide_document *document, const struct tp_rulebook *book);

/* Prints the pages that contain all of the words, the best first, and what to type next. Returns
 * their number. */
size_t tp_guide_search(struct tp_page *page, const struct tp_rulebook *book, char **words,
		       size_t n_words);
/* Writes the pages of docs/guide.
 * Errors  TP_IO, TP_DENIED, TP_ABSENT. */
TP_MUST_CHECK enum tp_status tp_guide_write(const struct tp_rulebook *book, const char *directory,
					    struct tp_error *err);

#endif
