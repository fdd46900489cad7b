/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which CUPTI is used to sample counters, and what its errors mean. */
#include "collect/gpu/counters/pm_library.h"
#include "collect/pmdouble.h"

START_TEST(one_with_all_calls_is_taken)
{
	struct tp_pm_library library;
	pm_script("");
	ck_assert(!tp_pm_library_open(&library, NULL, NULL));
	ck_assert_ptr_nonnull(library.sample_info);
	struct pm_supported_chips chips = {.size = PM_SIZE(pm_supported_chips, chips)};
	ck_assert_int_eq(library.supported_chips(&chips), PM_OK);
	ck_assert_str_eq(chips.chips[0], "GH100");
	pm_double_reset();
}
END_TEST

START_TEST(an_older_one_is_refused_by_what_it_lacks)
{
	struct tp_pm_library library = {0};
	struct tp_error why = {0};
	char path[CUDA_DOUBLE_PATH];
	setenv("TRAINPROF_CUPTI", beside(path, "doubles/old/libcupti.so.13"), 1);
	ck_assert_int_eq(tp_pm_library_open(&library, "", &why), TP_VERSION);
	ck_assert_ptr_nonnull(strstr(why.text, "CUDA 12.6 is needed"));
	ck_assert_ptr_null(library.handle);
}
END_TEST

/* The folders are nvidia/cuda_runtime/lib and nvidia/cuda_cupti/lib. */
START_TEST(in_a_wheel_it_lies_beside_the_runtime)
{
	char top[] = "/tmp/trainprof-wheel-XXXXXX";
	char command[4 * CUDA_DOUBLE_PATH];
	char runtime[CUDA_DOUBLE_PATH];
	char double_path[CUDA_DOUBLE_PATH];
	struct tp_pm_library library;
	ck_assert_ptr_nonnull(mkdtemp(top));
	unsetenv("TRAINPROF_CUPTI");
	snprintf(command, sizeof(command),
		 "mkdir -p %s/cuda_runtime/lib %s/cuda_cupti/lib && cp %s %s/cuda_cupti/lib/", top,
		 top, beside(double_path, "doubles/whole/libcupti.so.13"), top);
	ck_assert_int_eq(system(command), 0);
	snprintf(runtime, sizeof(runtime), "%s/cuda_runtime/lib/libcudart.so.13", top);
	ck_assert(!tp_pm_library_open(&library, runtime, NULL));
	struct pm_supported_chips chips = {.size = PM_SIZE(pm_supported_chips, chips)};
	ck_assert_int_eq(library.supported_chips(&chips), PM_OK);
	ck_assert_uint_eq(chips.n, 1); /* the test double has one */
	snprintf(command, sizeof(command), "rm -r %s", top);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(refusals_say_what_would_help)
{
	static const struct {
		int result;
		enum tp_presence presence;
		const char *remedy; /* part of it */
	} refusals[] = {
		{PM_NO_PRIVILEGES, TP_PRESENCE_NO_PERMISSION, "NVreg_RestrictProfiling"},
		{PM_HARDWARE_BUSY, TP_PRESENCE_IN_USE, "ncu"},
		{PM_INVALID_OPERATION, TP_PRESENCE_IN_USE, "ncu"},
		{PM_NOT_SUPPORTED, TP_PRESENCE_NO_DEVICE, ""},
		{PM_UNKNOWN_CHIP, TP_PRESENCE_NO_LIBRARY, "TRAINPROF_CUPTI="},
		{PM_INVALID_METRIC_NAME, TP_PRESENCE_NO_DEVICE, ""},
		{4711, TP_PRESENCE_NO_DEVICE, ""},
	};
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct tp_availability why;
		tp_pm_explain(&why, "PmSamplingEnable", refusals[i].result);
		ck_assert_int_eq(why.presence, refusals[i].presence);
		ck_assert_ptr_nonnull(strstr(why.remedy, refusals[i].remedy));
		ck_assert_ptr_nonnull(strstr(why.reason, "PmSamplingEnable: "));
		/* A text that was cut off would mislead. */
		ck_assert_uint_lt(strlen(why.reason), sizeof(why.reason) - 1);
		ck_assert_uint_lt(strlen(why.remedy), sizeof(why.remedy) - 1);
	}
}
END_TEST

Suite *suite_collect_pm_library(void);
Suite *suite_collect_pm_library(void)
{
	Suite *suite = suite_create("collect/pm_library");
	TCase *tc = tcase_create("pm_library");
	tcase_add_test(tc, one_with_all_calls_is_taken);
	tcase_add_test(tc, an_older_one_is_refused_by_what_it_lacks);
	tcase_add_test(tc, in_a_wheel_it_lies_beside_the_runtime);
	tcase_add_test(tc, refusals_say_what_would_help);
	suite_add_tcase(suite, tc);
	return suite;
}
