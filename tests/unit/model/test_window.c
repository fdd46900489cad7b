/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the last seconds of a running measurement. */
#include "trainprof/model/window.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define S UINT64_C(1000000000)

static const struct tp_run_info run = {.started_ns = S, .started_wall_ns = 100 * S};

static void add_task(struct tp_window *w, uint32_t id, uint32_t parent, uint64_t end_ns)
{
	struct tp_task task = {.id = id,
			       .tid = (pid_t)(100 + id),
			       .pid = (pid_t)(100 + id),
			       .parent = parent,
			       .start_ns = S,
			       .end_ns = end_ns};
	task.comm = tp_sink_string(tp_window_sink(w), "train");
	tp_sink_task(tp_window_sink(w), &task);
}

static void add_run(struct tp_window *w, uint32_t task, uint64_t start, uint64_t end,
		    enum tp_run_end how)
{
	struct tp_run stay = {.task = task, .start_ns = start, .end_ns = end, .how = how};
	tp_sink_run(tp_window_sink(w), &stay);
}

static uint32_t stack_at(struct tp_window *w, const char *symbol)
{
	struct tp_sink *sink = tp_window_sink(w);
	struct tp_frame frame = {.symbol = tp_sink_string(sink, symbol)};
	uint32_t id = tp_sink_frame(sink, &frame);
	return tp_sink_stack(sink, &id, 1, 0);
}

static void add_sample(struct tp_window *w, uint32_t task, uint64_t time, enum tp_state state,
		       const char *symbol)
{
	struct tp_sample sample = {.task = task, .time_ns = time, .state = state};
	sample.cause = state == TP_STATE_BLOCKED ? TP_CAUSE_PIPE : TP_CAUSE_NONE;
	sample.stack = stack_at(w, symbol);
	tp_sink_sample(tp_window_sink(w), &sample);
}

static const char *symbol_of(const struct tp_trace *trace, size_t sample)
{
	const struct tp_stack *stack = tp_trace_stack(trace, trace->samples[sample].stack);
	return tp_trace_string(trace, trace->frames[stack->frames[0]].symbol);
}

START_TEST(a_cut_holds_its_stretch_and_nothing_else)
{
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_trace trace;
	add_task(w, 0, TP_NO_TASK, 0);
	add_run(w, 0, 2 * S, 4 * S + 5, TP_RUN_BLOCKED);    /* overlaps its start */
	add_run(w, 0, 5 * S, 5 * S + 50, TP_RUN_BLOCKED);   /* inside */
	add_run(w, 0, 6 * S - 7, 6 * S + 9, TP_RUN_EXITED); /* overlaps its end */
	add_sample(w, 0, 3 * S, TP_STATE_ON_CPU, "before");
	add_sample(w, 0, 5 * S + 3, TP_STATE_ON_CPU, "within");
	add_sample(w, 0, 6 * S, TP_STATE_ON_CPU, "behind");
	ck_assert_uint_eq(tp_window_last_ns(w), 6 * S + 9);
	tp_window_cut(w, &trace, &run, 4 * S, 6 * S);
	uint64_t zero = trace.run.started_ns;
	ck_assert_uint_eq(trace.run.measure_from_ns, 4 * S);
	ck_assert_uint_eq(trace.end_ns, 6 * S - zero);
	ck_assert_uint_eq(trace.run.started_wall_ns, 103 * S);
	ck_assert_uint_eq(trace.n_runs, 3);
	ck_assert_uint_eq(trace.runs[0].start_ns, 4 * S - zero);
	ck_assert_uint_eq(trace.runs[0].end_ns, 4 * S + 5 - zero);
	ck_assert_uint_eq(trace.runs[2].end_ns, 6 * S - zero);
	ck_assert_int_eq(trace.runs[2].how, TP_RUN_OPEN);
	ck_assert_uint_eq(trace.n_samples, 1);
	ck_assert_str_eq(symbol_of(&trace, 0), "within");
	ck_assert_uint_eq(trace.n_dropped, 0);
	tp_trace_release(&trace);
	tp_window_free(w);
}
END_TEST

