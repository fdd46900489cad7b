/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the main thread's labels: small traces in which it is known what each thread does,
 * judged with the shipped patterns. A step is 100 ms; times below are ms. */
#include "trainprof/analyze/analyze.h"
#include "trainprof/base/clock.h"
#include "trainprof/model/fact.h"

#include <check.h>

#define MS(x) ((uint64_t)(x)*TP_NS_PER_MS)

enum { N_STEPS = 20, STEP_MS = 100 };

struct scene {
	struct tp_trace_builder builder;
	struct tp_patterns *patterns;
	struct tp_trace trace;
	struct tp_profile profile;
};

static void scene_open(struct scene *scene)
{
	struct tp_error err;
	tp_trace_builder_init(&scene->builder);
	ck_assert_msg(tp_patterns_load(&scene->patterns, "rules/patterns", &err) == TP_OK, "%s",
		      err.text);
}

static void scene_task(struct scene *scene, uint32_t id, pid_t pid, const char *exe)
{
	struct tp_task task = {.id = id, .tid = (pid_t)(100 + id), .pid = pid, .start_ns = 0};
	task.parent = id ? 0 : TP_NO_TASK;
	task.exec_ns = id ? 0 : 1;
	task.exe = tp_sink_string(&scene->builder.sink, exe);
	tp_sink_task(&scene->builder.sink, &task);
}

static uint32_t scene_stack(struct scene *scene, const char *leaf, const char *caller)
{
	struct tp_sink *sink = &scene->builder.sink;
	const char *names[] = {leaf, caller, "main"};
	uint32_t ids[3];
	for (uint32_t i = 0; i < 3; i++) {
		struct tp_frame frame = {.kind = TP_FRAME_NATIVE};
		frame.module = tp_sink_string(sink, "/home/me/train");
		frame.symbol = tp_sink_string(sink, names[i]);
		frame.function_start = frame.address = 64 * (uint64_t)frame.symbol;
		ids[i] = tp_sink_frame(sink, &frame);
	}
	return tp_sink_stack(sink, ids, 3, 0);
}

static void scene_sample(struct scene *scene, uint32_t task, uint64_t ms, enum tp_state state,
			 enum tp_cause cause, uint32_t stack)
{
	struct tp_sample sample = {.task = task,
				   .time_ns = MS(ms),
				   .state = state,
				   .cause = cause,
				   .stack = stack,
				   .syscall = -1};
	tp_sink_sample(&scene->builder.sink, &sample);
}

/* A run on a CPU in [from, to) of a step, sampled once in its middle; afterwards blocked or
 * preempted. */
static void scene_run(struct scene *scene, uint32_t task, uint64_t base, uint64_t from, uint64_t to,
		      uint32_t stack, enum tp_run_end how)
{
	struct tp_run run = {.task = task,
			     .start_ns = MS(base + from),
			     .end_ns = MS(base + to),
			     .how = how};
	tp_sink_run(&scene->builder.sink, &run);
	scene_sample(scene, task, base + (from + to) / 2, TP_STATE_ON_CPU, TP_CAUSE_NONE, stack);
}

static void scene_judge(struct scene *scene)
{
	struct tp_error err;
	struct tp_run_info run = {.ended_ns = MS(N_STEPS * STEP_MS)};
	struct tp_analyze_options options = {.steps = TP_STEPS_OFF};
	tp_trace_build(&scene->trace, &scene->builder, &run);
	ck_assert_int_eq(tp_analyze(&scene->profile, &scene->trace, scene->patterns, &options,
				    &err),
			 TP_OK);
	ck_assert(tp_profile_is_exact(&scene->profile));
	ck_assert_uint_eq(scene->profile.trainer, 0);
}

static void scene_close(struct scene *scene)
{
	tp_profile_release(&scene->profile);
	tp_trace_release(&scene->trace);
	tp_trace_builder_release(&scene->builder);
	tp_patterns_free(scene->patterns);
}

/* Expects this many ms of a label in a mean step, within half a ms: the ends of the run are not
 * whole steps. */
static void expect(const struct scene *scene, enum tp_label label, double ms)
{
	double found = (double)scene->profile.label_ns[label] / (double)TP_NS_PER_MS / N_STEPS;
	ck_assert_msg(found > ms - 0.5 && found < ms + 0.5, "%s.%s: %.2f ms, expected %.2f",
		      tp_part_name(tp_label_part(label)), tp_label_name(label), found, ms);
}

START_TEST(waiting_for_a_loader_thread_takes_what_the_thread_does)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t forward = scene_stack(&s, "conv_layer", "forward");
	uint32_t wait = scene_stack(&s, "pthread_cond_wait", "next_batch");
	uint32_t decode = scene_stack(&s, "huffman", "loader_thread");
	uint32_t read = scene_stack(&s, "read", "loader_thread");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 60, forward, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 80, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, wait);
		scene_run(&s, 1, base, 10, 85, decode, TP_RUN_BLOCKED);
		scene_sample(&s, 1, base + 90, TP_STATE_BLOCKED, TP_CAUSE_DISK, read);
		scene_run(&s, 1, base, 95, 96, decode, TP_RUN_BLOCKED);
		scene_sample(&s, 1, base + 98, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, wait);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 60);
	expect(&s, TP_LABEL_DATALOADER_PREP, 26);
	expect(&s, TP_LABEL_DATALOADER_FETCH, 10);
	expect(&s, TP_LABEL_DATALOADER_HANDOVER, 4);
	ck_assert_double_eq_tol(s.profile.facts[TP_FACT_LOADER_WORKERS].value, 1, 1e-3);
	scene_close(&s);
}
END_TEST

/* A team that loads: a thread that is done spins for the others, also while none of them has a
 * CPU. */
START_TEST(spinning_for_loaders_that_have_no_cpu_is_no_communication)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t forward = scene_stack(&s, "conv_layer", "forward");
	uint32_t spin = scene_stack(&s, "gomp_team_barrier_wait", "load_batch");
	uint32_t decode = scene_stack(&s, "huffman", "load_batch");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 60, forward, TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 60, 80, spin, TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 80, 95, spin, TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 95, 100, spin, TP_RUN_PREEMPTED);
		scene_run(&s, 1, base, 60, 80, decode, TP_RUN_PREEMPTED);
		scene_run(&s, 1, base, 95, 99, decode, TP_RUN_BLOCKED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 60);
	expect(&s, TP_LABEL_DATALOADER_PREP, 24);
	expect(&s, TP_LABEL_DATALOADER_QUEUE, 15);
	expect(&s, TP_LABEL_COMMUNICATION_WAIT, 0);
	scene_close(&s);
}
END_TEST

START_TEST(waiting_for_the_own_team_is_compute)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t own = scene_stack(&s, "gemm_rows", "forward");
	uint32_t join = scene_stack(&s, "futex_wait", "run_team");
	uint32_t member = scene_stack(&s, "gemm_rows", "pool_worker");
	uint32_t park = scene_stack(&s, "futex_wait", "pool_worker");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 50, own, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 70, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, join);
		scene_run(&s, 1, base, 1, 99, member, TP_RUN_BLOCKED);
		scene_sample(&s, 1, base + 100, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, park);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 50);
	expect(&s, TP_LABEL_COMPUTE_SPIN, 49);
	scene_close(&s);
}
END_TEST

