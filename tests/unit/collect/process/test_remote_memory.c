/* Claims about reading another process's memory. */
#include "collect/process/remote_memory.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_PAGES = 6, WRITTEN = 1, ABSENT = 4 };

static char *pages;
static pid_t child;

/* A child with six pages of which it wrote to one and gave one back. */
static void setup(void)
{
	pages = mmap(NULL, N_PAGES * TP_REMOTE_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	int ready[2];
	char byte = 1;
	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		memset(pages + WRITTEN * TP_REMOTE_PAGE, 'x', TP_REMOTE_PAGE);
		munmap(pages + ABSENT * TP_REMOTE_PAGE, TP_REMOTE_PAGE);
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
	munmap(pages, N_PAGES * TP_REMOTE_PAGE);
}

static uint64_t address_of(int page)
{
	return (uint64_t)(uintptr_t)(pages + page * TP_REMOTE_PAGE);
}

static bool is_present(int page)
{
	char path[64];
	uint64_t entry = 0;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)child);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	off_t at = (off_t)(address_of(page) / TP_REMOTE_PAGE * sizeof(entry));
	ck_assert_int_eq(pread(fd, &entry, sizeof(entry), at), sizeof(entry));
	close(fd);
	return entry >> 63 != 0;
}

START_TEST(what_can_be_read_is_read_up_to_the_first_hole)
{
	static char got[N_PAGES * TP_REMOTE_PAGE];
	size_t n = tp_remote_read(child, address_of(WRITTEN) + 96, got, TP_REMOTE_PAGE);
	ck_assert_uint_eq(n, TP_REMOTE_PAGE);
	ck_assert_int_eq(got[0], 'x');
	ck_assert_int_eq(got[TP_REMOTE_PAGE - 97], 'x');
	ck_assert_int_eq(got[TP_REMOTE_PAGE - 96], 0);
	n = tp_remote_read(child, address_of(0) + 8, got, sizeof(got) - 8);
	ck_assert_uint_eq(n, ABSENT * TP_REMOTE_PAGE - 8);
	ck_assert_uint_eq(tp_remote_read(child, UINT64_MAX - 10, got, 100), 0);
	ck_assert_uint_eq(tp_remote_read(child, address_of(ABSENT), got, 100), 0);
}
END_TEST

START_TEST(touched_pages_are_present_and_hold_what_they_held)
{
	char byte = 1;
	ck_assert(is_present(WRITTEN) && !is_present(0) && !is_present(2) && !is_present(3));
	tp_remote_touch(child, address_of(2) + 100, 2 * TP_REMOTE_PAGE - 100);
	ck_assert(is_present(2) && is_present(3) && !is_present(0));
	ck_assert_uint_eq(tp_remote_read(child, address_of(2), &byte, 1), 1);
	ck_assert_int_eq(byte, 0);
	tp_remote_touch(child, address_of(0), N_PAGES * TP_REMOTE_PAGE); /* up to the hole */
	ck_assert(is_present(0));
}
END_TEST

Suite *suite_collect_remote_memory(void);
Suite *suite_collect_remote_memory(void)
{
	Suite *suite = suite_create("collect/remote");
	TCase *tc = tcase_create("remote");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_can_be_read_is_read_up_to_the_first_hole);
	tcase_add_test(tc, touched_pages_are_present_and_hold_what_they_held);
	suite_add_tcase(suite, tc);
	return suite;
}
