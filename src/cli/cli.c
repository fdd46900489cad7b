/* SPDX-License-Identifier: Apache-2.0 */
/* Entry point of the command line: finds the command, parses its options and runs it. */
#include "trainprof/cli/cli.h"

#include "cli/guide/help.h"
#include "cli/options/command.h"
#include "cli/options/settings.h"
#include "cli/session/install_dir.h"
#include "cli/session/recordings.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

#include "trainprof/base/log.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/collect/target.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct tp_command *const commands[] = {
	&tp_cmd_run,
	&tp_cmd_attach,
	&tp_cmd_top,
	&tp_cmd_stacks,
	&tp_cmd_report,
	&tp_cmd_view,
	&tp_cmd_export,
	&tp_cmd_explain,
	&tp_cmd_advise,
	&tp_cmd_guide,
	&tp_cmd_diff,
	&tp_cmd_compare,
	&tp_cmd_try,
	&tp_cmd_check,
	&tp_cmd_baseline,
	&tp_cmd_import,
	&tp_cmd_merge,
	&tp_cmd_rules,
	&tp_cmd_doctor,
	&tp_cmd_completion,
	&tp_cmd_version,
	&tp_cmd_help,
	NULL,
};

static const char *const colour_choices[] = {"auto", "always", "never", NULL};

static const struct tp_option global_options[] = {{.letter = 'h',
						   .name = "help",
						   .type = TP_OPTION_FLAG,
						   .text = "show this help",
						   .offset = offsetof(struct tp_cli, wants_help)},
						  {.letter = 'V',
						   .name = "version",
						   .type = TP_OPTION_FLAG,
						   .text = "show the version",
						   .offset =
							   offsetof(struct tp_cli, wants_version)},
						  {.letter = 'q',
						   .name = "quiet",
						   .type = TP_OPTION_FLAG,
						   .text = "errors only",
						   .offset = offsetof(struct tp_cli, is_quiet)},
						  {.letter = 'v',
						   .name = "verbose",
						   .type = TP_OPTION_COUNTED,
						   .text = "print more about what trainprof does",
						   .offset = offsetof(struct tp_cli, verbosity)},
						  {.name = "color",
						   .type = TP_OPTION_CHOICE,
						   .value = "WHEN",
						   .text = "auto, always, never",
						   .otherwise = "auto",
						   .choices = colour_choices,
						   .env = "TRAINPROF_COLOR",
						   .offset = offsetof(struct tp_cli, colour)},
						  {.name = "ascii",
						   .type = TP_OPTION_FLAG,
						   .text = "no characters outside ASCII",
						   .otherwise = "by locale",
						   .offset = offsetof(struct tp_cli, is_ascii)},
						  {.name = "width",
						   .type = TP_OPTION_COUNT,
						   .value = "N",
						   .text = "number of text columns",
						   .otherwise = "the terminal's, or 80",
						   .offset = offsetof(struct tp_cli, width)},
						  {.name = "config",
						   .type = TP_OPTION_TEXT,
						   .value = "FILE",
						   .text = "only this configuration file",
						   .env = "TRAINPROF_CONFIG",
						   .offset = offsetof(struct tp_cli, config)},
						  {.name = "no-config",
						   .type = TP_OPTION_FLAG,
						   .text = "read no configuration file",
						   .offset = offsetof(struct tp_cli, no_config)},
						  {.name = "no-pager",
						   .type = TP_OPTION_FLAG,
						   .text = "print long texts without a pager",
						   .offset = offsetof(struct tp_cli, no_pager)},
						  TP_OPTION_END};

static const struct tp_command_table table = {commands, global_options};

static void add_command(struct tp_buf *out, const char *verb, const char *word, int argc)
{
	tp_buf_puts(out, verb);
	tp_text_add_word(out, word);
	tp_buf_puts(out, argc > 1 ? " …" : "");
}

