/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of notes about sources. */
#include "collect/machine/availability.h"

#include <check.h>
#include <string.h>

START_TEST(reasons_are_joined_as_far_as_there_is_room)
{
	struct tp_availability availability = {.presence = TP_PRESENCE_PRESENT};
	tp_availability_degrade(&availability, "%d KiB of each stack", 8);
	ck_assert_int_eq(availability.presence, TP_PRESENCE_DEGRADED);
	tp_availability_degrade(&availability, "no switch records");
	ck_assert_str_eq(availability.reason, "8 KiB of each stack; no switch records");
	for (int i = 0; i < 20; i++)
		tp_availability_degrade(&availability, "a reason that is rather long");
	ck_assert_uint_lt(strlen(availability.reason), sizeof(availability.reason));
	ck_assert_uint_gt(strlen(availability.reason), 60);
}
END_TEST

/* A note that does not fit still makes the source degraded. */
START_TEST(what_has_no_room_for_its_reason_is_degraded_too)
{
	struct tp_availability availability = {.presence = TP_PRESENCE_PRESENT};
	memset(availability.reason, 'x', sizeof(availability.reason) - 1);
	tp_availability_degrade(&availability, "no room");
	ck_assert_int_eq(availability.presence, TP_PRESENCE_DEGRADED);
	ck_assert_uint_eq(strlen(availability.reason), sizeof(availability.reason) - 1);
}
END_TEST

START_TEST(a_missing_source_does_not_become_present_by_a_note)
{
	struct tp_availability availability = {.presence = TP_PRESENCE_NO_PERMISSION};
	tp_availability_degrade(&availability, "x");
	ck_assert_int_eq(availability.presence, TP_PRESENCE_NO_PERMISSION);
}
END_TEST

START_TEST(an_error_becomes_a_presence_with_reason_and_remedy)
{
	static const struct {
		enum tp_status status;
		enum tp_presence presence;
	} cases[] = {
		{TP_DENIED, TP_PRESENCE_NO_PERMISSION},
		{TP_BUSY, TP_PRESENCE_IN_USE},
		{TP_ABSENT, TP_PRESENCE_NO_DEVICE},
		{TP_IO, TP_PRESENCE_NO_DEVICE},
	};
	struct tp_error err = {0};
	struct tp_availability availability;
	(void)tp_fail(&err, cases[_i].status, "%0240d", 1); /* longer than a reason */
	tp_error_next(&err, "do this");
	tp_availability_fail(&availability, &err);
	ck_assert_int_eq(availability.presence, cases[_i].presence);
	ck_assert_uint_eq(strlen(availability.reason), sizeof(availability.reason) - 1);
	ck_assert_str_eq(availability.remedy, "do this");
}
END_TEST

Suite *suite_collect_availability(void);
Suite *suite_collect_availability(void)
{
	Suite *suite = suite_create("collect/availability");
	TCase *tc = tcase_create("availability");
	tcase_add_test(tc, reasons_are_joined_as_far_as_there_is_room);
	tcase_add_test(tc, what_has_no_room_for_its_reason_is_degraded_too);
	tcase_add_test(tc, a_missing_source_does_not_become_present_by_a_note);
	tcase_add_loop_test(tc, an_error_becomes_a_presence_with_reason_and_remedy, 0, 4);
	suite_add_tcase(suite, tc);
	return suite;
}
