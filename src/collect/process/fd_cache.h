/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps files of /proc open between reads, as many as the limit of open files allows; the least
 * recently used is closed first. A read through an open descriptor costs a third of
 * open-read-close. */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_FD_CACHE_H
#define TRAINPROF_SRC_COLLECT_PROCESS_FD_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Part of its user's struct, at a fixed address while it is in the cache. */
struct tp_fd_cache_slot {
	int fd; /* valid while is_open */
	bool is_open;
	struct tp_fd_cache_slot *newer;
	struct tp_fd_cache_slot *older;
};

/* All zero = empty, with space for only the last used file. */
struct tp_fd_cache {
	struct tp_fd_cache_slot *newest;
	struct tp_fd_cache_slot *oldest;
	size_t n;
	size_t capacity;
};

/* Returns half of the descriptors that the limit of open files leaves now, 1 to `most`. */
size_t tp_fd_cache_capacity(size_t most);

/* Reads the file of a slot from its beginning into out and appends a NUL, through the open
 * descriptor or a new one, which may close another slot. path is ignored if the slot is open.
 * Returns false with errno if the file cannot be read or is empty; the slot is then closed. */
bool tp_fd_cache_read(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot, const char *path,
		      char *out, size_t size);
/* Closes the slot; does nothing if it is not open. */
void tp_fd_cache_drop(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot);

#endif
