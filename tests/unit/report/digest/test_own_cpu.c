/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the table of trainprof's own CPU time. */
#include "trainprof/report/own_cpu.h"

#include <check.h>
#include <string.h>

static struct tp_trace_builder builder;
static struct tp_trace trace;
static struct tp_own_cpu own;

static void put(enum tp_metric metric, uint64_t time_ns, double value)
{
	tp_sink_gauge(&builder.sink, metric, TP_NO_TASK, time_ns, value);
}

static bool read_all(void)
{
	const struct tp_run_info run = {.started_ns = 1000, .ended_ns = 9000};
	tp_trace_build(&trace, &builder, &run);
	return tp_own_cpu_read(&own, &trace);
}

static double of(const char *id)
{
	for (size_t i = 0; i < own.n; i++)
		if (strcmp(own.rows[i].id, id) == 0)
			return own.rows[i].cpu_ns;
	ck_abort_msg("no row %s", id);
	return 0;
}

static void setup(void)
{
	tp_trace_builder_init(&builder);
}

static void teardown(void)
{
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
}

START_TEST(rows_sum_up_to_what_the_kernel_says)
{
	put(TP_METRIC_SELF_CPU, 1000, 70e6);
	put(TP_METRIC_SELF_CPU, 8000, 500e6);
	for (int metric = TP_METRIC_SELF_RINGS; metric <= TP_METRIC_SELF_STORE; metric++)
		put((enum tp_metric)metric, 8000, 10e6 * (metric - TP_METRIC_SELF_RINGS + 1));
	ck_assert(read_all());
	double sum = 0;
	for (size_t i = 0; i < own.n; i++)
		sum += own.rows[i].cpu_ns;
	ck_assert_double_eq_tol(sum, 500e6, 1);
	ck_assert_double_eq_tol(own.cpu_ns, 500e6, 1);
	ck_assert_double_eq_tol(of("start"), 70e6, 1);
	ck_assert_double_eq_tol(of("rings"), 10e6, 1);
	ck_assert_double_eq_tol(of("store"), 80e6, 1);
	ck_assert_double_eq_tol(of("rest"), 70e6, 1);
}
END_TEST

START_TEST(older_recordings_have_no_rows)
{
	put(TP_METRIC_SELF_CPU, 1000, 70e6);
	put(TP_METRIC_SELF_CPU, 8000, 500e6);
	ck_assert(!read_all());
}
END_TEST

Suite *suite_report_own_cpu(void);
Suite *suite_report_own_cpu(void)
{
	Suite *suite = suite_create("report/own_cpu");
	TCase *tc = tcase_create("own_cpu");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, rows_sum_up_to_what_the_kernel_says);
	tcase_add_test(tc, older_recordings_have_no_rows);
	suite_add_tcase(suite, tc);
	return suite;
}
