/* SPDX-License-Identifier: Apache-2.0 */
/* Parses names of counters, which collect/callstack/loop_counter.c writes. */
#include "counter_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 128 };

static const char *const function_end = "() ";

/* The last occurrence, because names of functions may be anything. */
static const char *find_last(const char *text, const char *part)
{
	const char *last = NULL;
	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		last = at;
	return last;
}

/* Returns the text after `part`; NULL if it does not occur. */
static const char *text_after(const char *text, const char *part)
{
	const char *at = strstr(text, part);
	return at ? at + strlen(part) : NULL;
}

static enum tp_counter_meaning meaning_of(const struct tp_patterns *patterns, bool is_attribute,
					  const char *name, size_t length)
{
	char copy[MAX_NAME];
	snprintf(copy, sizeof(copy), "%.*s", (int)length, name);
	return tp_counter_meaning_find(patterns, is_attribute, copy);
}

static void parse_loop(struct tp_counter_name *out, const char *label,
		       const struct tp_patterns *patterns)
{
	const char *attribute_end = strstr(label, " of the for loop ");
	const char *line = text_after(label, " at line ");
	const char *variable = text_after(label, ", variable ");
	out->line = line ? (unsigned)strtoul(line, NULL, 10) : 0;
	out->is_range = strstr(label, "over a range") != NULL;
	out->is_position = !attribute_end;
	if (attribute_end)
		out->meaning = meaning_of(patterns, true, label, (size_t)(attribute_end - label));
	else if (variable)
		out->meaning = meaning_of(patterns, false, variable, strlen(variable));
}

void tp_counter_name_parse(struct tp_counter_name *out, const char *text,
			   const struct tp_patterns *patterns)
{
	*out = (struct tp_counter_name){.text = text};
	const char *end = find_last(text, function_end);
	if (!end)
		return;
	const char *label = end + strlen(function_end);
	out->function_len = (size_t)(end - text);
	if (strstr(label, "for loop ")) {
		parse_loop(out, label, patterns);
		return;
	}
	const char *dot = strrchr(label, '.');
	const char *name = dot ? dot + 1 : label;
	out->meaning = meaning_of(patterns, dot != NULL, name, strlen(name));
	/* Any loader, including that of a validation, may run the methods of a loader class. */
	if (out->meaning == TP_COUNTS_BATCHES && strncmp(label, "self.", 5) == 0)
		out->meaning = TP_COUNTS_UNKNOWN;
}

bool tp_counter_name_has_same_function(const struct tp_counter_name *a,
				       const struct tp_counter_name *b)
{
	return a->function_len && a->function_len == b->function_len &&
	       strncmp(a->text, b->text, a->function_len) == 0;
}