/* Returns a stack whose three frames belong to one library. */
static uint32_t scene_library(struct scene *scene, const char *module, const char *const names[3])
{
	struct tp_sink *sink = &scene->builder.sink;
	uint32_t ids[3];
	for (uint32_t i = 0; i < 3; i++) {
		struct tp_frame frame = {.kind = TP_FRAME_NATIVE};
		frame.module = tp_sink_string(sink, module);
		frame.symbol = tp_sink_string(sink, names[i]);
		frame.function_start = frame.address = 64 * (uint64_t)frame.symbol;
		ids[i] = tp_sink_frame(sink, &frame);
	}
	return tp_sink_stack(sink, ids, 3, 0);
}

/* The main thread computes with an OpenMP team and then waits for its reader. The team member has
 * no samples after the loop: it spins until the next one, or sleeps before it. */
START_TEST(outside_its_teams_loops_a_thread_waits_for_its_loader)
{
	static const char *const loops[] = {"GOMP_parallel", "GOMP_parallel", "GOMP_parallel"};
	struct scene s;
	scene_open(&s);
	for (uint32_t i = 0; i < 3; i++)
		scene_task(&s, i, 100, "/home/me/train");
	uint32_t loop = scene_library(&s, "/usr/lib/libgomp.so.1.0.0", loops);
	uint32_t own = scene_stack(&s, "gemm_rows", "forward");
	uint32_t wait = scene_stack(&s, "pthread_cond_wait", "main");
	uint32_t member = scene_stack(&s, "gemm_rows", "pool_worker");
	uint32_t decode = scene_stack(&s, "huffman", "loader_thread");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 1, loop, TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 1, 50, own, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 70, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, wait);
		scene_run(&s, 1, base, 0, _i ? 100 : 80, member, TP_RUN_BLOCKED);
		scene_run(&s, 2, base, 20, 100, decode, TP_RUN_BLOCKED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PREP, 50);
	scene_close(&s);
}
END_TEST

/* The team is done after 90 ms, but the main thread gets no CPU before 100: its loader works
 * then. */
START_TEST(a_wait_inside_computing_is_for_the_team_whoever_else_works)
{
	struct scene s;
	scene_open(&s);
	for (uint32_t i = 0; i < 3; i++)
		scene_task(&s, i, 100, "/home/me/train");
	uint32_t own = scene_stack(&s, "gemm_rows", "forward");
	uint32_t join = scene_stack(&s, "futex_wait", "forward");
	uint32_t member = scene_stack(&s, "gemm_rows", "pool_worker");
	uint32_t decode = scene_stack(&s, "huffman", "loader_thread");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 50, own, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 70, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, join);
		scene_run(&s, 1, base, 1, 90, member, TP_RUN_BLOCKED);
		scene_run(&s, 2, base, 20, 100, decode, TP_RUN_BLOCKED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 50);
	expect(&s, TP_LABEL_COMPUTE_SPIN, 50);
	scene_close(&s);
}
END_TEST

/* Two waits of 10 ms in each step, for the team and for the loader. Polls hit each in one of eight
 * steps; in the second case they never hit those for the team. */
START_TEST(a_wait_that_no_look_hit_is_like_one_for_the_same_threads)
{
	struct scene s;
	scene_open(&s);
	for (uint32_t i = 0; i < 3; i++)
		scene_task(&s, i, 100, "/home/me/train");
	uint32_t own = scene_stack(&s, "gemm_rows", "forward");
	uint32_t join = scene_stack(&s, "futex_wait", "forward");
	uint32_t next = scene_stack(&s, "futex_wait", "next_batch");
	uint32_t member = scene_stack(&s, "gemm_rows", "pool_worker");
	uint32_t decode = scene_stack(&s, "huffman", "loader_thread");
	for (uint64_t step = 0; step < N_STEPS; step++) {
		uint64_t base = step * STEP_MS;
		scene_run(&s, 0, base, 0, 20, own, TP_RUN_BLOCKED);
		scene_run(&s, 1, base, 22, 28, member, TP_RUN_BLOCKED);
		if (step % 8 == 0 && !_i)
			scene_sample(&s, 0, base + 25, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, join);
		scene_run(&s, 0, base, 30, 50, own, TP_RUN_BLOCKED);
		scene_run(&s, 2, base, 52, 58, decode, TP_RUN_BLOCKED);
		if (step % 8 == 4)
			scene_sample(&s, 0, base + 55, TP_STATE_BLOCKED, TP_CAUSE_PIPE, next);
		scene_run(&s, 0, base, 60, 100, own, TP_RUN_PREEMPTED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PREP, 6);
	expect(&s, TP_LABEL_DATALOADER_HANDOVER, 4);
	expect(&s, TP_LABEL_COMPUTE_SPIN, _i ? 6 : 10); /* while the loader works */
	scene_close(&s);
}
END_TEST

/* The stack of a thread of TensorFlow's pool. */
static uint32_t scene_pool(struct scene *scene, const char *leaf, const char *caller)
{
	return scene_library(scene, "/venv/tensorflow/libtensorflow_cc.so.2",
			     (const char *const[]){leaf, caller,
						   "Eigen::ThreadPoolTempl::WorkerLoop"});
}

/* The main thread dispatches a step within 3 ms and waits. The same pool decodes (from 5 to 60 ms,
 * in the second case) and computes. In the third case the main thread computes alone for as long
 * before: what it builds then it cannot hand over. */
START_TEST(work_that_the_main_thread_hands_over_is_no_waiting_for_a_team)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t hand_over = scene_stack(&s, "execute", "run_step");
	uint32_t wait = scene_stack(&s, "futex_wait", "run_step");
	uint32_t math = scene_pool(&s, "Eigen::internal::gebp", "tensorflow::MatMulOp::Compute");
	uint32_t load = scene_pool(&s, "jpeg_decode", "tensorflow::data::MapDataset::GetNext");
	uint32_t build = scene_stack(&s, "gemm", "build_model");
	bool loads = _i == 1;
	uint64_t start = _i == 2 ? N_STEPS * STEP_MS / 2 : 0;
	for (uint64_t base = 0; base < start; base += STEP_MS)
		scene_run(&s, 0, base, 0, STEP_MS, build, TP_RUN_BLOCKED);
	for (uint64_t base = start; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 3, hand_over, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 50, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, wait);
		if (loads)
			scene_run(&s, 1, base, 5, 60, load, TP_RUN_BLOCKED);
		scene_run(&s, 1, base, loads ? 60 : 5, 99, math, TP_RUN_BLOCKED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, start ? (97 + 100) / 2.0 : loads ? 42 : 97);
	expect(&s, TP_LABEL_DATALOADER_PREP, loads ? 55 : 0);
	expect(&s, TP_LABEL_COMPUTE_SPIN, start ? 3 / 2.0 : 3);
	scene_close(&s);
}
END_TEST

