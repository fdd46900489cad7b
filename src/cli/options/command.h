/* SPDX-License-Identifier: Apache-2.0 */
/* A command is a constant: its name, its arguments and its function. */
#ifndef TRAINPROF_SRC_CLI_OPTIONS_COMMAND_H
#define TRAINPROF_SRC_CLI_OPTIONS_COMMAND_H

#include "options.h"
#include "trainprof/report/report.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_inherited;
struct tp_settings;

/* Exit statuses of all commands but run (trainprof help exit-status). */
enum {
	TP_EXIT_OK = 0,
	TP_EXIT_BAD = 1,   /* done, and the result is bad */
	TP_EXIT_USAGE = 2, /* misuse */
	TP_EXIT_UNDECIDED = 3,
	TP_EXIT_FILE = 4,    /* cannot read or write */
	TP_EXIT_REFUSED = 5, /* the machine refuses the request */
	TP_EXIT_INTERNAL = 70,
	TP_EXIT_NOT_STARTED = 125, /* run: nothing was started, for a reason in trainprof */
};

/* State that all commands share. */
struct tp_cli {
	const struct tp_inherited *inheritance; /* process attributes at our start */
	bool is_quiet;
	unsigned verbosity;
	const char *colour; /* "auto", "always", "never" */
	bool is_ascii;
	uint64_t width; /* 0 = determine it */
	const char *config;
	bool no_config;
	bool no_pager;
	bool wants_help;
	bool wants_version;
	const struct tp_command_table *table;
	const struct tp_settings *settings; /* files and environment, for doctor -v */
	const void *given; /* options as the command line alone sets them, without settings */
};

enum { TP_MAX_WORDS = 64 };

struct tp_command {
	const char *name;
	const char *group;    /* heading in the overview */
	const char *synopsis; /* "[options] [--] program [argument...]" */
	const char *summary;  /* one line, for the overview */
	const char *intro;    /* description, up to a few lines of 80 columns */
	const char *examples; /* lines of 80 columns, or NULL */
	const char *ending;   /* last line of the help, or NULL */
	const struct tp_option *options;
	size_t storage_size;  /* size of the struct that the options fill */
	const void *defaults; /* its initial contents; NULL = zeros */
	bool stops_at_word;   /* the words after the options belong to a program */
	size_t max_words;
	/* argv: the words, NULL-terminated. Returns the exit status. */
	int (*exec)(const struct tp_cli *cli, const void *options, int argc, char **argv);
};

/* All commands of the program; cli.c has the only table and passes it down. */
struct tp_command_table {
	const struct tp_command *const
		*commands;                      /* NULL-terminated, in the order of the overview */
	const struct tp_option *global_options; /* options of every command */
};

/* NULL if there is none of that name. */
const struct tp_command *tp_command_find(const struct tp_command_table *table, const char *name);

extern const struct tp_command tp_cmd_run;
extern const struct tp_command tp_cmd_attach;
extern const struct tp_command tp_cmd_top;
extern const struct tp_command tp_cmd_stacks;
extern const struct tp_command tp_cmd_import;
extern const struct tp_command tp_cmd_merge;
extern const struct tp_command tp_cmd_report;
extern const struct tp_command tp_cmd_export;
extern const struct tp_command tp_cmd_view;
extern const struct tp_command tp_cmd_explain;
extern const struct tp_command tp_cmd_advise;
extern const struct tp_command tp_cmd_guide;
extern const struct tp_command tp_cmd_diff;
extern const struct tp_command tp_cmd_compare;
extern const struct tp_command tp_cmd_try;
extern const struct tp_command tp_cmd_check;
extern const struct tp_command tp_cmd_baseline;
extern const struct tp_command tp_cmd_rules;
extern const struct tp_command tp_cmd_doctor;
extern const struct tp_command tp_cmd_completion;
extern const struct tp_command tp_cmd_version;
extern const struct tp_command tp_cmd_help;

#endif
