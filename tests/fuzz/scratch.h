/* SPDX-License-Identifier: Apache-2.0 */
/* A directory in memory for harnesses of code that reads files; removed when the harness ends. */
#ifndef TRAINPROF_TESTS_FUZZ_SCRATCH_H
#define TRAINPROF_TESTS_FUZZ_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static char scratch_path[64];

static int scratch_unlink(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static void scratch_remove(void)
{
	nftw(scratch_path, scratch_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

/* Returns the same one for each call. */
static const char *scratch_directory(void)
{
	if (scratch_path[0])
		return scratch_path;
	snprintf(scratch_path, sizeof(scratch_path), "/dev/shm/trainprof-fuzz-XXXXXX");
	if (!mkdtemp(scratch_path)) {
		snprintf(scratch_path, sizeof(scratch_path), "/tmp/trainprof-fuzz-XXXXXX");
		if (!mkdtemp(scratch_path))
			abort();
	}
	atexit(scratch_remove);
	return scratch_path;
}

#endif
