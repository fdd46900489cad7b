/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of roles: process trees whose members are known. Each process runs all the time or
 * waits. */
#include "trainprof/analyze/analyze.h"
#include "trainprof/base/clock.h"

#include <check.h>

#define MS(x) ((uint64_t)(x)*TP_NS_PER_MS)

enum { LENGTH_MS = 2000, MAX_MEMBERS = 5 };

/* A process: its stack while on a CPU, the share of time it is on one, and its wait. */
struct member {
	int parent; /* row; -1 = the target itself */
	bool did_exec;
	const char *exe;
	const char *leaf;
	const char *caller;
	unsigned busy_percent;
	enum tp_cause wait;
	bool marks_steps;
	enum tp_role expected;
	const char *wait_leaf; /* function in which it waits; NULL = not known */
};

static const struct tree {
	const char *claim;
	struct member members[MAX_MEMBERS];
	int trainer; /* row of the expected trainer */
} trees[] = {
	{"a shell that starts a trainer is a launcher",
	 {{-1, true, "/bin/sh", "main", "main", 0, TP_CAUSE_CHILD, false, TP_ROLE_LAUNCHER, NULL},
	  {0, true, "/x/train", "gemm", "forward", 90, TP_CAUSE_FUTEX, false, TP_ROLE_TRAINER,
	   NULL}},
	 1},
	{"forked workers that decode are loaders",
	 {{-1, true, "/x/train", "gemm", "forward", 60, TP_CAUSE_PIPE, false, TP_ROLE_TRAINER,
	   NULL},
	  {0, false, "/x/train", "decode_image", "loader_main", 95, TP_CAUSE_PIPE, false,
	   TP_ROLE_LOADER, NULL},
	  {0, false, "/x/train", "decode_image", "loader_main", 95, TP_CAUSE_PIPE, false,
	   TP_ROLE_LOADER, NULL}},
	 0},
	{"forked workers without telling names are loaders of a parent that works",
	 {{-1, true, "/usr/bin/python3.11", "x", "y", 40, TP_CAUSE_POLL, false, TP_ROLE_TRAINER,
	   NULL},
	  {0, false, "/usr/bin/python3.11", "a", "b", 80, TP_CAUSE_PIPE, false, TP_ROLE_LOADER,
	   NULL}},
	 0},
	{"ranks forked by a parent that only waits are trainers",
	 {{-1, true, "/x/train", "main", "main", 0, TP_CAUSE_CHILD, false, TP_ROLE_LAUNCHER, NULL},
	  {0, false, "/x/train", "gemm", "forward", 80, TP_CAUSE_SOCKET, false, TP_ROLE_TRAINER,
	   NULL},
	  {0, false, "/x/train", "gemm", "forward", 70, TP_CAUSE_SOCKET, false, TP_ROLE_TRAINER,
	   NULL}},
	 1},
	{"a rank forked by a rank is a trainer",
	 {{-1, true, "/x/train", "gemm", "forward", 80, TP_CAUSE_SOCKET, false, TP_ROLE_TRAINER,
	   NULL},
	  {0, false, "/x/train", "gemm", "forward", 80, TP_CAUSE_SOCKET, false, TP_ROLE_TRAINER,
	   NULL}},
	 0},
	{"a rank forked by a rank does the same, whatever its functions are called",
	 {{-1, true, "/x/train", "f", "g", 60, TP_CAUSE_SOCKET, false, TP_ROLE_TRAINER, NULL},
	  {0, false, "/x/train", "f", "g", 95, TP_CAUSE_SOCKET, false, TP_ROLE_TRAINER, NULL}},
	 0},
	{"what pours into a pipeline loads for what drinks, however busy it is",
	 {{-1, true, "/bin/sh", "main", "main", 0, TP_CAUSE_CHILD, false, TP_ROLE_LAUNCHER, NULL},
	  {0, true, "/x/make", "f", "g", 95, TP_CAUSE_UNKNOWN, false, TP_ROLE_LOADER, NULL},
	  {0, true, "/x/train", "h", "i", 20, TP_CAUSE_PIPE, false, TP_ROLE_TRAINER, "read"}},
	 2},
	{"and so it does when the other one is slower",
	 {{-1, true, "/bin/sh", "main", "main", 0, TP_CAUSE_CHILD, false, TP_ROLE_LAUNCHER, NULL},
	  {0, true, "/x/make", "f", "g", 40, TP_CAUSE_PIPE, false, TP_ROLE_LOADER, "write"},
	  {0, true, "/x/train", "h", "i", 95, TP_CAUSE_UNKNOWN, false, TP_ROLE_TRAINER, NULL}},
	 2},
	{"a program that the trainer reads from loads",
	 {{-1, true, "/x/train", "f", "g", 50, TP_CAUSE_PIPE, false, TP_ROLE_TRAINER, "read"},
	  {0, true, "/bin/gzip", "h", "i", 90, TP_CAUSE_UNKNOWN, false, TP_ROLE_LOADER, NULL}},
	 0},
	{"what copies the trainer's log loads nothing",
	 {{-1, true, "/x/train", "f", "g", 80, TP_CAUSE_FUTEX, false, TP_ROLE_TRAINER, NULL},
	  {0, true, "/bin/cat", "read", "i", 5, TP_CAUSE_PIPE, false, TP_ROLE_OTHER, "read"}},
	 0},
	{"a worker that transforms with the model's library is a loader",
	 {{-1, true, "/x/libtorch_cpu.so", "convolve", "forward", 90, TP_CAUSE_FUTEX, false,
	   TP_ROLE_TRAINER, NULL},
	  {0, false, "/x/libtorch_cpu.so", "interpolate", "map", 40, TP_CAUSE_PIPE, false,
	   TP_ROLE_LOADER, NULL}},
	 0},
	{"workers forked by an idle manager are loaders of the one above it",
	 {{-1, true, "/x/train", "f", "g", 60, TP_CAUSE_PIPE, false, TP_ROLE_TRAINER, "read"},
	  {0, false, "/x/train", "i", "i", 0, TP_CAUSE_CHILD, false, TP_ROLE_OTHER, NULL},
	  {1, false, "/x/train", "h", "i", 90, TP_CAUSE_PIPE, false, TP_ROLE_LOADER, NULL}},
	 0},
	{"the same program started again to do something else is a loader",
	 {{-1, true, "/x/train", "f", "g", 60, TP_CAUSE_PIPE, false, TP_ROLE_TRAINER, "read"},
	  {0, true, "/x/train", "h", "i", 90, TP_CAUSE_PIPE, false, TP_ROLE_LOADER, NULL}},
	 0},
	{"and to do the same a rank",
	 {{-1, true, "/x/train", "f", "g", 60, TP_CAUSE_SOCKET, false, TP_ROLE_TRAINER, "read"},
	  {0, true, "/x/train", "f", "g", 90, TP_CAUSE_SOCKET, false, TP_ROLE_TRAINER, NULL}},
	 0},
	{"marks decide, however busy another process is",
	 {{-1, true, "/x/train", "f", "g", 20, TP_CAUSE_PIPE, true, TP_ROLE_TRAINER, NULL},
	  {0, true, "/x/helper", "h", "i", 99, TP_CAUSE_PIPE, false, TP_ROLE_OTHER, NULL}},
	 0},
};

