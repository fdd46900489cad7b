/* SPDX-License-Identifier: Apache-2.0 */
/* Compares an open folder with the one that stands at a path. */
#include "folder.h"

#include "trainprof/base/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_at(const char *path, int fd)
{
	struct stat there;
	struct stat open;
	return stat(path, &there) == 0 && fstat(fd, &open) == 0 && there.st_dev == open.st_dev &&
	       there.st_ino == open.st_ino;
}

char *tp_folder_find(const char *path, int fd)
{
	char link[40];
	char now[PATH_MAX];
	if (is_at(path, fd))
		return tp_strdup(path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, now, sizeof(now) - 1);
	if (len <= 0)
		return NULL;
	now[len] = '\0';
	/* Some network file systems change numbers of files; the kernel's path counts, then. */
	return strcmp(now, path) == 0 || is_at(now, fd) ? tp_strdup(now) : NULL;
}
