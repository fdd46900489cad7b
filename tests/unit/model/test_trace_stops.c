/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of removing time from a trace. */
#include "trainprof/base/clock.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <string.h>

#define SECOND TP_NS_PER_S

enum { TRAINER = 100, WORKER = 200 };

struct rig {
	struct tp_trace_builder builder;
	struct tp_trace trace;
};

static void put_task(struct rig *rig, uint32_t id, pid_t pid, uint64_t cpu_ns)
{
	struct tp_task task = {.id = id, .tid = pid, .pid = pid, .utime_ns = cpu_ns};
	task.parent = id ? 0 : TP_NO_TASK;
	tp_sink_task(&rig->builder.sink, &task);
}

/* A trainer that computes for eight of ten seconds, and a process that is almost idle. */
static void rig_open(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	tp_trace_builder_init(&rig->builder);
	put_task(rig, 0, TRAINER, 8 * SECOND);
	put_task(rig, 1, WORKER, SECOND / 10);
}

static void put_run(struct rig *rig, uint32_t task, double from_s, double to_s)
{
	struct tp_run run = {.task = task,
			     .start_ns = (uint64_t)(from_s * 1e9),
			     .end_ns = (uint64_t)(to_s * 1e9)};
	tp_sink_run(&rig->builder.sink, &run);
}

static void put_stop(struct rig *rig, enum tp_stop_kind kind, pid_t pid, double from_s, double to_s)
{
	char reason[TP_STOP_REASON_SIZE];
	tp_stop_format(reason, kind, pid, 0);
	tp_sink_gap(&rig->builder.sink, TP_STOP_SOURCE, reason, (uint64_t)(from_s * 1e9),
		    (uint64_t)(to_s * 1e9), 0);
}

static void put_gauge(struct rig *rig, enum tp_metric metric, uint32_t task, double at_s,
		      double value)
{
	tp_sink_gauge(&rig->builder.sink, metric, task, (uint64_t)(at_s * 1e9), value);
}

static void build(struct rig *rig)
{
	struct tp_run_info run = {.ended_ns = 10 * SECOND, .measure_until_ns = 10 * SECOND};
	tp_trace_build(&rig->trace, &rig->builder, &run);
}

static void rig_close(struct rig *rig)
{
	tp_trace_release(&rig->trace);
	tp_trace_builder_release(&rig->builder);
}

START_TEST(stopped_time_is_in_no_time_of_the_trace)
{
	struct rig rig;
	rig_open(&rig);
	put_run(&rig, 0, 0, 4);
	put_run(&rig, 0, 7, 10);
	/* Detected by reading /proc: later than the real start, and not up to the real end. */
	put_stop(&rig, TP_STOP_SIGNAL, TRAINER, 4.1, 5.1);
	put_stop(&rig, TP_STOP_SIGNAL, TRAINER, 5.1, 6.9);
	const struct tp_mark marks[] = {
		{.kind = TP_MARK_STEP, .time_ns = 1 * SECOND, .task = 0},
		{.kind = TP_MARK_STEP, .time_ns = 5 * SECOND, .task = 0},
		{.kind = TP_MARK_PHASE_END, .time_ns = 6 * SECOND, .task = 0},
		{.kind = TP_MARK_STEP, .time_ns = 8 * SECOND, .task = 0},
	};
	for (size_t i = 0; i < 4; i++)
		tp_sink_mark(&rig.builder.sink, &marks[i]);
	build(&rig);
	const struct tp_trace *trace = &rig.trace;
	ck_assert_uint_eq(trace->end_ns, 7 * SECOND);
	ck_assert_uint_eq(trace->run.measure_until_ns, 7 * SECOND);
	ck_assert_uint_eq(trace->n_runs, 2);
	ck_assert_uint_eq(trace->runs[0].end_ns, 4 * SECOND);
	ck_assert_uint_eq(trace->runs[1].start_ns, 4 * SECOND);
	ck_assert_uint_eq(trace->runs[1].end_ns, 7 * SECOND);
	ck_assert_uint_eq(trace->left_out_ns[TP_STOP_SIGNAL], 3 * SECOND);
	ck_assert_uint_eq(trace->n_stops, 1);
	ck_assert_uint_eq(trace->stops[0].start_ns, 4 * SECOND);
	ck_assert_uint_eq(trace->stops[0].length_ns, 3 * SECOND);
	ck_assert(trace->stops[0].is_left_out);
	ck_assert_uint_eq(trace->n_gaps, 0);
	ck_assert_uint_eq(trace->n_marks, 3);
	ck_assert_uint_eq(trace->marks[1].time_ns, 4 * SECOND);
	ck_assert_uint_eq(trace->marks[2].time_ns, 5 * SECOND);
	rig_close(&rig);
}
END_TEST

START_TEST(counters_do_not_have_what_others_did_meanwhile)
{
	struct rig rig;
	double growth;
	rig_open(&rig);
	put_stop(&rig, TP_STOP_SIGNAL, TRAINER, 4, 7);
	/* The machine is always busy; the trainer only while it is not stopped. */
	for (int s = 0; s <= 10; s++) {
		put_gauge(&rig, TP_METRIC_CPU_BUSY, TP_NO_TASK, s, s * 2e9);
		put_gauge(&rig, TP_METRIC_PROC_UTIME, 0, s, (s < 4 ? s : s < 7 ? 4 : s - 3) * 1e9);
		put_gauge(&rig, TP_METRIC_MEM_AVAILABLE, TP_NO_TASK, s + 0.5, s);
	}
	build(&rig);
	const struct tp_trace *trace = &rig.trace;
	ck_assert(tp_trace_counter_delta(trace, TP_METRIC_CPU_BUSY, TP_NO_TASK, 0, 7 * SECOND,
					 &growth));
	ck_assert_double_eq_tol(growth, 14e9, 1);
	ck_assert(tp_trace_counter_delta(trace, TP_METRIC_PROC_UTIME, 0, 0, 7 * SECOND, &growth));
	ck_assert_double_eq_tol(growth, 7e9, 1);
	size_t n;
	tp_trace_gauges(trace, TP_METRIC_MEM_AVAILABLE, TP_NO_TASK, &n);
	ck_assert_uint_eq(n, 11 - 3);
	rig_close(&rig);
}
END_TEST

