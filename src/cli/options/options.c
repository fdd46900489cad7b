/* SPDX-License-Identifier: Apache-2.0 */
/* Parses options with tables: exact names, both --opt v and --opt=v, units checked. */
#include "options.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdio.h>
#include <string.h>

const struct tp_option *tp_option_find(const struct tp_option *options, const char *name)
{
	for (; options->name; options++)
		if (strcmp(options->name, name) == 0)
			return options;
	return NULL;
}

static const struct tp_option *find_option_letter(const struct tp_option *options, char letter)
{
	for (; options->name; options++)
		if (options->letter && options->letter == letter)
			return options;
	return NULL;
}

static bool needs_value(const struct tp_option *option)
{
	return option->type != TP_OPTION_FLAG && option->type != TP_OPTION_COUNTED;
}

const char *tp_option_type_text(enum tp_option_type type)
{
	static const char *const texts[] = {
		[TP_OPTION_FLAG] = "true or false",
		[TP_OPTION_COUNTED] = "a whole number below 100",
		[TP_OPTION_TEXT] = "a text",
		[TP_OPTION_CHOICE] = "one of its words",
		[TP_OPTION_DURATION] = "a time such as 90s or 55ms (ns us ms s m h)",
		[TP_OPTION_SIZE] = "a size such as 2GiB or 512MiB (B kB MB GB KiB MiB GiB TiB)",
		[TP_OPTION_PERCENT] = "a share above 0 such as 1%",
		[TP_OPTION_RATE] = "a rate of 1 or more, such as 99 (Hz kHz)",
		[TP_OPTION_COUNT] = "a whole number",
		[TP_OPTION_WORDS] = "a text",
	};
	return texts[type];
}

/* Suggests two values with units for a bare number; NULL if a missing unit is not the problem. */
static const char *unit_hint(enum tp_option_type type, const char *text, char *out, size_t size)
{
	static const char *const units[][2] = {
		[TP_OPTION_DURATION] = {"s", "ms"},
		[TP_OPTION_SIZE] = {"GiB", "MiB"},
		[TP_OPTION_PERCENT] = {"%", NULL},
	};
	if (type >= TP_ARRAY_LEN(units) || !units[type][0] || !*text ||
	    text[strspn(text, "0123456789.")])
		return NULL;
	if (units[type][1])
		snprintf(out, size, "no unit; use %.30s%s or %.30s%s", text, units[type][0], text,
			 units[type][1]);
	else
		snprintf(out, size, "no unit; use %.30s%s", text, units[type][0]);
	return out;
}

static enum tp_status bad_choice(const struct tp_option *option, const char *text,
				 const char *where, struct tp_error *err)
{
	char list[120] = "";
	size_t n = 0;
	for (; option->choices[n]; n++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", n ? ", " : "",
			 option->choices[n]);
	}
	/* The value was taken from the next argument, or is missing: "run --gpu-trace --
	 * ./train". */
	if (text[0] == '-') {
		tp_fail(err, TP_USAGE, "--%s needs one of %s", option->name, list);
		tp_error_next(err, "--%s=%s", option->name, option->choices[0]);
		return TP_USAGE;
	}
	const char *near = tp_text_closest(text, option->choices, n);
	tp_fail(err, TP_USAGE, "%s: not one of %s%s%s", where, list, near ? "; nearest: " : "",
		near ? near : "");
	if (near)
		tp_error_next(err, "--%s=%s", option->name, near);
	return TP_USAGE;
}

static enum tp_status bad_value(const struct tp_option *option, const char *text, const char *where,
				struct tp_error *err)
{
	char hint[100];
	const char *unit = unit_hint(option->type, text, hint, sizeof(hint));
	return tp_fail(err, TP_USAGE, "%s: %s%s", where, unit ? "" : "not ",
		       unit ? unit : tp_option_type_text(option->type));
}

static bool parse_flag(const char *text, bool *out)
{
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return false;
	*out = text[0] == 't';
	return true;
}

/* Each use on the command line adds one; a configuration file gives the number. */
static bool count_up(const char *text, unsigned *out)
{
	uint64_t n = *out + UINT64_C(1);
	if ((text && !tp_text_parse_count(text, &n)) || n >= 100)
		return false;
	*out = (unsigned)n;
	return true;
}

static bool is_choice(const struct tp_option *option, const char *text)
{
	for (size_t i = 0; option->choices[i]; i++)
		if (strcmp(option->choices[i], text) == 0)
			return true;
	return false;
}

static bool add_word(struct tp_words *words, const char *text)
{
	if (words->n == TP_ARRAY_LEN(words->items))
		return false;
	words->items[words->n++] = text;
	return true;
}

