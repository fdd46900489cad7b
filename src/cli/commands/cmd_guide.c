/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof guide: shows pages about bottlenecks, techniques, parts, steps, facts, rules,
 * formats. */
#include "cli/options/command.h"

#include "cli/guide/guide.h"
#include "cli/guide/guide_plan.h"
#include "cli/guide/topics.h"
#include "cli/session/analysis_session.h"
#include "cli/session/rules_dir.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct guide_options {
	bool is_search;
	bool is_plan;
	struct tp_output_format format;
	const char *write;
	struct tp_words rules;
	bool is_lenient;
};

static const struct guide_options defaults = {.format = {.word = "text"}};

#define AT(member) .offset = offsetof(struct guide_options, member)

static const struct tp_option options[] = {
	{.name = "search",
	 .type = TP_OPTION_FLAG,
	 .text = "list pages that contain all words, best match first",
	 AT(is_search)},
	{.name = "plan",
	 .type = TP_OPTION_FLAG,
	 .text = "print a step-by-step plan for RUN",
	 AT(is_plan)},
	TP_OUTPUT_FORMAT_ROWS(offsetof(struct guide_options, format), "of the plan: "),
	{TP_OPTION_RULES, AT(rules)},
	{TP_OPTION_LENIENT, AT(is_lenient)},
	{.name = "write",
	 .type = TP_OPTION_TEXT,
	 .value = "DIR",
	 .text = "write the whole guide to DIR as Markdown",
	 .is_rare = true,
	 .is_own = true,
	 AT(write)},
	TP_OPTION_END};

/* ---- showing ---- */

static void list_line(struct tp_page *page, const char *name, const char *text)
{
	tp_page_addf(page, TP_PAINT_NONE, "  %s ", name);
	tp_page_column(page, 16);
	tp_page_wrap(page, 16, TP_PAINT_NONE, text, 0);
}

static void list_topics(struct tp_page *page, const struct tp_rulebook *book)
{
	tp_page_add(page, TP_PAINT_BOLD, "Topics");
	tp_page_end(page);
	for (size_t i = 0; i < tp_guide_count(book, TP_GUIDE_TOPIC); i++) {
		struct tp_guide_entry place = {TP_GUIDE_TOPIC, i};
		list_line(page, tp_guide_name(book, place), tp_guide_title(book, place));
	}
	tp_page_end(page);
	tp_page_wrap(page, 0, TP_PAINT_NONE,
		     "Every bottleneck, technique, rule and fact has a page by its name.", 0);
	tp_page_wrap(page, 0, TP_PAINT_NONE, "next: trainprof guide --search WORD", 0);
}

static void print_fact(struct tp_page *page, tp_fact_id id)
{
	const struct tp_fact_desc *fact = tp_fact_desc(id);
	tp_page_addf(page, TP_PAINT_BOLD, "%s", fact->name);
	tp_page_addf(page, TP_PAINT_NONE, "  [%s]  ", fact->unit);
	tp_page_wrap(page, 2, TP_PAINT_NONE, fact->text, 0);
}

static void print_rule(struct tp_page *page, const struct tp_rulebook *book, const char *rule)
{
	char *text = tp_guide_rule_text(book, rule);
	if (text)
		tp_output_add_rule(page, text);
	free(text);
}

static void print_document(struct tp_page *page, const struct tp_rulebook *book,
			   struct tp_guide_entry place)
{
	struct tp_guide_document document;
	tp_guide_make(&document, book, place);
	tp_guide_document_print(&document, page);
	tp_guide_document_release(&document);
}

/* True if the text contains a letter or a digit, of any language. */
static bool is_word(const char *text)
{
	while (*text && !isalnum((unsigned char)*text) && (unsigned char)*text < 0x80)
		text++;
	return *text != '\0';
}

static int unknown_page(const struct tp_rulebook *book, const char *word)
{
	struct tp_error err = {0};
	const char *near = tp_guide_closest(book, word);
	(void)tp_fail(&err, TP_USAGE, "no page '%s'%s%s", word, near ? "; nearest: " : "",
		      near ? near : "");
	if (near)
		tp_error_next(&err, "trainprof guide %s", near);
	else if (is_word(word))
		tp_error_next_word(&err, "trainprof guide --search ", word, "");
	else
		tp_error_next(&err, "trainprof guide");
	return tp_message_error_status(NULL, &err);
}

static int print_page(struct tp_page *page, const struct tp_rulebook *book, const char *name)
{
	struct tp_guide_entry place;
	if (!tp_guide_find(book, name, &place))
		return unknown_page(book, name);
	if (place.kind == TP_GUIDE_FACT)
		print_fact(page, (tp_fact_id)place.index);
	else if (place.kind == TP_GUIDE_RULE)
		print_rule(page, book, name);
	else if (!tp_topic_print(page, name))
		print_document(page, book, place);
	return TP_EXIT_OK;
}

/* Adds the words of an argument, which may be a quoted phrase; *whole is false if it has none, or
 * one without a letter or digit. */
