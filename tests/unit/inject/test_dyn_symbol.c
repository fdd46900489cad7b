/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding functions in a loaded library that dlsym() finds too. */
#include "inject/dyn_symbol.h"
#include "inject/image_map.h"

#include <check.h>
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static uint64_t start_of_libc(void)
{
	struct tp_image_map map;
	struct tp_image image;
	struct tp_error err = {0};
	ck_assert_msg(tp_image_map_read(&map, getpid(), &err) == TP_OK, "%s", err.text);
	ck_assert(tp_image_map_find_libc(&image, &map));
	tp_image_map_release(&map);
	return image.start;
}

static const char *const names[] = {"getpid", "strtol", "fopen", "sigaction", "qsort"};

START_TEST(a_function_is_where_dlsym_says)
{
	void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	ck_assert_ptr_nonnull(library);
	uint64_t expected = (uint64_t)(uintptr_t)dlsym(library, names[_i]);
	ck_assert_uint_eq(tp_dyn_symbol_find(getpid(), start_of_libc(), names[_i]), expected);
	dlclose(library);
}
END_TEST

START_TEST(symbols_that_are_no_functions_are_not_found)
{
	uint64_t start = start_of_libc();
	ck_assert_uint_eq(tp_dyn_symbol_find(getpid(), start, "no_such_function"), 0);
	ck_assert_uint_eq(tp_dyn_symbol_find(getpid(), start, ""), 0);
	ck_assert_uint_eq(tp_dyn_symbol_find(getpid(), start, "environ"), 0); /* a variable */
}
END_TEST

START_TEST(files_that_are_no_libraries_have_no_functions)
{
	static char page[8192];
	uint64_t start = (uint64_t)(uintptr_t)page;
	ck_assert_uint_eq(tp_dyn_symbol_find(getpid(), start, "getpid"), 0);
	/* The head of a library, followed by invalid bytes. */
	memset(page, 0xff, sizeof(page));
	memcpy(page, "\177ELF\2\1\1", 7);
	ck_assert_uint_eq(tp_dyn_symbol_find(getpid(), start, "getpid"), 0);
	ck_assert_uint_eq(tp_dyn_symbol_find(getpid(), 4096, "getpid"), 0);
}
END_TEST

Suite *suite_inject_dyn_symbol(void);
Suite *suite_inject_dyn_symbol(void)
{
	Suite *suite = suite_create("inject/dynsym");
	TCase *tcase = tcase_create("all");
	tcase_add_loop_test(tcase, a_function_is_where_dlsym_says, 0,
			    sizeof(names) / sizeof(names[0]));
	tcase_add_test(tcase, symbols_that_are_no_functions_are_not_found);
	tcase_add_test(tcase, files_that_are_no_libraries_have_no_functions);
	suite_add_tcase(suite, tcase);
	return suite;
}
