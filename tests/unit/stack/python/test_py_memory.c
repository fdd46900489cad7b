/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading another process's memory, tested with our own. */
#include "stack/python/py_memory.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(many_pieces_are_read_in_order)
{
	enum { N = 700 }; /* more than one system call reads */
	static uint64_t from[N];
	static uint64_t to[N];
	static struct tp_process_range pieces[N];
	struct tp_py_memory mem;
	tp_py_memory_init_process(&mem, getpid());
	for (size_t i = 0; i < N; i++) {
		from[i] = i * i + 7;
		pieces[i] = (struct tp_process_range){(uintptr_t)&from[i], &to[i], sizeof(to[i])};
	}
	ck_assert_uint_eq(mem.read(&mem, pieces, N), N);
	ck_assert_mem_eq(from, to, sizeof(from));
	ck_assert_uint_eq(mem.n_calls, 3);
}
END_TEST

START_TEST(a_missing_page_ends_the_read)
{
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *two = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(two, MAP_FAILED);
	munmap(two + page, (size_t)page);
	uint64_t a = 0;
	uint64_t b = 0;
	uint64_t c = 0;
	struct tp_process_range pieces[] = {
		{(uintptr_t)two, &a, 8},
		{(uintptr_t)two + (uintptr_t)page - 4, &b, 8}, /* half of it is unmapped */
		{(uintptr_t)two, &c, 8},
	};
	struct tp_py_memory mem;
	tp_py_memory_init_process(&mem, getpid());
	memset(two, 3, 8);
	ck_assert_uint_eq(mem.read(&mem, pieces, 3), 1);
	ck_assert_uint_eq(a, UINT64_C(0x0303030303030303));
	ck_assert_int_eq(mem.error, EFAULT);
	ck_assert(!tp_py_memory_get_u64(&mem, 0, &a));
	munmap(two, (size_t)page);
}
END_TEST

START_TEST(a_process_that_is_gone_says_so)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	struct tp_py_memory mem;
	uint64_t out;
	tp_py_memory_init_process(&mem, child);
	ck_assert(!tp_py_memory_get_u64(&mem, (uintptr_t)&out, &out));
	ck_assert_int_eq(mem.error, ESRCH);
}
END_TEST

START_TEST(sorted_ranges_keep_where_they_are_read_to)
{
	uint64_t words[] = {10, 11, 12, 13};
	uint64_t got[4] = {0};
	struct tp_process_range ranges[4];
	static const size_t order[] = {2, 0, 3, 1};
	struct tp_py_memory mem;
	tp_py_memory_init_process(&mem, getpid());
	for (size_t i = 0; i < 4; i++)
		ranges[i] = (struct tp_process_range){(uintptr_t)&words[order[i]], &got[i],
						      sizeof(got[i])};
	tp_py_memory_sort(ranges, 4);
	for (size_t i = 1; i < 4; i++)
		ck_assert_uint_lt(ranges[i - 1].address, ranges[i].address);
	ck_assert_uint_eq(mem.read(&mem, ranges, 4), 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(got[i], words[order[i]]);
	tp_py_memory_sort(ranges, 0);
}
END_TEST

Suite *suite_stack_py_memory(void);
Suite *suite_stack_py_memory(void)
{
	Suite *suite = suite_create("stack/pymem");
	TCase *tc = tcase_create("pymem");
	tcase_add_test(tc, sorted_ranges_keep_where_they_are_read_to);
	tcase_add_test(tc, many_pieces_are_read_in_order);
	tcase_add_test(tc, a_missing_page_ends_the_read);
	tcase_add_test(tc, a_process_that_is_gone_says_so);
	suite_add_tcase(suite, tc);
	return suite;
}
