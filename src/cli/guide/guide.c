/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the pages of the guide by name and builds them. */
#include "guide.h"

#include "topics.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact_id.h"
#include "trainprof/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- topics ---- */

static void fill_rules(struct tp_guide_document *document, const struct tp_rulebook *book)
{
	for (size_t i = 0; i < tp_rulebook_count(book); i++) {
		struct tp_rule_digest rule = tp_rulebook_digest(book, i);
		char link[128];
		tp_guide_document_rule_link(link, sizeof(link), rule.id);
		tp_guide_document_item(document, NULL, rule.id, link, rule.title);
	}
}

static const struct tp_topic rules_topic = {
	.name = "rules", .summary = "all rules; guide RULE shows one, guide FACT a fact"};

/* Pages of text come first, then the list of rules, then the topics of topics.h. */
static const struct tp_topic *topic_at(const struct tp_rulebook *book, size_t index)
{
	size_t n_texts = tp_rulebook_catalogue(book)->n_texts;
	if (index < n_texts)
		return NULL;
	return index == n_texts ? &rules_topic : &tp_topic_list()[index - n_texts - 1];
}

static size_t count_topics(const struct tp_rulebook *book)
{
	size_t n = 0;
	while (tp_topic_list()[n].name)
		n++;
	return tp_rulebook_catalogue(book)->n_texts + 1 + n;
}

static void fill_text(struct tp_guide_document *document, const struct tp_rulebook *book,
		      const struct tp_guide_text *text)
{
	for (size_t i = 0; i < text->n_sections; i++) {
		if (text->sections[i].heading)
			tp_guide_document_heading(document, text->sections[i].heading);
		tp_guide_document_paragraphs(document, text->sections[i].text);
	}
	for (size_t i = 0; i < text->n_steps; i++)
		tp_guide_document_field_printf(document, i ? "then" : "first", "%zu, %s", i + 1,
					       text->steps[i]);
	if (text->list == TP_GUIDE_LIST_LIMITS)
		tp_guide_fill_limits(document, book);
	else if (text->list == TP_GUIDE_LIST_TECHNIQUES)
		tp_guide_fill_techniques(document, book);
	if (text->n_cites)
		tp_guide_document_heading(document, "Read for this page");
	for (size_t i = 0; i < text->n_cites; i++)
		tp_guide_document_paragraphs(document,
					     tp_arena_printf(&document->arena, "- %s, %s (%s)",
							     text->cites[i]->title,
							     text->cites[i]->where,
							     text->cites[i]->checked));
}

/* Pages generated from tables are made for 80 columns. */
static void fill_topic(struct tp_guide_document *document, const struct tp_topic *topic)
{
	const struct tp_report_style style = {.width = 80};
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_topic_print(&page, topic->name);
	tp_guide_document_text(document, tp_buf_text(&page.out));
	tp_page_release(&page);
}

/* ---- pages by place ---- */

size_t tp_guide_count(const struct tp_rulebook *book, enum tp_guide_kind kind)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	switch (kind) {
	case TP_GUIDE_TOPIC:
		return count_topics(book);
	case TP_GUIDE_LIMIT:
		return catalogue->n_limits;
	case TP_GUIDE_TECHNIQUE:
		return catalogue->n_techniques;
	case TP_GUIDE_RULE:
		return tp_rulebook_count(book);
	default:
		return tp_n_facts;
	}
}

const char *tp_guide_name(const struct tp_rulebook *book, struct tp_guide_entry place)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	const struct tp_topic *topic;
	switch (place.kind) {
	case TP_GUIDE_TOPIC:
		topic = topic_at(book, place.index);
		return topic ? topic->name : catalogue->texts[place.index].id;
	case TP_GUIDE_LIMIT:
		return catalogue->limits[place.index].id;
	case TP_GUIDE_TECHNIQUE:
		return catalogue->techniques[place.index].id;
	case TP_GUIDE_RULE:
		return tp_rulebook_digest(book, place.index).id;
	default:
		return tp_fact_desc((tp_fact_id)place.index)->name;
	}
}

