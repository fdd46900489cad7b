/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of errors: reported once, truncated rather than overflowing, and optional for
 * callers. */
#include "trainprof/base/status.h"

#include "skip.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

START_TEST(failing_fills_the_error_and_forgets_an_older_next_line)
{
	struct tp_error err = {0};
	ck_assert_int_eq(tp_fail(&err, TP_PARSE, "%s:%d: bad", "a.json", 7), TP_PARSE);
	tp_error_next(&err, "edit %s", "a.json");
	ck_assert_str_eq(err.text, "a.json:7: bad");
	ck_assert_str_eq(err.next, "edit a.json");
	ck_assert_int_eq(tp_fail(&err, TP_BUSY, "taken"), TP_BUSY);
	ck_assert_int_eq(err.status, TP_BUSY);
	ck_assert_str_eq(err.next, "");
}
END_TEST

START_TEST(an_unwanted_error_still_gives_the_status)
{
	ck_assert_int_eq(tp_fail(NULL, TP_IO, "x"), TP_IO);
	ck_assert_int_eq(tp_fail_errno(NULL, EACCES, "x"), TP_DENIED);
	tp_error_next(NULL, "x");
}
END_TEST

static const struct {
	int error;
	enum tp_status status;
	const char *text;
} causes[] = {
	{ENOENT, TP_ABSENT, "cannot open 'f': no such file or directory"},
	{ENOTDIR, TP_ABSENT, "cannot open 'f': not a directory"},
	{EACCES, TP_DENIED, "cannot open 'f': permission denied"},
	{EPERM, TP_DENIED, "cannot open 'f': operation not permitted"},
	{EROFS, TP_DENIED, "cannot open 'f': read-only file system"},
	{EEXIST, TP_EXISTS, "cannot open 'f': file exists"},
	{ENOSPC, TP_IO, "cannot open 'f': no space left on device"},
	{EMFILE, TP_IO, "cannot open 'f': too many open files"},
	{EIO, TP_IO, "cannot open 'f': input/output error"},
	{EDOTDOT, TP_IO, "cannot open 'f': RFS specific error"},
	{99999, TP_IO, "cannot open 'f': unknown error 99999"},
};

START_TEST(a_failed_call_is_reported_in_lower_case_with_its_status)
{
	struct tp_error err = {0};
	ck_assert_int_eq(tp_fail_errno(&err, causes[_i].error, "cannot open '%s'", "f"),
			 causes[_i].status);
	ck_assert_str_eq(err.text, causes[_i].text);
	ck_assert_int_eq(err.status, causes[_i].status);
	if (causes[_i].error != EMFILE)
		ck_assert_str_eq(err.next, "");
}
END_TEST

static const struct {
	rlim_t soft;
	rlim_t hard;
	const char *next;
} file_limits[] = {
	{64, 4096, "ulimit -n 4096"},
	{4095, 8192, "ulimit -n 4096"},
	{64, 4095, "ulimit -n $(ulimit -Hn)"},
	{4096, 8192, "ulimit -n $(ulimit -Hn)"},
	{64, 64, ""},
	{4096, 4096, ""},
};

/* The command must neither lower the limit nor be refused. */
START_TEST(too_many_open_files_have_a_command_that_raises_the_limit)
{
	struct tp_error err = {0};
	const struct rlimit limit = {file_limits[_i].soft, file_limits[_i].hard};
	struct rlimit now;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &now), 0);
	if (now.rlim_max < limit.rlim_max) {
		test_skip("the hard limit of open files is too low");
		return;
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	tp_error_next(&err, "an older one");
	ck_assert_int_eq(tp_fail_errno(&err, EMFILE, "cannot open 'f'"), TP_IO);
	ck_assert_str_eq(err.next, file_limits[_i].next);
}
END_TEST

START_TEST(a_cause_can_stand_alone)
{
	struct tp_error err = {0};
	tp_fail_errno(&err, ENOSPC, "%s", "");
	ck_assert_str_eq(err.text, "no space left on device");
}
END_TEST

START_TEST(long_texts_are_cut_not_overrun)
{
	char path[1000];
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	/* Every length around the maximum, so that the appended cause crosses the limit. */
	for (size_t len = 200; len < 300; len++) {
		struct tp_error err = {0};
		tp_fail_errno(&err, ENOSPC, "%.*s", (int)len, path);
		ck_assert_uint_le(strlen(err.text), sizeof(err.text) - 1);
		ck_assert_uint_eq(strspn(err.text, "p"), len < 239 ? len : 239);
		tp_error_next(&err, "%s", path);
		ck_assert_uint_eq(strlen(err.next), sizeof(err.next) - 1);
	}
}
END_TEST

START_TEST(every_status_has_words)
{
	ck_assert_str_eq(tp_status_text(TP_OK), "success");
	ck_assert_str_eq(tp_status_text(TP_TARGET), "the profiled program did not start");
	ck_assert_str_eq(tp_status_text((enum tp_status)99), "unknown");
}
END_TEST

START_TEST(a_line_to_type_quotes_its_name_and_is_whole_or_not_there)
{
	struct tp_error err = {0};
	char name[sizeof(err.next)];
	tp_error_next_word(&err, "trainprof import ", "my trace.json", " …");
	ck_assert_str_eq(err.next, "trainprof import 'my trace.json' …");
	tp_error_next_word(&err, "mkdir -p ", "a/b", "");
	ck_assert_str_eq(err.next, "mkdir -p a/b");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	tp_error_next_word(&err, "", name, "");
	ck_assert_str_eq(err.next, name);
	tp_error_next_word(&err, "rm ", name, "");
	ck_assert_str_eq(err.next, "");
	tp_error_next_word(NULL, "a", "b", "c");
}
END_TEST

Suite *suite_base_status(void);
Suite *suite_base_status(void)
{
	Suite *suite = suite_create("base/status");
	TCase *tc = tcase_create("status");
	tcase_add_test(tc, failing_fills_the_error_and_forgets_an_older_next_line);
	tcase_add_test(tc, an_unwanted_error_still_gives_the_status);
	tcase_add_loop_test(tc, a_failed_call_is_reported_in_lower_case_with_its_status, 0,
			    sizeof(causes) / sizeof(causes[0]));
	tcase_add_loop_test(tc, too_many_open_files_have_a_command_that_raises_the_limit, 0,
			    sizeof(file_limits) / sizeof(file_limits[0]));
	tcase_add_test(tc, a_cause_can_stand_alone);
	tcase_add_test(tc, long_texts_are_cut_not_overrun);
	tcase_add_test(tc, a_line_to_type_quotes_its_name_and_is_whole_or_not_there);
	tcase_add_test(tc, every_status_has_words);
	suite_add_tcase(suite, tc);
	return suite;
}