START_TEST(a_helper_that_is_stopped_stops_nothing)
{
	struct rig rig;
	rig_open(&rig);
	put_run(&rig, 0, 0, 10);
	put_stop(&rig, TP_STOP_SIGNAL, WORKER, 2, 9);
	build(&rig);
	ck_assert_uint_eq(rig.trace.end_ns, 10 * SECOND);
	ck_assert_uint_eq(rig.trace.left_out_ns[TP_STOP_SIGNAL], 0);
	ck_assert_uint_eq(rig.trace.n_stops, 1);
	ck_assert(!rig.trace.stops[0].is_left_out);
	ck_assert_int_eq(rig.trace.stops[0].pid, WORKER);
	ck_assert_uint_eq(rig.trace.stops[0].length_ns, 7 * SECOND);
	rig_close(&rig);
}
END_TEST

START_TEST(overlapping_stops_count_once)
{
	struct rig rig;
	rig_open(&rig);
	put_stop(&rig, TP_STOP_MEASURER, 0, 2, 6);
	put_stop(&rig, TP_STOP_SIGNAL, TRAINER, 3, 5);
	put_stop(&rig, TP_STOP_MEASURER, 0, 8, 9);
	tp_sink_gap(&rig.builder.sink, TP_STOP_SOURCE, "the machine was suspended for 500 ms",
		    7 * SECOND, 7 * SECOND, 0);
	build(&rig);
	ck_assert_uint_eq(rig.trace.end_ns, 5 * SECOND);
	ck_assert_uint_eq(rig.trace.left_out_ns[TP_STOP_SIGNAL], 4 * SECOND);
	ck_assert_uint_eq(rig.trace.left_out_ns[TP_STOP_MEASURER], SECOND);
	ck_assert_uint_eq(rig.trace.left_out_ns[TP_STOP_SUSPENDED], SECOND / 2);
	rig_close(&rig);
}
END_TEST

START_TEST(spans_and_samples_of_stopped_time_are_gone)
{
	struct rig rig;
	rig_open(&rig);
	put_stop(&rig, TP_STOP_FROZEN, TRAINER, 4, 7);
	for (int s = 1; s < 10; s++) {
		struct tp_sample sample = {.task = 0, .syscall = -1};
		sample.time_ns = (uint64_t)s * SECOND + SECOND / 2;
		tp_sink_sample(&rig.builder.sink, &sample);
	}
	struct tp_track track = {.device = 0};
	tp_sink_track(&rig.builder.sink, &track);
	struct tp_span span = {.kind = TP_SPAN_KERNEL};
	for (int s = 1; s < 10; s += 2) {
		span.start_ns = (uint64_t)s * SECOND + SECOND / 4;
		span.end_ns = span.start_ns + SECOND / 2;
		tp_sink_span(&rig.builder.sink, &span);
	}
	build(&rig);
	ck_assert_uint_eq(rig.trace.n_samples, 9 - 3);
	ck_assert_uint_eq(rig.trace.samples[3].time_ns, 4 * SECOND + SECOND / 2);
	ck_assert_uint_eq(rig.trace.sample_index[1], 6);
	ck_assert_uint_eq(rig.trace.spans[0].n, 4); /* the one in the fifth second is gone */
	ck_assert_uint_eq(rig.trace.spans[0].items[2].start_ns, 4 * SECOND + SECOND / 4);
	rig_close(&rig);
}
END_TEST

START_TEST(a_stop_without_bounds_is_cut_to_the_run)
{
	struct rig rig;
	rig_open(&rig);
	put_run(&rig, 0, 0, 4);
	char reason[TP_STOP_REASON_SIZE];
	tp_stop_format(reason, TP_STOP_SIGNAL, TRAINER, 0);
	tp_sink_gap(&rig.builder.sink, TP_STOP_SOURCE, reason, 5 * SECOND, UINT64_MAX, 0);
	tp_sink_gap(&rig.builder.sink, TP_STOP_SOURCE, reason, 50 * SECOND, 60 * SECOND, 0);
	build(&rig);
	ck_assert_uint_le(rig.trace.end_ns, 5 * SECOND);
	ck_assert_uint_le(rig.trace.left_out_ns[TP_STOP_SIGNAL], 10 * SECOND);
	rig_close(&rig);
}
END_TEST

Suite *suite_model_trace_stops(void);
Suite *suite_model_trace_stops(void)
{
	Suite *suite = suite_create("model_trace_stops");
	TCase *tests = tcase_create("times");
	tcase_add_test(tests, stopped_time_is_in_no_time_of_the_trace);
	tcase_add_test(tests, counters_do_not_have_what_others_did_meanwhile);
	tcase_add_test(tests, a_helper_that_is_stopped_stops_nothing);
	tcase_add_test(tests, overlapping_stops_count_once);
	tcase_add_test(tests, spans_and_samples_of_stopped_time_are_gone);
	tcase_add_test(tests, a_stop_without_bounds_is_cut_to_the_run);
	suite_add_tcase(suite, tests);
	return suite;
}