/* A pool that compiles in the first fifth of the run is no reason to read the waits of a main
 * thread that computes itself from then on. */
START_TEST(a_pool_that_only_works_at_the_beginning_is_handed_no_steps)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t wait = scene_stack(&s, "futex_wait", "run_step");
	uint32_t compute = scene_stack(&s, "gemm", "train_step");
	uint32_t math = scene_pool(&s, "Eigen::internal::gebp", "tensorflow::MatMulOp::Compute");
	uint64_t start = N_STEPS * STEP_MS / 5;
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, base < start ? 3 : 90, compute, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 95, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, wait);
		if (base < start)
			scene_run(&s, 1, base, 5, 99, math, TP_RUN_BLOCKED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 3 / 5.0 + 90 * 4 / 5.0);
	scene_close(&s);
}
END_TEST

/* A graph fetches its batch on a thread of its own until 60 ms, while the pool works for tf.data
 * (from 5 to 60 ms), and then computes. In the second case the same call fetches the batch of its
 * next step while it computes. */
START_TEST(a_graph_that_fetches_its_batch_waits_for_data_whatever_its_pool_does)
{
	static const char tensorflow[] = "/venv/tensorflow/libtensorflow_cc.so.2";
	static const char worker[] = "tensorflow::data::BackgroundWorker::WorkerLoop";
	static const char get[] = "tensorflow::data::IteratorGetNextOp::DoCompute";
	struct scene s;
	scene_open(&s);
	for (uint32_t task = 0; task < 3; task++)
		scene_task(&s, task, 100, "/home/me/train");
	uint32_t hand_over = scene_stack(&s, "execute", "run_step");
	uint32_t wait = scene_stack(&s, "futex_wait", "run_step");
	uint32_t math = scene_pool(&s, "Eigen::internal::gebp", "tensorflow::MatMulOp::Compute");
	uint32_t load = scene_pool(&s, "Eigen::internal::scan", "tensorflow::ScanOp::Compute");
	uint32_t fetch = scene_library(&s, tensorflow, (const char *const[]){"wait", get, worker});
	uint32_t idle =
		scene_library(&s, tensorflow, (const char *const[]){"wait", "Wait", worker});
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 3, hand_over, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 50, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, wait);
		scene_run(&s, 1, base, 5, 60, load, TP_RUN_BLOCKED);
		scene_run(&s, 1, base, 60, 99, math, TP_RUN_BLOCKED);
		scene_run(&s, 2, base, 3, 4, fetch, TP_RUN_BLOCKED);
		scene_sample(&s, 2, base + 30, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, fetch);
		scene_run(&s, 2, base, 60, 61, fetch, TP_RUN_BLOCKED);
		scene_sample(&s, 2, base + 70, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, _i ? fetch : idle);
		if (_i)
			scene_run(&s, 2, base, 80, 81, fetch, TP_RUN_BLOCKED);
	}
	scene_judge(&s);
	/* Only a call of several steps waits for data outside of its first fetch. */
	expect(&s, TP_LABEL_DATALOADER_PREP, 55 + _i);
	expect(&s, TP_LABEL_COMPUTE_MATH, 39 + 3);
	scene_close(&s);
}
END_TEST

/* The main thread itself gets the batch (until 40 ms) and hands over the step. A thread of the pool
 * unpacks batches in Python, another one computes the step, with a pause from 60 to 80 ms. */
START_TEST(a_step_that_has_its_batch_waits_for_no_data)
{
	static const char tensorflow[] = "/venv/tensorflow/libtensorflow_cc.so.2";
	struct scene s;
	scene_open(&s);
	for (uint32_t task = 0; task < 3; task++)
		scene_task(&s, task, 100, "/home/me/train");
	uint32_t hand_over = scene_stack(&s, "execute", "run_step");
	uint32_t wait = scene_stack(&s, "futex_wait", "run_step");
	uint32_t math = scene_pool(&s, "Eigen::internal::gebp", "tensorflow::MatMulOp::Compute");
	uint32_t load = scene_pool(&s, "inflate_fast", "tensorflow::PyFuncOp::Compute");
	uint32_t next =
		scene_library(&s, tensorflow,
			      (const char *const[]){"wait",
						    "tensorflow::data::IteratorGetNextOp::Compute",
						    "TFE_Py_FastPathExecute"});
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 3, hand_over, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 20, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, next);
		scene_run(&s, 0, base, 40, 42, hand_over, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 70, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, wait);
		scene_run(&s, 1, base, 3, 40, load, TP_RUN_BLOCKED);
		scene_run(&s, 1, base, 58, 99, load, TP_RUN_BLOCKED);
		scene_run(&s, 2, base, 42, 60, math, TP_RUN_BLOCKED);
		scene_run(&s, 2, base, 80, 100, math, TP_RUN_BLOCKED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 18 + 20 + 5);
	expect(&s, TP_LABEL_DATALOADER_PREP, 37);
	expect(&s, TP_LABEL_COMPUTE_SPIN, 20);
	scene_close(&s);
}
END_TEST

/* A thread of an XLA pool computes for 40 ms and then exchanges data with other ranks. */
START_TEST(a_wait_for_a_pool_that_waits_for_other_ranks_is_communication)
{
	static const char pool[] =
		"_ZN5Eigen15ThreadPoolTemplIN3tsl6thread16EigenEnvironmentEE10WorkerLoopEi";
	static const char module[] = "/v/jaxlib/libjax_common.so";
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t hand_over = scene_stack(&s, "execute", "run_step");
	uint32_t wait = scene_stack(&s, "futex_wait", "run_step");
	uint32_t math =
		scene_library(&s, module, (const char *const[]){"gebp", "Thunk::Execute", pool});
	uint32_t reduce =
		scene_library(&s, module,
			      (const char *const[]){"pthread_cond_wait", "gloo::allreduce", pool});
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 3, hand_over, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 50, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, wait);
		scene_run(&s, 1, base, 3, 40, math, TP_RUN_BLOCKED);
		for (uint64_t at = 50; at < 100; at += 10)
			scene_sample(&s, 1, base + at, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, reduce);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMMUNICATION_WAIT, 60);
	scene_close(&s);
}
END_TEST

