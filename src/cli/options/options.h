/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of options feeds the parser, the help, the completion, the configuration file and the
 * manual page.
 */
#ifndef TRAINPROF_SRC_CLI_OPTIONS_OPTIONS_H
#define TRAINPROF_SRC_CLI_OPTIONS_OPTIONS_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_option_type {
	TP_OPTION_FLAG,     /* bool; --no-name clears it */
	TP_OPTION_COUNTED,  /* unsigned below 100; each use adds one, a text says it */
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
	const char *value;          /* what stands for it in help: "TIME" */
	const char *text;           /* one line of help */
	const char *otherwise;      /* what happens without it, in words; NULL = nothing to say */
	const char *const *choices; /* NULL-terminated; CHOICE only */
	const char *section;        /* heading that starts with this option, or NULL */
	const char *bare;           /* the value when none follows "="; NULL = it needs one */
	const char *env;            /* environment variable that sets it, or NULL */
	size_t offset;              /* of the storage in the command's struct */
	enum tp_option_type type;
	char letter;  /* 0 = none */
	bool is_rare; /* shown by `help CMD` only, not by -h */
	bool is_own;  /* names what is written or loaded: no settings of a folder above set it */
};

/* Ends a table. */
#define TP_OPTION_END                                                                              \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* A table and the struct that its offsets speak about. */
struct tp_option_set {
	const struct tp_option *options;
	void *storage;
};

/*
 * Take the options from argv. Options come from the first table that knows them.
 *
 * command       name for messages: "run"; NULL before a command is known.
 * stops_at_word the first word that is no option ends them (run); otherwise words are collected.
 * words         out: what is no option, in order; at most max_words. After "--" everything is.
 * n_used        out: arguments consumed, so that argv + n_used is the rest when stopped at a word.
 * Errors        TP_USAGE: unknown option, missing or malformed value; err->next says what to type.
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

/* Set one option from a text, as if it had been given; NULL text is a flag given bare. `where`
 * names the place in messages: "trainprof.json:7". Errors  TP_USAGE. */
TP_MUST_CHECK enum tp_status tp_option_set(const struct tp_option *option, void *storage,
					   const char *text, const char *where,
					   struct tp_error *err);

const struct tp_option *tp_option_find(const struct tp_option *options, const char *name);

/* The values an option may take, in words, for messages: "a time such as 90s or 55ms". */
const char *tp_option_type_text(enum tp_option_type type);

#endif
