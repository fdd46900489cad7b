/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of labelling a rank's main thread by samples and switches when spans show nothing. */
#include "analyze/devices/rank_host.h"

#include "analyze/spanscene.h"

#include "trainprof/model/fact.h"

#define US UINT64_C(1000)
#define T0 (1000 * US) /* start of the step, 100 us long; the device works in its first 40 */

static struct scene s;
static uint16_t thread;
static uint16_t stream;

/* Creates one step of 100 us on a device that is busy for the first 40. */
static void setup(void)
{
	scene_init(&s, 1);
	thread = scene_track(&s, 0, TP_TRACK_THREAD);
	stream = scene_track(&s, 0, 0);
	scene_step(&s, thread, 1, T0, T0 + 100 * US);
	scene_op(&s, thread, T0, stream, TP_SPAN_KERNEL, SCENE_GEMM, T0, T0 + 40 * US);
}

static void teardown(void)
{
	scene_release(&s);
}

static void task_add(uint32_t task, uint16_t track, uint32_t rank, uint64_t end_ns)
{
	struct tp_sink *sink = &s.builder.sink;
	tp_sink_task(sink, &(struct tp_task){.id = task,
					     .tid = 7,
					     .pid = 7,
					     .parent = TP_NO_TASK,
					     .start_ns = T0,
					     .end_ns = end_ns});
	tp_sink_track(sink, &(struct tp_track){.id = track,
					       .rank = rank,
					       .device = TP_TRACK_THREAD,
					       .number = 7,
					       .task_plus_1 = task + 1});
}

/* Times are us within the step. */
static void run_add(uint64_t from, uint64_t to, enum tp_run_end how)
{
	tp_sink_run(&s.builder.sink, &(struct tp_run){.start_ns = T0 + from * US,
						      .end_ns = T0 + to * US,
						      .how = how});
}

static uint32_t stack_of(const char *module, const char *symbol)
{
	struct tp_sink *sink = &s.builder.sink;
	const struct tp_frame frame = {.kind = TP_FRAME_NATIVE,
				       .module = tp_sink_string(sink, module),
				       .symbol = tp_sink_string(sink, symbol)};
	return tp_sink_stack(sink, &(uint32_t){tp_sink_frame(sink, &frame)}, 1, 0);
}

static void sample_add(uint64_t at, enum tp_state state, uint32_t stack)
{
	tp_sink_sample(&s.builder.sink,
		       &(struct tp_sample){.state = state,
					   .cause = state == TP_STATE_BLOCKED ? TP_CAUSE_UNKNOWN
									      : TP_CAUSE_NONE,
					   .stack = stack,
					   .syscall = -1,
					   .time_ns = T0 + at * US});
}

static void ck_label(enum tp_label label, uint64_t us)
{
	uint64_t found_ns = s.profile.label_ns[label];
	ck_assert_msg(found_ns == us * US, "%s.%s: %llu ns", tp_part_name(tp_label_part(label)),
		      tp_label_name(label), (unsigned long long)found_ns);
}

START_TEST(without_samples_and_switches_nothing_is_known)
{
	scene_judge(&s);
	ck_label(TP_LABEL_IDLE_UNKNOWN, 60);
	ck_assert(!s.profile.facts[TP_FACT_STEP_RUNNABLE].is_known);
	ck_assert(!s.profile.facts[TP_FACT_STEP_INTERPRETER].is_known);
	ck_assert_double_eq_tol(s.profile.facts[TP_FACT_STEP_IDLE_UNKNOWN].value, 0.6, 1e-9);
	ck_assert_uint_eq(s.profile.n_hot, 0);
}
END_TEST

/* Blocked from 10 to 20, while the device works; on a CPU until 60, without one until 70, blocked
 * in read until 90 and for an unknown cause until 95, then on a CPU again. */
