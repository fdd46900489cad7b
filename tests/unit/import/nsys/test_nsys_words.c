/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the translation of nsys's numbers and names. */
#include "import/nsys/nsys_words.h"

#include <check.h>
#include <string.h>

static const struct {
	const char *name, *kept;
} calls[] = {
	{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
	{"cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"},
	{"cudaMemcpyAsync_v3020_ptds", "cudaMemcpyAsync"},
	{"cuMemAlloc_v2", "cuMemAlloc"},
	{"cudaLaunchKernel", "cudaLaunchKernel"},
	{"cuModuleGetLoadingMode", "cuModuleGetLoadingMode"},
	{"_v7000", "_v7000"},
	{"my_v", "my_v"},
	{"_ptsz", "_ptsz"},
	{"", ""},
	{"7", "7"},
};

START_TEST(calls_lose_the_version_of_their_interface)
{
	size_t len = tp_nsys_call_len(calls[_i].name, strlen(calls[_i].name));
	ck_assert_uint_eq(len, strlen(calls[_i].kept));
	ck_assert(!strncmp(calls[_i].name, calls[_i].kept, len));
}
END_TEST

static const struct {
	int64_t kind, source, target;
	const char *name;
} copies[] = {
	{1, 0, 2, "Memcpy HtoD (Pageable -> Device)"},
	{1, 1, 2, "Memcpy HtoD (Pinned -> Device)"},
	{2, 2, 1, "Memcpy DtoH (Device -> Pinned)"},
	{8, 2, 2, "Memcpy DtoD (Device -> Device)"},
	{10, 2, 2, "Memcpy PtoP (Device -> Device)"},
	{11, 7, 7, "Memcpy HtoD (Managed -> Managed)"},
	{1, 7, 8, "Memcpy HtoD (Unknown -> Unknown)"},
	{15, -1, INT64_MAX, "Memcpy Unknown (Unknown -> Unknown)"},
	{-1, 5, 6, "Memcpy Unknown (Device Static -> Managed Static)"},
};

START_TEST(copies_are_named_as_kineto_names_them)
{
	char name[TP_NSYS_WORDS_MAX];
	tp_nsys_copy_name(name, sizeof(name), copies[_i].kind, copies[_i].source,
			  copies[_i].target);
	ck_assert_str_eq(name, copies[_i].name);
}
END_TEST

START_TEST(fills_tell_their_memory)
{
	char name[TP_NSYS_WORDS_MAX];
	tp_nsys_set_name(name, sizeof(name), 2);
	ck_assert_str_eq(name, "Memset (Device)");
	tp_nsys_set_name(name, sizeof(name), 99);
	ck_assert_str_eq(name, "Memset (Unknown)");
}
END_TEST

Suite *suite_import_nsys_words(void);
Suite *suite_import_nsys_words(void)
{
	Suite *suite = suite_create("import/nsys_words");
	TCase *tc = tcase_create("words");
	tcase_add_loop_test(tc, calls_lose_the_version_of_their_interface, 0,
			    (int)(sizeof(calls) / sizeof(calls[0])));
	tcase_add_loop_test(tc, copies_are_named_as_kineto_names_them, 0,
			    (int)(sizeof(copies) / sizeof(copies[0])));
	tcase_add_test(tc, fills_tell_their_memory);
	suite_add_tcase(suite, tc);
	return suite;
}
