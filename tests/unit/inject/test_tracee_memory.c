/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of writing memory and reading texts of a process; the tests use our own process. */
#include "inject/tracee_memory.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Maps two pages and unmaps the second. */
static char *make_edge(void)
{
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	munmap(pages + PAGE, PAGE);
	memset(pages, 'x', PAGE);
	return pages;
}

START_TEST(written_bytes_are_in_the_tracee)
{
	char *pages = make_edge();
	ck_assert(tp_tracee_memory_write(getpid(), (uint64_t)(uintptr_t)pages + 8, "new", 3));
	ck_assert_int_eq(memcmp(pages + 7, "xnewx", 5), 0);
	ck_assert(
		!tp_tracee_memory_write(getpid(), (uint64_t)(uintptr_t)pages + PAGE - 2, "new", 3));
	munmap(pages, PAGE);
}
END_TEST

START_TEST(a_text_ends_at_its_nul_or_where_memory_does)
{
	char *pages = make_edge();
	char text[16];
	uint64_t end = (uint64_t)(uintptr_t)pages + PAGE;
	tp_tracee_memory_read_text(getpid(), end - 4, text, sizeof(text));
	ck_assert_str_eq(text, "xxxx");
	strcpy(pages, "short");
	tp_tracee_memory_read_text(getpid(), (uint64_t)(uintptr_t)pages, text, sizeof(text));
	ck_assert_str_eq(text, "short");
	tp_tracee_memory_read_text(getpid(), 0, text, sizeof(text));
	ck_assert_str_eq(text, "");
	munmap(pages, PAGE);
}
END_TEST

Suite *suite_inject_tracee_memory(void);
Suite *suite_inject_tracee_memory(void)
{
	Suite *suite = suite_create("inject/remotemem");
	TCase *tcase = tcase_create("all");
	tcase_add_test(tcase, written_bytes_are_in_the_tracee);
	tcase_add_test(tcase, a_text_ends_at_its_nul_or_where_memory_does);
	suite_add_tcase(suite, tcase);
	return suite;
}
