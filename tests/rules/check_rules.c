/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the shipped rules beyond the checks of loading: cases of all three outcomes, dated
 * sources, sentences that fit their place on the screen, thresholds that are used, and the examples
 * in patterns. With --speed after the directory it measures only loading and judging. */
#include "advise/judge/judge.h"
#include "advise/rulebook/book.h"
#include "advise/rulebook/rule_case.h"
#include "analyze/classify/frame_class.h"
#include "analyze/classify/kernel_class.h"
#include "analyze/classify/pattern_tables.h"
#include "analyze/classify/span_class.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact_id.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Columns of the summary: an advice line leaves 50 for its headline, the line below it 68; a
 * verdict shares its line with the step time. A line of "rules list" holds an id and a title. */
enum { HEADLINE_COLUMNS = 50, BECAUSE_COLUMNS = 68, TEXT_COLUMNS = 2 * 76 };
enum { ID_COLUMNS = 32, TITLE_COLUMNS = 47 };
enum { VERDICT_COLUMNS = 80, BOUND_COLUMNS = 59 };
enum { LEAST_CASES = 3, LEAST_RULES = 36, LEAST_TECHNIQUES = 129, MOST_MS = 50 };

static int n_passed;
static int n_failed;

__attribute__((format(printf, 2, 3))) static void check(bool holds, const char *format, ...)
{
	if (holds) {
		n_passed++;
		return;
	}
	n_failed++;
	va_list args;
	va_start(args, format);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

static void check_width(const struct tp_rule *rule, const char *what, const char *text, size_t most)
{
	size_t width = text ? tp_text_width(text) : 0;
	check(width <= most, "%s: %s has %zu columns, %zu fit: %s", rule->path, what, width, most,
	      text ? text : "");
}

static void check_cases(const struct tp_rule *rule)
{
	bool seen[3] = {false};
	for (size_t i = 0; i < rule->n_cases; i++)
		seen[rule->cases[i].expected] = true;
	/* The last resort among the verdicts is always true. */
	bool is_always = rule->n_when == 1 && strcmp(rule->when[0].written, "true") == 0;
	check(is_always || rule->n_cases >= LEAST_CASES, "%s: fewer than %d cases", rule->path,
	      LEAST_CASES);
	check(seen[TP_EXPECT_FIRES], "%s: no case in which it fires", rule->path);
	check(is_always || seen[TP_EXPECT_QUIET], "%s: no case in which it is quiet", rule->path);
	check(seen[TP_EXPECT_NOT_JUDGED], "%s: no case in which it cannot be judged", rule->path);
}

static bool is_date(const char *text)
{
	static const char shape[] = "dddd-dd-dd";
	if (strlen(text) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
			return false;
	return true;
}

static void check_sources(const struct tp_rule *rule)
{
	check(rule->n_sources > 0, "%s: no source", rule->path);
	for (size_t i = 0; i < rule->n_sources; i++)
		check(is_date(rule->sources[i].checked), "%s: '%s' is not a date", rule->path,
		      rule->sources[i].checked);
}

/* A number and its noun must agree: "{$now|count|worker|workers}" instead of "(s)". */
static void check_plural(const struct tp_rule *rule, const struct tp_sentence *words)
{
	const char *written = tp_sentence_written(words);
	check(!written || !(strstr(written, "(s)") || strstr(written, "(es)")),
	      "%s: one or many? %s", rule->path, written ? written : "");
}

/* "rules list" prints one line for each rule. */
static void check_line(const struct tp_rule *rule)
{
	check_width(rule, "the id", rule->id, ID_COLUMNS);
	check_width(rule, "the title", rule->title, TITLE_COLUMNS);
}

static void check_plurals(const struct tp_rule *rule)
{
	check_plural(rule, rule->because);
	check_plural(rule, rule->verify);
	check_plural(rule, rule->refute);
	check_plural(rule, rule->verdict.sentence);
	for (size_t i = 0; i < rule->n_actions; i++) {
		check_plural(rule, rule->actions[i].headline);
		check_plural(rule, rule->actions[i].text);
	}
}

static void check_sentences(const struct tp_rule *rule, const struct tp_finding *finding)
{
	if (rule->verdict.id) {
		bool is_bound = strstr(rule->verdict.id, "_bound") != NULL;
		size_t title = tp_text_width(rule->verdict.title) + 2;
		check_width(rule, "the verdict", finding->because,
			    (is_bound ? BOUND_COLUMNS : VERDICT_COLUMNS) - title);
		return;
	}
	check_width(rule, "because", finding->because, BECAUSE_COLUMNS);
	check_width(rule, "verify", finding->verify, TEXT_COLUMNS);
	check_width(rule, "refute", finding->refute, TEXT_COLUMNS);
	check_width(rule, "price", finding->price, TEXT_COLUMNS);
	check_width(rule, "the method", finding->gain_method, TEXT_COLUMNS);
	check_width(rule, "the headline", finding->headline, HEADLINE_COLUMNS);
	for (size_t i = 0; i < finding->n_actions; i++)
		check_width(rule, "an action", finding->actions[i].text, TEXT_COLUMNS);
	for (size_t i = 0; i < finding->n_actions; i++)
		check_width(rule, "an example", finding->actions[i].example, TEXT_COLUMNS);
}

/* Checks every action's headline, not only the first one's. */
static void check_headlines(const struct tp_rulebook *book, const struct tp_rule *rule,
			    const struct tp_quantity *facts, struct tp_arena *arena)
{
	const struct tp_sentence_words terms = {.whole = book->whole_steps,
						.others = "python3 (pid 811)",
						.others_cpus = ": python3 0.9"};
	for (size_t i = 0; i < rule->n_actions; i++)
		check_width(rule, "a headline",
			    tp_sentence_fill(rule->actions[i].headline, facts, &terms, arena),
			    HEADLINE_COLUMNS);
}

static void check_texts(const struct tp_rulebook *book, const struct tp_rule *rule)
{
	struct tp_arena arena = {0};
	for (size_t i = 0; i < rule->n_cases; i++) {
		const struct tp_rule_case *test = &rule->cases[i];
		if (test->expected != TP_EXPECT_FIRES)
			continue;
		const struct tp_quantity *facts = tp_rule_case_facts(test, &arena);
		struct tp_rule_context context = {.book = book,
						  .facts = facts,
						  .terms.whole = book->whole_steps,
						  .basis = tp_gain_input_of_facts(facts),
						  .arena = &arena};
		struct tp_gain gain;
		struct tp_finding finding = tp_judge_rule(&context, rule, &gain);
		check_sentences(rule, &finding);
		check_headlines(book, rule, facts, &arena);
		check(rule->gain.kind == TP_GAIN_NONE || gain.is_known ||
			      gain.most > 0, /* the case leaves out the part's share */
		      "%s:%u: the gain of a firing case is not known", rule->path, test->line);
	}
	tp_arena_release(&arena);
}

/* Collects the text of every file of rules, to find thresholds that are never used. */
static void check_thresholds(const struct tp_rulebook *book, const char *text)
{
	static const char *const of_engine[] = {"idiom.covers", "idiom.shared",  "gain.smallest",
						"gain.largest", "gain.residual", "plan.large",
						"confidence."};
	for (size_t i = 0; i < book->thresholds.n_items; i++) {
		const struct tp_threshold *threshold = &book->thresholds.items[i];
		char name[80];
		snprintf(name, sizeof(name), "$%s", threshold->name);
		bool is_used = strstr(text, name) != NULL;
		for (size_t k = 0; k < sizeof(of_engine) / sizeof(of_engine[0]); k++)
			is_used |=
				strncmp(threshold->name, of_engine[k], strlen(of_engine[k])) == 0;
		check(is_used, "%s: no rule uses $%s", threshold->path, threshold->name);
		check(!threshold->checked || is_date(threshold->checked), "%s: $%s has no date",
		      threshold->path, threshold->name);
		check(threshold->source || strncmp(threshold->why, "our choice", 10) == 0 ||
			      strstr(threshold->why, "rules/README.md") ||
			      strncmp(threshold->name, "gain.", 5) == 0,
		      "%s: $%s has neither a source nor the words 'our choice'", threshold->path,
		      threshold->name);
	}
}

/* Returns the CPU time of loading and judging; negative if they do not load. */
static double load_and_judge_ms(const char *directory)
{
	struct timespec from;
	struct timespec to;
	struct tp_rulebook *book = NULL;
	struct tp_findings findings;
	struct tp_profile profile;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	if (tp_rulebook_load(&book, &directory, 1, NULL))
		return -1;
	tp_profile_init(&profile, NULL);
	for (tp_fact_id i = 0; i < tp_n_facts; i++)
		tp_profile_set(&profile, i, 0.3, TP_ORIGIN_MEASURED, 1);
	tp_advise(&findings, book, &profile);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	tp_findings_release(&findings);
	tp_profile_release(&profile);
	tp_rulebook_free(book);
	return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

/* Uses the minimum of several runs: time that the host takes from a virtual CPU may be accounted to
 * us. */
static void check_speed(const char *directory)
{
	double least_ms = load_and_judge_ms(directory);
	for (int i = 1; i < 5 && least_ms >= 0; i++) {
		double ms = load_and_judge_ms(directory);
		least_ms = ms < least_ms ? ms : least_ms;
	}
	if (least_ms < 0)
		return;
	printf("rules: load and judge %.1f ms CPU\n", least_ms);
#ifndef __SANITIZE_ADDRESS__
	check(least_ms <= MOST_MS, "loading and judging took %.1f ms, %d are allowed", least_ms,
	      MOST_MS);
#endif
}

/* Each row for names of kernels and spans has an example that it matches and no earlier row
 * does. */
static void check_patterns(const char *directory)
{
	char *path = tp_asprintf("%s/patterns", directory);
	struct tp_patterns *patterns = NULL;
	struct tp_error err = {0};
	bool is_good = tp_patterns_load(&patterns, path, &err) == TP_OK;
	free(path);
	check(is_good, "%s", err.text);
	if (!is_good)
		return;
	const struct tp_kernel_patterns *kernels = &patterns->kernels;
	const struct tp_span_patterns *spans = &patterns->spans;
	for (size_t i = 0; i < kernels->n_items; i++)
		check(kernels->items[i].examples && kernels->items[i].examples[0],
		      "%s:%u: no example", kernels->items[i].file, kernels->items[i].line);
	for (size_t i = 0; i < spans->n_items; i++)
		check(spans->items[i].examples && spans->items[i].examples[0], "%s:%u: no example",
		      spans->items[i].file, spans->items[i].line);
	check(kernels->n_items && spans->n_items, "no rows for names of kernels or of spans");
	check(tp_patterns_check(patterns, &err) == TP_OK, "%s", err.text);
	printf("patterns: %zu rows of kernels, %zu of spans\n", kernels->n_items, spans->n_items);
	tp_patterns_free(patterns);
}

static void add_condition(struct tp_buf *out, const char *written)
{
	if (written)
		tp_buf_printf(out, "%s ", written);
}

/* Checks properties that no single file shows, and collects thresholds that only techniques
 * name. */
static void check_guide(const struct tp_rulebook *book, struct tp_buf *texts)
{
	const struct tp_catalogue *catalogue = tp_rulebook_catalogue(book);
	struct tp_buf problems = {0};
	size_t n_effects = 0;
	size_t n = tp_rulebook_check(book, &problems);
	check(!n, "%s", tp_buf_text(&problems));
	for (size_t i = 0; i < catalogue->n_techniques; i++) {
		const struct tp_technique *technique = &catalogue->techniques[i];
		n_effects += technique->n_effects;
		for (size_t k = 0; k < technique->n_needs; k++)
			add_condition(texts, technique->needs[k].when_written);
		for (size_t k = 0; k < technique->n_not_when; k++)
			add_condition(texts, technique->not_when[k].when_written);
		add_condition(texts, technique->done.when_written);
	}
	check(catalogue->n_techniques >= LEAST_TECHNIQUES, "only %zu techniques",
	      catalogue->n_techniques);
	printf("guide: %zu techniques with %zu figures, %zu limits, %zu sources, %zu pages\n",
	       catalogue->n_techniques, n_effects, catalogue->n_limits, catalogue->n_references,
	       catalogue->n_texts);
	tp_buf_release(&problems);
}

/* Adds all texts of a rule that may contain thresholds. */
static void add_texts(struct tp_buf *out, const struct tp_rule *rule)
{
	for (size_t i = 0; i < rule->n_locals; i++)
		tp_buf_printf(out, "%s ", rule->locals[i].written);
	for (size_t i = 0; i < rule->n_when; i++)
		tp_buf_printf(out, "%s ", rule->when[i].written);
	for (size_t i = 0; i < rule->n_unless; i++)
		tp_buf_printf(out, "%s ", rule->unless[i].written);
	for (size_t i = 0; i < rule->n_actions; i++)
		tp_buf_printf(out, "%s ",
			      rule->actions[i].when_written ? rule->actions[i].when_written : "");
	if (rule->gain.fraction_written)
		tp_buf_printf(out, "%s ", rule->gain.fraction_written);
	if (rule->gain.at_least_written)
		tp_buf_printf(out, "%s ", rule->gain.at_least_written);
	if (rule->verdict.sentence)
		tp_buf_printf(out, "%s ", tp_sentence_written(rule->verdict.sentence));
}

int main(int argc, char **argv)
{
	const char *directory = argc > 1 ? argv[1] : "rules";
	struct tp_rulebook *book = NULL;
	struct tp_error err = {0};
	struct tp_rule_test_result result;
	struct tp_buf texts = {0};
	if (argc > 2 && strcmp(argv[2], "--speed") == 0) {
		check_speed(directory);
		printf("rules: %d passed, %d failed, 0 skipped\n", n_passed, n_failed);
		return n_failed ? 1 : 0;
	}
	if (tp_rulebook_load(&book, &directory, 1, &err)) {
		printf("%s\nrules: 0 passed, 1 failed, 0 skipped\n", err.text);
		return 1;
	}
	size_t n_advice = 0;
	for (size_t i = 0; i < book->n_rules; i++) {
		const struct tp_rule *rule = &book->rules[i];
		check_cases(rule);
		check_sources(rule);
		check_plurals(rule);
		check_line(rule);
		check_texts(book, rule);
		add_texts(&texts, rule);
		n_advice += !rule->is_note;
	}
	check(n_advice >= LEAST_RULES, "only %zu rules give advice", n_advice);
	check_guide(book, &texts);
	check_thresholds(book, tp_buf_text(&texts));
	if (tp_rulebook_test(book, NULL, stdout, &result, &err))
		check(false, "%s", err.text);
	n_passed += (int)result.n_passed;
	n_failed += (int)result.n_failed;
	printf("rules: %zu rules, %zu give advice, %zu cases\n", book->n_rules, n_advice,
	       result.n_passed + result.n_failed);
	check_patterns(directory);
	printf("rules: %d passed, %d failed, 0 skipped\n", n_passed, n_failed);
	tp_buf_release(&texts);
	tp_rulebook_free(book);
	return n_failed ? 1 : 0;
}
