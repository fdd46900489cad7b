/* SPDX-License-Identifier: Apache-2.0 */
/* Regions made of doubling blocks; slack is poisoned under AddressSanitizer. */
#include "trainprof/base/arena.h"

#include "trainprof/base/memory.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size)   ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#endif

struct tp_arena_block {
	struct tp_arena_block *previous;
	size_t size;
	alignas(max_align_t) unsigned char bytes[];
};

enum { FIRST_BLOCK_BYTES = 4096, LARGEST_BLOCK_BYTES = 1 << 20, SLOT_ALIGN = 16 };

void tp_arena_init(struct tp_arena *arena)
{
	*arena = (struct tp_arena){0};
}

void tp_arena_release(struct tp_arena *arena)
{
	struct tp_arena_block *block = arena->head;
	while (block) {
		struct tp_arena_block *previous = block->previous;
		ASAN_UNPOISON_MEMORY_REGION(block->bytes, block->size);
		free(block);
		block = previous;
	}
	tp_arena_init(arena);
}

static void arena_add_block(struct tp_arena *arena, size_t at_least)
{
	size_t size = arena->head ? arena->head->size * 2 : FIRST_BLOCK_BYTES;
	if (size > LARGEST_BLOCK_BYTES)
		size = LARGEST_BLOCK_BYTES;
	if (size < at_least)
		size = at_least;
	struct tp_arena_block *block = tp_alloc(sizeof(*block) + size);
	block->size = size;
	block->previous = arena->head;
	ASAN_POISON_MEMORY_REGION(block->bytes, size);
	arena->head = block;
	arena->used_bytes = 0;
	arena->total_bytes += size;
}

void *tp_arena_alloc(struct tp_arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		tp_oom(size);
	size_t slot = (size + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
	if (!arena->head || arena->head->size - arena->used_bytes < slot)
		arena_add_block(arena, slot);
	void *memory = arena->head->bytes + arena->used_bytes;
	arena->used_bytes += slot;
	ASAN_UNPOISON_MEMORY_REGION(memory, size);
	return memory;
}

void *tp_arena_array(struct tp_arena *arena, size_t n, size_t item_size)
{
	if (item_size && n > SIZE_MAX / 2 / item_size)
		tp_oom(SIZE_MAX);
	return tp_arena_alloc(arena, n * item_size);
}

void *tp_arena_copy(struct tp_arena *arena, const void *from, size_t size)
{
	void *copy = tp_arena_alloc(arena, size);
	if (size)
		memcpy(copy, from, size);
	return copy;
}

char *tp_arena_strdup(struct tp_arena *arena, const char *text)
{
	return text ? tp_arena_strndup(arena, text, strlen(text)) : NULL;
}

char *tp_arena_strndup(struct tp_arena *arena, const char *text, size_t len)
{
	len = strnlen(text, len);
	char *copy = tp_arena_alloc(arena, len + 1);
	memcpy(copy, text, len);
	return copy;
}

char *tp_arena_printf(struct tp_arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		len = 0;
	char *text = tp_arena_alloc(arena, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	return text;
}