static uint32_t put_stack(struct tp_sink *sink, const struct member *m, const char *leaf)
{
	const char *names[] = {leaf, m->caller};
	uint32_t ids[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct tp_frame frame = {.kind = TP_FRAME_NATIVE, .address = 16 * (i + 1)};
		frame.module = tp_sink_string(sink, m->exe);
		frame.symbol = tp_sink_string(sink, names[i]);
		ids[i] = tp_sink_frame(sink, &frame);
	}
	return tp_sink_stack(sink, ids, 2, 0);
}

/* Adds a task with its own process, or as a thread of `pid`. */
static void put_task(struct tp_sink *sink, const struct member *m, uint32_t id, pid_t pid,
		     uint64_t from_ms, uint64_t to_ms)
{
	struct tp_task task = {.id = id, .tid = (pid_t)(100 + id), .pid = pid};
	task.start_ns = MS(from_ms);
	task.end_ns = MS(to_ms);
	task.parent = m->parent < 0 ? TP_NO_TASK : (uint32_t)m->parent;
	task.exec_ns = m->did_exec ? 1 : 0;
	task.exe = tp_sink_string(sink, m->exe);
	tp_sink_task(sink, &task);
	uint32_t stack = put_stack(sink, m, m->leaf);
	uint32_t wait = m->wait_leaf ? put_stack(sink, m, m->wait_leaf) : 0;
	for (uint64_t at = from_ms; at < to_ms; at += 100) {
		struct tp_sample sample = {.task = id, .stack = stack, .syscall = -1};
		if (m->busy_percent) {
			struct tp_run run = {.task = id, .how = TP_RUN_BLOCKED};
			run.start_ns = MS(at);
			run.end_ns = MS(at + m->busy_percent);
			tp_sink_run(sink, &run);
			sample.time_ns = MS(at + m->busy_percent / 2);
			tp_sink_sample(sink, &sample);
		}
		sample.state = TP_STATE_BLOCKED;
		sample.cause = m->wait;
		sample.stack = wait;
		sample.time_ns = MS(at + 99);
		tp_sink_sample(sink, &sample);
		if (m->marks_steps) {
			struct tp_mark mark = {.task = id, .time_ns = MS(at)};
			tp_sink_mark(sink, &mark);
		}
	}
}