static char **add_words(char **words, size_t *n_words, char *phrase, bool *whole)
{
	char *rest;
	size_t n_before = *n_words;
	for (char *word = strtok_r(phrase, " \t\n", &rest); word;
	     word = strtok_r(NULL, " \t\n", &rest)) {
		words = tp_realloc(words, (*n_words + 1) * sizeof(*words));
		words[(*n_words)++] = word;
		*whole &= is_word(word);
	}
	*whole &= *n_words > n_before;
	return words;
}

static int search(struct tp_page *page, const struct tp_rulebook *book, char **phrases,
		  size_t n_phrases)
{
	char **words = NULL;
	size_t n_words = 0;
	bool is_whole = n_phrases > 0;
	for (size_t i = 0; i < n_phrases; i++)
		words = add_words(words, &n_words, phrases[i], &is_whole);
	int status = TP_EXIT_OK;
	if (!is_whole) {
		tp_message_print("trainprof guide --search pinned memory", "--search needs a word");
		status = TP_EXIT_USAGE;
	} else if (!tp_guide_search(page, book, words, n_words)) {
		tp_message_print(n_words > 1 ? "fewer words, or: trainprof guide"
					     : "trainprof guide",
				 n_words > 1 ? "no page contains all of these words"
					     : "no page contains '%s'",
				 words[0]);
		status = TP_EXIT_BAD;
	}
	free(words);
	return status;
}

/* ---- the command ---- */

static int show(const struct tp_cli *cli, const struct tp_rulebook *book, bool is_search, int argc,
		char **argv)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	if (style.width > 80)
		style.width = 80;
	struct tp_page page;
	int status = TP_EXIT_OK;
	tp_page_init(&page, &style);
	if (is_search)
		status = search(&page, book, argv, (size_t)argc);
	else if (!argc)
		list_topics(&page, book);
	else
		status = print_page(&page, book, argv[0]);
	if (status == TP_EXIT_OK)
		status = tp_output_paged(&page);
	tp_page_release(&page);
	return status;
}

static enum tp_status write_pages(const struct tp_rulebook *book, const char *directory,
				  struct tp_error *err)
{
	enum tp_status status = tp_guide_write(book, directory, err);
	if (status == TP_ABSENT)
		tp_error_next_word(err, "mkdir -p ", directory, "");
	return status;
}

static int plan(const struct tp_cli *cli, const struct guide_options *o, int argc, char **argv)
{
	const struct tp_plan_request request = {
		.run = argc ? argv[0] : NULL,
		.other = argc > 1 ? argv[1] : NULL,
		.format = tp_output_format(&o->format),
		.rules = &o->rules,
		.is_lenient = o->is_lenient,
	};
	return tp_guide_plan(cli, &request);
}

/* True, after a message, if the options and arguments contradict each other. */
static bool is_bad_usage(const struct guide_options *o, int argc)
{
	if (o->is_search && o->is_plan)
		tp_message_print("trainprof help guide", "--search and --plan cannot be combined");
	else if (argc > 2 && o->is_plan)
		tp_message_print("trainprof guide --plan before after",
				 "--plan takes one run, or two to compare");
	else if (argc > 1 && !o->is_search && !o->is_plan)
		tp_message_print("trainprof guide --search WORD WORD", "guide shows one page");
	else if (strcmp(tp_output_format(&o->format), "text") != 0 && !o->is_plan)
		tp_message_print("trainprof guide --plan", "--format works only with --plan");
	else
		return false;
	return true;
}

static int guide_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct guide_options *o = opts;
	struct tp_rulebook *book = NULL;
	struct tp_error err = {0};
	int result;
	if (is_bad_usage(o, argc))
		return TP_EXIT_USAGE;
	if (o->is_plan)
		return plan(cli, o, argc, argv);
	enum tp_status status = tp_rules_dir_rulebook(&book, &o->rules, o->is_lenient, &err);
	if (status == TP_OK && o->write)
		status = write_pages(book, o->write, &err);
	if (status != TP_OK)
		result = tp_message_error_status(NULL, &err);
	else
		result = o->write ? TP_EXIT_OK : show(cli, book, o->is_search, argc, argv);
	tp_rulebook_free(book);
	return result;
}

const struct tp_command tp_cmd_guide = {
	.name = "guide",
	.group = "Read",
	.synopsis = "[TOPIC] | --search WORD... | --plan [RUN [OTHER]]",
	.summary = "read about bottlenecks, techniques, parts, facts, formats",
	.intro = "Show a page; without TOPIC the list of pages. Needs no recording.\n"
		 "--plan needs one: RUN is a directory or a file of facts (trainprof advise);\n"
		 "without RUN the last recording here. With OTHER it shows two runs side by side;\n"
		 "trainprof diff compares their times.",
	.examples = "  trainprof guide bottlenecks\n"
		    "  trainprof guide loader-workers\n"
		    "  trainprof guide --search pinned memory\n"
		    "  trainprof guide --plan prof",
	.ending = "Exit status of --plan: 3 when nothing is known of RUN, or of both.",
	.options = options,
	.storage_size = sizeof(struct guide_options),
	.defaults = &defaults,
	.max_words = TP_MAX_WORDS,
	.exec = guide_exec,
};