enum tp_status tp_option_set(const struct tp_option *option, void *storage, const char *text,
			     const char *where, struct tp_error *err)
{
	void *at = (char *)storage + option->offset;
	bool ok = true;
	switch (option->type) {
	case TP_OPTION_FLAG:
		if (text)
			ok = parse_flag(text, at);
		else
			*(bool *)at = true;
		break;
	case TP_OPTION_COUNTED:
		ok = count_up(text, at);
		break;
	case TP_OPTION_TEXT:
		*(const char **)at = text;
		break;
	case TP_OPTION_CHOICE:
		if (!is_choice(option, text))
			return bad_choice(option, text, where, err);
		*(const char **)at = text;
		break;
	case TP_OPTION_DURATION:
		ok = tp_text_parse_duration(text, at);
		break;
	case TP_OPTION_SIZE:
		ok = tp_text_parse_size(text, at);
		break;
	case TP_OPTION_PERCENT:
		/* 0 is not allowed: it would mean "no bound" further down. */
		ok = tp_text_parse_percent(text, at) && *(double *)at > 0;
		break;
	case TP_OPTION_RATE:
		/* A lower rate would record almost nothing and give misleading certainty. */
		ok = tp_text_parse_rate(text, at) && *(double *)at >= 1;
		break;
	case TP_OPTION_COUNT:
		ok = tp_text_parse_count(text, at);
		break;
	case TP_OPTION_WORDS:
		if (!add_word(at, text))
			return tp_fail(err, TP_USAGE, "%s: given too often", where);
		break;
	}
	return ok ? TP_OK : bad_value(option, text, where, err);
}

/* ---- options that a command does not use --------------------------------------------------- */

static size_t size_of_value(enum tp_option_type type)
{
	static const size_t sizes[] = {
		[TP_OPTION_FLAG] = sizeof(bool),
		[TP_OPTION_COUNTED] = sizeof(unsigned),
		[TP_OPTION_DURATION] = sizeof(uint64_t),
		[TP_OPTION_SIZE] = sizeof(uint64_t),
		[TP_OPTION_PERCENT] = sizeof(double),
		[TP_OPTION_RATE] = sizeof(double),
		[TP_OPTION_COUNT] = sizeof(uint64_t),
		[TP_OPTION_WORDS] = sizeof(struct tp_words),
	};
	return sizes[type];
}