static void put_life(struct tp_sink *sink, const struct member *m, uint32_t id, uint64_t from_ms,
		     uint64_t to_ms)
{
	put_task(sink, m, id, (pid_t)(100 + id), from_ms, to_ms);
}

/* Checks for one thread per process, on a CPU for the same part of each tenth of a second. */
static void assert_threads(const struct tp_profile *profile, const struct tree *tree)
{
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	ck_assert_uint_eq(profile->n_threads, profile->n_processes);
	for (size_t i = 0; i < profile->n_threads; i++) {
		const struct tp_thread_result *row = &profile->threads[i];
		const struct member *m = &tree->members[row->task];
		uint64_t sum = row->on_cpu_ns + row->runnable_ns;
		for (int cause = 0; cause < TP_N_CAUSES; cause++)
			sum += row->blocked_ns[cause];
		ck_assert_uint_eq(sum, row->lived_ns);
		ck_assert_int_eq(row->process_role, m->expected);
		ck_assert_int_eq(row->role == TP_THREAD_MAIN, (int)row->task == tree->trainer);
		ck_assert_double_eq_tol((double)row->on_cpu_ns / window_ns, m->busy_percent / 100.0,
					0.02);
		if (m->busy_percent && m->busy_percent < 98)
			ck_assert_double_eq_tol((double)row->blocked_ns[m->wait] / window_ns,
						1 - m->busy_percent / 100.0, 0.02);
	}
}