/* One row per case: the activity of the main thread in the second half of each step. */
static const struct half {
	const char *leaf;
	const char *caller;
	enum tp_state state;
	enum tp_cause cause;
	enum tp_label expected;
} halves[] = {
	{"usleep", "train_epoch", TP_STATE_BLOCKED, TP_CAUSE_SLEEP, TP_LABEL_IDLE_SLEEP},
	{"usleep", "next_batch", TP_STATE_BLOCKED, TP_CAUSE_SLEEP, TP_LABEL_DATALOADER_PAUSE},
	{"read", "next_batch", TP_STATE_BLOCKED, TP_CAUSE_DISK, TP_LABEL_DATALOADER_FETCH},
	{"recv", "all_reduce", TP_STATE_BLOCKED, TP_CAUSE_SOCKET, TP_LABEL_COMMUNICATION_WAIT},
	{"recv", "next_batch", TP_STATE_BLOCKED, TP_CAUSE_SOCKET, TP_LABEL_DATALOADER_FETCH},
	{"recv", "train_epoch", TP_STATE_BLOCKED, TP_CAUSE_SOCKET, TP_LABEL_IDLE_PEER},
	{"open", "next_batch", TP_STATE_BLOCKED, TP_CAUSE_DISK, TP_LABEL_DATALOADER_FETCH},
	{"open", "train_epoch", TP_STATE_BLOCKED, TP_CAUSE_DISK, TP_LABEL_DATALOADER_FETCH},
	{"fsync", "save_checkpoint", TP_STATE_BLOCKED, TP_CAUSE_FILE, TP_LABEL_HOST_CHECKPOINT},
	{"fsync", "anything", TP_STATE_BLOCKED, TP_CAUSE_FILE, TP_LABEL_HOST_CHECKPOINT},
	{"step", "train_epoch", TP_STATE_BLOCKED, TP_CAUSE_PAGE_FAULT, TP_LABEL_MEMORY_FAULT},
	{"lock", "train_epoch", TP_STATE_BLOCKED, TP_CAUSE_FUTEX, TP_LABEL_IDLE_LOCK},
	{"memcpy", "forward", TP_STATE_ON_CPU, TP_CAUSE_NONE, TP_LABEL_MEMORY_COPY},
	{"memcpy", "load_image", TP_STATE_ON_CPU, TP_CAUSE_NONE, TP_LABEL_DATALOADER_PREP},
	{"vfprintf", "log_step", TP_STATE_ON_CPU, TP_CAUSE_NONE, TP_LABEL_HOST_LOGGING},
	{"_int_malloc", "train_epoch", TP_STATE_ON_CPU, TP_CAUSE_NONE, TP_LABEL_MEMORY_ALLOC},
};

START_TEST(half_a_step_has_the_label_of_what_is_done)
{
	const struct half *half = &halves[_i];
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t forward = scene_stack(&s, "conv_layer", "forward");
	uint32_t other = scene_stack(&s, half->leaf, half->caller);
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 50, forward, TP_RUN_BLOCKED);
		if (half->state == TP_STATE_ON_CPU)
			scene_run(&s, 0, base, 50, 100, other, TP_RUN_BLOCKED);
		else
			scene_sample(&s, 0, base + 75, half->state, half->cause, other);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 50);
	expect(&s, half->expected, 50);
	scene_close(&s);
}
END_TEST

START_TEST(marks_of_the_program_outrank_its_names)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t forward = scene_stack(&s, "f", "g");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 100, forward, TP_RUN_PREEMPTED);
		struct tp_mark mark = {.task = 0, .kind = TP_MARK_PHASE_BEGIN};
		mark.name = tp_sink_string(&s.builder.sink, "data");
		mark.time_ns = MS(base + 20);
		tp_sink_mark(&s.builder.sink, &mark);
		mark.kind = TP_MARK_PHASE_END;
		mark.time_ns = MS(base + 50);
		tp_sink_mark(&s.builder.sink, &mark);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PREP, 30);
	expect(&s, TP_LABEL_COMPUTE_MATH, 70);
	scene_close(&s);
}
END_TEST

/* A stack of four: leaf in a library, callee, "epoch", "main". epoch calls each callee from a
 * different line. */
static uint32_t scene_path(struct scene *scene, const char *module, const char *leaf,
			   const char *callee)
{
	struct tp_sink *sink = &scene->builder.sink;
	const char *names[] = {leaf, callee, "epoch", "main"};
	uint32_t ids[4];
	for (uint32_t i = 0; i < 4; i++) {
		struct tp_frame frame = {.kind = TP_FRAME_NATIVE};
		frame.module = tp_sink_string(sink, i ? "/home/me/train" : module);
		frame.symbol = tp_sink_string(sink, names[i]);
		frame.function_start = (uint64_t)names[i][0] * 4096;
		frame.address = frame.function_start + (i == 2 ? (uint64_t)callee[0] : 16);
		ids[i] = tp_sink_frame(sink, &frame);
	}
	return tp_sink_stack(sink, ids, 4, 0);
}

static void scene_runs(struct scene *scene, uint64_t base, uint64_t from, uint64_t to,
		       uint32_t stack)
{
	for (uint64_t ms = from; ms < to; ms += 5)
		scene_run(scene, 0, base, ms, ms + 5, stack, TP_RUN_PREEMPTED);
}

/* With and without reading a lot before the loop. */
START_TEST(a_nameless_callee_that_does_the_reading_is_the_loader)
{
	/* main -> epoch -> { p: reads 5 ms, parses 45 ms; q: 50 ms of math }; no name shows it. */
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t read = scene_path(&s, "/home/me/train", "read", "p");
	uint32_t parse = scene_path(&s, "/home/me/train", "strtof", "p");
	uint32_t math = scene_path(&s, "/home/me/train", "sgemm", "q");
	uint64_t import_ms = _i ? STEP_MS : 0;
	scene_runs(&s, 0, 0, import_ms, scene_path(&s, "/home/me/train", "read", "i"));
	for (uint64_t base = import_ms; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_runs(&s, base, 0, 5, read);
		scene_runs(&s, base, 5, 50, parse);
		scene_runs(&s, base, 50, 100, math);
	}
	scene_judge(&s);
	double steps = _i ? (N_STEPS - 1.0) / N_STEPS : 1;
	expect(&s, TP_LABEL_DATALOADER_FETCH, 5 * steps + (double)import_ms / N_STEPS);
	expect(&s, TP_LABEL_DATALOADER_PREP, 45 * steps);
	expect(&s, TP_LABEL_COMPUTE_MATH, 50 * steps);
	scene_close(&s);
}
END_TEST

START_TEST(a_nameless_callee_that_opens_files_to_write_them_loads_nothing)
{
	/* main -> epoch -> { p: parses 10 ms; q: 60 ms of math; s: opens 5 ms, writes 25 ms } */
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t parse = scene_path(&s, "/home/me/train", "strtof", "p");
	uint32_t math = scene_path(&s, "/home/me/train", "sgemm", "q");
	uint32_t open = scene_path(&s, "/home/me/train", "open", "s");
	uint32_t write = scene_path(&s, "/home/me/train", "write", "s");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_runs(&s, base, 0, 10, parse);
		scene_runs(&s, base, 10, 70, math);
		scene_runs(&s, base, 70, 75, open);
		scene_runs(&s, base, 75, 100, write);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PREP, 10);
	expect(&s, TP_LABEL_DATALOADER_FETCH, 5);
	expect(&s, TP_LABEL_COMPUTE_MATH, 60);
	expect(&s, TP_LABEL_HOST_LOGGING, 25);
	scene_close(&s);
}
END_TEST

/* Opening a file that is written waits until its old contents are on the disk; with reading in the
 * same function it is part of loading. */
