/* SPDX-License-Identifier: Apache-2.0 */
/* Loads idioms of a test together with the shipped patterns. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_IDIOMFOLDER_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_IDIOMFOLDER_H

#include "trainprof/analyze/analyze.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loads the shipped patterns and one idiom with this text. */
static inline enum tp_status load_idiom(struct tp_patterns *patterns, const char *text,
					struct tp_error *err)
{
	char folder[] = "/tmp/trainprof-idioms-XXXXXX";
	char path[64];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.json", folder);
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	enum tp_status status = tp_patterns_load_idioms(patterns, folder, err);
	unlink(path);
	rmdir(folder);
	return status;
}

static inline struct tp_patterns *load_shipped(void)
{
	struct tp_patterns *patterns;
	struct tp_error err;
	ck_assert_msg(!tp_patterns_load(&patterns, "rules/patterns", &err), "%s", err.text);
	return patterns;
}

#endif
