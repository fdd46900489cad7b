/* trainprof guide: pages about parts, steps, facts, rules, formats. */
#include "command.h"

#include "complain.h"
#include "output.h"
#include "rulesdir.h"
#include "terminal.h"
#include "topics.h"
#include "trainprof/advise/advise.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tp_option options[] = {TP_OPTION_END};

/* The page of a rule, or for NULL the list of all. */
static bool print_rule(struct tp_page *page, const char *rule)
{
	struct tp_rulesdirs dirs;
	struct tp_rulebook *book = NULL;
	char *text = NULL;
	size_t size = 0;
	bool is_found = false;
	FILE *memory = open_memstream(&text, &size);
	if (tp_rulesdir_find(&dirs, NULL, NULL) == TP_OK &&
	    tp_rulesdir_load(&book, &dirs, NULL) == TP_OK)
		is_found = tp_rulebook_print(book, rule, memory, NULL) == TP_OK;
	fclose(memory);
	if (is_found)
		tp_output_add_rule(page, text);
	free(text);
	tp_rulebook_free(book);
	tp_rulesdir_release(&dirs);
	return is_found;
}

static bool print_fact(struct tp_page *page, const char *name)
{
	enum tp_fact id = tp_fact_find(name);
	if (id == TP_N_FACTS)
		return false;
	const struct tp_fact_desc *fact = tp_fact_desc(id);
	tp_page_addf(page, TP_PAINT_BOLD, "%s", fact->name);
	tp_page_addf(page, TP_PAINT_NONE, "  [%s]  ", fact->unit);
	tp_page_wrap(page, 2, TP_PAINT_NONE, fact->text, 0);
	return true;
}

static bool print_page(struct tp_page *page, const char *name)
{
	if (strcmp(name, "bottlenecks") == 0)
		return print_rule(page, NULL);
	return tp_topic_print(page, name) || print_fact(page, name) || print_rule(page, name);
}

static void list_topics(struct tp_page *page)
{
	tp_page_add(page, TP_PAINT_BOLD, "Topics");
	tp_page_end(page);
	for (const struct tp_topic *topic = tp_topic_list(); topic->name; topic++) {
		tp_page_addf(page, TP_PAINT_NONE, "  %s ", topic->name);
		tp_page_column(page, 16);
		tp_page_wrap(page, 16, TP_PAINT_NONE, topic->summary, 0);
	}
	tp_page_add(page, TP_PAINT_NONE, "  bottlenecks");
	tp_page_column(page, 16);
	tp_page_wrap(page, 16, TP_PAINT_NONE, "all rules; guide RULE shows one, guide FACT a fact",
		     0);
}

static int unknown_topic(const char *word)
{
	const char *names[64];
	size_t n = 0;
	names[n++] = "bottlenecks";
	for (const struct tp_topic *topic = tp_topic_list(); topic->name && n < 64; topic++)
		names[n++] = topic->name;
	const char *near = tp_text_nearest(word, names, n);
	char next[80] = "trainprof guide";
	if (near)
		snprintf(next, sizeof(next), "trainprof guide %s", near);
	tp_say(next, "no page '%s'%s%s", word, near ? "; nearest: " : "", near ? near : "");
	return TP_EXIT_USAGE;
}

static int guide_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	(void)opts;
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	if (style.width > 80)
		style.width = 80;
	struct tp_page page;
	int status = TP_EXIT_OK;
	tp_page_init(&page, &style);
	if (!argc)
		list_topics(&page);
	else if (!print_page(&page, argv[0]))
		status = unknown_topic(argv[0]);
	if (status == TP_EXIT_OK)
		status = tp_output_paged(&page);
	tp_page_release(&page);
	return status;
}

const struct tp_command tp_cmd_guide = {
	.name = "guide",
	.group = "Read",
	.synopsis = "[TOPIC]",
	.summary = "read about parts, steps, facts, bottlenecks, formats",
	.intro = "Show a page; without TOPIC the list of pages. Needs no recording.",
	.options = options,
	.max_words = 1,
	.exec = guide_exec,
};
