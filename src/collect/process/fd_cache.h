/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of /proc kept open between readings, as many as the limit of open files allows; the one
 * used longest ago goes first. Reading through a kept descriptor costs a third of open-read-close.
 */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_FD_CACHE_H
#define TRAINPROF_SRC_COLLECT_PROCESS_FD_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Lives in its user's struct, at a fixed address while it is on the shelf. */
struct tp_fd_cache_slot {
	int fd; /* valid while is_open */
	bool is_open;
	struct tp_fd_cache_slot *newer;
	struct tp_fd_cache_slot *older;
};

/* Zero-initialised is empty with room for nothing but the last one used. */
struct tp_fd_cache {
	struct tp_fd_cache_slot *newest;
	struct tp_fd_cache_slot *oldest;
	size_t n;
	size_t capacity;
};

/* Room for half of what the limit of open files leaves now, 1 to `most`. */
size_t tp_fd_cache_capacity(size_t most);

/*
 * The file of a slot from its beginning into out, with a NUL behind: through the descriptor that
 * was kept, or one opened now, at the cost of others when there is no room. path is not looked at
 * when the slot is open. False with errno when it cannot be read, or is empty; the slot is closed
 * then.
 */
bool tp_fd_cache_read(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot, const char *path,
		      char *out, size_t size);
/* Closes it; nothing happens when it is not open. */
void tp_fd_cache_drop(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot);

#endif
