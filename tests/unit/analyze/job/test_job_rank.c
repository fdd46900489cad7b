/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of complete recordings of ranks: each is analysed on its own, and the planted late rank is
 * found. */
#include "trainprof/analyze/job_join.h"

#include "analyze/shippedpatterns.h"
#include "trainprof/model/trace.h"

#define MS UINT64_C(1000000)

enum { STEPS = 60, STEP_MS = 50, WORK_MS = 20, EXTRA_MS = 20 };

struct stacks {
	uint32_t work, extra, wait;
};

static uint32_t frame(struct tp_sink *sink, const char *module, const char *symbol)
{
	struct tp_frame frame = {.module = tp_sink_string(sink, module),
				 .symbol = tp_sink_string(sink, symbol)};
	frame.function_start = 64 * (uint64_t)frame.symbol;
	frame.address = frame.function_start + 4;
	return tp_sink_frame(sink, &frame);
}

static uint32_t stack(struct tp_sink *sink, const char *module, const char *leaf)
{
	uint32_t frames[] = {frame(sink, module, leaf), frame(sink, "/bin/train", "main")};
	return tp_sink_stack(sink, frames, 2, 0);
}

/* Adds a run of [from, from + length) with a sample every 10 ms; between runs the thread is
 * blocked. */
static void put_run(struct tp_sink *sink, uint64_t from_ns, uint64_t length_ns, uint32_t id)
{
	struct tp_run run = {.start_ns = from_ns,
			     .end_ns = from_ns + length_ns,
			     .how = TP_RUN_BLOCKED};
	for (uint64_t at = from_ns + 5 * MS; at < from_ns + length_ns; at += 10 * MS) {
		struct tp_sample sample = {.time_ns = at, .stack = id, .syscall = -1};
		tp_sink_sample(sink, &sample);
	}
	tp_sink_run(sink, &run);
}

static void put_wait(struct tp_sink *sink, uint64_t from_ns, uint64_t length_ns, uint32_t id)
{
	struct tp_sample sample = {.time_ns = from_ns + length_ns / 2,
				   .state = TP_STATE_BLOCKED,
				   .cause = TP_CAUSE_POLL,
				   .flags = TP_SAMPLE_POLLED,
				   .stack = id,
				   .syscall = -1};
	tp_sink_sample(sink, &sample);
}

/* A step is work, plus `extra` in the late rank's own function, then the exchange until the step's
 * end. */
static void put_steps(struct tp_sink *sink, const struct stacks *stacks, bool is_late)
{
	uint64_t extra_ns = is_late ? EXTRA_MS * MS : 0;
	for (uint64_t k = 0; k <= STEPS; k++) {
		uint64_t at = 1 + (k + 1) * STEP_MS * MS;
		struct tp_mark mark = {.kind = TP_MARK_STEP, .time_ns = at, .value = k};
		tp_sink_mark(sink, &mark);
		if (k == STEPS)
			break;
		if (extra_ns)
			put_run(sink, at, extra_ns, stacks->extra);
		put_run(sink, at + extra_ns, WORK_MS * MS, stacks->work);
		put_wait(sink, at + extra_ns + WORK_MS * MS, (STEP_MS - WORK_MS) * MS - extra_ns,
			 stacks->wait);
	}
}

static void add_rank(struct tp_job *job, int64_t number, bool is_late)
{
	struct tp_trace_builder builder;
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_error err;
	struct tp_run_info run = {
		.started_ns = 1,
		.ended_ns = 1 + (STEPS + 2) * STEP_MS * MS,
		.sample_rate_hz = 100,
		.host = {.name = "host", .n_cpus = 8, .n_allowed = 8},
		.job = {.launcher = "Open MPI", .rank = number, .n_ranks = 3, .local_rank = -1},
		.end = TP_END_EXITED,
	};
	const struct tp_job_source source = {.directory = "prof", .run = &run, .place = &run.job};
	const struct tp_analyze_options how = {0};
	tp_trace_builder_init(&builder);
	struct tp_sink *sink = &builder.sink;
	struct tp_task task = {.pid = 100, .tid = 100, .start_ns = 1, .parent = TP_NO_TASK};
	task.exe = tp_sink_string(sink, "/bin/train");
	tp_sink_task(sink, &task);
	const struct stacks stacks = {.work = stack(sink, "/bin/train", "forward"),
				      .extra = stack(sink, "/bin/train",
						     "decode.<locals>.<genexpr>"),
				      .wait = stack(sink, "libmpi.so.40", "MPI_Allreduce")};
	put_steps(sink, &stacks, is_late);
	tp_trace_build(&trace, &builder, &run);
	ck_assert_msg(tp_analyze(&profile, &trace, patterns, &how, &err) == TP_OK, "%s", err.text);
	ck_assert_uint_ge(profile.n_steps, STEPS - 1);
	tp_job_add(job, &source, &profile, NULL);
	tp_profile_release(&profile);
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
}

START_TEST(the_planted_rank_is_found_with_its_function_and_gain)
{
	struct tp_job job;
	tp_job_init(&job);
	for (int64_t i = 0; i < 3; i++)
		add_rank(&job, i, i == _i);
	tp_job_join(&job);
	ck_assert_int_eq(job.verdict, TP_JOB_LATE_RANK);
	ck_assert_int_eq(job.ranks[job.late].number, _i);
	ck_assert(job.is_sure);
	ck_assert_uint_eq(job.n_last, job.n_steps);
	ck_assert_double_eq_tol(job.late_ns, EXTRA_MS * 1e6, 1e6);
	ck_assert_double_eq_tol(job.step_ns, STEP_MS * 1e6, 1e6);
	ck_assert_double_eq_tol(job.gain, 50.0 / 30, 0.05);
	ck_assert_ptr_nonnull(job.late_code);
	ck_assert_str_eq(job.late_code->function, "decode");
	ck_assert_double_eq_tol(job.late_code->step_ns, EXTRA_MS * 1e6, 1e6);
	ck_assert_double_eq(job.others_code_ns, 0);
	ck_assert_uint_eq(job.n_missing, 0);
	tp_job_release(&job);
}
END_TEST

START_TEST(ranks_that_wait_alike_have_no_late_one)
{
	struct tp_job job;
	tp_job_init(&job);
	for (int64_t i = 0; i < 3; i++)
		add_rank(&job, i, false);
	tp_job_join(&job);
	/* Even the last one waits for 30 of 50 ms. */
	ck_assert_int_eq(job.verdict, TP_JOB_ALL_WAIT);
	ck_assert_int_eq(job.late, TP_JOB_NO_RANK);
	tp_job_release(&job);
}
END_TEST

Suite *suite_analyze_job_rank(void);

Suite *suite_analyze_job_rank(void)
{
	Suite *suite = suite_create("analyze_job_rank");
	TCase *tc = tcase_create("recordings");
	tcase_add_unchecked_fixture(tc, load, unload);
	tcase_add_loop_test(tc, the_planted_rank_is_found_with_its_function_and_gain, 0, 3);
	tcase_add_test(tc, ranks_that_wait_alike_have_no_late_one);
	suite_add_tcase(suite, tc);
	return suite;
}
