/* SPDX-License-Identifier: Apache-2.0 */
/* One table of options serves the parser, the help, the completion, the configuration file and the
 * manual page. */
#ifndef TRAINPROF_SRC_CLI_OPTIONS_OPTIONS_H
#define TRAINPROF_SRC_CLI_OPTIONS_OPTIONS_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_option_type {
	TP_OPTION_FLAG,     /* bool; --no-name clears it */
	TP_OPTION_COUNTED,  /* unsigned below 100; each use adds one, a text sets it */
	TP_OPTION_TEXT,     /* const char * */
	TP_OPTION_CHOICE,   /* const char *, one of choices */
	TP_OPTION_DURATION, /* uint64_t ns */
	TP_OPTION_SIZE,     /* uint64_t bytes */
	TP_OPTION_PERCENT,  /* double, ratio above 0 */
	TP_OPTION_RATE,     /* double, Hz */
	TP_OPTION_COUNT,    /* uint64_t */
	TP_OPTION_WORDS,    /* struct tp_words; each use adds one */
};

/* Texts of a repeated option; borrowed from argv or the configuration. */
struct tp_words {
	const char *items[32];
	size_t n;
};

struct tp_option {
	const char *name;
	const char *value;          /* placeholder for the value in help: "TIME" */
	const char *text;           /* one line of help */
	const char *otherwise;      /* the default behaviour, in words; NULL = no text */
	const char *const *choices; /* NULL-terminated; CHOICE only */
	const char *section;        /* heading that starts with this option, or NULL */
	const char *bare;           /* the value if none follows "="; NULL = a value is required */
	const char *env;            /* environment variable that sets it, or NULL */
	size_t offset;              /* of the value in the command's struct */
	enum tp_option_type type;
	char letter;  /* 0 = none */
	bool is_rare; /* shown by `help CMD` only, not by -h */
	bool is_own;  /* names a file to write or load: not set by the settings of a folder above */
};

/* Ends a table. */
#define TP_OPTION_END                                                                              \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* A table and the struct that its offsets refer to. */
struct tp_option_set {
	const struct tp_option *options;
	void *storage;
};

/*
 * Parses the options in argv. Options come from the first table that contains them.
 *
 *   command        name for messages: "run"; NULL before a command is known
 *   stops_at_word  the first word that is no option ends them (run); otherwise words are collected
 *   words          out: arguments that are no options, in order; at most max_words; after "--" all
 *   n_used         out: arguments consumed; argv + n_used is the rest when stopped at a word
 *
 * Errors  TP_USAGE: unknown option, missing or malformed value; err->next proposes a command.
 */
struct tp_parse {
	const char *command;
	const struct tp_option_set *sets;
	size_t n_sets;
	bool stops_at_word;
	const char **words;
	size_t max_words;
	size_t n_words;
	size_t n_used;
};

TP_MUST_CHECK enum tp_status tp_options_parse(struct tp_parse *parse, int argc, char **argv,
					      struct tp_error *err);

/* Sets one option from a text, as if it was on the command line; a NULL text is a flag without a
 * value. `where` names the place in messages: "trainprof.json:7".
 * Errors  TP_USAGE. */
TP_MUST_CHECK enum tp_status tp_option_set(const struct tp_option *option, void *storage,
					   const char *text, const char *where,
					   struct tp_error *err);

const struct tp_option *tp_option_find(const struct tp_option *options, const char *name);

/* Refuses the first option that has another value in `given` than in `defaults` (NULL = zeros), and
 * whose name is not in `used`, which is NULL-terminated: "--name ", then `why`. Errors  TP_USAGE.
 */
TP_MUST_CHECK enum tp_status tp_option_refuse_unused(const struct tp_option *options,
						     const void *given, const void *defaults,
						     const char *const *used, const char *why,
						     struct tp_error *err);

/* The values that an option may have, in words, for messages: "a time such as 90s or 55ms". */
const char *tp_option_type_text(enum tp_option_type type);

#endif
