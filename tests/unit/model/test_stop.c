/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the reasons of gaps in which the program or trainprof was stopped. */
#include "trainprof/model/stop.h"

#include <check.h>
#include <string.h>

START_TEST(stops_read_back_as_written)
{
	for (int kind = 0; kind < TP_N_STOP_KINDS; kind++) {
		char reason[TP_STOP_REASON_SIZE];
		struct tp_stopped_time stop;
		tp_stop_format(reason, (enum tp_stop_kind)kind, 4194304, 0);
		ck_assert(tp_stop_parse(&stop, reason));
		ck_assert_int_eq(stop.kind, kind);
		ck_assert_int_eq(stop.pid, 4194304);
		ck_assert_uint_eq(stop.length_ns, 0);
	}
}
END_TEST

START_TEST(a_suspended_machine_says_for_how_long)
{
	char reason[TP_STOP_REASON_SIZE];
	struct tp_stopped_time stop;
	tp_stop_format(reason, TP_STOP_SUSPENDED, 0, 3200000000);
	ck_assert_str_eq(reason, "the machine was suspended for 3200 ms");
	ck_assert(tp_stop_parse(&stop, reason));
	ck_assert_int_eq(stop.pid, 0);
	ck_assert_uint_eq(stop.length_ns, 3200000000);
}
END_TEST

START_TEST(other_and_damaged_reasons_are_no_stops)
{
	static const char *const texts[] = {"", "ring full", "stopped", ", process 7"};
	struct tp_stopped_time stop;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert(!tp_stop_parse(&stop, texts[i]));
	ck_assert(tp_stop_parse(&stop, "stopped by a signal, process 99999999999999999999"));
	ck_assert_int_eq(stop.pid, 0);
	ck_assert(tp_stop_parse(&stop, "the machine was suspended for 99999999999999999999 ms"));
	ck_assert_uint_eq(stop.length_ns, 0);
	ck_assert(tp_stop_parse(&stop, "stopped by a signal, process -5"));
	ck_assert_int_eq(stop.pid, 0);
}
END_TEST

Suite *suite_model_stop(void);
Suite *suite_model_stop(void)
{
	Suite *suite = suite_create("model_stop");
	TCase *tests = tcase_create("reasons");
	tcase_add_test(tests, stops_read_back_as_written);
	tcase_add_test(tests, a_suspended_machine_says_for_how_long);
	tcase_add_test(tests, other_and_damaged_reasons_are_no_stops);
	suite_add_tcase(suite, tests);
	return suite;
}
