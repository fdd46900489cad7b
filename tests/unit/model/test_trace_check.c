/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the guarantees of a trace: records that violate them are dropped, counted or cut. */
#include "trainprof/model/trace_check.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct tp_trace_builder builder;
static struct tp_trace trace;
static const struct tp_run_info run = {.started_ns = 1, .ended_ns = 1001};

static void put(const struct tp_record *record)
{
	builder.sink.type->put(&builder.sink, record);
}

/* Three tasks; each test adds its records and builds the trace. */
static void setup(void)
{
	tp_trace_builder_init(&builder);
	for (uint32_t i = 0; i < 3; i++) {
		struct tp_task task = {.id = i, .pid = 10, .tid = 10 + (pid_t)i, .start_ns = 1};
		task.parent = i ? i - 1 : TP_NO_TASK;
		tp_sink_task(&builder.sink, &task);
	}
}

static void build(void)
{
	tp_trace_build(&trace, &builder, &run);
}

static void teardown(void)
{
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
}

START_TEST(marks_name_tasks_strings_and_kinds_that_exist)
{
	static const struct tp_mark marks[] = {
		{.task = 0, .kind = TP_MARK_STEP, .time_ns = 5},
		{.task = TP_NO_TASK, .kind = TP_MARK_STEP, .time_ns = 6},
		{.task = 2, .kind = TP_MARK_STEP, .name = 4711, .time_ns = 7},
		{.task = 3, .kind = TP_MARK_STEP, .time_ns = 8},
		{.task = 0, .kind = TP_N_MARK_KINDS, .time_ns = 9},
		{.task = 0, .kind = TP_MARK_STEP, .time_ns = UINT64_MAX},
	};
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		put(&(struct tp_record){.kind = TP_RECORD_MARK, .of.mark = marks[i]});
	build();
	ck_assert_uint_eq(trace.n_marks, 3);
	ck_assert_uint_eq(trace.n_dropped, 3);
	ck_assert_uint_eq(trace.marks[2].name, 0);
}
END_TEST

START_TEST(readings_are_finite_and_counters_do_not_sink_below_zero)
{
	static const struct {
		enum tp_metric metric;
		double value;
		bool is_kept;
	} readings[] = {
		{TP_METRIC_CPU_BUSY, 5, true},
		{TP_METRIC_CPU_BUSY, -5, false},
		{TP_METRIC_CPU_BUSY, INFINITY, false},
		{TP_METRIC_MEM_AVAILABLE, NAN, false},
		{TP_METRIC_MEM_AVAILABLE, 1e300, false},
		{TP_METRIC_SELF_SAMPLE_COST, -1, true},
		{TP_N_METRICS, 1, false},
	};
	size_t n_kept = 0;
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		tp_sink_gauge(&builder.sink, readings[i].metric, TP_NO_TASK, 2, readings[i].value);
		n_kept += readings[i].is_kept;
	}
	build();
	ck_assert_uint_eq(trace.n_gauges, n_kept);
	for (size_t i = 0; i < trace.n_gauges; i++)
		ck_assert(isfinite(trace.gauges[i].value));
}
END_TEST

START_TEST(what_is_divided_by_a_number_stays_finite)
{
	const struct tp_run_info tiny = {.started_ns = 1,
					 .ended_ns = 1001,
					 .host.quota_cpus = 1e-300};
	static const double values[] = {1e-300, -1e-300, 1e-17};
	for (size_t i = 0; i < 3; i++)
		put(&(struct tp_record){.kind = TP_RECORD_GAUGE,
					.of.gauge = {.task = TP_NO_TASK,
						     .metric = TP_METRIC_CG_QUOTA,
						     .time_ns = 5 + i,
						     .value = values[i]}});
	tp_trace_build(&trace, &builder, &tiny);
	ck_assert_double_eq(trace.run.host.quota_cpus, 0);
	ck_assert_uint_eq(trace.n_gauges, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_double_eq(trace.gauges[i].value, i < 2 ? 0 : values[i]);
}
END_TEST

START_TEST(no_task_is_its_own_ancestor)
{
	struct tp_task first = {.id = 0, .pid = 10, .tid = 10, .parent = 2, .start_ns = 1};
	struct tp_task own = {.id = 3, .pid = 11, .tid = 11, .parent = 3, .start_ns = 1};
	tp_sink_task(&builder.sink, &first); /* 0 <- 1 <- 2 <- 0 */
	tp_sink_task(&builder.sink, &own);
	build();
	for (uint32_t i = 0; i < trace.n_tasks; i++) {
		uint32_t at = i;
		for (size_t depth = 0; at != TP_NO_TASK; depth++) {
			ck_assert_uint_le(depth, trace.n_tasks);
			at = trace.tasks[at].parent;
		}
	}
	ck_assert_uint_eq(trace.n_dropped, 2);
}
END_TEST

START_TEST(times_end_after_they_begin_and_cpus_have_a_limit)
{
	struct tp_task ended = {
		.id = 1, .pid = 10, .tid = 11, .parent = 0, .start_ns = 500, .end_ns = 200};
	struct tp_run odd = {.task = 0, .cpu = UINT32_MAX, .start_ns = 10, .end_ns = 20};
	struct tp_gap gap = {.source = 99, .start_ns = 30, .end_ns = 20};
	ended.utime_ns = UINT64_MAX;
	tp_sink_task(&builder.sink, &ended);
	tp_sink_run(&builder.sink, &odd);
	put(&(struct tp_record){.kind = TP_RECORD_GAP, .of.gap = gap});
	build();
	ck_assert_uint_eq(trace.tasks[1].end_ns, 0);
	ck_assert_uint_eq(trace.tasks[1].utime_ns, 0);
	ck_assert_uint_eq(trace.n_runs, 1);
	ck_assert_uint_lt(trace.runs[0].cpu, TP_TRACE_CPUS_MAX);
	ck_assert_uint_eq(trace.n_gaps, 0);
}
END_TEST

START_TEST(an_empty_trace_fits)
{
	tp_trace_builder_release(&builder);
	tp_trace_builder_init(&builder);
	build();
	ck_assert_uint_eq(trace.n_dropped, 0);
	ck_assert_uint_eq(trace.n_tasks, 0);
}
END_TEST

Suite *suite_model_trace_check(void);
Suite *suite_model_trace_check(void)
{
	Suite *suite = suite_create("model/trace_check");
	TCase *tc = tcase_create("trace_check");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, marks_name_tasks_strings_and_kinds_that_exist);
	tcase_add_test(tc, readings_are_finite_and_counters_do_not_sink_below_zero);
	tcase_add_test(tc, what_is_divided_by_a_number_stays_finite);
	tcase_add_test(tc, no_task_is_its_own_ancestor);
	tcase_add_test(tc, times_end_after_they_begin_and_cpus_have_a_limit);
	tcase_add_test(tc, an_empty_trace_fits);
	suite_add_tcase(suite, tc);
	return suite;
}
