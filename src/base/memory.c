/* SPDX-License-Identifier: Apache-2.0 */
/* Heap memory that never returns NULL. */
#include "trainprof/base/memory.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void tp_oom(size_t wanted_bytes)
{
	fprintf(stderr, "trainprof: out of memory: %zu bytes wanted\n", wanted_bytes);
	/* Not _Exit(): the program that is being measured must not lose the process that waits for
	 * it (src/cli/session/crash_guard.c). Its exit handler, our only one, needs no memory; in a
	 * child of ours it is disabled or finds nothing to wait for. */
	exit(70); /* NOLINT(concurrency-mt-unsafe): no thread of ours */
}

enum { LARGE_PAGES_FROM = 4 << 20 };

/* Zeroing pages at their first touch is a fifth of the time to read a large recording; one of 2 MiB
 * costs about as much as twelve of 4 KiB. A hint: it is no error if there are none. Whole pages, so
 * that the mapping is not split: mremap() could not move it. */
static void use_large_pages(void *memory, size_t size)
{
	if (size < LARGE_PAGES_FROM)
		return;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)memory / page * page;
	uintptr_t end = ((uintptr_t)memory + size + page - 1) / page * page;
	(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}

void *tp_alloc(size_t size)
{
	void *memory = calloc(1, size ? size : 1);
	if (!memory)
		tp_oom(size);
	use_large_pages(memory, size);
	return memory;
}

void *tp_realloc(void *old, size_t size)
{
	void *memory = realloc(old, size ? size : 1);
	if (!memory)
		tp_oom(size);
	use_large_pages(memory, size);
	return memory;
}

char *tp_strdup(const char *text)
{
	return text ? tp_strndup(text, strlen(text)) : NULL;
}

char *tp_strndup(const char *text, size_t len)
{
	len = strnlen(text, len);
	char *copy = tp_alloc(len + 1);
	memcpy(copy, text, len);
	return copy;
}

char *tp_asprintf(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = NULL;
	int len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		tp_oom(0);
	return text;
}

void *tp_array_grow(void *items, size_t n, size_t *capacity, size_t item_size)
{
	if (n <= *capacity)
		return items;
	if (n > SIZE_MAX / 4 / item_size)
		tp_oom(SIZE_MAX);
	size_t larger = *capacity ? *capacity * 2 : 16;
	while (larger < n)
		larger *= 2;
	*capacity = larger;
	return tp_realloc(items, larger * item_size);
}

void tp_memory_trim(void)
{
	(void)malloc_trim(0);
}