static bool is_listed(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* Texts are compared character by character: a default may be in memory twice. */
static bool is_same(enum tp_option_type type, const void *a, const void *b)
{
	if (type != TP_OPTION_TEXT && type != TP_OPTION_CHOICE)
		return memcmp(a, b, size_of_value(type)) == 0;
	const char *text = *(const char *const *)a;
	const char *other = *(const char *const *)b;
	return text && other ? strcmp(text, other) == 0 : text == other;
}

static const struct tp_option *find_unused(const struct tp_option *options, const void *given,
					   const void *defaults, const char *const *used)
{
	static const struct tp_words zeros;
	for (; options->name; options++) {
		const void *value = (const char *)given + options->offset;
		const void *usual =
			defaults ? (const char *)defaults + options->offset : (const void *)&zeros;
		if (!is_same(options->type, value, usual) && !is_listed(options->name, used))
			return options;
	}
	return NULL;
}

enum tp_status tp_option_refuse_unused(const struct tp_option *options, const void *given,
				       const void *defaults, const char *const *used,
				       const char *why, struct tp_error *err)
{
	const struct tp_option *unused = find_unused(options, given, defaults, used);
	return unused ? tp_fail(err, TP_USAGE, "--%s %s", unused->name, why) : TP_OK;
}

/* ---- argv ---------------------------------------------------------------------------------- */

struct found {
	const struct tp_option *option;
	void *storage;
};

static struct found find_name(const struct tp_parse *parse, const char *name)
{
	for (size_t i = 0; i < parse->n_sets; i++) {
		const struct tp_option *option = tp_option_find(parse->sets[i].options, name);
		if (option)
			return (struct found){option, parse->sets[i].storage};
	}
	return (struct found){0};
}

static struct found find_letter(const struct tp_parse *parse, char letter)
{
	for (size_t i = 0; i < parse->n_sets; i++) {
		const struct tp_option *option = find_option_letter(parse->sets[i].options, letter);
		if (option)
			return (struct found){option, parse->sets[i].storage};
	}
	return (struct found){0};
}

static void next_help(const struct tp_parse *parse, struct tp_error *err)
{
	if (parse->command)
		tp_error_next(err, "trainprof help %s", parse->command);
	else
		tp_error_next(err, "trainprof help");
}

static enum tp_status unknown_option(const struct tp_parse *parse, const char *word,
				     struct tp_error *err)
{
	const char *names[128];
	size_t n = 0;
	for (size_t i = 0; i < parse->n_sets; i++)
		for (const struct tp_option *o = parse->sets[i].options; o->name; o++)
			if (n < TP_ARRAY_LEN(names))
				names[n++] = o->name;
	char bare[64];
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	const char *near = word[1] == '-' ? tp_text_closest(bare, names, n) : NULL;
	int shown = word[1] == '-' ? (int)strcspn(word, "=") : 2;
	tp_fail(err, TP_USAGE, "unknown option '%.*s'%s%s", shown, word,
		near ? "; nearest: --" : "", near ? near : "");
	next_help(parse, err);
	return TP_USAGE;
}

/* Sets the option; on failure, proposes a value that would work. */
static enum tp_status set_found(const struct tp_parse *parse, struct found found, const char *text,
				struct tp_error *err)
{
	char where[160];
	if (text)
		snprintf(where, sizeof(where), "--%s=%.100s", found.option->name, text);
	else
		snprintf(where, sizeof(where), "--%s", found.option->name);
	enum tp_status status = tp_option_set(found.option, found.storage, text, where, err);
	if (status == TP_OK || !err)
		return status;
	const char *command = parse->command ? parse->command : "";
	const char *ending = parse->stops_at_word && parse->command ? " -- …" : "";
	if (err->next[0]) {
		/* err->next has only the option: extend it to a whole command line. */
		char option[sizeof(err->next)];
		snprintf(option, sizeof(option), "%s", err->next);
		tp_error_next(err, "trainprof %s%s%.80s%s", command, *command ? " " : "", option,
			      ending);
		return status;
	}
	char hint[100];
	if (text && unit_hint(found.option->type, text, hint, sizeof(hint))) {
		/* The first value of the hint is the more likely one. */
		const char *first = strstr(hint, "use ") + 4;
		tp_error_next(err, "trainprof %s%s--%s=%.*s%s", command, *command ? " " : "",
			      found.option->name, (int)strcspn(first, " "), first, ending);
	} else {
		next_help(parse, err);
	}
	return status;
}

static enum tp_status missing_value(const struct tp_parse *parse, struct found found,
				    struct tp_error *err)
{
	if (found.option->type == TP_OPTION_CHOICE) /* the error lists the choices */
		return set_found(parse, found, "--", err);
	tp_fail(err, TP_USAGE, "--%s needs a value: %s", found.option->name,
		tp_option_type_text(found.option->type));
	next_help(parse, err);
	return TP_USAGE;
}

/* In "run -o -- ./train" the name was forgotten; for a file of that name users can write
 * --output=--. */
static bool is_value(const char *next)
{
	return next && strcmp(next, "--") != 0;
}

/* --name, --name=value, --name value, --no-name. `next` is the argument after it, or NULL. */
static enum tp_status parse_long(const struct tp_parse *parse, const char *word, const char *next,
				 bool *took_next, struct tp_error *err)
{
	char name[64];
	size_t len = strcspn(word + 2, "=");
	const char *value = word[2 + len] == '=' ? word + 2 + len + 1 : NULL;
	snprintf(name, sizeof(name), "%.*s", (int)len, word + 2);
	struct found found = find_name(parse, name);
	if (!found.option && tp_text_starts_with(name, "no-")) {
		found = find_name(parse, name + 3);
		if (found.option && found.option->type == TP_OPTION_FLAG && !value) {
			*(bool *)((char *)found.storage + found.option->offset) = false;
			return TP_OK;
		}
		found.option = NULL;
	}
	if (!found.option)
		return unknown_option(parse, word, err);
	if (!needs_value(found.option)) {
		if (!value)
			return set_found(parse, found, NULL, err);
		tp_fail(err, TP_USAGE, "--%s takes no value", found.option->name);
		next_help(parse, err);
		return TP_USAGE;
	}
	if (!value)
		value = found.option->bare;
	if (!value) {
		if (!is_value(next))
			return missing_value(parse, found, err);
		value = next;
		*took_next = true;
	}
	return set_found(parse, found, value, err);
}

/* -q, -vv, -oDIR, -o DIR. */
static enum tp_status parse_letters(const struct tp_parse *parse, const char *word,
				    const char *next, bool *took_next, struct tp_error *err)
{
	for (const char *p = word + 1; *p; p++) {
		struct found found = find_letter(parse, *p);
		if (!found.option) {
			const char one[] = {'-', *p, '\0'};
			return unknown_option(parse, one, err);
		}
		if (!needs_value(found.option)) {
			enum tp_status status = set_found(parse, found, NULL, err);
			if (status != TP_OK)
				return status;
			continue;
		}
		if (p[1])
			return set_found(parse, found, p + 1, err);
		if (!is_value(next))
			return missing_value(parse, found, err);
		*took_next = true;
		return set_found(parse, found, next, err);
	}
	return TP_OK;
}

static enum tp_status parse_word(struct tp_parse *parse, const char *word, struct tp_error *err)
{
	if (parse->n_words == parse->max_words) {
		tp_fail(err, TP_USAGE, "unexpected argument '%s'", word);
		next_help(parse, err);
		return TP_USAGE;
	}
	parse->words[parse->n_words++] = word;
	return TP_OK;
}

enum tp_status tp_options_parse(struct tp_parse *parse, int argc, char **argv, struct tp_error *err)
{
	enum tp_status status = TP_OK;
	bool only_words = false;
	int i = 0;
	for (; i < argc && status == TP_OK; i++) {
		const char *word = argv[i];
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		bool took_next = false;
		if (only_words || word[0] != '-' || !word[1]) {
			if (parse->stops_at_word)
				break;
			status = parse_word(parse, word, err);
		} else if (strcmp(word, "--") == 0) {
			only_words = true;
		} else if (word[1] == '-') {
			status = parse_long(parse, word, next, &took_next, err);
		} else {
			status = parse_letters(parse, word, next, &took_next, err);
		}
		i += took_next;
	}
	parse->n_used = (size_t)i;
	return status;
}
