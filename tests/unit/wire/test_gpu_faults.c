/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the known faults of CUPTI versions. */
#include "trainprof/wire/gpu_faults.h"

#include <check.h>
#include <string.h>

static const struct {
	uint32_t cupti;
	uint32_t driver;
	const char *text; /* part of the text; NULL = the version is used */
} stops[] = {
	{0, 13000, NULL}, /* it did not start, which its state shows */
	{1, 13000, "older than 11.8"},
	{17, 13000, "older than 11.8"},
	{18, 13000, NULL},
	{28, 12000, NULL},
	{28, 11080, "newer than the driver"},
	{130000, 13000, "hang or crash"},
	{130001, 13000, NULL},
	{130001, 12090, "newer than the driver"},
	{130001, 0, NULL}, /* a driver that does not report its version is accepted */
	{139999, 13000, NULL},
	{140000, 14000, "not known"},
};

START_TEST(versions_that_do_harm_are_not_used)
{
	const struct tp_gpu_fault *found =
		tp_gpu_fault_find(TP_GPU_FAULT_STOPS, stops[_i].cupti, stops[_i].driver);
	ck_assert_int_eq(found != NULL, stops[_i].text != NULL);
	if (found)
		ck_assert_msg(strstr(found->text, stops[_i].text) != NULL, "%s", found->text);
}
END_TEST

START_TEST(faults_end_with_the_version_that_fixed_them)
{
	ck_assert_ptr_nonnull(tp_gpu_fault_find(TP_GPU_FAULT_NO_JOIN, 23, 0));
	ck_assert_ptr_null(tp_gpu_fault_find(TP_GPU_FAULT_NO_JOIN, 24, 0));
	ck_assert_ptr_nonnull(tp_gpu_fault_find(TP_GPU_FAULT_NO_NULL, 26, 0));
	ck_assert_ptr_null(tp_gpu_fault_find(TP_GPU_FAULT_NO_NULL, 27, 0));
	ck_assert_ptr_nonnull(tp_gpu_fault_find(TP_GPU_FAULT_NO_FILTER, 22, 0));
	ck_assert_ptr_null(tp_gpu_fault_find(TP_GPU_FAULT_NO_FILTER, 23, 0));
	ck_assert_ptr_nonnull(tp_gpu_fault_find(TP_GPU_FAULT_WRONG_DATA, 130001, 13000));
	ck_assert_ptr_null(tp_gpu_fault_find(TP_GPU_FAULT_WRONG_DATA, 130101, 13000));
	ck_assert_ptr_nonnull(tp_gpu_fault_find(TP_GPU_FAULT_WRONG_DATA, 130201, 13000));
	ck_assert_ptr_null(tp_gpu_fault_find(TP_GPU_FAULT_WRONG_DATA, 130301, 13000));
}
END_TEST

/* Each text is shown on one line, and has to name its source and the date when it was read. */
static const struct {
	enum tp_gpu_fault_kind kind;
	uint32_t cupti;
	uint32_t driver;
} known[] = {
	{TP_GPU_FAULT_STOPS, 17, 0},          {TP_GPU_FAULT_STOPS, 150000, 0},
	{TP_GPU_FAULT_STOPS, 28, 11080},      {TP_GPU_FAULT_STOPS, 130000, 13000},
	{TP_GPU_FAULT_NO_NULL, 18, 0},        {TP_GPU_FAULT_NO_FILTER, 18, 0},
	{TP_GPU_FAULT_WRONG_DATA, 28, 13000}, {TP_GPU_FAULT_NO_JOIN, 23, 0},
};

START_TEST(every_row_is_short_and_has_a_source_with_a_day)
{
	const struct tp_gpu_fault *row =
		tp_gpu_fault_find(known[_i].kind, known[_i].cupti, known[_i].driver);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_lt(row->since, row->until);
	ck_assert_uint_le(strlen(row->text), 80);
	size_t length = strlen(row->source);
	ck_assert_msg(length > 12 && strncmp(row->source + length - 12, ", 20", 4) == 0, "%s",
		      row->source);
}
END_TEST

START_TEST(versions_are_named_as_toolkits_are)
{
	char name[24];
	ck_assert_str_eq(tp_gpu_cupti_name(18, name, sizeof(name)), "11.8");
	ck_assert_str_eq(tp_gpu_cupti_name(28, name, sizeof(name)), "12.9 update 1");
	ck_assert_str_eq(tp_gpu_cupti_name(130001, name, sizeof(name)), "13.0.1");
	ck_assert_str_eq(tp_gpu_cupti_name(0, name, sizeof(name)), "?");
	ck_assert_str_eq(tp_gpu_cupti_name(25, name, sizeof(name)), "?");
}
END_TEST

Suite *suite_wire_gpu_faults(void);
Suite *suite_wire_gpu_faults(void)
{
	Suite *suite = suite_create("wire/gpu_faults");
	TCase *tc = tcase_create("gpu_faults");
	tcase_add_loop_test(tc, versions_that_do_harm_are_not_used, 0,
			    sizeof(stops) / sizeof(stops[0]));
	tcase_add_test(tc, faults_end_with_the_version_that_fixed_them);
	tcase_add_loop_test(tc, every_row_is_short_and_has_a_source_with_a_day, 0,
			    sizeof(known) / sizeof(known[0]));
	tcase_add_test(tc, versions_are_named_as_toolkits_are);
	suite_add_tcase(suite, tc);
	return suite;
}