static int unknown_command(const char *word, int argc)
{
	const char *names[32];
	size_t n = 0;
	for (; commands[n]; n++)
		names[n] = commands[n]->name;
	const char *near = tp_text_closest(word, names, n);
	if (near) {
		char next[100];
		snprintf(next, sizeof(next), "trainprof %s", near);
		tp_message_print(next, "unknown command '%s'; nearest: %s", word, near);
		return TP_EXIT_USAGE;
	}
	/* Most likely the command was forgotten before a program. */
	struct tp_buf next = {0};
	struct stat info;
	bool is_program = strchr(word, '/') || (stat(word, &info) == 0 && S_ISREG(info.st_mode));
	if (tp_recordings_is_trace_file(word))
		add_command(&next, "trainprof import ", word, argc);
	else if (is_program && tp_command_find(&table, "run"))
		add_command(&next, "trainprof run -- ", word, argc);
	else
		tp_buf_puts(&next, "trainprof help");
	tp_message_print(tp_buf_text(&next), "unknown command '%s'", word);
	tp_buf_release(&next);
	return TP_EXIT_USAGE;
}

static int print_command_help(const struct tp_cli *cli, const struct tp_command *command)
{
	struct tp_report_style style = tp_terminal_style(cli, STDOUT_FILENO);
	if (style.width > 80)
		style.width = 80;
	struct tp_page page;
	tp_page_init(&page, &style);
	if (command)
		tp_help_command(&page, command, false);
	else
		tp_help_summary(&page, &table);
	int status = tp_output_page(&page);
	tp_page_release(&page);
	return status;
}

/* Files and environment are applied first, so that the command line overrides them. */
static enum tp_status apply_settings(struct tp_cli *cli, struct tp_settings *settings,
				     const struct tp_command *command, void *storage,
				     struct tp_error *err)
{
	const char *only = cli->config ? cli->config : tp_settings_env("TRAINPROF_CONFIG");
	bool is_wanted = !cli->no_config;
	enum tp_status status = is_wanted ? tp_settings_load(settings, &table, only, err) : TP_OK;
	if (status == TP_OK)
		status = tp_settings_apply(settings, NULL, global_options, cli, err);
	if (status == TP_OK)
		status = tp_settings_apply(settings, command->name, command->options, storage, err);
	return status;
}

static void *new_storage(const struct tp_command *command)
{
	void *storage = tp_alloc(command->storage_size);
	if (command->defaults)
		memcpy(storage, command->defaults, command->storage_size);
	return storage;
}

/* A command that starts a program has its own status for failures before that start. */
static int early_status(const struct tp_command *command, const struct tp_error *err)
{
	int status = tp_exit_status(err);
	if (command->stops_at_word && status != TP_EXIT_USAGE)
		return TP_EXIT_NOT_STARTED;
	return status;
}

struct invocation {
	struct tp_cli *cli;
	const struct tp_command *command;
	int argc; /* after the command's name */
	char **argv;
	const char **words; /* room for all of argv */
	size_t n_words;
	char **rest; /* the rest, for a command that stops at a word */
	int n_rest;
};

static enum tp_status parse_into(struct invocation *call, struct tp_cli *cli, void *storage,
				 struct tp_error *err)
{
	const struct tp_option_set sets[] = {{call->command->options, storage},
					     {global_options, cli}};
	struct tp_parse parse = {.command = call->command->name,
				 .sets = sets,
				 .n_sets = 2,
				 .stops_at_word = call->command->stops_at_word,
				 .words = call->words,
				 .max_words = call->command->max_words};
	enum tp_status status = tp_options_parse(&parse, call->argc, call->argv, err);
	call->n_words = parse.n_words;
	call->rest = call->argv + parse.n_used;
	call->n_rest = call->argc - (int)parse.n_used;
	return status;
}

/* -q wins over a trainprof.json that asks for more output. */
static enum tp_log_level log_level(const struct tp_cli *cli)
{
	if (cli->is_quiet)
		return TP_LOG_ERROR;
	if (cli->verbosity > 1)
		return TP_LOG_DEBUG;
	return cli->verbosity > 0 ? TP_LOG_INFO : TP_LOG_WARN;
}

