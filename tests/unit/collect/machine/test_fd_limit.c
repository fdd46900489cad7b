/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how many file descriptors are left. */
#include "collect/machine/fd_limit.h"
#include "collect/unlisted.h"

#include <check.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit_to(rlim_t n)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = n;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(what_is_said_to_be_left_can_be_opened_and_the_reserve_too)
{
	uint64_t n_opened = 0;
	int last = -1;
	limit_to(1024); /* the process that started us may have left some open at high numbers */
	uint64_t left = tp_fd_limit_left(8);
	ck_assert_uint_gt(left, 0);
	ck_assert_uint_eq(tp_fd_limit_left(1024), 0);
	for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0; n_opened++)
		last = fd;
	ck_assert_uint_ge(n_opened, left + 8);
	/* The count includes ., .. and itself. */
	ck_assert_uint_le(n_opened, left + 8 + 3);
	/* The directory cannot be listed any more. */
	ck_assert_uint_eq(tp_fd_limit_left(0), UINT64_MAX);
	for (int i = 0; i < 8; i++) /* a leak checker that runs afterwards needs some */
		close(last - i);
}
END_TEST

START_TEST(no_list_of_open_files_is_no_limit)
{
	limit_to(64);
	refuse_listing();
	ck_assert_uint_eq(tp_fd_limit_left(8), UINT64_MAX);
}
END_TEST

Suite *suite_collect_fd_limit(void);
Suite *suite_collect_fd_limit(void)
{
	Suite *suite = suite_create("collect/fdlimit");
	TCase *tc = tcase_create("fdlimit");
	tcase_add_test(tc, what_is_said_to_be_left_can_be_opened_and_the_reserve_too);
	tcase_add_test(tc, no_list_of_open_files_is_no_limit);
	suite_add_tcase(suite, tc);
	return suite;
}
