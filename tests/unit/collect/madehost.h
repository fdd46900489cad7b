/* SPDX-License-Identifier: Apache-2.0 */
/* Creates simulated machines: a folder with their files. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_MADEHOST_H
#define TRAINPROF_TESTS_UNIT_COLLECT_MADEHOST_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Writes a file such as "/proc/self/status" of the machine whose files are below `root`, and
 * creates the folders above it. */
static inline void madehost_lay(const char *root, const char *path, const char *text)
{
	char full[256];
	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	FILE *file = fopen(full, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

/* Removes the machine with all its files. */
static inline void madehost_remove(const char *root)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0); /* NOLINT(concurrency-mt-unsafe): one thread */
}

#endif
