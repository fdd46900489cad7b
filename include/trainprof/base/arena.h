/* SPDX-License-Identifier: Apache-2.0 */
/* An arena: many allocations, freed together, never one by one. A trace, a rulebook, a profile, the
 * findings and a report have one arena each. */
#ifndef TRAINPROF_BASE_ARENA_H
#define TRAINPROF_BASE_ARENA_H

#include <stddef.h>

struct tp_arena_block;

/* Zero-initialised is empty and valid. Not thread-safe. */
struct tp_arena {
	struct tp_arena_block *head;
	size_t used_bytes;  /* in the head block */
	size_t total_bytes; /* over all blocks, for memory figures */
};

void tp_arena_init(struct tp_arena *arena);
void tp_arena_release(struct tp_arena *arena);

/* Zeroed, aligned for any type; never NULL. */
__attribute__((returns_nonnull)) void *tp_arena_alloc(struct tp_arena *arena, size_t size);
/* n zeroed elements; a product that overflows ends as out of memory. */
__attribute__((returns_nonnull)) void *tp_arena_array(struct tp_arena *arena, size_t n,
						      size_t item_size);
void *tp_arena_copy(struct tp_arena *arena, const void *from, size_t size);
char *tp_arena_strdup(struct tp_arena *arena, const char *text); /* NULL gives NULL */
char *tp_arena_strndup(struct tp_arena *arena, const char *text, size_t len);
char *tp_arena_printf(struct tp_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