/* A wait is recorded when it begins. Hours later the thread still waits at the same place. */
START_TEST(a_wait_that_began_long_ago_continues)
{
	struct tp_window *w = tp_window_new(2 * S);
	add_task(w, 0, TP_NO_TASK, 0);
	add_run(w, 0, S, 2 * S, TP_RUN_BLOCKED);
	add_sample(w, 0, 2 * S + 5, TP_STATE_BLOCKED, "read");
	for (uint64_t now = 10; now < 20; now += 2) {
		struct tp_trace trace;
		tp_window_cut(w, &trace, &run, now * S, (now + 2) * S);
		uint64_t from = now * S - trace.run.started_ns;
		ck_assert_uint_eq(trace.n_runs, 1);
		ck_assert_int_eq(trace.runs[0].how, TP_RUN_BLOCKED);
		ck_assert_uint_le(trace.runs[0].end_ns, from);
		ck_assert_uint_eq(trace.n_samples, 1);
		ck_assert_int_eq(trace.samples[0].cause, TP_CAUSE_PIPE);
		ck_assert_uint_ge(trace.samples[0].time_ns, trace.runs[0].end_ns);
		ck_assert_str_eq(symbol_of(&trace, 0), "read");
		ck_assert_uint_eq(trace.n_dropped, 0);
		tp_trace_release(&trace);
	}
	tp_window_free(w);
}
END_TEST

/* A stay is recorded when it ends: a thread that computes for minutes has only samples. */
START_TEST(a_thread_that_computes_without_end_is_on_a_cpu)
{
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_trace trace;
	add_task(w, 0, TP_NO_TASK, 0);
	add_run(w, 0, S, 2 * S, TP_RUN_BLOCKED);
	add_sample(w, 0, 2 * S + 5, TP_STATE_BLOCKED, "read");
	add_sample(w, 0, 5 * S, TP_STATE_ON_CPU, "gemm");
	tp_window_cut(w, &trace, &run, 4 * S, 6 * S);
	uint64_t zero = trace.run.started_ns;
	ck_assert_uint_eq(trace.n_runs, 2); /* the end of the previous one, and this one */
	ck_assert_uint_eq(trace.runs[1].start_ns, 5 * S - zero);
	ck_assert_uint_eq(trace.runs[1].end_ns, 6 * S - zero);
	tp_trace_release(&trace);
	tp_window_cut(w, &trace, &run, 6 * S, 8 * S);
	zero = trace.run.started_ns;
	ck_assert_uint_eq(trace.runs[trace.n_runs - 1].start_ns, 6 * S - zero);
	ck_assert_uint_eq(trace.runs[trace.n_runs - 1].end_ns, 8 * S - zero);
	tp_trace_release(&trace);
	add_run(w, 0, 5 * S, 9 * S, TP_RUN_BLOCKED); /* finally recorded */
	tp_window_cut(w, &trace, &run, 8 * S, 10 * S);
	zero = trace.run.started_ns;
	ck_assert_uint_eq(trace.runs[trace.n_runs - 1].end_ns, 9 * S - zero);
	ck_assert_uint_eq(trace.n_dropped, 0);
	tp_trace_release(&trace);
	tp_window_free(w);
}
END_TEST

