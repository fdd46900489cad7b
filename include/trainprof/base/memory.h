/* SPDX-License-Identifier: Apache-2.0 */
/* Heap memory in trainprof's own process. Exhaustion ends the run with one line (tp_oom), so these
 * functions never return NULL and callers have no untestable error paths. Never used inside the
 * target. */
#ifndef TRAINPROF_BASE_MEMORY_H
#define TRAINPROF_BASE_MEMORY_H

#include <stddef.h>

__attribute__((noreturn)) void tp_oom(size_t wanted_bytes);

#define TP_NEVER_NULL __attribute__((returns_nonnull))

TP_NEVER_NULL void *tp_alloc(size_t size);              /* zeroed */
TP_NEVER_NULL void *tp_realloc(void *old, size_t size); /* new part not zeroed */
char *tp_strdup(const char *text);                      /* NULL gives NULL */
TP_NEVER_NULL char *tp_strndup(const char *text, size_t len);
char *tp_asprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns memory that was freed to the system. */
void tp_memory_trim(void);

/* Grows a heap array so that `n` > 0 elements fit, by doubling. Used through TP_ARRAY_PUSH. */
TP_NEVER_NULL void *tp_array_grow(void *items, size_t n, size_t *capacity, size_t item_size);

/*
 * Appends to a plain growing array that is stored as three members: items, n_items, items_capacity.
 *   TP_ARRAY_PUSH(s->tasks, s->n_tasks, s->tasks_capacity) = task;
 */
#define TP_ARRAY_PUSH(items, n, capacity)                                                          \
	(*((items) = tp_array_grow((items), (n) + 1, &(capacity), sizeof(*(items))),               \
	   &(items)[(n)++]))

#define TP_ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
