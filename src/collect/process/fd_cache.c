/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps files open and closes the least recently used first. */
#include "fd_cache.h"

#include "collect/machine/fd_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { RESERVE = 16 }; /* for short-term use by other code */

size_t tp_fd_cache_capacity(size_t most)
{
	uint64_t room = tp_fd_limit_left(RESERVE) / 2;
	if (room < 1)
		return 1;
	return room < most ? (size_t)room : most;
}

static void unlink_slot(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot)
{
	*(slot->newer ? &slot->newer->older : &shelf->newest) = slot->older;
	*(slot->older ? &slot->older->newer : &shelf->oldest) = slot->newer;
	slot->newer = NULL;
	slot->older = NULL;
	shelf->n--;
}

static void link_last(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot)
{
	slot->older = shelf->newest;
	slot->newer = NULL;
	*(shelf->newest ? &shelf->newest->newer : &shelf->oldest) = slot;
	shelf->newest = slot;
	shelf->n++;
}

void tp_fd_cache_drop(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot)
{
	if (!slot->is_open)
		return;
	unlink_slot(shelf, slot);
	close(slot->fd);
	slot->is_open = false;
}

/* Other code has used the descriptors that we counted on: use half as many from now on. */
static bool shrink(struct tp_fd_cache *shelf)
{
	if (shelf->n == 0)
		return false;
	shelf->capacity = shelf->n / 2;
	while (shelf->n > shelf->capacity)
		tp_fd_cache_drop(shelf, shelf->oldest);
	return true;
}

/* The result is valid until the next call; -1 with errno. */
static int get_fd(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot, const char *path)
{
	if (slot->is_open) {
		unlink_slot(shelf, slot);
		link_last(shelf, slot);
		return slot->fd;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && (errno == EMFILE || errno == ENFILE) && shrink(shelf))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (shelf->n > 0 && shelf->n >= shelf->capacity)
		tp_fd_cache_drop(shelf, shelf->oldest);
	slot->fd = fd;
	slot->is_open = true;
	link_last(shelf, slot);
	return fd;
}

bool tp_fd_cache_read(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot, const char *path,
		      char *out, size_t size)
{
	int fd = get_fd(shelf, slot, path);
	if (fd < 0)
		return false;
	ssize_t got = pread(fd, out, size - 1, 0);
	out[got > 0 ? got : 0] = '\0';
	if (got > 0)
		return true;
	int error = got < 0 ? errno : EIO;
	tp_fd_cache_drop(shelf, slot);
	errno = error;
	return false;
}
