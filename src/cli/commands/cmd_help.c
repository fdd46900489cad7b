/* SPDX-License-Identifier: Apache-2.0 */
/* trainprof help: shows the overview, one command, or a topic. */
#include "cli/options/command.h"

#include "cli/guide/help.h"
#include "cli/guide/topics.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "trainprof/base/text.h"

#include <string.h>
#include <unistd.h>

struct help_options {
	bool is_manual;
};

static const struct tp_option options[] = {{.name = "manual",
					    .type = TP_OPTION_FLAG,
					    .text = "options of all commands as Markdown",
					    .offset = offsetof(struct help_options, is_manual),
					    .is_rare = true},
					   TP_OPTION_END};

static const char options_topic[] = "options";

static int print_manual(const struct tp_command_table *table)
{
	struct tp_buf text = {0};
	tp_help_manual(&text, table);
	return tp_output_buf(&text);
}

static int unknown_topic(const struct tp_command_table *table, const char *word)
{
	const char *names[64];
	size_t n = 0;
	for (const struct tp_command *const *c = table->commands; *c && n < 64; c++)
		names[n++] = (*c)->name;
	names[n++] = options_topic;
	for (const struct tp_topic *t = tp_topic_list(); t->name && n < 64; t++)
		names[n++] = t->name;
	const char *near = tp_text_closest(word, names, n);
	char next[80];
	snprintf(next, sizeof(next), near ? "trainprof help %s" : "trainprof help%s",
		 near ? near : "");
	tp_message_print(next, "no help for '%s'%s%s", word, near ? "; nearest: " : "",
			 near ? near : "");
	return TP_EXIT_USAGE;
}

static int help_exec(const struct tp_cli *cli, const void *opts, int argc, char **argv)
{
	const struct help_options *o = opts;
	if (o->is_manual)
		return print_manual(cli->table);
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	if (style.width > 80)
		style.width = 80;
	struct tp_page page;
	tp_page_init(&page, &style);
	const struct tp_command *command = argc ? tp_command_find(cli->table, argv[0]) : NULL;
	int status = TP_EXIT_OK;
	if (!argc)
		tp_help_summary(&page, cli->table);
	else if (command)
		tp_help_command(&page, command, true);
	else if (strcmp(argv[0], options_topic) == 0)
		tp_help_options(&page, cli->table);
	else if (!tp_topic_print(&page, argv[0]))
		status = unknown_topic(cli->table, argv[0]);
	if (status == TP_EXIT_OK)
		status = tp_output_paged(&page);
	tp_page_release(&page);
	return status;
}

const struct tp_command tp_cmd_help = {
	.name = "help",
	.group = "Other",
	.synopsis = "[COMMAND|TOPIC]",
	.summary = "this overview, a command, exit-status, environment",
	.intro = "Show the overview, one command with all its options, or a topic:\n"
		 "options (those of all commands), exit-status, environment, formats.",
	.options = options,
	.storage_size = sizeof(struct help_options),
	.max_words = 1,
	.exec = help_exec,
};
