/* SPDX-License-Identifier: Apache-2.0 */
/* Expected texts under tests/data/summaries; GOLDEN=1 rewrites them. */
#ifndef TRAINPROF_TESTS_UNIT_REPORT_GOLDEN_H
#define TRAINPROF_TESTS_UNIT_REPORT_GOLDEN_H

#include "trainprof/base/file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sample_golden(const char *text, const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "tests/data/summaries/%s.txt", name);
	if (getenv("GOLDEN"))
		ck_assert_int_eq(tp_file_replace(path, text, strlen(text), NULL), TP_OK);
	struct tp_buf expected = {0};
	ck_assert_int_eq(tp_file_read(&expected, path, 1 << 20, NULL), TP_OK);
	ck_assert_str_eq(text, tp_buf_text(&expected));
	tp_buf_release(&expected);
}

#endif