START_TEST(an_open_is_for_what_its_caller_does_with_files)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t math = scene_path(&s, "/home/me/train", "sgemm", "q");
	uint32_t open = scene_path(&s, "/home/me/train", "open", "s");
	uint32_t use = scene_path(&s, "/home/me/train", _i ? "read" : "write", "s");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_runs(&s, base, 0, 50, math);
		scene_run(&s, 0, base, 50, 55, use, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 75, TP_STATE_BLOCKED, TP_CAUSE_DISK, open);
	}
	scene_judge(&s);
	expect(&s, _i ? TP_LABEL_DATALOADER_FETCH : TP_LABEL_HOST_LOGGING, _i ? 50 : 5);
	expect(&s, TP_LABEL_IDLE_IO, _i ? 0 : 45);
	expect(&s, TP_LABEL_COMPUTE_MATH, 50);
	scene_close(&s);
}
END_TEST

START_TEST(decoding_makes_its_calling_interpreter_the_loader)
{
	/* p: 25 ms in libjpeg, 10 in the interpreter, 5 in PyTorch; q: 5 and 55 in the last two */
	static const char torch[] = "/usr/lib/libtorch_cpu.so";
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/usr/bin/python3.11");
	uint32_t decode = scene_path(&s, "/usr/lib/libjpeg.so.62", "scanlines", "p");
	uint32_t convert = scene_path(&s, torch, "to_float", "p");
	uint32_t loop = scene_path(&s, "/usr/bin/python3.11", "eval_frame", "p");
	uint32_t math = scene_path(&s, torch, "addmm", "q");
	uint32_t call = scene_path(&s, "/usr/bin/python3.11", "eval_frame", "q");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_runs(&s, base, 0, 25, decode);
		scene_runs(&s, base, 25, 30, convert);
		scene_runs(&s, base, 30, 40, loop);
		scene_runs(&s, base, 40, 95, math);
		scene_runs(&s, base, 95, 100, call);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PREP, 40);
	expect(&s, TP_LABEL_COMPUTE_MATH, 55);
	expect(&s, TP_LABEL_HOST_INTERPRETER, 5);
	scene_close(&s);
}
END_TEST

/* Like scene_path(), with the callee called by `way`. */
static uint32_t scene_way(struct scene *scene, const char *module, const char *leaf,
			  const char *callee, const char *way)
{
	struct tp_sink *sink = &scene->builder.sink;
	struct tp_stack direct;
	tp_sink_stack_get(sink, scene_path(scene, module, leaf, callee), &direct);
	struct tp_stack other;
	tp_sink_stack_get(sink, scene_path(scene, module, leaf, way), &other);
	uint32_t ids[] = {direct.frames[0], direct.frames[1], other.frames[1], other.frames[2],
			  other.frames[3]};
	return tp_sink_stack(sink, ids, 5, 0);
}

/* At first the interpreter calls the loader from the place where it calls the model, too, until it
 * has specialized the call. */
START_TEST(the_loader_is_known_by_whatever_way_it_is_called)
{
	static const char torch[] = "/usr/lib/libtorch_cpu.so";
	static const char jpeg[] = "/usr/lib/libjpeg.so.62";
	static const char python[] = "/usr/bin/python3.11";
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, python);
	for (int i = 0; i < N_STEPS; i++) {
		uint64_t base = (uint64_t)i * STEP_MS;
		bool is_early = i * 10 < N_STEPS * 3;
		scene_runs(&s, base, 0, 25,
			   is_early ? scene_way(&s, jpeg, "scanlines", "p", "q")
				    : scene_path(&s, jpeg, "scanlines", "p"));
		scene_runs(&s, base, 25, 40,
			   is_early ? scene_way(&s, python, "eval_frame", "p", "q")
				    : scene_path(&s, python, "eval_frame", "p"));
		scene_runs(&s, base, 40, 95, scene_path(&s, torch, "addmm", "q"));
		scene_runs(&s, base, 95, 100, scene_path(&s, python, "eval_frame", "q"));
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PREP, 40);
	expect(&s, TP_LABEL_COMPUTE_MATH, 55);
	expect(&s, TP_LABEL_HOST_INTERPRETER, 5);
	scene_close(&s);
}
END_TEST

START_TEST(a_sample_speaks_only_for_the_marked_phase_it_was_taken_in)
{
	/* One run of 100 ms per step with one sample in its middle: in the loader's phase in every
	 * other step, in the model's otherwise. According to the marks it is 30 and 70. */
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t load = scene_stack(&s, "read", "next_batch");
	uint32_t model = scene_stack(&s, "f", "forward");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		bool odd = base / STEP_MS % 2;
		uint64_t from = odd ? 35 : 0; /* [from, from + 30) contains the middle when odd */
		scene_run(&s, 0, base, 0, 100, odd ? load : model, TP_RUN_PREEMPTED);
		struct tp_mark mark = {.task = 0};
		const struct {
			uint64_t ms;
			enum tp_mark_kind kind;
			const char *name;
		} marks[] = {{from, TP_MARK_PHASE_BEGIN, "data"},
			     {from + 30, TP_MARK_PHASE_END, ""},
			     {from + 30, TP_MARK_PHASE_BEGIN, "forward"},
			     {99, TP_MARK_PHASE_END, ""}};
		for (size_t i = 0; i < 4; i++) {
			mark.kind = marks[i].kind;
			mark.name = tp_sink_string(&s.builder.sink, marks[i].name);
			mark.time_ns = MS(base + marks[i].ms);
			tp_sink_mark(&s.builder.sink, &mark);
		}
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_FETCH, 30);
	expect(&s, TP_LABEL_COMPUTE_MATH, 70);
	scene_close(&s);
}
END_TEST

START_TEST(short_waits_that_no_look_hit_are_judged_by_short_waits)
{
	/* Per step: one wait of 40 ms in recv, always sampled; twenty of 1 ms in a lock, rarely
	 * sampled. */
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t forward = scene_stack(&s, "conv_layer", "forward");
	uint32_t recv = scene_stack(&s, "recv", "all_reduce");
	uint32_t lock = scene_stack(&s, "futex_wait", "train_epoch");
	for (uint64_t step = 0; step < N_STEPS; step++) {
		uint64_t base = step * STEP_MS;
		scene_run(&s, 0, base, 0, 20, forward, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 40, TP_STATE_BLOCKED, TP_CAUSE_SOCKET, recv);
		for (uint64_t i = 0; i < 20; i++)
			scene_run(&s, 0, base, 60 + 2 * i, 61 + 2 * i, forward, TP_RUN_BLOCKED);
		if (step % 4 == 0)
			scene_sample(&s, 0, base + 61, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, lock);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMMUNICATION_WAIT, 40);
	expect(&s, TP_LABEL_IDLE_LOCK, 20);
	expect(&s, TP_LABEL_COMPUTE_MATH, 40);
	scene_close(&s);
}
END_TEST

