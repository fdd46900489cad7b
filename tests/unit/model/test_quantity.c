/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of numbers with their origin. */
#include "trainprof/model/quantity.h"

#include <check.h>

START_TEST(origins_have_names)
{
	ck_assert_str_eq(tp_origin_name(TP_ORIGIN_MEASURED), "measured");
	ck_assert_str_eq(tp_origin_name(TP_ORIGIN_ESTIMATED), "estimated");
	ck_assert_str_eq(tp_origin_name((enum tp_origin)9), "derived");
}
END_TEST

Suite *suite_model_quantity(void);
Suite *suite_model_quantity(void)
{
	Suite *suite = suite_create("model/quantity");
	TCase *tc = tcase_create("quantity");
	tcase_add_test(tc, origins_have_names);
	suite_add_tcase(suite, tc);
	return suite;
}
