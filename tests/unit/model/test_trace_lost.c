/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the number of lost records. */
#include "trainprof/model/trace.h"

#include <check.h>

static struct tp_trace_builder builder;
static struct tp_trace trace;

static void put_source(const char *name, uint64_t n_lost)
{
	const struct tp_availability there = {.presence = TP_PRESENCE_PRESENT};
	tp_sink_source(&builder.sink, name, "", &there, 100, n_lost);
}

static uint64_t lost(void)
{
	const struct tp_run_info run = {.ended_ns = 1000, .measure_until_ns = 1000};
	tp_trace_build(&trace, &builder, &run);
	uint64_t n = tp_trace_n_lost(&trace);
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
	return n;
}

START_TEST(a_loss_in_a_gap_and_in_its_source_is_one_loss)
{
	tp_trace_builder_init(&builder);
	put_source("perf", 30);
	tp_sink_gap(&builder.sink, "perf", "a ring was full", 10, 20, 10);
	tp_sink_gap(&builder.sink, "perf", "a ring was full", 30, 40, 20);
	ck_assert_uint_eq(lost(), 30);
}
END_TEST

START_TEST(the_larger_number_counts_for_each_source)
{
	tp_trace_builder_init(&builder);
	put_source("perf", 30);
	put_source("proc", 5);
	put_source("host", 2);
	tp_sink_gap(&builder.sink, "perf", "a ring was full", 10, 20, 10);
	tp_sink_gap(&builder.sink, "proc", "a ring was full", 10, 20, 7);
	ck_assert_uint_eq(lost(), 30 + 7 + 2);
}
END_TEST

START_TEST(what_no_source_counts_is_added)
{
	tp_trace_builder_init(&builder);
	put_source("perf", 30);
	tp_sink_gap(&builder.sink, "recording", "no space left on device", 900, 1000, 4);
	tp_sink_gap(&builder.sink, TP_STOP_SOURCE, "stopped by a signal", 100, 200, 3);
	ck_assert_uint_eq(lost(), 37);
}
END_TEST

START_TEST(a_sum_that_is_too_large_does_not_begin_again)
{
	tp_trace_builder_init(&builder);
	put_source("perf", UINT64_MAX);
	put_source("proc", 2);
	ck_assert_uint_eq(lost(), UINT64_MAX);
}
END_TEST

Suite *suite_model_trace_lost(void);
Suite *suite_model_trace_lost(void)
{
	Suite *suite = suite_create("model_trace_lost");
	TCase *tests = tcase_create("counts");
	tcase_add_test(tests, a_loss_in_a_gap_and_in_its_source_is_one_loss);
	tcase_add_test(tests, the_larger_number_counts_for_each_source);
	tcase_add_test(tests, what_no_source_counts_is_added);
	tcase_add_test(tests, a_sum_that_is_too_large_does_not_begin_again);
	suite_add_tcase(suite, tests);
	return suite;
}