START_TEST(a_wait_without_a_stack_is_where_like_waits_for_the_same_are)
{
	/* Each step sleeps 20 ms inside the loader; in every second step the sample has no stack.
	 * There is no similar wait for a lock: its place is not known. */
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t forward = scene_stack(&s, "conv_layer", "forward");
	uint32_t pause = scene_stack(&s, "nanosleep", "next_batch");
	for (uint64_t step = 0; step < N_STEPS; step++) {
		uint64_t base = step * STEP_MS;
		scene_run(&s, 0, base, 0, 40, forward, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 50, TP_STATE_BLOCKED, TP_CAUSE_SLEEP,
			     step % 2 ? pause : 0);
		scene_run(&s, 0, base, 60, 90, forward, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 95, TP_STATE_BLOCKED, TP_CAUSE_FUTEX, 0);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PAUSE, 20);
	expect(&s, TP_LABEL_IDLE_LOCK, 10);
	expect(&s, TP_LABEL_COMPUTE_MATH, 70);
	scene_close(&s);
}
END_TEST

/* The main thread and one team member wake each other through a pipe, every ms. */
enum { TURN_NS = 1000 * 1000 };

static bool has_turn(uint32_t task, uint64_t time_ns)
{
	return time_ns / TURN_NS % 2 == task;
}

/* Emits the switch records of [from, to). */
static void scene_turns(struct scene *scene, uint64_t from_ns, uint64_t to_ns)
{
	for (uint64_t at = from_ns; at < to_ns; at += TURN_NS) {
		struct tp_run run = {.task = at / TURN_NS % 2,
				     .start_ns = at,
				     .end_ns = at + TURN_NS,
				     .how = TP_RUN_BLOCKED};
		tp_sink_run(&scene->builder.sink, &run);
	}
	for (uint32_t task = 0; task < 2; task++) {
		struct tp_run open = {.task = task,
				      .start_ns = to_ns,
				      .end_ns = to_ns,
				      .how = TP_RUN_OPEN};
		tp_sink_run(&scene->builder.sink, &open);
	}
}

/* Emits a poll of the thread's state at that time. */
static void scene_read_python(struct scene *scene, uint32_t task, uint64_t time_ns, uint32_t waits)
{
	bool runs = has_turn(task, time_ns);
	struct tp_sample sample = {.task = task,
				   .time_ns = time_ns,
				   .state = runs ? TP_STATE_ON_CPU : TP_STATE_BLOCKED,
				   .cause = runs ? TP_CAUSE_NONE : TP_CAUSE_PIPE,
				   .flags = TP_SAMPLE_POLLED,
				   .stack = runs ? 0 : waits,
				   .syscall = -1};
	tp_sink_sample(&scene->builder.sink, &sample);
}

START_TEST(without_switch_records_polls_give_the_shares)
{
	static const uint64_t lit_ms[][2] = {{0, 200}, {1000, 1100}, {N_STEPS * STEP_MS, 0}};
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t own = scene_stack(&s, "gemm_rows", "forward");
	uint32_t member = scene_stack(&s, "gemm_rows", "pool_worker");
	uint32_t take = scene_stack(&s, "read", "run_team");
	uint32_t park = scene_stack(&s, "read", "pool_worker");
	for (size_t i = 0; lit_ms[i][1]; i++) {
		scene_turns(&s, MS(lit_ms[i][0]), MS(lit_ms[i][1]));
		scene_read_python(&s, 0, MS(lit_ms[i][0]) + TURN_NS * 3 / 2, take);
		scene_read_python(&s, 1, MS(lit_ms[i][0]) + TURN_NS * 5 / 2, park);
		/* Polls are further apart than turns and find each state as often as it occurs; the
		 * two threads are never polled in the same turn. */
		for (uint64_t at = MS(lit_ms[i][1]) + TURN_NS * 25 / 4; at < MS(lit_ms[i + 1][0]);
		     at += TURN_NS * 25 / 2) {
			scene_read_python(&s, 0, at, take);
			scene_read_python(&s, 1, at + TURN_NS * 19 / 4, park);
		}
	}
	for (uint64_t ms = 4; ms < N_STEPS * STEP_MS; ms += 10)
		scene_sample(&s, ms / 10 % 2, ms + ms / 10 % 2, TP_STATE_ON_CPU, TP_CAUSE_NONE,
			     ms / 10 % 2 ? member : own);
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 50);
	expect(&s, TP_LABEL_COMPUTE_SPIN, 50);
	scene_close(&s);
}
END_TEST

/* A stack in `function`, at one of its instructions or in a page fault of one. */
static uint32_t fault_stack(struct scene *scene, const char *function, bool in_fault)
{
	struct tp_sink *sink = &scene->builder.sink;
	struct tp_frame fault = {.kind = TP_FRAME_KERNEL, .address = 64};
	fault.module = tp_sink_string(sink, "[kernel]");
	fault.symbol = tp_sink_string(sink, "asm_exc_page_fault");
	struct tp_frame frame = {.kind = TP_FRAME_NATIVE};
	frame.module = tp_sink_string(sink, "/home/me/train");
	frame.symbol = tp_sink_string(sink, function);
	frame.function_start = frame.address = 4096 * (uint64_t)frame.symbol;
	uint32_t ids[] = {tp_sink_frame(sink, &fault), tp_sink_frame(sink, &frame)};
	return in_fault ? tp_sink_stack(sink, ids, 2, 0) : tp_sink_stack(sink, ids + 1, 1, 0);
}

START_TEST(a_function_that_only_touches_memory_is_page_faults)
{
	/* 40 ms of faults and 10 in the loop around them; elsewhere 10 of faults and 40 of work. */
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 0, base, 0, 40, fault_stack(&s, "grow", true), TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 40, 50, fault_stack(&s, "grow", false), TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 50, 60, fault_stack(&s, "conv", true), TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 60, 100, fault_stack(&s, "conv", false), TP_RUN_PREEMPTED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_MEMORY_FAULT, 60);
	expect(&s, TP_LABEL_COMPUTE_MATH, 40);
	scene_close(&s);
}
END_TEST

START_TEST(page_faults_are_counted_where_the_kernel_is_not_sampled)
{
	/* 1000 faults of 300 us each per second of CPU time: 30 of 100 ms. */
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	uint32_t forward = scene_stack(&s, "conv_layer", "forward");
	struct tp_sink *sink = &s.builder.sink;
	tp_sink_gauge(sink, TP_METRIC_SELF_FAULT_COST, TP_NO_TASK, 0, 300e3);
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS)
		scene_run(&s, 0, base, 0, 100, forward, TP_RUN_PREEMPTED);
	for (uint64_t second = 0; second <= 2; second++) {
		tp_sink_gauge(sink, TP_METRIC_TASK_MINFLT, 0, MS(second * 1000),
			      (double)second * 1000);
		tp_sink_gauge(sink, TP_METRIC_TASK_UTIME, 0, MS(second * 1000),
			      (double)second * 6e8);
		tp_sink_gauge(sink, TP_METRIC_TASK_STIME, 0, MS(second * 1000),
			      (double)second * 4e8);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_MEMORY_FAULT, 30);
	expect(&s, TP_LABEL_COMPUTE_MATH, 70);
	scene_close(&s);
}
END_TEST

