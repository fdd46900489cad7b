/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the names of device kernels as compilers and demanglers write them. */
#include "kernel_name.h"

#include "pattern_row.h"

#include "trainprof/base/cxx_name.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct name_splitter {
	struct tp_kernel_name *out;
	const char *at;
	size_t n_base;
	size_t n_head;
	size_t depth; /* nesting of template arguments */
};

/* Returns the position after the bracket that closes the one at `at`; the end if none does. */
static const char *skip_group(const char *at)
{
	size_t depth = 0;
	for (; *at; at++) {
		depth += strchr("([{", *at) != NULL;
		depth -= strchr(")]}", *at) != NULL;
		if (!depth)
			return at + 1;
	}
	return at;
}

/* A part in brackets was removed, so its "::" is redundant if a part precedes it. */
static const char *skip_colons(const struct name_splitter *splitter, const char *at)
{
	if (!tp_text_starts_with(at, "::"))
		return at;
	bool is_part = false;
	if (splitter->n_head) {
		char last = splitter->out->head[splitter->n_head - 1];
		is_part = isalnum((unsigned char)last) || last == '_' || last == '>';
	}
	return is_part ? at : at + 2;
}

/* Only names of template functions include a return type, and a kernel returns nothing. */
static bool is_return_type(const struct name_splitter *splitter)
{
	const char *base = splitter->out->base;
	return (splitter->n_base == 4 && memcmp(base, "void", 4) == 0) ||
	       (splitter->n_base > 14 && memcmp(base, "std::enable_if", 14) == 0);
}

static void add_char(struct name_splitter *splitter)
{
	char c = (char)tolower((unsigned char)*splitter->at++);
	if (c == '<')
		splitter->depth++;
	bool is_base = !splitter->depth;
	if (c == '>' && splitter->depth)
		splitter->depth--;
	splitter->out->head[splitter->n_head++] = c;
	if (is_base && splitter->n_base + 1 < TP_KERNEL_BASE_SIZE)
		splitter->out->base[splitter->n_base++] = c;
}

/* Returns false at the parameters, because the rest of the name is not needed. */
static bool add_item(struct name_splitter *splitter)
{
	static const char unnamed[] = "<unnamed>"; /* Nsight's anonymous namespace */
	const char *at = splitter->at;
	if (strchr("([{", *at)) {
		const char *after = skip_group(at);
		/* After "f()::{lambda()#1}::operator()()" or "(anonymous namespace)::f" the name
		 * continues. */
		bool goes_on = *after == '(' || tp_text_starts_with(after, "::");
		if (*at == '(' && !splitter->depth && splitter->n_base && !goes_on)
			return false;
		splitter->at = skip_colons(splitter, after);
	} else if (tp_text_starts_with(at, unnamed)) {
		splitter->at = skip_colons(splitter, at + sizeof(unnamed) - 1);
	} else if (*at == ' ' && !splitter->depth && is_return_type(splitter)) {
		splitter->n_base = 0;
		splitter->n_head = 0;
		splitter->at++;
	} else {
		add_char(splitter);
	}
	return true;
}

static void split(struct tp_kernel_name *out, const char *name)
{
	struct name_splitter splitter = {.out = out, .at = name};
	while (*splitter.at && splitter.n_head + 1 < TP_KERNEL_HEAD_SIZE && add_item(&splitter))
		;
	out->base[splitter.n_base] = '\0';
	out->head[splitter.n_head] = '\0';
}

void tp_kernel_name_parse(struct tp_kernel_name *out, const char *name)
{
	char plain[TP_KERNEL_BASE_SIZE];
	if (!tp_text_starts_with(name, "_Z")) {
		split(out, name);
		return;
	}
	tp_pattern_lower(out->head, sizeof(out->head), name);
	bool is_cxx = tp_cxx_name_demangle(plain, sizeof(plain), name);
	tp_pattern_lower(out->base, sizeof(out->base), is_cxx ? plain : name);
}
