/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which cause is assumed for a wait that ended while it was being polled. */
#include "collect/offcpu/typical_wait.h"

#include <check.h>

static struct tp_wait_info wait_for(enum tp_cause cause, uint32_t target)
{
	return (struct tp_wait_info){.state = TP_STATE_BLOCKED,
				     .cause = cause,
				     .target = target,
				     .syscall = -1};
}

START_TEST(nothing_is_usual_at_first)
{
	struct tp_typical_wait usual = {0};
	struct tp_sample sample = {.cause = TP_CAUSE_UNKNOWN, .stack = 3};
	struct tp_wait_info once = wait_for(TP_CAUSE_FUTEX, 0);
	ck_assert(!tp_typical_wait_apply(&usual, &sample));
	tp_typical_wait_add(&usual, &once);
	ck_assert(!tp_typical_wait_apply(&usual, &sample));
	ck_assert_int_eq(sample.cause, TP_CAUSE_UNKNOWN);
	ck_assert_uint_eq(sample.stack, 3);
}
END_TEST

START_TEST(what_is_met_twice_in_a_row_is_usual)
{
	struct tp_typical_wait usual = {0};
	struct tp_sample sample = {0};
	struct tp_wait_info pipe = wait_for(TP_CAUSE_PIPE, 7);
	tp_typical_wait_add(&usual, &pipe);
	pipe.stack = 12; /* the newest stack of the same wait */
	pipe.address = 0x40;
	pipe.syscall = -1;
	tp_typical_wait_add(&usual, &pipe);
	ck_assert(tp_typical_wait_apply(&usual, &sample));
	ck_assert_int_eq(sample.cause, TP_CAUSE_PIPE);
	ck_assert_uint_eq(sample.target, 7);
	ck_assert_uint_eq(sample.stack, 12);
	ck_assert_uint_eq(sample.address, 0x40);
	ck_assert_int_eq(sample.syscall, -1);
}
END_TEST

/* Alternating waits do not replace the usual one. */
START_TEST(one_of_another_kind_between_does_not_count)
{
	struct tp_typical_wait usual = {0};
	struct tp_sample sample = {0};
	struct tp_wait_info pipe = wait_for(TP_CAUSE_PIPE, 7);
	struct tp_wait_info other_pipe = wait_for(TP_CAUSE_PIPE, 8);
	struct tp_wait_info futex = wait_for(TP_CAUSE_FUTEX, 7);
	tp_typical_wait_add(&usual, &pipe);
	tp_typical_wait_add(&usual, &other_pipe);
	tp_typical_wait_add(&usual, &pipe);
	tp_typical_wait_add(&usual, &futex);
	ck_assert(!tp_typical_wait_apply(&usual, &sample));
	tp_typical_wait_add(&usual, &futex);
	tp_typical_wait_add(&usual, &pipe);
	ck_assert(tp_typical_wait_apply(&usual, &sample));
	ck_assert_int_eq(sample.cause, TP_CAUSE_FUTEX);
}
END_TEST

Suite *suite_collect_typical_wait(void);
Suite *suite_collect_typical_wait(void)
{
	Suite *suite = suite_create("collect/usualwait");
	TCase *tc = tcase_create("usualwait");
	tcase_add_test(tc, nothing_is_usual_at_first);
	tcase_add_test(tc, what_is_met_twice_in_a_row_is_usual);
	tcase_add_test(tc, one_of_another_kind_between_does_not_count);
	suite_add_tcase(suite, tc);
	return suite;
}
