/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rings that programs create beside the mark ring, and drains them. */
#include "trainprof/wire/mark_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tp_mark_folder_open(struct tp_mark_folder *folder, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t size = strlen(base) + 2;
	*folder = (struct tp_mark_folder){0};
	folder->directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
	folder->prefix = malloc(size);
	if (!folder->directory || !folder->prefix) {
		tp_mark_folder_close(folder);
		return ENOMEM;
	}
	snprintf(folder->prefix, size, "%s.", base);
	return 0;
}

/* Opens a ring and removes its name in any case, so that it is found once. */
static void folder_add(struct tp_mark_folder *folder, int directory_fd, const char *name)
{
	char path[PATH_MAX];
	struct tp_mark_ring *ring = NULL;
	int length = snprintf(path, sizeof(path), "%s%s", folder->directory, name);
	if (folder->n_rings < TP_MARK_FOLDER_MAX_RINGS && length < (int)sizeof(path))
		ring = malloc(sizeof(*ring));
	if (ring && tp_mark_ring_open(ring, path) == 0) {
		folder->rings[folder->n_rings++] = ring;
	} else {
		free(ring);
		folder->n_refused++;
	}
	unlinkat(directory_fd, name, 0);
}

/* Lists the names of rings; unfinished ones begin with a dot. */
static void folder_scan(struct tp_mark_folder *folder, bool is_closing)
{
	const struct dirent *entry;
	DIR *directory = opendir(folder->directory);
	size_t length = strlen(folder->prefix);
	while (directory && (entry = readdir(directory))) { /* NOLINT(concurrency-mt-unsafe) */
		const char *name = entry->d_name;
		bool is_unfinished = name[0] == '.';
		if (strncmp(name + is_unfinished, folder->prefix, length) != 0)
			continue;
		if (is_closing)
			unlinkat(dirfd(directory), name, 0);
		else if (!is_unfinished)
			folder_add(folder, dirfd(directory), name);
	}
	if (directory)
		closedir(directory);
}

size_t tp_mark_folder_drain(struct tp_mark_folder *folder, bool is_last, tp_mark_fn *take,
			    void *context)
{
	size_t n_taken = 0;
	size_t n_kept = 0;
	if (!folder->directory)
		return 0;
	folder_scan(folder, false);
	for (size_t i = 0; i < folder->n_rings; i++) {
		struct tp_mark_ring *ring = folder->rings[i];
		uint64_t lost_before = ring->n_lost;
		n_taken += tp_mark_ring_drain(ring, is_last, take, context);
		folder->n_lost += ring->n_lost - lost_before;
		if (ring->is_damaged) {
			folder->n_refused++;
			tp_mark_ring_close(ring);
			free(ring);
		} else {
			folder->rings[n_kept++] = ring;
		}
	}
	folder->n_rings = n_kept;
	folder->n_taken += n_taken;
	return n_taken;
}

void tp_mark_folder_close(struct tp_mark_folder *folder)
{
	for (size_t i = 0; i < folder->n_rings; i++) {
		tp_mark_ring_close(folder->rings[i]);
		free(folder->rings[i]);
	}
	if (folder->directory && folder->prefix)
		folder_scan(folder, true);
	free(folder->directory);
	free(folder->prefix);
	*folder = (struct tp_mark_folder){0};
}
