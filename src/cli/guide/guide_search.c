/* SPDX-License-Identifier: Apache-2.0 */
/* Finds words in the pages of the guide. */
#include "guide.h"

#include "trainprof/base/memory.h"
#include "trainprof/report/report.h"

#include <stdlib.h>
#include <string.h>

enum { HITS_MAX = 12, COLUMN_KIND = 28, COLUMN_TITLE = 40, NARROW = 64 };

struct hit {
	struct tp_guide_entry place;
	const char *name;
	const char *kind;
	unsigned score;
};

/* Sorts by score, then by the order of kinds, then by name. */
static int compare_hits(const void *a, const void *b)
{
	const struct hit *left = a;
	const struct hit *right = b;
	if (left->score != right->score)
		return left->score > right->score ? -1 : 1;
	if (left->place.kind != right->place.kind)
		return left->place.kind < right->place.kind ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* 0 if the page lacks one of the words. */
static unsigned score_of(const struct tp_guide_document *document, char **words, size_t n_words)
{
	unsigned score = 0;
	for (size_t i = 0; i < n_words; i++) {
		unsigned one = tp_guide_document_score(document, words[i]);
		if (!one)
			return 0;
		score += one;
	}
	return score;
}

/* A fact that is named after a technique is not the page that a user searches for, so the pages of
 * facts count half. */
static size_t find_hits(struct hit **out, const struct tp_rulebook *book, char **words,
			size_t n_words)
{
	size_t n = 0;
	size_t capacity = 0;
	for (int kind = 0; kind < TP_N_GUIDE_KINDS; kind++) {
		size_t n_kind = tp_guide_count(book, (enum tp_guide_kind)kind);
		for (size_t i = 0; i < n_kind; i++) {
			struct hit hit = {.place = {(enum tp_guide_kind)kind, i}};
			struct tp_guide_document document;
			tp_guide_make(&document, book, hit.place);
			hit.name = tp_guide_name(book, hit.place);
			hit.kind = document.kind;
			hit.score = score_of(&document, words, n_words);
			if (hit.place.kind == TP_GUIDE_FACT)
				hit.score = (hit.score + 1) / 2;
			tp_guide_document_release(&document);
			if (hit.score)
				TP_ARRAY_PUSH(*out, n, capacity) = hit;
		}
	}
	if (n)
		qsort(*out, n, sizeof(**out), compare_hits);
	return n;
}

static void print_hit(struct tp_page *page, const struct tp_rulebook *book, const struct hit *hit)
{
	bool is_narrow = page->style->width < NARROW;
	tp_page_column(page, 2);
	tp_page_addf(page, TP_PAINT_BOLD, "%s ", hit->name);
	if (!is_narrow)
		tp_page_column(page, COLUMN_KIND);
	tp_page_addf(page, TP_PAINT_DIM, " %s ", hit->kind);
	if (!is_narrow)
		tp_page_column(page, COLUMN_TITLE);
	tp_page_wrap(page, is_narrow ? 4 : COLUMN_TITLE, TP_PAINT_NONE,
		     tp_guide_title(book, hit->place), 0);
}

size_t tp_guide_search(struct tp_page *page, const struct tp_rulebook *book, char **words,
		       size_t n_words)
{
	struct hit *hits = NULL;
	size_t n = find_hits(&hits, book, words, n_words);
	for (size_t i = 0; i < n && i < HITS_MAX; i++)
		print_hit(page, book, &hits[i]);
	if (n > HITS_MAX) {
		tp_page_addf(page, TP_PAINT_DIM, "  %zu more; add a word to narrow the search",
			     n - HITS_MAX);
		tp_page_end(page);
	}
	if (n) {
		tp_page_end(page);
		tp_page_addf(page, TP_PAINT_NONE, "next: trainprof guide %s", hits[0].name);
		tp_page_end(page);
	}
	free(hits);
	return n;
}