START_TEST(switches_part_what_spans_leave)
{
	task_add(0, thread, 0, T0 + 100 * US);
	run_add(0, 10, TP_RUN_BLOCKED);
	run_add(20, 60, TP_RUN_PREEMPTED);
	run_add(70, 72, TP_RUN_BLOCKED);
	run_add(90, 91, TP_RUN_BLOCKED);
	run_add(95, 100, TP_RUN_OPEN);
	scene_span(&s, thread, TP_SPAN_OS_CALL, "read", T0 + 71 * US, T0 + 90 * US + 500);
	scene_judge(&s);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMPUTE), 40 * US);
	/* No sample shows what it did on a CPU in [40, 60), [70, 72), [90, 91), [95, 100). */
	ck_label(TP_LABEL_HOST_OTHER, 28);
	ck_label(TP_LABEL_IDLE_RUNNABLE, 10);
	ck_label(TP_LABEL_IDLE_IO, 18);
	ck_label(TP_LABEL_IDLE_UNKNOWN, 4);
	ck_assert_uint_eq(s.profile.parts[TP_PART_HOST].hidden_ns, 30 * US);
	ck_assert_uint_eq(s.profile.parts[TP_PART_IDLE].hidden_ns, 0);
	ck_assert_double_eq_tol(s.profile.facts[TP_FACT_STEP_RUNNABLE].value, 0.1, 1e-9);
	ck_assert_double_eq_tol(s.profile.facts[TP_FACT_STEP_IDLE_IO].value, 0.18, 1e-9);
	/* No sample shows where it was on a CPU. */
	ck_assert(!s.profile.facts[TP_FACT_STEP_INTERPRETER].is_known);
}
END_TEST

/* As in a live recording, except for computing, which counts as the CPU side when there is a
 * device. */
static const struct {
	const char *module, *symbol;
	enum tp_label label;
} places[] = {
	{"/usr/bin/python3.11", "_PyEval_EvalFrameDefault", TP_LABEL_HOST_INTERPRETER},
	{"/lib/x86_64-linux-gnu/libc.so.6", "__memmove_avx_unaligned_erms", TP_LABEL_MEMORY_COPY},
	{"/lib/x86_64-linux-gnu/libc.so.6", "_int_malloc", TP_LABEL_MEMORY_ALLOC},
	{"/usr/lib/libjpeg.so.62", "jpeg_idct_islow", TP_LABEL_DATALOADER_PREP},
	{"/usr/lib/libopenblas.so.0", "dgemm_kernel", TP_LABEL_HOST_OTHER},
	{"/home/me/train", "prepare", TP_LABEL_HOST_OTHER},
	{"", "", TP_LABEL_HOST_OTHER},
};

START_TEST(stacks_say_what_a_cpu_was_for)
{
	task_add(0, thread, 0, T0 + 100 * US);
	run_add(0, 100, TP_RUN_OPEN);
	sample_add(20, TP_STATE_ON_CPU, stack_of("/home/me/train", "other"));
	/* Borders are halfway between samples: 50 and 75. */
	sample_add(80, TP_STATE_ON_CPU, stack_of("/home/me/train", "other"));
	sample_add(70, TP_STATE_ON_CPU, stack_of(places[_i].module, places[_i].symbol));
	scene_judge(&s);
	uint64_t rest_us = 10 + 25; /* [40, 45) of the first and [75, 100) of the last */
	if (places[_i].label == TP_LABEL_HOST_OTHER)
		ck_label(TP_LABEL_HOST_OTHER, 60);
	else
		ck_label(places[_i].label, 60 - rest_us + 5);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMPUTE), 40 * US);
	ck_assert_uint_eq(scene_part(&s, TP_PART_IDLE), 0);
	ck_assert(s.profile.facts[TP_FACT_STEP_INTERPRETER].is_known);
}
END_TEST

START_TEST(a_phase_that_owns_its_time_keeps_it_without_a_cpu)
{
	uint32_t loader = stack_of("/usr/lib/libtrain.so", "DataLoader::next");
	task_add(0, thread, 0, T0 + 100 * US);
	run_add(0, 60, TP_RUN_PREEMPTED);
	run_add(70, 80, TP_RUN_BLOCKED);
	run_add(90, 100, TP_RUN_OPEN);
	sample_add(50, TP_STATE_ON_CPU, loader);
	sample_add(75, TP_STATE_ON_CPU, loader);
	sample_add(80, TP_STATE_BLOCKED, loader); /* taken as the thread lost its CPU */
	sample_add(95, TP_STATE_ON_CPU, loader);
	scene_judge(&s);
	ck_label(TP_LABEL_DATALOADER_PREP, 40);
	ck_label(TP_LABEL_DATALOADER_QUEUE, 10);
	ck_label(TP_LABEL_DATALOADER_NEXT, 10);
	ck_assert_uint_eq(scene_part(&s, TP_PART_IDLE), 0);
}
END_TEST

