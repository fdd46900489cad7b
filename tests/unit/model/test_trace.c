/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of building traces. */
#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <string.h>

static void add_task(struct tp_trace_builder *b, uint32_t id)
{
	struct tp_task task = {.id = id, .tid = (pid_t)(100 + id), .pid = 100, .start_ns = 1000};
	task.parent = id ? 0 : TP_NO_TASK;
	task.comm = tp_sink_string(&b->sink, "train");
	tp_sink_task(&b->sink, &task);
}

static void add_run(struct tp_trace_builder *b, uint32_t task, uint64_t start, uint64_t end)
{
	struct tp_run run = {.task = task, .start_ns = 1000 + start, .end_ns = 1000 + end};
	tp_sink_run(&b->sink, &run);
}

START_TEST(runs_are_sorted_clipped_and_indexed)
{
	struct tp_trace_builder b;
	tp_trace_builder_init(&b);
	add_task(&b, 0);
	add_task(&b, 1);
	add_run(&b, 1, 50, 60);
	add_run(&b, 0, 30, 40);
	add_run(&b, 0, 10, 35);
	add_run(&b, 0, 40, 30); /* ends before it starts */
	add_run(&b, 7, 10, 20); /* no such task */
	struct tp_run_info run = {.started_ns = 1000, .ended_ns = 1100};
	struct tp_trace trace;
	tp_trace_build(&trace, &b, &run);
	ck_assert_uint_eq(trace.n_runs, 3);
	ck_assert_uint_eq(trace.runs[0].start_ns, 10);
	ck_assert_uint_eq(trace.runs[0].end_ns, 30);
	ck_assert_uint_eq(trace.run_index[0], 0);
	ck_assert_uint_eq(trace.run_index[1], 2);
	ck_assert_uint_eq(trace.run_index[2], 3);
	ck_assert_uint_eq(trace.n_dropped, 3);
	ck_assert_uint_eq(trace.end_ns, 100);
	tp_trace_release(&trace);
	tp_trace_builder_release(&b);
}
END_TEST

START_TEST(samples_of_leaving_threads_are_apart)
{
	struct tp_trace_builder b;
	tp_trace_builder_init(&b);
	add_task(&b, 0);
	add_task(&b, 1);
	const struct tp_sample samples[] = {
		{.task = 1, .time_ns = 1020, .flags = TP_SAMPLE_SWITCH_OUT},
		{.task = 0, .time_ns = 1030},
		{.task = 0, .time_ns = 1040, .flags = TP_SAMPLE_SWITCH_OUT | TP_SAMPLE_KERNEL},
		{.task = 0, .time_ns = 1010, .flags = TP_SAMPLE_SWITCH_OUT},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(samples); i++)
		tp_sink_sample(&b.sink, &samples[i]);
	struct tp_run_info run = {.started_ns = 1000, .ended_ns = 1100};
	struct tp_trace trace;
	tp_trace_build(&trace, &b, &run);
	ck_assert_uint_eq(trace.n_samples, 1);
	ck_assert_uint_eq(trace.samples[0].time_ns, 30);
	ck_assert_uint_eq(trace.n_leavings, 3);
	ck_assert_uint_eq(trace.leavings[0].time_ns, 10);
	ck_assert_uint_eq(trace.leavings[1].time_ns, 40);
	ck_assert_uint_eq(trace.leavings[2].task, 1);
	tp_trace_release(&trace);
	tp_trace_builder_release(&b);
}
END_TEST

START_TEST(spans_are_kept_by_track_and_sorted)
{
	struct tp_trace_builder b;
	tp_trace_builder_init(&b);
	tp_sink_track(&b.sink, &(struct tp_track){.id = 0, .device = TP_TRACK_THREAD});
	tp_sink_track(&b.sink, &(struct tp_track){.id = 1, .device = 3, .number = 7});
	uint32_t name = tp_sink_string(&b.sink, "gemm");
	struct tp_span span = {.start_ns = 1050, .end_ns = 1060, .name = name, .track = 1};
	tp_sink_span(&b.sink, &span);
	span.start_ns = 1020;
	tp_sink_span(&b.sink, &span);
	span.kind = TP_SPAN_CALL; /* a call on a device track */
	tp_sink_span(&b.sink, &span);
	span.track = 0;
	tp_sink_span(&b.sink, &span);
	span.end_ns = 1010; /* before it starts */
	tp_sink_span(&b.sink, &span);
	span = (struct tp_span){.start_ns = 1001, .end_ns = 1002, .track = 9}; /* no such track */
	tp_sink_span(&b.sink, &span);
	struct tp_run_info run = {.started_ns = 1000};
	struct tp_trace trace;
	tp_trace_build(&trace, &b, &run);
	ck_assert_uint_eq(trace.n_tracks, 2);
	ck_assert_uint_eq(trace.spans[0].n, 1);
	ck_assert_uint_eq(trace.spans[1].n, 2);
	ck_assert_uint_eq(trace.spans[1].items[0].start_ns, 20);
	ck_assert_uint_eq(trace.spans[1].items[1].start_ns, 50);
	ck_assert_str_eq(tp_trace_string(&trace, trace.spans[1].items[0].name), "gemm");
	ck_assert_uint_eq(trace.n_dropped, 3);
	ck_assert_uint_eq(trace.end_ns, 60);
	tp_trace_release(&trace);
	tp_trace_builder_release(&b);
}
END_TEST

