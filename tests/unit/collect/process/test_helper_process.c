/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what a process of trainprof's own inherits, and the list of these processes. */
#include "trainprof/collect/helper_process.h"

#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t helper;
static int helper_fd;

/* Says that it has begun, then waits until the socket is closed. */
static void run(int fd)
{
	char byte = 1;
	if (send(fd, &byte, 1, 0) == 1)
		(void)recv(fd, &byte, 1, 0);
}

static void setup(void)
{
	char byte;
	helper = tp_helper_start("helper", run, &helper_fd);
	ck_assert_int_gt(helper, 0);
	ck_assert_int_eq(recv(helper_fd, &byte, 1, 0), 1);
}

static void teardown(void)
{
	close(helper_fd);
	waitpid(helper, NULL, 0);
	tp_helper_remove(helper);
}

/* An end of a pipe that stays open there would keep its readers waiting. */
START_TEST(a_helper_has_no_descriptor_of_ours)
{
	char path[64];
	int n = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)helper);
	DIR *folder = opendir(path);
	ck_assert_ptr_nonnull(folder);
	for (const struct dirent *entry; (entry = readdir(folder));)
		n += entry->d_name[0] != '.';
	closedir(folder);
	ck_assert_int_eq(n, 4); /* /dev/null three times, and the socket */
}
END_TEST

START_TEST(a_helper_is_listed_until_it_is_removed)
{
	ck_assert(tp_helper_is_known(helper));
	ck_assert(!tp_helper_is_known(getpid()));
	ck_assert(!tp_helper_is_known(0));
	tp_helper_remove(helper);
	ck_assert(!tp_helper_is_known(helper));
}
END_TEST

START_TEST(the_list_is_bounded)
{
	enum { FIRST = 1000000 };
	for (pid_t i = 0; i <= TP_HELPERS_MAX; i++)
		tp_helper_add(FIRST + i);
	ck_assert(tp_helper_is_known(FIRST));
	ck_assert(!tp_helper_is_known(FIRST + TP_HELPERS_MAX));
	ck_assert(tp_helper_is_known(helper));
	tp_helper_remove(FIRST);
	tp_helper_add(FIRST + TP_HELPERS_MAX);
	ck_assert(tp_helper_is_known(FIRST + TP_HELPERS_MAX));
	for (pid_t i = 0; i <= TP_HELPERS_MAX; i++)
		tp_helper_remove(FIRST + i);
}
END_TEST

Suite *suite_collect_helper_process(void);
Suite *suite_collect_helper_process(void)
{
	Suite *suite = suite_create("collect_helper_process");
	TCase *tc = tcase_create("helper");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_helper_has_no_descriptor_of_ours);
	tcase_add_test(tc, a_helper_is_listed_until_it_is_removed);
	tcase_add_test(tc, the_list_is_bounded);
	suite_add_tcase(suite, tc);
	return suite;
}
