/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the cache of open files. */
#include "collect/process/fd_cache.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool open_slot(struct tp_fd_cache *shelf, struct tp_fd_cache_slot *slot, const char *path)
{
	char text[64];
	return tp_fd_cache_read(shelf, slot, path, text, sizeof(text));
}

static int count_linked(const struct tp_fd_cache *shelf)
{
	int n = 0;
	const struct tp_fd_cache_slot *before = NULL;
	for (const struct tp_fd_cache_slot *slot = shelf->newest; slot; slot = slot->older, n++) {
		ck_assert_ptr_eq(slot->newer, before);
		ck_assert(slot->is_open);
		ck_assert_int_ge(fcntl(slot->fd, F_GETFD), 0);
		before = slot;
	}
	ck_assert_ptr_eq(shelf->oldest, before);
	ck_assert_int_eq(n, (int)shelf->n);
	return n;
}

START_TEST(the_one_used_longest_ago_goes_first)
{
	struct tp_fd_cache shelf = {.capacity = 3};
	struct tp_fd_cache_slot slots[4] = {0};
	for (int i = 0; i < 3; i++)
		ck_assert(open_slot(&shelf, &slots[i], "/proc/self/stat"));
	int kept = slots[0].fd;
	ck_assert(open_slot(&shelf, &slots[0], "")); /* used again */
	ck_assert_int_eq(slots[0].fd, kept);
	ck_assert(open_slot(&shelf, &slots[3], "/proc/self/stat"));
	ck_assert_int_eq(count_linked(&shelf), 3);
	ck_assert(slots[0].is_open && !slots[1].is_open && slots[2].is_open);
	for (int i = 0; i < 4; i++)
		tp_fd_cache_drop(&shelf, &slots[i]);
	ck_assert_int_eq(count_linked(&shelf), 0);
}
END_TEST

START_TEST(a_shelf_without_room_keeps_the_last_one)
{
	struct tp_fd_cache shelf = {0};
	struct tp_fd_cache_slot slots[2] = {0};
	ck_assert(open_slot(&shelf, &slots[0], "/proc/self/stat"));
	ck_assert(open_slot(&shelf, &slots[1], "/proc/self/stat"));
	ck_assert_int_eq(count_linked(&shelf), 1);
	ck_assert(!slots[0].is_open);
	tp_fd_cache_drop(&shelf, &slots[1]);
}
END_TEST

START_TEST(descriptors_taken_by_others_shrink_the_shelf)
{
	struct tp_fd_cache shelf = {.capacity = 8};
	struct tp_fd_cache_slot slots[9] = {0};
	struct rlimit before;
	for (int i = 0; i < 8; i++)
		ck_assert(open_slot(&shelf, &slots[i], "/proc/self/stat"));
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	struct rlimit none = {.rlim_cur = 3, .rlim_max = before.rlim_max};
	for (int i = 0; i < 8; i++)
		none.rlim_cur =
			slots[i].fd >= (int)none.rlim_cur ? (rlim_t)slots[i].fd + 1 : none.rlim_cur;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	bool is_read = open_slot(&shelf, &slots[8], "/proc/self/stat");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert(is_read);
	ck_assert_int_le(count_linked(&shelf), 5);
	ck_assert_uint_eq(shelf.capacity, 4);
	for (int i = 0; i < 9; i++)
		tp_fd_cache_drop(&shelf, &slots[i]);
}
END_TEST

START_TEST(missing_files_leave_the_shelf_as_it_is)
{
	struct tp_fd_cache shelf = {.capacity = 2};
	struct tp_fd_cache_slot slot = {0};
	ck_assert(!open_slot(&shelf, &slot, "/proc/self/absent"));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(count_linked(&shelf), 0);
	tp_fd_cache_drop(&shelf, &slot);
}
END_TEST

START_TEST(a_file_is_read_from_its_beginning_each_time)
{
	struct tp_fd_cache shelf = {.capacity = 2};
	struct tp_fd_cache_slot slot = {0};
	char first[200];
	char second[200];
	char path[64];
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	ck_assert(tp_fd_cache_read(&shelf, &slot, path, first, sizeof(first)));
	ck_assert(tp_fd_cache_read(&shelf, &slot, "", second, sizeof(second)));
	ck_assert_int_eq(strncmp(first, second, strcspn(first, ")")), 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert(!tp_fd_cache_read(&shelf, &slot, "", second, sizeof(second)));
	ck_assert_int_eq(errno, ESRCH);
	ck_assert(!slot.is_open);
	ck_assert_int_eq(count_linked(&shelf), 0);
}
END_TEST

START_TEST(room_follows_the_limit_of_open_files)
{
	struct rlimit before;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	struct rlimit few = {.rlim_cur = 64, .rlim_max = before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	size_t room = tp_fd_cache_capacity(1024);
	few.rlim_cur = 8;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	size_t least = tp_fd_cache_capacity(1024);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_uint_ge(room, 8);
	ck_assert_uint_le(room, 24);
	ck_assert_uint_eq(least, 1);
	ck_assert_uint_le(tp_fd_cache_capacity(10), 10);
}
END_TEST

Suite *suite_collect_fd_cache(void);
Suite *suite_collect_fd_cache(void)
{
	Suite *suite = suite_create("collect/fdshelf");
	TCase *tc = tcase_create("fdshelf");
	tcase_add_test(tc, the_one_used_longest_ago_goes_first);
	tcase_add_test(tc, a_shelf_without_room_keeps_the_last_one);
	tcase_add_test(tc, descriptors_taken_by_others_shrink_the_shelf);
	tcase_add_test(tc, missing_files_leave_the_shelf_as_it_is);
	tcase_add_test(tc, a_file_is_read_from_its_beginning_each_time);
	tcase_add_test(tc, room_follows_the_limit_of_open_files);
	suite_add_tcase(suite, tc);
	return suite;
}
