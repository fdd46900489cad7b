/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a folder of patterns with one file that a test writes. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_PATTERNFOLDER_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_PATTERNFOLDER_H

#include "trainprof/analyze/analyze.h"
#include "trainprof/base/buf.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loads a file with this text. *out is NULL if it is invalid. */
static inline enum tp_status load_text(struct tp_patterns **out, const char *text,
				       struct tp_error *err)
{
	char folder[] = "/tmp/trainprof-patterns-XXXXXX";
	char path[64];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/90-test.json", folder);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	*out = NULL;
	enum tp_status status = tp_patterns_load(out, folder, err);
	unlink(path);
	rmdir(folder);
	return status;
}

/* Loads the rows; the file has them from line 2 on, one per line. */
static inline enum tp_status load_rows(struct tp_patterns **out, const char *rows,
				       struct tp_error *err)
{
	struct tp_buf text = {0};
	tp_buf_printf(&text, "{ \"about\": \"x\", \"patterns\": [\n%s\n] }\n", rows);
	enum tp_status status = load_text(out, text.data, err);
	tp_buf_release(&text);
	return status;
}

/* `message` is the part of the error after the file's name: in "90-test.json:3: unknown key 'x'",
 * ":3: unknown key 'x'". */
static inline void assert_refused(const char *rows, const char *message)
{
	struct tp_patterns *patterns;
	struct tp_error err;
	ck_assert_int_eq(load_rows(&patterns, rows, &err), TP_PARSE);
	ck_assert_ptr_null(patterns);
	const char *name = strstr(err.text, "90-test.json");
	ck_assert_msg(name && strcmp(name + sizeof("90-test.json") - 1, message) == 0, "%s",
		      err.text);
}

#endif
