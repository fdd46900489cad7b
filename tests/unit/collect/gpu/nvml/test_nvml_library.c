/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of loading NVML, with its test doubles. */
#include "collect/gpu/nvml/nvml_library.h"
#include "collect/nvmldouble.h"

START_TEST(a_driver_that_is_whole_gives_every_call)
{
	struct tp_nvml_library library;
	char path[600];
	ck_assert(!tp_nvml_library_open(&library, double_path(path, sizeof(path), "whole"), NULL));
#define X(call, symbol, older, is_needed, arguments)                                               \
	ck_assert_msg(library.call != NULL, "%s", symbol);
	NVML_CALL_MAP(X)
#undef X
	tp_nvml_library_close(&library);
	ck_assert_ptr_null(library.handle);
}
END_TEST

START_TEST(an_old_driver_lacks_calls_and_is_used_all_the_same)
{
	struct tp_nvml_library library;
	char path[600];
	ck_assert(!tp_nvml_library_open(&library, double_path(path, sizeof(path), "old"), NULL));
	ck_assert(library.init && library.memory && library.processes_v1);
	ck_assert(!library.memory_v2 && !library.processes && !library.fields);
	ck_assert(!library.gpm_support && !library.gpm_metrics);
	ck_assert(library.reasons != NULL); /* found by its older name */
	tp_nvml_library_close(&library);
}
END_TEST

START_TEST(one_that_lacks_what_is_needed_is_refused_by_name)
{
	struct tp_nvml_library library = {0};
	struct tp_error err = {0};
	char path[600];
	ck_assert_int_eq(tp_nvml_library_open(&library, double_path(path, sizeof(path), "broken"),
					      &err),
			 TP_VERSION);
	ck_assert_ptr_nonnull(strstr(err.text, "nvmlShutdown"));
	ck_assert_ptr_null(library.handle);
	ck_assert_int_eq(tp_nvml_library_open(&library, "/nonexistent/libnvidia-ml.so.1", &err),
			 TP_ABSENT);
	ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent"));
}
END_TEST

static const struct {
	int result;
	enum tp_presence presence;
	const char *word; /* expected in the reason */
	bool has_remedy;
} failures[] = {
	{3, TP_PRESENCE_NO_DEVICE, "not supported (3)", false},
	{4, TP_PRESENCE_NO_PERMISSION, "no permission (4)", true},
	{9, TP_PRESENCE_NO_DEVICE, "the NVIDIA driver is not loaded (9)", true},
	{15, TP_PRESENCE_NO_DEVICE, "the GPU is lost (15)", true},
	{18, TP_PRESENCE_NO_LIBRARY, "of different versions (18)", true},
	{999, TP_PRESENCE_NO_DEVICE, "unknown error (999)", true},
	{12345, TP_PRESENCE_NO_DEVICE, "unknown error (12345)", true},
};

START_TEST(a_failing_start_says_what_and_what_to_type)
{
	struct tp_availability why;
	tp_nvml_explain(&why, failures[_i].result);
	ck_assert_int_eq(why.presence, failures[_i].presence);
	ck_assert_ptr_nonnull(strstr(why.reason, failures[_i].word));
	ck_assert_int_eq(why.remedy[0] != '\0', failures[_i].has_remedy);
}
END_TEST

Suite *suite_collect_nvml_library(void);
Suite *suite_collect_nvml_library(void)
{
	Suite *suite = suite_create("collect/nvml_library");
	TCase *tc = tcase_create("library");
	tcase_add_test(tc, a_driver_that_is_whole_gives_every_call);
	tcase_add_test(tc, an_old_driver_lacks_calls_and_is_used_all_the_same);
	tcase_add_test(tc, one_that_lacks_what_is_needed_is_refused_by_name);
	tcase_add_loop_test(tc, a_failing_start_says_what_and_what_to_type, 0,
			    sizeof(failures) / sizeof(failures[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