/* A thread without known names makes data all the time; the main thread waits for it in the first
 * half of a step, in short sleeps or yielding the CPU, and works in the second half. */
static void make_data(struct scene *s, uint64_t base)
{
	uint32_t make = scene_stack(s, "scramble", "feed");
	for (uint64_t ms = 0; ms < STEP_MS; ms += 10)
		scene_run(s, 1, base, ms, ms + 10, make, TP_RUN_PREEMPTED);
}

static void compute(struct scene *s, uint64_t base, uint64_t from, uint64_t to, enum tp_run_end how)
{
	uint32_t math = scene_stack(s, "product", "step");
	for (uint64_t ms = from; ms < to; ms += 5)
		scene_run(s, 0, base, ms, ms + 5, math, ms + 5 < to ? TP_RUN_PREEMPTED : how);
}

START_TEST(short_sleeps_while_the_loader_works_wait_for_it)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t look = scene_stack(&s, "nanosleep", "step");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		for (uint64_t ms = 0; ms < 50; ms += 5) {
			struct tp_run run = {.start_ns = MS(base + ms), .how = TP_RUN_BLOCKED};
			run.end_ns = run.start_ns + 10000; /* a short check between two sleeps */
			tp_sink_run(&s.builder.sink, &run);
			scene_sample(&s, 0, base + ms + 2, TP_STATE_BLOCKED, TP_CAUSE_SLEEP, look);
		}
		compute(&s, base, 50, 100, TP_RUN_BLOCKED);
		make_data(&s, base);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PREP, 49.9);
	expect(&s, TP_LABEL_IDLE_SLEEP, 0);
	scene_close(&s);
}
END_TEST

START_TEST(yielding_while_only_the_loader_works_waits_for_it)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 100, "/home/me/train");
	uint32_t yield = scene_stack(&s, "sched_yield", "step");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		/* another program takes the CPU for 5 ms of every 15 */
		for (uint64_t ms = 0; ms < 45; ms += 15)
			scene_run(&s, 0, base, ms, ms + 10, yield, TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 45, 50, yield, TP_RUN_PREEMPTED);
		compute(&s, base, 50, 100, TP_RUN_PREEMPTED);
		make_data(&s, base);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_DATALOADER_PREP, 35);
	expect(&s, TP_LABEL_DATALOADER_QUEUE, 15);
	expect(&s, TP_LABEL_COMPUTE_MATH, 50);
	ck_assert_double_eq_tol(s.profile.facts[TP_FACT_STEP_INLINE].value, 0, 1e-9);
	scene_close(&s);
}
END_TEST

START_TEST(yielding_to_another_rank_is_waiting_for_it)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 101, "/home/me/train");
	uint32_t yield = scene_stack(&s, "sched_yield", "step");
	uint32_t math = scene_stack(&s, "product", "step");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		compute(&s, base, 0, 60, TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 60, 100, yield, TP_RUN_PREEMPTED);
		scene_run(&s, 1, base, 0, 100, math, TP_RUN_PREEMPTED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMMUNICATION_WAIT, 40);
	expect(&s, TP_LABEL_COMPUTE_MATH, 60);
	scene_close(&s);
}
END_TEST

/* The woken thread is sampled as runnable, or is unseen on a CPU for 20 us, in which it wakes other
 * threads that take the CPU. */
static void wake_without_cpu(struct scene *s, uint64_t base, bool is_seen)
{
	struct tp_run woken = {.task = 0,
			       .start_ns = MS(base + 80),
			       .end_ns = MS(base + 80) + 20 * TP_NS_PER_US,
			       .how = TP_RUN_PREEMPTED};
	if (is_seen)
		scene_sample(s, 0, base + 80, TP_STATE_RUNNABLE, TP_CAUSE_NONE, 0);
	else
		tp_sink_run(&s->builder.sink, &woken);
}

START_TEST(a_thread_woken_by_the_loader_waits_for_it_until_it_runs)
{
	/* 50 ms of work, 30 blocked in a read from the loader's pipe, 20 awake without a CPU */
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	scene_task(&s, 1, 101, "/home/me/train");
	uint32_t read = scene_stack(&s, "read", "step");
	uint32_t make = scene_stack(&s, "scramble", "serve");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		compute(&s, base, 0, 50, TP_RUN_BLOCKED);
		scene_sample(&s, 0, base + 60, TP_STATE_BLOCKED, TP_CAUSE_PIPE, read);
		wake_without_cpu(&s, base, _i == 0);
		scene_run(&s, 1, base, 0, 100, make, TP_RUN_PREEMPTED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 50);
	expect(&s, TP_LABEL_DATALOADER_PREP, 30);
	expect(&s, TP_LABEL_DATALOADER_QUEUE, 20);
	expect(&s, TP_LABEL_IDLE_RUNNABLE, 0);
	scene_close(&s);
}
END_TEST

/* A shell's pipeline: make | train. */
START_TEST(waiting_for_the_program_before_in_a_pipeline_takes_what_it_does)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/bin/sh");
	const char *exes[] = {"/home/me/train", "/home/me/make"};
	for (uint32_t id = 1; id < 3; id++) {
		struct tp_task task = {.id = id, .tid = (pid_t)(100 + id), .exec_ns = 1};
		task.pid = task.tid;
		task.exe = tp_sink_string(&s.builder.sink, exes[id - 1]);
		tp_sink_task(&s.builder.sink, &task);
	}
	uint32_t math = scene_stack(&s, "product", "step");
	uint32_t read = scene_stack(&s, "read", "step");
	uint32_t make = scene_stack(&s, "scramble", "produce");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		scene_run(&s, 1, base, 0, 40, math, TP_RUN_BLOCKED);
		scene_sample(&s, 1, base + 70, TP_STATE_BLOCKED, TP_CAUSE_PIPE, read);
		scene_run(&s, 2, base, 0, 100, make, TP_RUN_PREEMPTED);
	}
	struct tp_error err;
	struct tp_run_info run = {.ended_ns = MS(N_STEPS * STEP_MS)};
	struct tp_analyze_options options = {.steps = TP_STEPS_OFF};
	tp_trace_build(&s.trace, &s.builder, &run);
	ck_assert_int_eq(tp_analyze(&s.profile, &s.trace, s.patterns, &options, &err), TP_OK);
	ck_assert_uint_eq(s.profile.trainer, 1);
	expect(&s, TP_LABEL_COMPUTE_MATH, 40);
	expect(&s, TP_LABEL_DATALOADER_PREP, 60);
	scene_close(&s);
}
END_TEST

