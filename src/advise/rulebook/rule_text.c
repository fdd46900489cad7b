/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rules as text. */
#include "book.h"

#include <string.h>

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz_.0123456789"

static void print_line(FILE *out, const char *key, const char *text)
{
	if (text)
		fprintf(out, "%-9s %s\n", key, text);
}

static void print_sentence(FILE *out, const char *key, const struct tp_sentence *sentence)
{
	struct tp_buf text = {0};
	tp_sentence_describe(sentence, &text);
	if (text.len)
		print_line(out, key, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_conditions(FILE *out, const struct tp_rule *rule)
{
	for (size_t i = 0; i < rule->n_when; i++)
		fprintf(out, "%-9s %s\n", i ? "      and" : "when", rule->when[i].written);
	for (size_t i = 0; i < rule->n_unless; i++)
		fprintf(out, "unless    %s\n          (%s)\n", rule->unless[i].written,
			rule->unless[i].because);
}

static void print_actions(FILE *out, const struct tp_rule *rule)
{
	for (size_t i = 0; i < rule->n_actions; i++) {
		const struct tp_rule_action *action = &rule->actions[i];
		print_sentence(out, "do", action->headline);
		print_sentence(out, "", action->text);
		if (action->example)
			fprintf(out, "          $ %s\n", action->example);
		if (action->when_written)
			fprintf(out, "          only when %s\n", action->when_written);
	}
}

static void print_gain(FILE *out, const struct tp_rule_gain *gain)
{
	if (gain->kind == TP_GAIN_NONE)
		return;
	fprintf(out, "gain      removes %s of %s\n", gain->fraction_written,
		gain->kind == TP_GAIN_PART ? tp_part_name(gain->part) : "the loop");
	if (gain->at_least_written)
		fprintf(out, "          at least %s\n", gain->at_least_written);
	fprintf(out, "          %s\n", gain->method);
}

static void print_used_thresholds(FILE *out, const struct tp_rulebook *book,
				  const struct tp_rule *rule)
{
	for (size_t i = 0; i < book->thresholds.n_items; i++) {
		const struct tp_threshold *threshold = &book->thresholds.items[i];
		bool is_used = false;
		size_t len = strlen(threshold->name);
		for (size_t k = 0; k < rule->n_when + rule->n_unless; k++) {
			const char *text = k < rule->n_when
						   ? rule->when[k].written
						   : rule->unless[k - rule->n_when].written;
			for (const char *p = strchr(text, '$'); p; p = strchr(p + 1, '$'))
				is_used |= strncmp(p + 1, threshold->name, len) == 0 &&
					   strspn(p + 1 + len, NAME_CHARS) == 0;
		}
		if (is_used)
			fprintf(out, "threshold $%s = %s: %s%s%s\n", threshold->name,
				threshold->written, threshold->why, threshold->source ? "; " : "",
				threshold->source ? threshold->source : "");
	}
}

static void print_rule(FILE *out, const struct tp_rulebook *book, const struct tp_rule *rule)
{
	fprintf(out, "%s  %s\n\n", rule->id, rule->title);
	print_line(out, "cost",
		   rule->kind == TP_ADVICE_SEMANTIC
			   ? "changes the training: check the model's quality"
			   : "nothing: the same training, faster");
	if (rule->parent)
		fprintf(out, "parent rule %s\n", rule->parent);
	for (size_t i = 0; i < rule->n_needs; i++)
		fprintf(out, "%-9s %s: %s\n", i ? "" : "needs", tp_fact_desc(rule->needs[i])->name,
			tp_fact_desc(rule->needs[i])->text);
	for (size_t i = 0; i < rule->n_locals; i++)
		fprintf(out, "let       $%s = %s\n", rule->locals[i].name, rule->locals[i].written);
	print_conditions(out, rule);
	print_sentence(out, "because", rule->because);
	if (rule->verdict.id) {
		fprintf(out, "verdict   %s, %s, order %u\n", rule->verdict.id, rule->verdict.title,
			rule->verdict.order);
		print_sentence(out, "", rule->verdict.sentence);
	}
	print_actions(out, rule);
	print_gain(out, &rule->gain);
	print_line(out, "price", rule->price);
	print_sentence(out, "verify", rule->verify);
	print_sentence(out, "refute", rule->refute);
	print_used_thresholds(out, book, rule);
	for (size_t i = 0; i < rule->n_sources; i++)
		fprintf(out, "source    %s\n          %s, read %s\n", rule->sources[i].title,
			rule->sources[i].where, rule->sources[i].checked);
	fprintf(out, "cases     %zu\nfile      %s\n", rule->n_cases, rule->path);
}

enum tp_status tp_rulebook_print(const struct tp_rulebook *book, const char *id, FILE *out,
				 struct tp_error *err)
{
	if (!id) {
		for (size_t i = 0; i < book->n_rules; i++)
			fprintf(out, "%-32s %s\n", book->rules[i].id, book->rules[i].title);
		return TP_OK;
	}
	const struct tp_rule *rule = tp_rulebook_find(book, id);
	const char *nearest = tp_rulebook_nearest(book, id);
	if (!rule)
		return tp_fail(err, TP_ABSENT, "there is no rule '%s'%s%s", id,
			       nearest ? "; nearest: " : "", nearest ? nearest : "");
	print_rule(out, book, rule);
	return TP_OK;
}