/* Without switches a thread without samples may have had no CPU: nothing is claimed about it. */
START_TEST(samples_alone_reach_half_a_period)
{
	uint32_t python = stack_of("/usr/bin/python3.11", "_PyEval_EvalFrameDefault");
	task_add(0, thread, 0, T0 + 100 * US);
	for (uint64_t at = 2; at < 60; at += 4)
		sample_add(at, TP_STATE_ON_CPU, python);
	sample_add(90, TP_STATE_ON_CPU, python);
	scene_judge(&s);
	/* [40, 60) and [88, 92). */
	ck_label(TP_LABEL_HOST_INTERPRETER, 24);
	ck_label(TP_LABEL_IDLE_UNKNOWN, 36);
	ck_assert(!s.profile.facts[TP_FACT_STEP_RUNNABLE].is_known);
	ck_assert_double_eq_tol(s.profile.facts[TP_FACT_STEP_INTERPRETER].value, 0.24, 1e-9);
	ck_assert_uint_eq(s.profile.n_hot, 1);
	ck_assert_uint_eq(s.profile.hot[0].time_ns, 24 * US);
	ck_assert_int_eq(s.profile.hot[0].part, TP_PART_HOST);
}
END_TEST

/* A meaningful span has priority; a range without a known meaning comes last. */
START_TEST(spans_that_say_something_come_first)
{
	uint32_t python = stack_of("/usr/bin/python3.11", "_PyEval_EvalFrameDefault");
	task_add(0, thread, 0, T0 + 100 * US);
	run_add(0, 90, TP_RUN_BLOCKED);
	sample_add(50, TP_STATE_ON_CPU, python);
	scene_span(&s, thread, TP_SPAN_CALL, "cudaDeviceSynchronize", T0 + 40 * US, T0 + 50 * US);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "save_checkpoint", T0 + 50 * US, T0 + 60 * US);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "my phase", T0 + 60 * US, T0 + 100 * US);
	scene_judge(&s);
	ck_label(TP_LABEL_HOST_SYNC, 10);
	ck_label(TP_LABEL_HOST_CHECKPOINT, 10);
	ck_label(TP_LABEL_HOST_INTERPRETER, 30);
	ck_label(TP_LABEL_IDLE_UNKNOWN, 10);
	ck_label(TP_LABEL_HOST_OTHER, 0);
}
END_TEST

/* The stack of another wait does not show the cause of this one. */
START_TEST(an_unobserved_wait_has_no_cause)
{
	task_add(0, thread, 0, T0 + 100 * US);
	run_add(0, 50, TP_RUN_BLOCKED);
	run_add(70, 71, TP_RUN_BLOCKED);
	sample_add(50, TP_STATE_BLOCKED,
		   stack_of("/lib/x86_64-linux-gnu/libc.so.6", "pthread_mutex_lock"));
	run_add(90, 100, TP_RUN_OPEN);
	scene_judge(&s);
	ck_label(TP_LABEL_IDLE_PEER,
		 20); /* the stack does not distinguish a lock from a condition */
	ck_label(TP_LABEL_IDLE_UNKNOWN, 19);
}
END_TEST

static const struct {
	const char *call;
	enum tp_label label;
} calls[] = {
	{"read", TP_LABEL_IDLE_IO},
	{"poll", TP_LABEL_IDLE_PEER},
	{"pthread_mutex_lock", TP_LABEL_IDLE_LOCK},
	{"pthread_cond_wait", TP_LABEL_IDLE_PEER},
	{"sem_timedwait", TP_LABEL_IDLE_PEER},
	{"clock_nanosleep", TP_LABEL_IDLE_SLEEP},
	{"waitpid", TP_LABEL_IDLE_CHILD},
	{"dlopen", TP_LABEL_IDLE_UNKNOWN},
};

START_TEST(calls_of_the_system_say_what_for)
{
	task_add(0, thread, 0, T0 + 100 * US);
	run_add(0, 40, TP_RUN_BLOCKED);
	run_add(90, 100, TP_RUN_OPEN);
	scene_span(&s, thread, TP_SPAN_OS_CALL, calls[_i].call, T0 + 39 * US, T0 + 91 * US);
	scene_judge(&s);
	ck_label(calls[_i].label, 50);
}
END_TEST

