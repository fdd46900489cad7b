/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the names of device activities. */
#include "trainprof/model/device.h"

#include <check.h>

START_TEST(all_have_names)
{
	ck_assert_str_eq(tp_op_class_name(TP_OP_COMPUTE), "compute");
	ck_assert_str_eq(tp_op_class_name(TP_OP_COPY), "copy");
	ck_assert_str_eq(tp_op_class_name(TP_N_OP_CLASSES), "none");
	ck_assert_str_eq(tp_gap_cause_name(TP_GAP_LATENCY), "latency");
	ck_assert_str_eq(tp_gap_cause_name(TP_GAP_UNKNOWN), "unknown");
	ck_assert_str_eq(tp_gap_cause_name(TP_N_GAP_CAUSES), "none");
}
END_TEST

Suite *suite_model_device(void);
Suite *suite_model_device(void)
{
	Suite *suite = suite_create("model/device");
	TCase *tc = tcase_create("device");
	tcase_add_test(tc, all_have_names);
	suite_add_tcase(suite, tc);
	return suite;
}