static const struct {
	uint32_t told;
	uint32_t kept;
} parents[] = {
	{0, 0},
	{1, 1}, /* recorded later than its child */
	{TP_NO_TASK, TP_NO_TASK},
	{3, TP_NO_TASK}, /* as high as the number of tasks */
	{5, TP_NO_TASK}, /* one less than the number of task records */
	{6, TP_NO_TASK},
	{TP_NO_TASK - 1, TP_NO_TASK},
};

START_TEST(a_parent_that_was_never_recorded_is_ignored)
{
	struct tp_trace_builder b;
	tp_trace_builder_init(&b);
	struct tp_task child = {.id = 2, .tid = 102, .pid = 102, .parent = parents[_i].told};
	for (int i = 0; i < 2; i++) { /* at its start and at its end */
		add_task(&b, 0);
		tp_sink_task(&b.sink, &child);
		add_task(&b, 1);
	}
	struct tp_trace trace;
	tp_trace_build(&trace, &b, &(struct tp_run_info){0});
	ck_assert_uint_eq(trace.n_tasks, 3);
	ck_assert_uint_eq(trace.tasks[2].parent, parents[_i].kept);
	tp_trace_release(&trace);
	tp_trace_builder_release(&b);
}
END_TEST

START_TEST(equal_stacks_share_an_id_and_keep_their_frames)
{
	struct tp_trace_builder b;
	tp_trace_builder_init(&b);
	struct tp_frame frame = {.module = tp_sink_string(&b.sink, "/bin/train"), .address = 16};
	uint32_t one = tp_sink_frame(&b.sink, &frame);
	frame.address = 32;
	uint32_t two = tp_sink_frame(&b.sink, &frame);
	ck_assert_uint_ne(one, two);
	uint32_t ids[] = {two, one};
	uint32_t stack = tp_sink_stack(&b.sink, ids, 2, 0);
	ck_assert_uint_eq(tp_sink_stack(&b.sink, ids, 2, 0), stack);
	ck_assert_uint_ne(tp_sink_stack(&b.sink, ids, 1, 0), stack);
	struct tp_run_info run = {0};
	struct tp_trace trace;
	tp_trace_build(&trace, &b, &run);
	const struct tp_stack *found = tp_trace_stack(&trace, stack);
	ck_assert_uint_eq(found->n_frames, 2);
	ck_assert_uint_eq(trace.frames[found->frames[0]].address, 32);
	ck_assert_str_eq(tp_trace_string(&trace, trace.frames[one].module), "/bin/train");
	ck_assert_uint_eq(tp_trace_stack(&trace, 99)->n_frames, 0);
	tp_trace_release(&trace);
	tp_trace_builder_release(&b);
}
END_TEST

START_TEST(counters_grow_linearly_between_readings)
{
	struct tp_trace_builder b;
	tp_trace_builder_init(&b);
	for (uint64_t t = 0; t <= 4; t++)
		tp_sink_gauge(&b.sink, TP_METRIC_DISK_READ, TP_NO_TASK, t * 100, (double)t * 10);
	struct tp_run_info run = {0};
	struct tp_trace trace;
	tp_trace_build(&trace, &b, &run);
	double growth;
	ck_assert(
		tp_trace_counter_delta(&trace, TP_METRIC_DISK_READ, TP_NO_TASK, 150, 250, &growth));
	ck_assert_double_eq_tol(growth, 10, 1e-9);
	ck_assert(!tp_trace_counter_delta(&trace, TP_METRIC_DISK_WRITE, TP_NO_TASK, 0, 9, &growth));
	tp_trace_release(&trace);
	tp_trace_builder_release(&b);
}
END_TEST

/* Stays and samples of 50 tasks, recorded in the order that `place` gives. */
static void build_shuffled(struct tp_trace *trace, unsigned (*place)(unsigned))
{
	enum { N = 5000 };
	struct tp_trace_builder b;
	tp_trace_builder_init(&b);
	for (uint32_t id = 0; id < 50; id++)
		add_task(&b, id);
	for (unsigned i = 0; i < N; i++) {
		unsigned at = place(i);
		add_run(&b, at % 50, at * 10, at * 10 + 5);
		struct tp_sample sample = {.task = at * 7 % 50, .time_ns = 1000 + at, .cpu = at};
		tp_sink_sample(&b.sink, &sample);
	}
	tp_trace_build(trace, &b, &(struct tp_run_info){.started_ns = 1000});
	tp_trace_builder_release(&b);
}

