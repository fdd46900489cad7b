/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the line of a function in this test program, whose place is known. */
#include "cli/session/native_lines.h"

#include "skip.h"
#include "trainprof/base/clock.h"

#include <check.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_LINE = __LINE__ + 2 };

__attribute__((noinline)) static uint64_t here(void)
{
	/* Returns the address after the call, whatever the compiler does. */
	uint64_t address;
	__asm__ volatile("" ::: "memory");
	address = (uint64_t)(uintptr_t)__builtin_return_address(0);
	return address;
}

static bool has_program(void)
{
	return system("addr2line --version >/dev/null 2>&1") == 0; /* NOLINT: fixed text */
}

static uint64_t load_address(void)
{
	Dl_info info;
	ck_assert_int_ne(dladdr((void *)(uintptr_t)here, &info), 0);
	return (uint64_t)(uintptr_t)info.dli_fbase;
}

static void own_path(char *path)
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	ck_assert_int_gt(n, 0);
	path[n] = '\0';
}

START_TEST(lines_of_this_program_are_found)
{
	char path[PATH_MAX];
	char file[PATH_MAX] = "";
	uint32_t lines[3] = {7, 7, 7};
	if (!has_program()) {
		test_skip("no addr2line");
		return;
	}
	own_path(path);
	uint64_t base = load_address();
	uint64_t call = here() - 1; /* within the call on this line */
	uint32_t expected = __LINE__ - 1;
	const uint64_t addresses[] = {(uint64_t)(uintptr_t)here - base, call - base, 1};
	const struct tp_native_lines_query query = {.module = path, .addresses = addresses, .n = 3};
	ck_assert(tp_native_lines_find(&query, file, sizeof(file), lines));
	ck_assert_ptr_nonnull(strstr(file, "test_native_lines.c"));
	ck_assert_uint_ge(lines[0], FIRST_LINE - 1);
	ck_assert_uint_le(lines[0], FIRST_LINE + 8);
	ck_assert_uint_eq(lines[1], expected);
	ck_assert_uint_eq(lines[2], 0);
}
END_TEST

START_TEST(other_modules_have_no_lines)
{
	const uint64_t address = 0x1000;
	char path[PATH_MAX];
	char file[PATH_MAX] = "";
	uint32_t line = 7;
	own_path(path);
	const struct tp_native_lines_query queries[] = {
		{.module = "/nowhere/at all", .addresses = &address, .n = 1},
		{.module = "/dev/zero", .addresses = &address, .n = 1},
		{.module = "[kernel]", .addresses = &address, .n = 1},
		{.module = "", .addresses = &address, .n = 1},
		{.module = path, .addresses = &address, .n = 0},
		/* The file was written after the recording began. */
		{.module = path, .addresses = &address, .n = 1, .older_than_ns = TP_NS_PER_S},
		/* The file is not a program. */
		{.module = "tests/unit/cli/session/test_native_lines.c",
		 .addresses = &address,
		 .n = 1},
	};
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		ck_assert(!tp_native_lines_find(&queries[i], file, sizeof(file), &line));
}
END_TEST

Suite *suite_cli_native_lines(void);
Suite *suite_cli_native_lines(void)
{
	Suite *suite = suite_create("cli_native_lines");
	TCase *tc = tcase_create("lines");
	tcase_add_test(tc, lines_of_this_program_are_found);
	tcase_add_test(tc, other_modules_have_no_lines);
	suite_add_tcase(suite, tc);
	return suite;
}
