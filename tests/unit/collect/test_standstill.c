/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how trainprof notices that it was not running for a while. */
#include "collect/standstill.h"

#include "trainprof/base/clock.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>

#define MS TP_NS_PER_MS

/* Returns the gap that a sleep leaves; its reason is "" if it leaves none. */
static struct tp_gap gap_of(uint64_t slept_ns, uint64_t boot_ns, uint64_t meant_ns,
			    bool was_stopped, char *reason)
{
	const struct tp_standstill_now before = {1000 * MS, 5000 * MS};
	const struct tp_standstill_now after = {1000 * MS + slept_ns, 5000 * MS + boot_ns};
	struct tp_trace_builder builder;
	struct tp_gap gap = {0};
	tp_trace_builder_init(&builder);
	tp_standstill_check(&builder.sink, &before, &after, meant_ns, was_stopped, 77);
	*reason = '\0';
	ck_assert_uint_le(builder.n_records, 1);
	if (builder.n_records) {
		gap = builder.records[0].of.gap;
		snprintf(reason, TP_STOP_REASON_SIZE, "%s",
			 tp_strtab_text(&builder.sink.strings, gap.reason));
	}
	tp_trace_builder_release(&builder);
	return gap;
}

START_TEST(a_sleep_as_long_as_meant_leaves_nothing)
{
	char reason[TP_STOP_REASON_SIZE];
	gap_of(20 * MS, 20 * MS, 20 * MS, false, reason);
	ck_assert_str_eq(reason, "");
	gap_of(60000 * MS, 60000 * MS, 60000 * MS, false, reason);
	ck_assert_str_eq(reason, "");
	gap_of(400 * MS, 400 * MS, 20 * MS, false, reason); /* a crowded machine */
	ck_assert_str_eq(reason, "");
	gap_of(UINT32_MAX * MS, UINT32_MAX * MS, UINT64_MAX, false,
	       reason); /* waits without a time limit */
	ck_assert_str_eq(reason, "");
}
END_TEST

START_TEST(a_much_longer_one_is_a_gap)
{
	char reason[TP_STOP_REASON_SIZE];
	struct tp_gap gap = gap_of(3000 * MS, 3000 * MS, 20 * MS, false, reason);
	ck_assert_str_eq(reason, "trainprof itself stood still");
	ck_assert_uint_eq(gap.start_ns, 1000 * MS);
	ck_assert_uint_eq(gap.end_ns, 4000 * MS);
	gap_of(3000 * MS, 3000 * MS, 20 * MS, true, reason);
	ck_assert_str_eq(reason, "stopped by a signal, process 77");
}
END_TEST

START_TEST(a_suspended_machine_shows_on_one_clock_only)
{
	char reason[TP_STOP_REASON_SIZE];
	struct tp_gap gap = gap_of(20 * MS, 3020 * MS, 20 * MS, false, reason);
	ck_assert_str_eq(reason, "the machine was suspended for 3000 ms");
	ck_assert_uint_eq(gap.start_ns, gap.end_ns);
}
END_TEST

Suite *suite_collect_standstill(void);
Suite *suite_collect_standstill(void)
{
	Suite *suite = suite_create("collect_standstill");
	TCase *tests = tcase_create("clocks");
	tcase_add_test(tests, a_sleep_as_long_as_meant_leaves_nothing);
	tcase_add_test(tests, a_much_longer_one_is_a_gap);
	tcase_add_test(tests, a_suspended_machine_shows_on_one_clock_only);
	suite_add_tcase(suite, tests);
	return suite;
}
