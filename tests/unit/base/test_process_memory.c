/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading the memory of a process: of a child, and of our own process. */
#include "trainprof/base/process_memory.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = TP_PROCESS_MEMORY_PAGE, N_PAGES = 6, WRITTEN = 1, ABSENT = 4 };

static char *pages;
static pid_t child;

/* A child with six pages, of which it wrote to one and unmapped one. */
static void setup(void)
{
	pages = mmap(NULL, N_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	int ready[2];
	char byte = 1;
	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		memset(pages + WRITTEN * PAGE, 'x', PAGE);
		munmap(pages + ABSENT * PAGE, PAGE);
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
}

static void teardown(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(pages, N_PAGES * PAGE);
}

static uint64_t address_of(int page)
{
	return (uint64_t)(uintptr_t)(pages + page * PAGE);
}

static bool is_present(int page)
{
	char path[64];
	uint64_t entry = 0;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)child);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	off_t at = (off_t)(address_of(page) / PAGE * sizeof(entry));
	ck_assert_int_eq(pread(fd, &entry, sizeof(entry), at), sizeof(entry));
	close(fd);
	return entry >> 63 != 0;
}

START_TEST(a_read_is_whole_or_fails)
{
	char got[64];
	uint64_t end = address_of(ABSENT);
	ck_assert(tp_process_memory_read(child, end - 64, got, 64));
	errno = 0;
	ck_assert(!tp_process_memory_read(child, end - 63, got, 64));
	ck_assert_int_eq(errno, EFAULT);
	errno = 0;
	ck_assert(!tp_process_memory_read(child, end, got, 64));
	ck_assert_int_eq(errno, EFAULT);
	ck_assert(tp_process_memory_read(child, end, got, 0));
}
END_TEST

START_TEST(our_own_memory_is_read_as_well)
{
	const char text[] = "of this process";
	char got[sizeof(text)];
	ck_assert(tp_process_memory_read(getpid(), (uintptr_t)text, got, sizeof(got)));
	ck_assert_str_eq(got, text);
	ck_assert_uint_eq(tp_process_memory_read_some(getpid(), (uintptr_t)text, got, sizeof(got)),
			  sizeof(got));
}
END_TEST

START_TEST(reading_stops_at_the_first_hole)
{
	static char got[N_PAGES * PAGE];
	size_t n = tp_process_memory_read_some(child, address_of(WRITTEN) + 96, got, PAGE);
	ck_assert_uint_eq(n, PAGE);
	ck_assert_int_eq(got[0], 'x');
	ck_assert_int_eq(got[PAGE - 97], 'x');
	ck_assert_int_eq(got[PAGE - 96], 0);
	errno = 0;
	n = tp_process_memory_read_some(child, address_of(0) + 8, got, sizeof(got) - 8);
	ck_assert_uint_eq(n, ABSENT * PAGE - 8);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_uint_eq(tp_process_memory_read_some(child, UINT64_MAX - 10, got, 100), 0);
	ck_assert_uint_eq(tp_process_memory_read_some(child, address_of(ABSENT), got, 100), 0);
	ck_assert_int_eq(errno, EFAULT);
}
END_TEST

START_TEST(more_pages_than_a_system_call_takes_are_read)
{
	enum { SIZE = (2 * TP_PROCESS_MEMORY_MAX_PAGES + 3) * PAGE };
	static char from[SIZE + 100];
	static char got[SIZE];
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i / 7);
	ck_assert_uint_eq(tp_process_memory_read_some(getpid(), (uintptr_t)(from + 100), got, SIZE),
			  SIZE);
	ck_assert_int_eq(memcmp(from + 100, got, SIZE), 0);
}
END_TEST

