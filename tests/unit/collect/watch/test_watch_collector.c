/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the source of exact times when there is nothing to watch; complete runs are in
 * tests/steps/. */
#include "collect/registry.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <string.h>

static struct tp_host host;
static struct tp_trace_builder sink;
static struct tp_collect_config config;
static struct tp_collect_context context;

static void setup(void)
{
	tp_trace_builder_init(&sink);
	host = (struct tp_host){.is_live = true};
	config = (struct tp_collect_config){.max_overhead_ratio = 0.01};
	context = (struct tp_collect_context){.host = &host,
					      .config = &config,
					      .actual = &config,
					      .sink = &sink.sink};
}

static void teardown(void)
{
	tp_trace_builder_release(&sink);
}

START_TEST(a_recorded_machine_has_no_registers)
{
	struct tp_availability availability;
	host.is_live = false;
	tp_watch_collector.probe(&host, &availability);
	ck_assert_int_eq(availability.presence, TP_PRESENCE_NO_DEVICE);
	ck_assert_str_eq(availability.reason, "a recorded machine");
}
END_TEST

START_TEST(a_machine_has_them_or_it_is_said_why_not)
{
	struct tp_availability availability;
	tp_watch_collector.probe(&host, &availability);
	ck_assert((availability.presence == TP_PRESENCE_PRESENT) ==
		  (availability.reason[0] == '\0'));
}
END_TEST

/* For a program without Python, and before anything was started. */
START_TEST(it_can_be_paused_stopped_and_closed_at_any_time)
{
	struct tp_collector *self;
	struct tp_error err;
	ck_assert_int_eq(tp_watch_collector.open(&self, &context, &err), TP_OK);
	tp_watch_collector.pause(self, true, 1);
	ck_assert_int_eq(tp_watch_collector.wait_fd(self), -1);
	ck_assert_int_eq(tp_watch_collector.sample(self, 2, &err), TP_OK);
	if (_i == 1 && tp_watch_collector.start(self, 1, &err) == TP_OK) {
		ck_assert_int_ge(tp_watch_collector.wait_fd(self), 0);
		tp_watch_collector.pause(self, false, 3);
		ck_assert_int_eq(tp_watch_collector.sample(self, 4, &err), TP_OK);
		tp_watch_collector.pause(self, true, 5);
	}
	ck_assert_int_eq(tp_watch_collector.stop(self, 6, &err), TP_OK);
	tp_watch_collector.close(self);
}
END_TEST

Suite *suite_collect_watch_collector(void);
Suite *suite_collect_watch_collector(void)
{
	Suite *suite = suite_create("collect/watch_collector");
	TCase *tc = tcase_create("watch_collector");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_recorded_machine_has_no_registers);
	tcase_add_test(tc, a_machine_has_them_or_it_is_said_why_not);
	tcase_add_loop_test(tc, it_can_be_paused_stopped_and_closed_at_any_time, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