START_TEST(everybody_gets_the_role_that_was_played)
{
	const struct tree *tree = &trees[_i];
	struct tp_trace_builder builder;
	struct tp_patterns *patterns;
	struct tp_trace trace;
	struct tp_profile profile;
	tp_trace_builder_init(&builder);
	ck_assert_int_eq(tp_patterns_load(&patterns, "rules/patterns", NULL), TP_OK);
	for (uint32_t i = 0; i < MAX_MEMBERS && tree->members[i].exe; i++)
		put_life(&builder.sink, &tree->members[i], i, 0, LENGTH_MS);
	struct tp_run_info run = {.ended_ns = MS(LENGTH_MS)};
	struct tp_analyze_options options = {.steps = TP_STEPS_AUTO};
	tp_trace_build(&trace, &builder, &run);
	ck_assert_int_eq(tp_analyze(&profile, &trace, patterns, &options, NULL), TP_OK);
	ck_assert_msg((int)profile.trainer == tree->trainer, "%s: trainer is %u", tree->claim,
		      profile.trainer);
	for (size_t i = 0; i < profile.n_processes; i++) {
		const struct tp_process_result *row = &profile.processes[i];
		ck_assert_msg(row->role == tree->members[row->task].expected, "%s: %u is a %s",
			      tree->claim, row->task, tp_role_name(row->role));
	}
	assert_threads(&profile, tree);
	tp_profile_release(&profile);
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
	tp_patterns_free(patterns);
}
END_TEST

/* A script prepares for 1.2 s and trains for 0.8 s; once with names of a model, once with a busier
 * training and no such names. */
static const struct {
	const char *leaf;
	unsigned busy_percent; /* while preparing; training takes 90 */
} scripts[] = {{"forward", 95}, {"step", 50}};

START_TEST(the_training_program_of_a_sequence_is_judged)
{
	const struct member members[] = {{-1, true, "/bin/sh", "main", "main", 0, TP_CAUSE_CHILD,
					  false, TP_ROLE_LAUNCHER, NULL},
					 {0, true, "/x/prepare", "scale", "main",
					  scripts[_i].busy_percent, TP_CAUSE_FUTEX, false,
					  TP_ROLE_OTHER, NULL},
					 {0, true, "/x/train", scripts[_i].leaf, "main", 90,
					  TP_CAUSE_FUTEX, false, TP_ROLE_TRAINER, NULL}};
	const uint64_t border = LENGTH_MS * 6 / 10;
	struct tp_trace_builder builder;
	struct tp_patterns *patterns;
	struct tp_trace trace;
	struct tp_profile profile;
	tp_trace_builder_init(&builder);
	ck_assert_int_eq(tp_patterns_load(&patterns, "rules/patterns", NULL), TP_OK);
	put_life(&builder.sink, &members[0], 0, 0, LENGTH_MS);
	put_life(&builder.sink, &members[1], 1, 0, border);
	put_life(&builder.sink, &members[2], 2, border, LENGTH_MS);
	struct tp_run_info run = {.ended_ns = MS(LENGTH_MS)};
	struct tp_analyze_options options = {.steps = TP_STEPS_AUTO};
	tp_trace_build(&trace, &builder, &run);
	ck_assert_int_eq(tp_analyze(&profile, &trace, patterns, &options, NULL), TP_OK);
	ck_assert_uint_eq(profile.trainer, 2);
	for (size_t i = 0; i < profile.n_processes; i++)
		ck_assert_int_eq(profile.processes[i].role,
				 members[profile.processes[i].task].expected);
	tp_profile_release(&profile);
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
	tp_patterns_free(patterns);
}
END_TEST