START_TEST(a_system_call_is_what_its_caller_says_also_at_the_kernels_door)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	struct tp_sink *sink = &s.builder.sink;
	struct tp_frame door = {.kind = TP_FRAME_KERNEL, .address = 640};
	door.module = tp_sink_string(sink, "[kernel]");
	door.symbol = tp_sink_string(sink, "entry_SYSCALL_64_after_hwframe");
	struct tp_frame call = {.kind = TP_FRAME_NATIVE, .address = 6400};
	call.module = tp_sink_string(sink, "/usr/lib/libc.so.6");
	call.symbol = tp_sink_string(sink, _i ? "getppid" : "write");
	uint32_t ids[] = {tp_sink_frame(sink, &door), tp_sink_frame(sink, &call)};
	uint32_t stack = tp_sink_stack(sink, ids, 2, 0);
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		compute(&s, base, 0, 60, TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 60, 100, stack, TP_RUN_PREEMPTED);
	}
	scene_judge(&s);
	expect(&s, _i ? TP_LABEL_HOST_KERNEL : TP_LABEL_HOST_LOGGING, 40);
	scene_close(&s);
}
END_TEST

/* With and without a loader process: the label of a read from a socket, on a CPU and after losing
 * it. */
START_TEST(bytes_from_a_socket_are_data_from_loaders_else_communication)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	struct tp_sink *sink = &s.builder.sink;
	const char *names[] = {"unix_stream_recvmsg", "sock_read_iter", "ksys_read", "read"};
	uint32_t ids[4];
	for (uint32_t i = 0; i < 4; i++) {
		struct tp_frame frame = {.kind = i < 3 ? TP_FRAME_KERNEL : TP_FRAME_NATIVE};
		frame.module = tp_sink_string(sink, i < 3 ? "[kernel]" : "/usr/lib/libc.so.6");
		frame.symbol = tp_sink_string(sink, names[i]);
		frame.address = 64 * (uint64_t)frame.symbol;
		ids[i] = tp_sink_frame(sink, &frame);
	}
	uint32_t receive = tp_sink_stack(sink, ids, 4, 0);
	uint32_t make = scene_stack(&s, "scramble", "serve");
	if (_i)
		scene_task(&s, 1, 101, "/home/me/train");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		compute(&s, base, 0, 60, TP_RUN_PREEMPTED);
		scene_run(&s, 0, base, 60, 80, receive, TP_RUN_PREEMPTED);
		if (_i)
			scene_run(&s, 1, base, 0, 100, make, TP_RUN_PREEMPTED);
	}
	scene_judge(&s);
	expect(&s, TP_LABEL_COMPUTE_MATH, 60);
	expect(&s, _i ? TP_LABEL_DATALOADER_HANDOVER : TP_LABEL_COMMUNICATION_TRANSFER, 20);
	expect(&s, _i ? TP_LABEL_DATALOADER_QUEUE : TP_LABEL_COMMUNICATION_WAIT, 20);
	scene_close(&s);
}
END_TEST

START_TEST(a_hot_function_is_one_row_for_all_call_paths)
{
	struct scene s;
	scene_open(&s);
	scene_task(&s, 0, 100, "/home/me/train");
	struct tp_sink *sink = &s.builder.sink;
	struct tp_frame frame = {.kind = TP_FRAME_NATIVE, .function_start = 4096};
	frame.module = tp_sink_string(sink, "/home/me/train");
	frame.symbol = tp_sink_string(sink, "product");
	for (uint64_t base = 0; base < N_STEPS * STEP_MS; base += STEP_MS) {
		frame.address = 4096 + base;
		uint32_t id = tp_sink_frame(sink, &frame);
		scene_run(&s, 0, base, 0, 100, tp_sink_stack(sink, &id, 1, 0), TP_RUN_PREEMPTED);
	}
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_hot, 1);
	ck_assert_uint_eq(s.profile.hot[0].time_ns, MS(N_STEPS * STEP_MS));
	scene_close(&s);
}
END_TEST

Suite *suite_analyze_pass_main_thread(void);
Suite *suite_analyze_pass_main_thread(void)
{
	Suite *suite = suite_create("analyze/pass_foreground");
	TCase *tc = tcase_create("labels");
	tcase_add_test(tc, waiting_for_a_loader_thread_takes_what_the_thread_does);
	tcase_add_test(tc, spinning_for_loaders_that_have_no_cpu_is_no_communication);
	tcase_add_test(tc, waiting_for_the_own_team_is_compute);
	tcase_add_test(tc, a_wait_inside_computing_is_for_the_team_whoever_else_works);
	tcase_add_loop_test(tc, a_wait_that_no_look_hit_is_like_one_for_the_same_threads, 0, 2);
	tcase_add_loop_test(tc, outside_its_teams_loops_a_thread_waits_for_its_loader, 0, 2);
	tcase_add_test(tc, a_wait_for_a_pool_that_waits_for_other_ranks_is_communication);
	tcase_add_test(tc, a_pool_that_only_works_at_the_beginning_is_handed_no_steps);
	tcase_add_loop_test(tc, work_that_the_main_thread_hands_over_is_no_waiting_for_a_team, 0,
			    3);
	tcase_add_loop_test(tc,
			    a_graph_that_fetches_its_batch_waits_for_data_whatever_its_pool_does, 0,
			    2);
	tcase_add_test(tc, a_step_that_has_its_batch_waits_for_no_data);
	tcase_add_loop_test(tc, half_a_step_has_the_label_of_what_is_done, 0,
			    sizeof(halves) / sizeof(halves[0]));
	tcase_add_test(tc, marks_of_the_program_outrank_its_names);
	tcase_add_test(tc, a_function_that_only_touches_memory_is_page_faults);
	tcase_add_test(tc, page_faults_are_counted_where_the_kernel_is_not_sampled);
	tcase_add_loop_test(tc, a_nameless_callee_that_does_the_reading_is_the_loader, 0, 2);
	tcase_add_test(tc, a_nameless_callee_that_opens_files_to_write_them_loads_nothing);
	tcase_add_loop_test(tc, an_open_is_for_what_its_caller_does_with_files, 0, 2);
	tcase_add_test(tc, decoding_makes_its_calling_interpreter_the_loader);
	tcase_add_test(tc, the_loader_is_known_by_whatever_way_it_is_called);
	tcase_add_test(tc, a_sample_speaks_only_for_the_marked_phase_it_was_taken_in);
	tcase_add_test(tc, without_switch_records_polls_give_the_shares);
	tcase_add_test(tc, a_wait_without_a_stack_is_where_like_waits_for_the_same_are);
	tcase_add_test(tc, short_waits_that_no_look_hit_are_judged_by_short_waits);
	tcase_add_test(tc, short_sleeps_while_the_loader_works_wait_for_it);
	tcase_add_test(tc, yielding_while_only_the_loader_works_waits_for_it);
	tcase_add_test(tc, yielding_to_another_rank_is_waiting_for_it);
	tcase_add_loop_test(tc, a_thread_woken_by_the_loader_waits_for_it_until_it_runs, 0, 2);
	tcase_add_test(tc, waiting_for_the_program_before_in_a_pipeline_takes_what_it_does);
	tcase_add_loop_test(tc, a_system_call_is_what_its_caller_says_also_at_the_kernels_door, 0,
			    2);
	tcase_add_loop_test(tc, bytes_from_a_socket_are_data_from_loaders_else_communication, 0, 2);
	tcase_add_test(tc, a_hot_function_is_one_row_for_all_call_paths);
	suite_add_tcase(suite, tc);
	return suite;
}
