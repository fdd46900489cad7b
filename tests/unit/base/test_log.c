/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of log lines: filtered by level, complete, escaped, from any thread. */
#include "trainprof/base/log.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int said_fd; /* file with the output to stderr */

static void setup(void)
{
	char path[] = "/tmp/trainprof-test-log-XXXXXX";
	said_fd = mkstemp(path);
	ck_assert_int_ge(said_fd, 0);
	unlink(path);
	ck_assert_int_ge(dup2(said_fd, STDERR_FILENO), 0);
}

static void teardown(void)
{
	close(said_fd);
}

/* Returns all output so far. */
static const char *said(void)
{
	static char text[1 << 18];
	ssize_t n = pread(said_fd, text, sizeof(text) - 1, 0);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	return text;
}

START_TEST(only_errors_and_warnings_by_default)
{
	tp_log_write("store", TP_LOG_WARN, "%d blocks", 7);
	ck_assert_str_eq(said(), "trainprof: store: warn: 7 blocks\n");
	ck_assert(tp_log_enabled("store", TP_LOG_ERROR));
	ck_assert(tp_log_enabled("store", TP_LOG_WARN));
	ck_assert(!tp_log_enabled("store", TP_LOG_INFO));
}
END_TEST

START_TEST(a_specification_sets_single_domains)
{
	tp_log_init(TP_LOG_WARN, "collect:debug,store:error");
	ck_assert(tp_log_enabled("collect", TP_LOG_DEBUG));
	ck_assert(!tp_log_enabled("store", TP_LOG_WARN));
	ck_assert(tp_log_enabled("report", TP_LOG_WARN));
	ck_assert(!tp_log_enabled("ollect", TP_LOG_INFO));
	ck_assert(!tp_log_enabled("coll", TP_LOG_INFO));
	tp_log_init(TP_LOG_INFO, "store:loud,,:,collect");
	ck_assert(tp_log_enabled("store", TP_LOG_INFO));
	ck_assert(tp_log_enabled("collect", TP_LOG_INFO));
	tp_log_init(TP_LOG_ERROR, NULL);
	ck_assert(!tp_log_enabled("collect", TP_LOG_WARN));
}
END_TEST

START_TEST(a_line_is_one_line_whatever_names_hold)
{
	char path[1000];
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	tp_log_write("collect", TP_LOG_ERROR, "%s", "a\nb\x1b[2Jc\x7f\xc3\xbc");
	ck_assert_str_eq(said(), "trainprof: collect: error: a?b?[2Jc?\xc3\xbc\n");
	tp_log_write("collect", TP_LOG_ERROR, "%s", path);
	const char *second = strchr(said(), '\n') + 1;
	ck_assert_uint_eq(strlen(second), 511);
	ck_assert_ptr_eq(strchr(second, '\n'), second + 510);
	for (size_t len = 400; len < 600; len++)
		tp_log_write("c", TP_LOG_ERROR, "%.*s", (int)len, path);
}
END_TEST

static void *talk(void *word)
{
	for (int i = 0; i < 500; i++)
		tp_log_write("collect", TP_LOG_ERROR, "%s %s %s %s", (char *)word, (char *)word,
			     (char *)word, (char *)word);
	return NULL;
}

START_TEST(lines_of_several_threads_do_not_mix)
{
	static char words[4][2] = {"a", "b", "c", "d"};
	pthread_t threads[4];
	/* Append mode makes each write atomic in the file. */
	freopen("/proc/self/fd/2", "a", stderr);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, talk, words[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	int n = 0;
	for (const char *line = said(); *line; line = strchr(line, '\n') + 1) {
		char expected[64];
		snprintf(expected, sizeof(expected), "trainprof: collect: error: %c %c %c %c\n",
			 line[27], line[27], line[27], line[27]);
		ck_assert_int_eq(strncmp(line, expected, strlen(expected)), 0);
		n++;
	}
	ck_assert_int_eq(n, 2000);
}
END_TEST

Suite *suite_base_log(void);
Suite *suite_base_log(void)
{
	Suite *suite = suite_create("base/log");
	TCase *tc = tcase_create("log");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, only_errors_and_warnings_by_default);
	tcase_add_test(tc, a_specification_sets_single_domains);
	tcase_add_test(tc, a_line_is_one_line_whatever_names_hold);
	tcase_add_test(tc, lines_of_several_threads_do_not_mix);
	suite_add_tcase(suite, tc);
	return suite;
}
