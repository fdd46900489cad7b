/* SPDX-License-Identifier: Apache-2.0 */
/* Generates help from the tables of commands and options. */
#include "help.h"

#include "topics.h"

#include <stdio.h>
#include <string.h>

enum { COLUMN_NAME = 11, COLUMN_SUMMARY = 22, COLUMN_TEXT = 23 };

static void print_row(struct tp_page *page, const char *line)
{
	tp_page_add(page, TP_PAINT_NONE, line);
	tp_page_end(page);
}

void tp_help_summary(struct tp_page *page, const struct tp_command_table *table)
{
	const struct tp_command *const *commands = table->commands;
	const char *group = "";
	print_row(page, "trainprof finds what limits a training program, and what to do about it.");
	tp_page_end(page);
	tp_topic_text(
		page,
		"  trainprof run -- ./train --epochs 1      measure, then print the diagnosis\n"
		"  trainprof explain 1                      why that advice, and what to type\n"
		"  trainprof report --full                  everything about the last run");
	tp_page_end(page);
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(group, commands[i]->group) != 0)
			tp_page_add(page, TP_PAINT_BOLD, commands[i]->group);
		group = commands[i]->group;
		tp_page_column(page, COLUMN_NAME);
		tp_page_add(page, TP_PAINT_NONE, commands[i]->name);
		tp_page_add(page, TP_PAINT_NONE, " ");
		tp_page_column(page, COLUMN_SUMMARY);
		tp_page_wrap(page, COLUMN_SUMMARY, TP_PAINT_NONE, commands[i]->summary, 0);
	}
	tp_page_end(page);
	tp_topic_text(page,
		      "`trainprof help options` lists the options for all commands;\n"
		      "`trainprof help run` shows one command, `man trainprof` has all details.");
}

static void option_heading(struct tp_buf *out, const struct tp_option *option)
{
	if (option->letter)
		tp_buf_printf(out, "-%c, ", option->letter);
	else
		tp_buf_puts(out, "    ");
	tp_buf_printf(out, "--%s", option->name);
	if (option->value)
		tp_buf_printf(out, option->bare ? "[=%s]" : "=%s", option->value);
}

static void print_option(struct tp_page *page, const struct tp_option *option)
{
	struct tp_buf heading = {0};
	struct tp_buf otherwise = {0};
	option_heading(&heading, option);
	if (option->otherwise)
		tp_buf_printf(&otherwise, "[%s]", option->otherwise);
	tp_page_column(page, 2);
	tp_page_add(page, TP_PAINT_NONE, tp_buf_text(&heading));
	if (page->columns + 1 > COLUMN_TEXT)
		tp_page_end(page);
	tp_page_column(page, COLUMN_TEXT);
	tp_page_wrap_with_right(page, COLUMN_TEXT, option->text, TP_PAINT_DIM,
				tp_buf_text(&otherwise), 0);
	tp_buf_release(&heading);
	tp_buf_release(&otherwise);
}

static void print_options(struct tp_page *page, const struct tp_option *options, bool is_full)
{
	for (; options->name; options++) {
		if (options->section) {
			tp_page_add(page, TP_PAINT_BOLD, options->section);
			tp_page_end(page);
		}
		if (is_full || !options->is_rare)
			print_option(page, options);
	}
}

void tp_help_command(struct tp_page *page, const struct tp_command *command, bool is_full)
{
	tp_page_addf(page, TP_PAINT_NONE, "usage: trainprof %s %s", command->name,
		     command->synopsis);
	tp_page_end(page);
	tp_page_end(page);
	tp_topic_prose(page, command->intro);
	if (command->examples) {
		tp_page_end(page);
		tp_topic_text(page, command->examples);
	}
	if (command->options->name) {
		tp_page_end(page);
		print_options(page, command->options, is_full);
	}
	tp_page_end(page);
	if (command->ending)
		tp_topic_prose(page, command->ending);
	if (is_full)
		print_row(page, "Options for all commands: trainprof help options");
	print_row(page, is_full ? "The manual page: man trainprof"
				: "All options and more: trainprof help COMMAND");
}

void tp_help_options(struct tp_page *page, const struct tp_command_table *table)
{
	tp_page_add(page, TP_PAINT_BOLD, "Options for all commands");
	tp_page_end(page);
	print_options(page, table->global_options, true);
}

/* ---- the manual page ----------------------------------------------------------------------- */

static void add_manual_options(struct tp_buf *out, const struct tp_option *options)
{
	for (; options->name; options++) {
		struct tp_buf heading = {0};
		option_heading(&heading, options);
		const char *text = tp_buf_text(&heading);
		tp_buf_printf(out, "- `%s`: %s", text + strspn(text, " "), options->text);
		if (options->otherwise)
			tp_buf_printf(out, " [%s]", options->otherwise);
		if (options->env)
			tp_buf_printf(out, " (`%s`)", options->env);
		tp_buf_putc(out, '\n');
		tp_buf_release(&heading);
	}
}

void tp_help_manual(struct tp_buf *out, const struct tp_command_table *table)
{
	const struct tp_command *const *commands = table->commands;
	tp_buf_puts(out, "### All commands\n\n");
	add_manual_options(out, table->global_options);
	for (size_t i = 0; commands[i]; i++) {
		tp_buf_printf(out, "\n### %s\n\n`trainprof %s %s`\n\n%s\n", commands[i]->name,
			      commands[i]->name, commands[i]->synopsis, commands[i]->intro);
		if (commands[i]->options->name)
			tp_buf_putc(out, '\n');
		add_manual_options(out, commands[i]->options);
	}
}
