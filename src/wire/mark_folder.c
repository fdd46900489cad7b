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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int tp_mark_folder_open(struct tp_mark_folder *folder, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t size = strlen(base) + 2;
	*folder = (struct tp_mark_folder){.has_changed = true};
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

/* Rings hold what is put meanwhile: more than a second of 10,000 marks per second. */
enum { DRAINS_PER_LOOK = 4 };

/* Returns true if a name may have come since the last look. A look at the names takes 25 us, a look
 * at the folder 1 us, or 12 beside a program that has emptied the caches; file systems keep its
 * time in steps of up to 10 ms, ext3 in seconds. */
static bool may_have_new(struct tp_mark_folder *folder)
{
	static const int64_t second_ns = 1000000000;
	struct stat now;
	struct timespec clock;
	if (!folder->has_changed && ++folder->n_quiet % DRAINS_PER_LOOK != 0)
		return false;
	if (stat(folder->directory, &now) != 0 || clock_gettime(CLOCK_REALTIME, &clock) != 0)
		return true;
	int64_t changed_ns = now.st_mtim.tv_sec * second_ns + now.st_mtim.tv_nsec;
	int64_t age_ns = clock.tv_sec * second_ns + clock.tv_nsec - changed_ns;
	bool is_new = folder->has_changed || changed_ns != folder->changed_ns;
	folder->changed_ns = changed_ns;
	folder->has_changed = age_ns < 2 * second_ns; /* also where clocks disagree */
	return is_new;
}

size_t tp_mark_folder_drain(struct tp_mark_folder *folder, bool is_last, tp_mark_fn *take,
			    void *context)
{
	size_t n_taken = 0;
	size_t n_kept = 0;
	if (!folder->directory)
		return 0;
	if (is_last || may_have_new(folder))
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