/* A trainer that reads one compressed file after the other, each through its own program. */
START_TEST(a_short_program_that_feeds_the_trainer_loads)
{
	const struct member trainer = {
		-1, true, "/x/train", "f", "g", 90, TP_CAUSE_PIPE, false, TP_ROLE_TRAINER, "read"};
	const struct member unpacker = {
		0, true, "/bin/gzip", "h", "i", 40, TP_CAUSE_PIPE, false, TP_ROLE_LOADER, "write"};
	struct tp_trace_builder builder;
	struct tp_patterns *patterns;
	struct tp_trace trace;
	struct tp_profile profile;
	tp_trace_builder_init(&builder);
	ck_assert_int_eq(tp_patterns_load(&patterns, "rules/patterns", NULL), TP_OK);
	put_life(&builder.sink, &trainer, 0, 0, 10 * LENGTH_MS);
	for (uint32_t i = 1; i < 11; i++)
		put_life(&builder.sink, &unpacker, i, (i - 1) * LENGTH_MS,
			 (i - 1) * LENGTH_MS + LENGTH_MS / 2);
	struct tp_run_info run = {.ended_ns = MS(10 * LENGTH_MS)};
	struct tp_analyze_options options = {.steps = TP_STEPS_AUTO};
	tp_trace_build(&trace, &builder, &run);
	ck_assert_int_eq(tp_analyze(&profile, &trace, patterns, &options, NULL), TP_OK);
	ck_assert_uint_eq(profile.trainer, 0);
	for (size_t i = 0; i < profile.n_processes; i++)
		ck_assert_int_eq(profile.processes[i].role,
				 profile.processes[i].task ? TP_ROLE_LOADER : TP_ROLE_TRAINER);
	tp_profile_release(&profile);
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
	tp_patterns_free(patterns);
}
END_TEST

/* The first thread works for a quarter of its life, then joins the thread that trains; that one
 * mostly waits for a third, which is busier. */
START_TEST(the_thread_that_the_first_one_joins_has_the_loop)
{
	const struct member threads[] = {{-1, true, "/x/train", "f", "main", 90, TP_CAUSE_FUTEX,
					  false, TP_ROLE_TRAINER, NULL},
					 {0, false, "/x/train", "forward", "loop", 30,
					  TP_CAUSE_FUTEX, false, TP_ROLE_TRAINER, NULL},
					 {0, false, "/x/train", "load_batch", "work", 95,
					  TP_CAUSE_FUTEX, false, TP_ROLE_TRAINER, NULL}};
	struct tp_trace_builder builder;
	struct tp_patterns *patterns;
	struct tp_trace trace;
	struct tp_profile profile;
	tp_trace_builder_init(&builder);
	ck_assert_int_eq(tp_patterns_load(&patterns, "rules/patterns", NULL), TP_OK);
	put_life(&builder.sink, &threads[0], 0, 0, LENGTH_MS);
	for (uint32_t i = 1; i < 3; i++)
		put_task(&builder.sink, &threads[i], i, 100, LENGTH_MS, 4 * LENGTH_MS);
	struct tp_run last = {.start_ns = MS(4 * LENGTH_MS - 1), .end_ns = MS(4 * LENGTH_MS)};
	tp_sink_run(&builder.sink, &last);
	struct tp_run_info run = {.ended_ns = MS(4 * LENGTH_MS)};
	struct tp_analyze_options options = {.steps = TP_STEPS_AUTO};
	tp_trace_build(&trace, &builder, &run);
	trace.tasks[0].end_ns = MS(4 * LENGTH_MS);
	ck_assert_int_eq(tp_analyze(&profile, &trace, patterns, &options, NULL), TP_OK);
	ck_assert_uint_eq(profile.n_threads, 3);
	for (size_t i = 0; i < profile.n_threads; i++)
		ck_assert_int_eq(profile.threads[i].role == TP_THREAD_MAIN,
				 profile.threads[i].task == 1);
	tp_profile_release(&profile);
	tp_trace_release(&trace);
	tp_trace_builder_release(&builder);
	tp_patterns_free(patterns);
}
END_TEST

Suite *suite_analyze_pass_roles(void);
Suite *suite_analyze_pass_roles(void)
{
	Suite *suite = suite_create("analyze/pass_roles");
	TCase *tc = tcase_create("roles");
	tcase_add_loop_test(tc, everybody_gets_the_role_that_was_played, 0,
			    sizeof(trees) / sizeof(trees[0]));
	tcase_add_loop_test(tc, the_training_program_of_a_sequence_is_judged, 0, 2);
	tcase_add_test(tc, a_short_program_that_feeds_the_trainer_loads);
	tcase_add_test(tc, the_thread_that_the_first_one_joins_has_the_loop);
	suite_add_tcase(suite, tc);
	return suite;
}