const char *tp_guide_title(const struct tp_rulebook *book, struct tp_guide_entry place)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	const struct tp_topic *topic;
	switch (place.kind) {
	case TP_GUIDE_TOPIC:
		topic = topic_at(book, place.index);
		return topic ? topic->summary : catalogue->texts[place.index].title;
	case TP_GUIDE_LIMIT:
		return catalogue->limits[place.index].title;
	case TP_GUIDE_TECHNIQUE:
		return catalogue->techniques[place.index].title;
	case TP_GUIDE_RULE:
		return tp_rulebook_digest(book, place.index).title;
	default:
		return tp_fact_desc((tp_fact_id)place.index)->text;
	}
}

bool tp_guide_find(const struct tp_rulebook *book, const char *name, struct tp_guide_entry *out)
{
	for (int kind = 0; kind < TP_N_GUIDE_KINDS; kind++) {
		size_t n = tp_guide_count(book, (enum tp_guide_kind)kind);
		for (size_t i = 0; i < n; i++) {
			struct tp_guide_entry place = {(enum tp_guide_kind)kind, i};
			if (strcmp(tp_guide_name(book, place), name) != 0)
				continue;
			*out = place;
			return true;
		}
	}
	return false;
}

const char *tp_guide_closest(const struct tp_rulebook *book, const char *name)
{
	const char **names = NULL;
	size_t n = 0;
	size_t capacity = 0;
	for (int kind = 0; kind < TP_N_GUIDE_KINDS; kind++) {
		size_t n_kind = tp_guide_count(book, (enum tp_guide_kind)kind);
		for (size_t i = 0; i < n_kind; i++)
			TP_ARRAY_PUSH(names, n, capacity) =
				tp_guide_name(book,
					      (struct tp_guide_entry){(enum tp_guide_kind)kind, i});
	}
	const char *nearest = tp_text_closest(name, names, n);
	free(names);
	return nearest;
}

/* ---- building ---- */

char *tp_guide_rule_text(const struct tp_rulebook *book, const char *id)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	if (!memory)
		tp_oom(size);
	bool is_printed = tp_rulebook_print(book, id, memory, NULL) == TP_OK;
	fclose(memory);
	if (is_printed)
		return text;
	free(text);
	return NULL;
}

static void make_rule(struct tp_guide_document *document, const struct tp_rulebook *book,
		      const char *id)
{
	char *text = tp_guide_rule_text(book, id);
	if (text)
		tp_guide_document_text(document, text);
	free(text);
}

static void make_topic(struct tp_guide_document *document, const struct tp_rulebook *book,
		       size_t index)
{
	const struct tp_topic *topic = topic_at(book, index);
	if (!topic)
		fill_text(document, book, &tp_rulebook_catalogue(book)->texts[index]);
	else if (topic == &rules_topic)
		fill_rules(document, book);
	else
		fill_topic(document, topic);
}

void tp_guide_make(struct tp_guide_document *out, const struct tp_rulebook *book,
		   struct tp_guide_entry place)
{
	static const char *const kinds[] = {"topic", "bottleneck", "technique", "rule", "fact"};
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	const char *name = tp_guide_name(book, place);
	tp_guide_document_init(out, name, tp_guide_title(book, place), kinds[place.kind]);
	out->is_list = place.kind == TP_GUIDE_TOPIC;
	if (place.kind == TP_GUIDE_TOPIC)
		make_topic(out, book, place.index);
	else if (place.kind == TP_GUIDE_LIMIT)
		tp_guide_fill_limit(out, book, &catalogue->limits[place.index]);
	else if (place.kind == TP_GUIDE_TECHNIQUE)
		tp_guide_fill_technique(out, book, &catalogue->techniques[place.index]);
	else if (place.kind == TP_GUIDE_RULE)
		make_rule(out, book, name);
	else
		tp_guide_document_field_printf(out, "unit", "%s",
					       tp_fact_desc((tp_fact_id)place.index)->unit);
}