START_TEST(counters_grow_from_what_they_were_at_the_begin)
{
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_sink *sink = tp_window_sink(w);
	struct tp_trace trace;
	double growth = 0;
	add_task(w, 0, TP_NO_TASK, 0);
	tp_sink_gauge(sink, TP_METRIC_SELF_CPU, TP_NO_TASK, 1 * S, 700);
	tp_sink_gauge(sink, TP_METRIC_SELF_CPU, TP_NO_TASK, 3 * S, 1000);
	tp_sink_gauge(sink, TP_METRIC_PROC_UTIME, 0, 3 * S, 5);
	tp_sink_gauge(sink, TP_METRIC_SELF_CPU, TP_NO_TASK, 5 * S, 2000);
	tp_sink_gauge(sink, TP_METRIC_SELF_CPU, TP_NO_TASK, 6 * S, 2500);
	tp_window_cut(w, &trace, &run, 4 * S, 6 * S + 1);
	ck_assert(tp_trace_counter_delta(&trace, TP_METRIC_SELF_CPU, TP_NO_TASK, 0, trace.end_ns,
					 &growth));
	ck_assert_double_eq_tol(growth, 1000, 1e-9); /* from 1500, half-way, to 2500 */
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(&trace, TP_METRIC_PROC_UTIME, 0, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_double_eq(readings[0].value, 5);
	tp_trace_release(&trace);
	tp_window_free(w);
}
END_TEST

START_TEST(a_phase_that_was_begun_goes_on)
{
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_sink *sink = tp_window_sink(w);
	struct tp_trace trace;
	add_task(w, 0, TP_NO_TASK, 0);
	struct tp_mark mark = {.kind = TP_MARK_PHASE_BEGIN, .time_ns = S};
	mark.name = tp_sink_string(sink, "evaluation");
	tp_sink_mark(sink, &mark);
	tp_sink_mark(sink, &mark); /* never ended: it is kept once */
	mark.name = tp_sink_string(sink, "checkpoint");
	tp_sink_mark(sink, &mark);
	mark.kind = TP_MARK_PHASE_END;
	mark.time_ns = 2 * S;
	tp_sink_mark(sink, &mark);
	tp_window_cut(w, &trace, &run, 4 * S, 6 * S);
	ck_assert_uint_eq(trace.n_marks, 1);
	ck_assert_str_eq(tp_trace_string(&trace, trace.marks[0].name), "evaluation");
	ck_assert_uint_eq(trace.marks[0].time_ns, 0);
	tp_trace_release(&trace);
	tp_window_free(w);
}
END_TEST

START_TEST(a_setting_holds_until_it_is_replaced)
{
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_sink *sink = tp_window_sink(w);
	struct tp_trace trace;
	add_task(w, 0, TP_NO_TASK, 0);
	struct tp_mark mark = {.kind = TP_MARK_SETTING, .time_ns = S, .value = 8};
	mark.name = tp_sink_string(sink, "loader.batch_size");
	tp_sink_mark(sink, &mark);
	mark.time_ns = 2 * S;
	mark.value = 32;
	tp_sink_mark(sink, &mark);
	tp_window_cut(w, &trace, &run, 4 * S, 6 * S);
	ck_assert_uint_eq(trace.n_marks, 1);
	ck_assert_uint_eq(trace.marks[0].value, 32);
	tp_trace_release(&trace);
	tp_window_free(w);
}
END_TEST

START_TEST(the_dead_leave_and_their_children_stay_the_grandparents)
{
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_trace trace;
	add_task(w, 0, TP_NO_TASK, 0);
	add_task(w, 1, 0, 2 * S);
	add_task(w, 2, 1, 3 * S);
	add_task(w, 3, 2, 0);
	add_run(w, 1, S, S + 5, TP_RUN_BLOCKED);
	add_run(w, 3, 4 * S, 5 * S, TP_RUN_BLOCKED);
	tp_window_cut(w, &trace, &run, 4 * S, 6 * S);
	ck_assert_uint_eq(trace.n_tasks, 2);
	ck_assert_int_eq(trace.tasks[1].tid, 103);
	ck_assert_uint_eq(trace.tasks[1].parent, 0);
	ck_assert_str_eq(tp_trace_string(&trace, trace.tasks[1].comm), "train");
	ck_assert_uint_eq(trace.n_runs, 1);
	ck_assert_uint_eq(trace.runs[0].task, 1);
	ck_assert_uint_eq(trace.n_dropped, 0);
	tp_trace_release(&trace);
	tp_window_free(w);
}
END_TEST

/* A task is recorded again at an exec and at its end, with its original creator. */
START_TEST(a_task_recorded_again_keeps_its_creator)
{
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_trace trace;
	add_task(w, 0, TP_NO_TASK, 0);
	add_task(w, 1, 0, 2 * S);
	add_task(w, 2, 1, 0);
	for (uint64_t from = 4; from < 10; from += 2) {
		tp_window_cut(w, &trace, &run, from * S, (from + 2) * S);
		ck_assert_uint_eq(trace.n_tasks, 2);
		ck_assert_uint_eq(trace.tasks[1].parent, 0);
		tp_trace_release(&trace);
		add_task(w, 2, 1, 0);
	}
	tp_window_free(w);
}
END_TEST

/* No task has the id of a device's track; a track with spans is between two of them. */
START_TEST(gauges_of_devices_come_with_their_track)
{
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_sink *sink = tp_window_sink(w);
	struct tp_trace trace;
	size_t n;
	add_task(w, 0, TP_NO_TASK, 0);
	struct tp_track track = {.id = 0, .number = TP_TRACK_WHOLE};
	track.name = tp_sink_string(sink, "GPU 0");
	tp_sink_track(sink, &track);
	track = (struct tp_track){.id = 1, .number = 7};
	tp_sink_track(sink, &track);
	track = (struct tp_track){.id = 2, .device = 1, .number = TP_TRACK_WHOLE};
	track.name = tp_sink_string(sink, "GPU 1");
	tp_sink_track(sink, &track);
	for (uint64_t at = 3; at < 6; at++)
		tp_sink_gauge(sink, TP_METRIC_GPU_POWER, 2, at * S, 100.0 * (double)at);
	for (uint64_t from = 4; from < 6; from++) {
		tp_window_cut(w, &trace, &run, from * S, 6 * S);
		ck_assert_uint_eq(trace.n_tracks, 2);
		ck_assert_str_eq(tp_trace_string(&trace, trace.tracks[1].name), "GPU 1");
		const struct tp_gauge *readings =
			tp_trace_gauges(&trace, TP_METRIC_GPU_POWER, 1, &n);
		ck_assert_uint_ge(n, 1);
		ck_assert_double_eq(readings[n - 1].value, 500);
		ck_assert_uint_eq(trace.n_dropped, 0);
		tp_trace_release(&trace);
	}
	tp_window_free(w);
}
END_TEST

/* Ten thousand seconds, with threads that start and end: a window of two seconds cuts as many rows
 * at the end as at the beginning. */
START_TEST(memory_stays_bounded_over_hours)
{
	enum { SECONDS = 10000, STAYS = 20 };
	struct tp_window *w = tp_window_new(2 * S);
	struct tp_trace trace;
	add_task(w, 0, TP_NO_TASK, 0);
	for (uint32_t second = 2; second < SECONDS; second++) {
		uint64_t at = second * S;
		add_task(w, second, 0, at + S / 2);
		for (uint64_t i = 0; i < STAYS; i++) {
			add_run(w, 0, at + i * 100, at + i * 100 + 50, TP_RUN_BLOCKED);
			add_sample(w, 0, at + i * 100 + 9, TP_STATE_ON_CPU, "gemm");
			add_run(w, second, at + i * 100, at + i * 100 + 50, TP_RUN_BLOCKED);
		}
		tp_sink_gauge(tp_window_sink(w), TP_METRIC_PROC_RSS, second, at, 1);
		struct tp_mark mark = {.kind = TP_MARK_PHASE_BEGIN, .task = second, .time_ns = at};
		tp_sink_mark(tp_window_sink(w), &mark); /* it ends before its phase does */
	}
	uint64_t end = (uint64_t)SECONDS * S;
	tp_window_cut(w, &trace, &run, end - 2 * S, end);
	ck_assert_uint_eq(trace.n_tasks, 3);
	ck_assert_uint_eq(trace.n_runs,
			  2 * 2 * STAYS + 1); /* and the end of the main thread's previous stay */
	ck_assert_uint_eq(trace.n_samples, 2 * STAYS);
	ck_assert_uint_eq(trace.n_gauges, 2);
	ck_assert_uint_eq(trace.n_marks, 2);
	ck_assert(!tp_window_is_full(w));
	tp_trace_release(&trace);
	tp_window_free(w);
}
END_TEST

START_TEST(a_window_is_full_of_names)
{
	struct tp_window *w = tp_window_new(2 * S);
	char name[128];
	uint32_t n = 0;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (; n < 2000000 && !tp_window_is_full(w); n++) {
		snprintf(name, 16, "%015u", n);
		name[15] = '_';
		tp_sink_string(tp_window_sink(w), name);
	}
	ck_assert_uint_gt(n, 100000);
	ck_assert_uint_lt(n, 1000000); /* 64 MiB of names */
	tp_window_free(w);
}
END_TEST

Suite *suite_model_window(void);
Suite *suite_model_window(void)
{
	Suite *suite = suite_create("model/window");
	TCase *tc = tcase_create("window");
	tcase_add_test(tc, a_cut_holds_its_stretch_and_nothing_else);
	tcase_add_test(tc, a_wait_that_began_long_ago_continues);
	tcase_add_test(tc, a_thread_that_computes_without_end_is_on_a_cpu);
	tcase_add_test(tc, counters_grow_from_what_they_were_at_the_begin);
	tcase_add_test(tc, a_phase_that_was_begun_goes_on);
	tcase_add_test(tc, a_setting_holds_until_it_is_replaced);
	tcase_add_test(tc, the_dead_leave_and_their_children_stay_the_grandparents);
	tcase_add_test(tc, a_task_recorded_again_keeps_its_creator);
	tcase_add_test(tc, gauges_of_devices_come_with_their_track);
	tcase_add_test(tc, memory_stays_bounded_over_hours);
	tcase_add_test(tc, a_window_is_full_of_names);
	suite_add_tcase(suite, tc);
	return suite;
}