static unsigned forward(unsigned i)
{
	return i;
}

static unsigned scattered(unsigned i)
{
	return i * 1777 % 5000; /* 1777 and 5000 have no common divisor */
}

START_TEST(the_order_of_records_does_not_matter)
{
	struct tp_trace a;
	struct tp_trace b;
	build_shuffled(&a, forward);
	build_shuffled(&b, scattered);
	ck_assert_uint_eq(a.n_runs, 5000);
	ck_assert_uint_eq(b.n_runs, 5000);
	ck_assert_mem_eq(a.samples, b.samples, a.n_samples * sizeof(*a.samples));
	for (size_t i = 0; i < a.n_runs; i++) {
		ck_assert_uint_eq(a.runs[i].task, i / 100);
		ck_assert_uint_eq(a.runs[i].start_ns, (i % 100 * 50 + i / 100) * 10);
		ck_assert_uint_eq(b.runs[i].start_ns, a.runs[i].start_ns);
		ck_assert_uint_eq(b.runs[i].task, a.runs[i].task);
	}
	for (size_t task = 0; task <= 50; task++) {
		ck_assert_uint_eq(a.run_index[task], task * 100);
		ck_assert_uint_eq(a.sample_index[task], task * 100);
	}
	tp_trace_release(&a);
	tp_trace_release(&b);
}
END_TEST

/* Records come at least once per second, and at the end. */
START_TEST(an_end_that_no_record_bears_out_is_cut)
{
	static const struct {
		uint64_t ended_ns;
		uint64_t measured_ns; /* --duration */
		bool is_cut;
	} ends[] = {
		{1000 + TP_NS_PER_S, 0, false},
		{1000 + 3600 * TP_NS_PER_S, 0, true},
		{1000 + 3600 * TP_NS_PER_S, 1100, false},
		{UINT64_MAX, 0, true},
		{UINT64_MAX, 1100, true},
	};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct tp_trace_builder b;
		struct tp_trace trace;
		tp_trace_builder_init(&b);
		add_task(&b, 0);
		add_run(&b, 0, 10, 100);
		struct tp_run_info run = {.started_ns = 1000,
					  .ended_ns = ends[i].ended_ns,
					  .measure_until_ns = ends[i].measured_ns};
		tp_trace_build(&trace, &b, &run);
		ck_assert_int_eq(trace.is_end_cut, ends[i].is_cut);
		ck_assert_uint_eq(trace.end_ns, ends[i].is_cut ? 100 : ends[i].ended_ns - 1000);
		tp_trace_release(&trace);
		tp_trace_builder_release(&b);
	}
}
END_TEST

/* trainprof was stopped, and noticed the end late. Not applied while a thread is alive. */
START_TEST(the_end_is_the_last_threads)
{
	for (int is_alive = 0; is_alive <= 1; is_alive++) {
		struct tp_trace_builder b;
		struct tp_trace trace;
		tp_trace_builder_init(&b);
		for (uint32_t id = 0; id < 2; id++) {
			struct tp_task task = {.id = id, .tid = (pid_t)(100 + id), .pid = 100};
			task.parent = id ? 0 : TP_NO_TASK;
			task.start_ns = 1000;
			task.end_ns = id ? 1080 : is_alive ? 0 : 1050;
			tp_sink_task(&b.sink, &task);
		}
		struct tp_run_info run = {.started_ns = 1000,
					  .ended_ns = 9000,
					  .pid = 100,
					  .end = TP_END_EXITED};
		tp_trace_build(&trace, &b, &run);
		ck_assert_uint_eq(trace.end_ns, is_alive ? 8000 : 80);
		tp_trace_release(&trace);
		tp_trace_builder_release(&b);
	}
}
END_TEST

Suite *suite_model_trace(void);
Suite *suite_model_trace(void)
{
	Suite *suite = suite_create("model/trace");
	TCase *tc = tcase_create("trace");
	tcase_add_test(tc, the_end_is_the_last_threads);
	tcase_add_test(tc, an_end_that_no_record_bears_out_is_cut);
	tcase_add_test(tc, samples_of_leaving_threads_are_apart);
	tcase_add_test(tc, spans_are_kept_by_track_and_sorted);
	tcase_add_test(tc, runs_are_sorted_clipped_and_indexed);
	tcase_add_test(tc, the_order_of_records_does_not_matter);
	tcase_add_loop_test(tc, a_parent_that_was_never_recorded_is_ignored, 0,
			    sizeof(parents) / sizeof(parents[0]));
	tcase_add_test(tc, equal_stacks_share_an_id_and_keep_their_frames);
	tcase_add_test(tc, counters_grow_linearly_between_readings);
	suite_add_tcase(suite, tc);
	return suite;
}