static int exec_command(struct invocation *call, void *storage)
{
	struct tp_cli *cli = call->cli;
	tp_log_init(log_level(cli), tp_settings_env("TRAINPROF_LOG"));
	if (cli->no_pager)
		setenv("TRAINPROF_PAGER", "cat",
		       1); /* NOLINT(concurrency-mt-unsafe): no thread yet */
	if (call->command->stops_at_word)
		return call->command->exec(cli, storage, call->n_rest, call->rest);
	char **words = tp_alloc((call->n_words + 1) * sizeof(*words));
	for (size_t i = 0; i < call->n_words; i++)
		memcpy(&words[i], &call->words[i], sizeof(words[i]));
	int status = call->command->exec(cli, storage, (int)call->n_words, words);
	free((void *)words);
	return status;
}

static int run_command(struct invocation *call)
{
	struct tp_error err = {0};
	struct tp_settings settings = {0};
	void *storage = new_storage(call->command);
	/* First parse, for --help, --config and `given`: the real one comes after the settings. */
	struct tp_cli glance = *call->cli;
	void *scratch = new_storage(call->command);
	int status = TP_EXIT_OK;
	enum tp_status parsed = parse_into(call, &glance, scratch, &err);
	if (glance.wants_help) {
		status = print_command_help(&glance, call->command);
		goto out;
	}
	if (parsed != TP_OK) {
		status = tp_message_error_status(call->command->name, &err);
		goto out;
	}
	call->cli->config = glance.config;
	call->cli->no_config = glance.no_config;
	if (apply_settings(call->cli, &settings, call->command, storage, &err) != TP_OK ||
	    parse_into(call, call->cli, storage, &err) != TP_OK) {
		tp_message_error(NULL, &err);
		status = early_status(call->command, &err);
		goto out;
	}
	if (!call->cli->is_quiet)
		tp_message_print_lines(tp_buf_text(&settings.left_out));
	call->cli->settings = &settings;
	call->cli->given = scratch;
	status = exec_command(call, storage);
out:
	free(storage);
	free(scratch);
	tp_settings_release(&settings);
	return status;
}

int tp_cli_main(int argc, char **argv)
{
	struct tp_inherited inheritance;
	/* First of all: the program must find its environment as trainprof found it. */
	tp_inherited_save(&inheritance);
	tp_install_dir_save();
	/* Exceeding a limit on file sizes must fail the write, not kill trainprof. */
	signal(SIGXFSZ, SIG_IGN);
	struct tp_cli cli = {.inheritance = &inheritance, .colour = "auto", .table = &table};
	struct tp_error err = {0};
	/* LC_CTYPE alone: numbers keep their dot in every locale. */
	setlocale(LC_CTYPE, ""); /* NOLINT(concurrency-mt-unsafe): no thread yet */
	const struct tp_option_set set = {global_options, &cli};
	struct tp_parse parse = {.sets = &set, .n_sets = 1, .stops_at_word = true};
	if (tp_options_parse(&parse, argc - 1, argv + 1, &err) != TP_OK)
		return tp_message_error_status(NULL, &err);
	argc -= 1 + (int)parse.n_used;
	argv += 1 + parse.n_used;
	if (cli.wants_version) {
		void *storage = new_storage(&tp_cmd_version);
		int status = tp_cmd_version.exec(&cli, storage, 0, NULL);
		free(storage);
		return status;
	}
	if (!argc)
		return print_command_help(&cli, NULL);
	const struct tp_command *command = tp_command_find(&table, argv[0]);
	if (!command)
		return unknown_command(argv[0], argc);
	struct invocation call = {.cli = &cli,
				  .command = command,
				  .argc = argc - 1,
				  .argv = argv + 1,
				  .words = tp_alloc((size_t)argc * sizeof(*call.words))};
	int status = run_command(&call);
	free((void *)call.words);
	return status;
}