START_TEST(ranges_are_read_in_order_up_to_one_that_is_not_whole)
{
	char got[3] = "";
	char half[8];
	const struct tp_process_range ranges[] = {
		{address_of(WRITTEN), &got[0], 1},
		{address_of(ABSENT) - 4, half, 8},
		{address_of(WRITTEN), &got[2], 1},
	};
	errno = 0;
	ck_assert_uint_eq(tp_process_memory_read_ranges(child, ranges, 3), 1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_int_eq(got[0], 'x');
	ck_assert_int_eq(got[2], 0);
	ck_assert_uint_eq(tp_process_memory_read_ranges(child, ranges, 0), 0);
}
END_TEST

START_TEST(more_ranges_than_a_system_call_takes_are_read)
{
	enum { N = 2 * TP_PROCESS_MEMORY_MAX_RANGES + 10 };
	static uint32_t from[N];
	static uint32_t got[N];
	static struct tp_process_range ranges[N];
	for (uint32_t i = 0; i < N; i++) {
		from[i] = i * i + 7;
		ranges[i] = (struct tp_process_range){(uintptr_t)&from[i], &got[i], sizeof(got[i])};
	}
	ck_assert_uint_eq(tp_process_memory_read_ranges(getpid(), ranges, N), N);
	ck_assert_mem_eq(from, got, sizeof(from));
}
END_TEST

START_TEST(a_process_that_is_gone_says_so)
{
	char got;
	pid_t gone = fork();
	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	ck_assert(!tp_process_memory_read(gone, (uintptr_t)&got, &got, 1));
	ck_assert_int_eq(errno, ESRCH);
	errno = 0;
	ck_assert_uint_eq(tp_process_memory_read_some(gone, (uintptr_t)&got, &got, 1), 0);
	ck_assert_int_eq(errno, ESRCH);
}
END_TEST

START_TEST(touched_pages_are_present_and_hold_what_they_held)
{
	char byte = 1;
	ck_assert(is_present(WRITTEN) && !is_present(0) && !is_present(2) && !is_present(3));
	tp_process_memory_touch(child, address_of(2) + 100, 2 * PAGE - 100);
	ck_assert(is_present(2) && is_present(3) && !is_present(0));
	ck_assert(tp_process_memory_read(child, address_of(2), &byte, 1));
	ck_assert_int_eq(byte, 0);
	tp_process_memory_touch(child, address_of(0), N_PAGES * PAGE); /* up to the unmapped page */
	ck_assert(is_present(0));
}
END_TEST

/* To the kernel, consecutive ranges of one page are one range. */
START_TEST(ranges_of_one_page_are_distinguished)
{
	enum { N = 6 };
	static const size_t at[N] = {8, 16, 900, 800, 800, 4090};
	char own[PAGE];
	char got[N][8];
	struct tp_process_range ranges[N];
	for (size_t i = 0; i < sizeof(own); i++)
		own[i] = (char)(i * 7 + i / 256);
	for (size_t i = 0; i < N; i++)
		ranges[i] = (struct tp_process_range){(uintptr_t)own + at[i], got[i], 6};
	ck_assert_uint_eq(tp_process_memory_read_ranges(getpid(), ranges, N), N);
	for (size_t i = 0; i < N; i++)
		ck_assert_mem_eq(got[i], own + at[i], 6);
}
END_TEST

START_TEST(ranges_before_a_hole_are_counted)
{
	char got[3][8];
	uint64_t end = address_of(ABSENT);
	const struct tp_process_range ranges[] = {{end - 64, got[0], 8},
						  {end - 32, got[1], 8},
						  {end - 4, got[2], 8}};
	ck_assert_uint_eq(tp_process_memory_read_ranges(child, ranges, 3), 2);
	ck_assert_int_eq(errno, EFAULT);
}
END_TEST

Suite *suite_base_process_memory(void);
Suite *suite_base_process_memory(void)
{
	Suite *suite = suite_create("base/process_memory");
	TCase *tc = tcase_create("process_memory");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_read_is_whole_or_fails);
	tcase_add_test(tc, our_own_memory_is_read_as_well);
	tcase_add_test(tc, reading_stops_at_the_first_hole);
	tcase_add_test(tc, more_pages_than_a_system_call_takes_are_read);
	tcase_add_test(tc, ranges_are_read_in_order_up_to_one_that_is_not_whole);
	tcase_add_test(tc, more_ranges_than_a_system_call_takes_are_read);
	tcase_add_test(tc, a_process_that_is_gone_says_so);
	tcase_add_test(tc, touched_pages_are_present_and_hold_what_they_held);
	tcase_add_test(tc, ranges_of_one_page_are_distinguished);
	tcase_add_test(tc, ranges_before_a_hole_are_counted);
	suite_add_tcase(suite, tc);
	return suite;
}
