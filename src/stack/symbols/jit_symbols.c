/* SPDX-License-Identifier: Apache-2.0 */
/* Reads perf maps. The text comes from the target: nothing in it is trusted. */
#include "jit_symbols.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 4096, MAX_NAMES = 1 << 20, SEARCH_BACK = 16 };

struct jit_entry {
	uint64_t start;
	uint64_t size;
	const char *name;
	uint32_t line; /* the later line takes precedence */
};

struct tp_jit_symbols {
	struct tp_arena arena;
	struct jit_entry *entries; /* by start, one per start */
	size_t n_entries;
	size_t entries_capacity;
};

static bool parse_hex(const char **at, const char *end, uint64_t *out)
{
	const char *p = *at;
	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	uint64_t value = 0;
	const char *first = p;
	for (; p < end && isxdigit((unsigned char)*p); p++) {
		if (p - first == 16)
			return false;
		unsigned digit = (unsigned)(*p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10);
		value = value << 4 | digit;
	}
	if (p == first || p == end || *p != ' ')
		return false;
	*out = value;
	*at = p + 1;
	return true;
}

static void parse_line(struct tp_jit_symbols *names, const char *at, const char *end)
{
	uint64_t start;
	uint64_t size;
	if (!parse_hex(&at, end, &start) || !parse_hex(&at, end, &size))
		return;
	if (size == 0 || start > UINT64_MAX - size || at == end ||
	    memchr(at, 0, (size_t)(end - at)))
		return;
	size_t len = (size_t)(end - at);
	if (len > NAME_MAX_BYTES)
		len = NAME_MAX_BYTES;
	uint32_t line = (uint32_t)names->n_entries;
	TP_ARRAY_PUSH(names->entries, names->n_entries, names->entries_capacity) =
		(struct jit_entry){start, size, tp_arena_strndup(&names->arena, at, len), line};
}

static int compare_entries(const void *a, const void *b)
{
	const struct jit_entry *left = a;
	const struct jit_entry *right = b;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->line > right->line ? -1 : left->line < right->line;
}

/* Code is moved and freed: the last line about an address is the valid one. */
static void keep_latest(struct tp_jit_symbols *names)
{
	size_t n = 0;
	if (names->n_entries > 1)
		qsort(names->entries, names->n_entries, sizeof(*names->entries), compare_entries);
	for (size_t i = 0; i < names->n_entries; i++) {
		if (n == 0 || names->entries[n - 1].start != names->entries[i].start)
			names->entries[n++] = names->entries[i];
	}
	names->n_entries = n;
}

struct tp_jit_symbols *tp_jit_symbols_parse(const char *text, size_t size)
{
	struct tp_jit_symbols *names = tp_alloc(sizeof(*names));
	tp_arena_init(&names->arena);
	const char *end = text + size;
	for (const char *at = text; at < end && names->n_entries < MAX_NAMES;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break; /* the line is still being written */
		parse_line(names, at, newline);
		at = newline + 1;
	}
	keep_latest(names);
	return names;
}

void tp_jit_symbols_free(struct tp_jit_symbols *names)
{
	if (!names)
		return;
	tp_arena_release(&names->arena);
	free(names->entries);
	free(names);
}

bool tp_jit_symbols_find(const struct tp_jit_symbols *names, uint64_t address, const char **name,
			 uint64_t *start, uint64_t *end)
{
	size_t above;
	TP_FIND_FIRST(above, 0, names->n_entries, names->entries[above].start > address);
	for (size_t i = 1; i <= above && i <= SEARCH_BACK; i++) {
		const struct jit_entry *entry = &names->entries[above - i];
		if (address - entry->start >= entry->size)
			continue;
		*name = entry->name;
		*start = entry->start;
		*end = entry->start + entry->size;
		return true;
	}
	return false;
}
