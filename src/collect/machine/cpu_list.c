/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPUs: parsing of the kernel's list format, counting, membership. */
#include "cpu_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void list_add(struct tp_cpu_list *list, unsigned long first, unsigned long last)
{
	for (unsigned long cpu = first; cpu <= last && cpu < TP_CPU_LIST_MAX; cpu++)
		list->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

/* Parses one "a" or "a-b"; returns NULL if there is none. */
static const char *list_parse_range(const char *at, unsigned long *first, unsigned long *last)
{
	if (!isdigit((unsigned char)*at))
		return NULL;
	char *end;
	*first = strtoul(at, &end, 10);
	*last = *first;
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return NULL;
		*last = strtoul(end + 1, &end, 10);
	}
	return *last < *first ? NULL : end;
}

bool tp_cpu_list_parse(struct tp_cpu_list *out, const char *text)
{
	memset(out, 0, sizeof(*out));
	const char *at = text;
	while (*at != '\0' && *at != '\n') {
		unsigned long first;
		unsigned long last;
		at = list_parse_range(at, &first, &last);
		if (!at || (*at != ',' && *at != '\0' && *at != '\n')) {
			memset(out, 0, sizeof(*out));
			return false;
		}
		list_add(out, first, last);
		at += *at == ',';
	}
	return true;
}

bool tp_cpu_list_has(const struct tp_cpu_list *list, uint32_t cpu)
{
	return cpu < TP_CPU_LIST_MAX && (list->words[cpu / 64] >> (cpu % 64) & 1) != 0;
}

uint32_t tp_cpu_list_count(const struct tp_cpu_list *list)
{
	uint32_t n = 0;
	for (unsigned i = 0; i < TP_CPU_LIST_MAX / 64; i++)
		n += (uint32_t)__builtin_popcountll(list->words[i]);
	return n;
}

void tp_cpu_list_intersect(struct tp_cpu_list *list, const struct tp_cpu_list *other)
{
	for (unsigned i = 0; i < TP_CPU_LIST_MAX / 64; i++)
		list->words[i] &= other->words[i];
}
