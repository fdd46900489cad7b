/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of patterns for single frames: which frames they match. */
#include "analyze/classify/frame_glob.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static bool fits(const char *pattern, const char *frame)
{
	struct tp_arena arena = {0};
	struct tp_json_doc *doc = NULL;
	char *text = tp_asprintf("[\"%s\"]", pattern);
	char *written = tp_strdup(frame);
	struct tp_error err;
	struct tp_frame_glob glob;
	struct tp_glob_subject subject;
	ck_assert(!tp_json_parse(&doc, text, strlen(text), "x.json", &err));
	const struct tp_pattern_row row = {&arena, tp_json_root(doc), "x.json"};
	ck_assert_msg(!tp_frame_glob_read(&glob, &row, tp_json_first(tp_json_root(doc)), &err),
		      "%s", err.text);
	ck_assert(tp_glob_subject_parse(&subject, written));
	bool answer = tp_frame_glob_fits(&glob, &subject);
	tp_json_free(doc);
	tp_arena_release(&arena);
	free(text);
	free(written);
	return answer;
}

static const struct {
	const char *pattern;
	const char *frame;
	bool fits;
} rows[] = {
	{"c:libjpeg*:*", "c:libjpeg.so.62:decode", true},
	{"c:libjpeg*:*", "c:libpng.so:decode", false},
	{"c:LIBJPEG*:Decode", "c:libjpeg.so:decode", true},
	{"c:liba*|libb*:f|g", "c:libb.so:g", true},
	{"c:liba*|libb*:f|g", "c:libb.so:h", false},
	{"c:libtorch*:at::native::*", "c:libtorch_cpu.so:at::native::mm", true},
	{"k:*fsync*", "k:vfs_fsync_range", true},
	{"k:*fsync*", "c:libc.so.6:fsync", false},
	{"py:json/*:loads", "py:/usr/lib/python3.11/json/__init__.py:loads", true},
	{"py:json/*:loads", "py:/home/me/json/__init__.py:loads", false},
	{"py:pandas/*:iterrows",
	 "py:/v/lib/python3.11/site-packages/pandas/a.py:DataFrame.iterrows", true},
	{"py:pandas/*:dataframe.*", "py:/usr/lib/python3/dist-packages/pandas/a.py:DataFrame.apply",
	 true},
	{"py:pandas/*:frame", "py:/usr/lib/python3/dist-packages/pandas/a.py:DataFrame.apply",
	 false},
	/* the last folder of libraries counts */
	{"py:xyz/*:f", "py:/home/site-packages/y/lib/python3.11/site-packages/xyz/a.py:f", true},
	{"own:*collate*", "py:/home/me/data.py:Data.collate_all", true},
	{"own:collate", "own:Data.collate", true},
	{"own:collate", "py:/usr/lib/python3.11/random.py:collate", false},
};

START_TEST(a_pattern_fits_its_frames)
{
	ck_assert_msg(fits(rows[_i].pattern, rows[_i].frame) == rows[_i].fits, "%s and %s",
		      rows[_i].pattern, rows[_i].frame);
}
END_TEST

START_TEST(malformed_frames_are_reported)
{
	struct tp_glob_subject subject;
	char nothing[] = "libjpeg.so:decode";
	char half[] = "c:libjpeg.so";
	ck_assert(!tp_glob_subject_parse(&subject, nothing));
	ck_assert(!tp_glob_subject_parse(&subject, half));
}
END_TEST

Suite *suite_analyze_frame_glob(void);
Suite *suite_analyze_frame_glob(void)
{
	Suite *suite = suite_create("analyze_frame_glob");
	TCase *tc = tcase_create("frame_glob");
	tcase_add_loop_test(tc, a_pattern_fits_its_frames, 0, TP_ARRAY_LEN(rows));
	tcase_add_test(tc, malformed_frames_are_reported);
	suite_add_tcase(suite, tc);
	return suite;
}