/* Without switches only system calls show waits; samples on a CPU disprove them. */
START_TEST(calls_of_the_system_are_waits_without_switches)
{
	scene_span(&s, thread, TP_SPAN_OS_CALL, "pread64", T0 + 30 * US, T0 + 60 * US);
	scene_span(&s, thread, TP_SPAN_OS_CALL, "dlopen", T0 + 60 * US, T0 + 65 * US);
	scene_span(&s, thread, TP_SPAN_OS_CALL, "pthread_mutex_lock", T0 + 70 * US, T0 + 98 * US);
	scene_span(&s, thread, TP_SPAN_OS_CALL, "read", T0 + 75 * US, T0 + 80 * US); /* nested */
	if (_i) {
		task_add(0, thread, 0, T0 + 100 * US);
		for (uint64_t at = 85; at < 95; at += 2)
			sample_add(at, TP_STATE_ON_CPU, stack_of("/home/me/train", "prepare"));
	}
	scene_judge(&s);
	ck_label(TP_LABEL_IDLE_IO, 20);
	ck_label(TP_LABEL_IDLE_LOCK, _i ? 18 : 28);
	ck_label(TP_LABEL_HOST_OTHER, _i ? 10 : 0);
	ck_label(TP_LABEL_IDLE_UNKNOWN, 12);
	ck_assert(s.profile.facts[TP_FACT_STEP_LOCK].is_known);
	ck_assert(!s.profile.facts[TP_FACT_STEP_RUNNABLE].is_known);
}
END_TEST

/* The late rank's own activity is reported as the cause of the other ranks' wait. */
START_TEST(a_late_rank_is_late_for_what_its_samples_say)
{
	teardown();
	scene_init(&s, 2);
	uint16_t threads[2];
	uint16_t streams[2];
	for (uint32_t i = 0; i < 2; i++) {
		threads[i] = scene_track(&s, i, TP_TRACK_THREAD);
		streams[i] = scene_track(&s, i, 0);
	}
	/* Rank 1 comes to the second collective 30 us late, in Python. */
	struct tp_detail detail = {.group = tp_sink_string(&s.builder.sink, "0"), .n_ranks = 2};
	for (uint64_t k = 0; k < 4; k++) {
		uint64_t at = T0 + k * 100 * US;
		for (uint32_t i = 0; i < 2; i++) {
			uint64_t come = at + (i ? 80 : 50) * US;
			scene_step(&s, threads[i], (unsigned)k, at, at + 100 * US);
			scene_op(&s, threads[i], at, streams[i], TP_SPAN_KERNEL, SCENE_GEMM, at,
				 at + 50 * US);
			scene_detailed(&s, threads[i], come - 2, come, streams[i], TP_SPAN_KERNEL,
				       SCENE_ALLRED, come, at + 100 * US, &detail);
		}
	}
	uint32_t python = stack_of("/usr/bin/python3.11", "_PyEval_EvalFrameDefault");
	task_add(0, threads[1], 1, T0 + 400 * US);
	run_add(0, 400, TP_RUN_OPEN);
	for (uint64_t at = 1; at < 400; at += 2)
		sample_add(at, TP_STATE_ON_CPU, python);
	scene_judge(&s);
	/* Both ranks, 30 us in each of four steps, except 2 ns of the call each. */
	ck_assert_uint_ge(s.profile.label_ns[TP_LABEL_HOST_INTERPRETER], 240 * US - 100);
	ck_assert_uint_eq(s.profile.n_blames > 0, true);
	/* Rank 0 has no samples, so nothing is reported about the job. */
	ck_assert(!s.profile.facts[TP_FACT_STEP_INTERPRETER].is_known);
}
END_TEST

Suite *suite_analyze_rank_host(void);

Suite *suite_analyze_rank_host(void)
{
	Suite *suite = suite_create("analyze/rankhost");
	TCase *tcase = tcase_create("rankhost");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, without_samples_and_switches_nothing_is_known);
	tcase_add_test(tcase, switches_part_what_spans_leave);
	tcase_add_loop_test(tcase, stacks_say_what_a_cpu_was_for, 0,
			    (int)(sizeof(places) / sizeof(places[0])));
	tcase_add_test(tcase, a_phase_that_owns_its_time_keeps_it_without_a_cpu);
	tcase_add_test(tcase, samples_alone_reach_half_a_period);
	tcase_add_test(tcase, spans_that_say_something_come_first);
	tcase_add_test(tcase, an_unobserved_wait_has_no_cause);
	tcase_add_loop_test(tcase, calls_of_the_system_say_what_for, 0,
			    (int)(sizeof(calls) / sizeof(calls[0])));
	tcase_add_loop_test(tcase, calls_of_the_system_are_waits_without_switches, 0, 2);
	tcase_add_test(tcase, a_late_rank_is_late_for_what_its_samples_say);
	suite_add_tcase(suite, tcase);
	return suite;
}
