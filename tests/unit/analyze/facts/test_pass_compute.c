/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which threads compute and spin, and in which library. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

/* An on-CPU run with one sample in its middle. */
static void add_run(struct hand *hand, uint32_t task, double from_s, double to_s, uint32_t stack)
{
	struct tp_sample sample = {.task = task, .state = TP_STATE_ON_CPU, .stack = stack};
	hand_run(hand, task, from_s, to_s, TP_RUN_BLOCKED);
	hand_sample(hand, &sample, (from_s + to_s) / 2);
}

/* The main thread computes in a library all the time; two members of different pools are on a CPU
 * every other tenth of a second, and spin every other time. */
static void two_pools(struct hand *hand)
{
	hand_init(hand);
	hand_task(hand, 0, 100, 100, "/home/me/train");
	hand_task(hand, 1, 100, 101, "");
	hand_task(hand, 2, 100, 102, "");
	hand_task(hand, 3, 100, 103, "");
	uint32_t main = hand_stack(hand, "/home/me/train", "main", "/lib/libopenblas.so.0",
				   "sgemm_kernel", 0);
	uint32_t omp[] = {hand_stack(hand, "/lib/libgomp.so.1", "gomp_thread_start",
				     "/home/me/train", "f", 0),
			  hand_stack(hand, "/lib/libgomp.so.1", "gomp_thread_start",
				     "/lib/libgomp.so.1", "do_spin", 0)};
	uint32_t blas[] = {hand_stack(hand, "/lib/libopenblas.so.0", "blas_thread_server",
				      "/home/me/train", "f", 0),
			   hand_stack(hand, "/lib/libopenblas.so.0", "blas_thread_server",
				      "/lib/libc.so.6", "sched_yield", 0)};
	for (int i = 0; i < 50; i++) {
		add_run(hand, 0, i * 0.2, i * 0.2 + 0.2, main);
		add_run(hand, 1, i * 0.2, i * 0.2 + 0.1, omp[i % 2]);
		add_run(hand, 2, i * 0.2 + 0.1, i * 0.2 + 0.2, blas[i % 2]);
	}
	hand_finish(hand);
	for (uint32_t task = 1; task <= 3; task++)
		hand->analysis.threads[task].role = TP_THREAD_TEAM;
	struct tp_timeline *timeline = &hand->analysis.timelines[0];
	for (size_t i = 0; i < timeline->n; i++)
		timeline->segments[i].label = TP_LABEL_COMPUTE_MATH;
}

START_TEST(members_spinning_and_pools_are_counted)
{
	struct hand hand;
	two_pools(&hand);
	hand_pass(&hand, tp_pass_compute);
	/* Task 3 never ran: it does not count. */
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_COMPUTE_THREADS), 3);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_COMPUTE_POOLS), 2);
	/* The window has 12 s of CPU time, 3 of them spinning: 9 s of work in 6 s of compute. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMPUTE_SPIN), 0.25, 0.01);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMPUTE_BUSY), 1.5, 0.02);
	/* The main thread's 6 s of the 9 are in the library. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMPUTE_LIBRARY), 2.0 / 3, 0.01);
	const struct tp_quantity *spin = &hand.profile.facts[TP_FACT_COMPUTE_SPIN];
	ck_assert(spin->has_interval && spin->low <= 0.25 && 0.25 <= spin->high);
	hand_release(&hand);
}
END_TEST

/* They run one after the other, for a fifth of the time each, and hardly ever compute. Threads that
 * compute are counted as before. */
START_TEST(threads_that_only_feed_a_queue_take_no_part)
{
	static const struct {
		double busy_s;
		double expected;
	} feeders[] = {{0.001, 1}, {1.9, 2}};
	for (size_t k = 0; k < 2; k++) {
		struct hand hand;
		hand_init(&hand);
		hand_task(&hand, 0, 100, 100, "/home/me/train");
		uint32_t main = hand_stack(&hand, "/home/me/train", "main", "/lib/libopenblas.so.0",
					   "sgemm_kernel", 0);
		for (int i = 0; i < 50; i++)
			add_run(&hand, 0, i * 0.2, i * 0.2 + 0.2, main);
		for (uint32_t i = 1; i <= 4; i++) {
			struct tp_task task = {.id = i, .pid = 100, .tid = 100 + (pid_t)i};
			task.start_ns = 1 + i * 2 * SECOND - 2 * SECOND;
			task.end_ns = task.start_ns + 2 * SECOND;
			tp_sink_task(&hand.builder.sink, &task);
			add_run(&hand, i, 2.0 * i - 1.9, 2.0 * i - 1.9 + feeders[k].busy_s, main);
		}
		hand_finish(&hand);
		for (uint32_t i = 1; i <= 4; i++)
			hand.analysis.threads[i].role = TP_THREAD_TEAM;
		struct tp_timeline *timeline = &hand.analysis.timelines[0];
		for (size_t i = 0; i < timeline->n; i++)
			timeline->segments[i].label = TP_LABEL_COMPUTE_MATH;
		hand_pass(&hand, tp_pass_compute);
		ck_assert_double_eq(hand_fact(&hand, TP_FACT_COMPUTE_THREADS), feeders[k].expected);
		hand_release(&hand);
	}
}
END_TEST

/* Only some of a loop's instructions are arithmetic: they represent the function. */
START_TEST(arithmetic_of_a_function_speaks_for_its_time)
{
	static const struct {
		uint64_t function;
		uint32_t flags;
	} places[] = {{0x1000, TP_FRAME_SCALAR},
		      {0x1000, 0},
		      {0x1000, TP_FRAME_SCALAR},
		      {0x1000, 0},
		      {0x2000, TP_FRAME_VECTOR},
		      {0x2000, 0},
		      {0x3000, 0},
		      {0x2000, TP_FRAME_VECTOR},
		      {0x4000, TP_FRAME_SCALAR},
		      {0x4000, TP_FRAME_VECTOR}};
	enum { N = sizeof(places) / sizeof(places[0]) };
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	for (uint32_t i = 0; i < 500; i++) {
		struct tp_frame frame = {.module = tp_sink_string(&hand.builder.sink, "train"),
					 .address = places[i % N].function + 4 * (i % N),
					 .function_start = places[i % N].function,
					 .flags = places[i % N].flags};
		uint32_t id = tp_sink_frame(&hand.builder.sink, &frame);
		add_run(&hand, 0, i * 0.02, i * 0.02 + 0.02,
			tp_sink_stack(&hand.builder.sink, &id, 1, 0));
	}
	hand_finish(&hand);
	for (size_t i = 0; i < hand.analysis.timelines[0].n; i++)
		hand.analysis.timelines[0].segments[i].label = TP_LABEL_COMPUTE_MATH;
	hand_pass(&hand, tp_pass_compute);
	/* Four tenths scalar, three vector, one without arithmetic, two half and half. */
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMPUTE_SCALAR), 0.5, 0.01);
	hand_release(&hand);
}
END_TEST

START_TEST(other_work_of_the_main_thread_is_not_compute)
{
	struct hand hand;
	two_pools(&hand);
	/* The second half of the window is loading: only the members' time in the first half
	 * counts. */
	struct tp_timeline *timeline = &hand.analysis.timelines[0];
	for (size_t i = 0; i < timeline->n; i++)
		if (timeline->segments[i].start_ns >= 5 * SECOND)
			timeline->segments[i].label = TP_LABEL_DATALOADER_PREP;
	hand_pass(&hand, tp_pass_compute);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMPUTE_BUSY), 1.5, 0.05);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMPUTE_SPIN), 0.25, 0.02);
	hand_release(&hand);
}
END_TEST

START_TEST(a_trainer_that_does_not_compute_says_so)
{
	struct hand hand;
	two_pools(&hand);
	struct tp_timeline *timeline = &hand.analysis.timelines[0];
	for (size_t i = 0; i < timeline->n; i++)
		timeline->segments[i].label = TP_LABEL_IDLE_SLEEP;
	hand_pass(&hand, tp_pass_compute);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_COMPUTE_BUSY),
			 "the trainer did not compute in the window");
	(void)hand_missing(&hand, TP_FACT_COMPUTE_SCALAR);
	hand_release(&hand);
}
END_TEST

START_TEST(threads_made_for_each_part_count_as_many_as_live_at_once)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	uint32_t stack = hand_stack(&hand, "/home/me/train", "main", "/home/me/train", "f", 0);
	for (int i = 0; i < 50; i++)
		add_run(&hand, 0, i * 0.2, i * 0.2 + 0.2, stack);
	for (uint32_t id = 1; id <= 100; id++) {
		struct tp_task task = {.id = id, .pid = 100, .tid = 100 + (int)id, .parent = 0};
		task.start_ns = 1 + (uint64_t)((id - 1) / 2) * SECOND / 5;
		task.end_ns = task.start_ns + SECOND / 5;
		tp_sink_task(&hand.builder.sink, &task);
		hand_run(&hand, id, (id - 1) / 2 * 0.2, (id - 1) / 2 * 0.2 + 0.2, TP_RUN_EXITED);
	}
	hand_finish(&hand);
	for (uint32_t id = 1; id <= 100; id++)
		hand.analysis.threads[id].role = TP_THREAD_TEAM;
	for (size_t i = 0; i < hand.analysis.timelines[0].n; i++)
		hand.analysis.timelines[0].segments[i].label = TP_LABEL_COMPUTE_MATH;
	hand_pass(&hand, tp_pass_compute);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_COMPUTE_THREADS), 3);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMPUTE_BUSY), 3, 0.01);
	hand_release(&hand);
}
END_TEST

/* Tasks 1 and 2 compute by turns. Task 3 distributes their work, which takes a twentieth of the
 * time of one of them; task 4 compiles for as long as they compute. */
START_TEST(threads_that_distribute_work_or_compile_are_not_compute_threads)
{
	struct hand hand;
	hand_init(&hand);
	for (uint32_t task = 0; task <= 4; task++)
		hand_task(&hand, task, 100, 100 + (int)task, task ? "" : "/usr/bin/python3");
	const char *xla = "/venv/jaxlib/libjax_common.so";
	const char *pool = "Eigen::ThreadPoolTempl::WorkerLoop";
	uint32_t math = hand_stack(&hand, xla, pool, xla, "ynn::run_dot", 0);
	uint32_t compile = hand_stack(&hand, xla, pool, xla, "llvm::ScalarEvolution::x", 0);
	for (int i = 0; i < 50; i++) {
		add_run(&hand, 1, i * 0.2, i * 0.2 + 0.1, math);
		add_run(&hand, 2, i * 0.2 + 0.1, i * 0.2 + 0.2, math);
		add_run(&hand, 3, i * 0.2, i * 0.2 + 0.005, math);
		add_run(&hand, 4, i * 0.2, i * 0.2 + 0.1, compile);
	}
	hand_finish(&hand);
	for (uint32_t task = 1; task <= 4; task++)
		hand.analysis.threads[task].role = TP_THREAD_TEAM;
	struct tp_timeline *timeline = &hand.analysis.timelines[0];
	for (size_t i = 0; i < timeline->n; i++)
		timeline->segments[i].label = TP_LABEL_COMPUTE_MATH;
	hand_pass(&hand, tp_pass_compute);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_COMPUTE_THREADS), 2);
	ck_assert_double_eq_tol(hand_fact(&hand, TP_FACT_COMPUTE_BUSY), 1.025, 0.01);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_compute(void);
Suite *suite_analyze_pass_compute(void)
{
	Suite *suite = suite_create("analyze/pass_compute");
	TCase *tc = tcase_create("compute");
	tcase_add_test(tc, members_spinning_and_pools_are_counted);
	tcase_add_test(tc, threads_that_only_feed_a_queue_take_no_part);
	tcase_add_test(tc, arithmetic_of_a_function_speaks_for_its_time);
	tcase_add_test(tc, other_work_of_the_main_thread_is_not_compute);
	tcase_add_test(tc, a_trainer_that_does_not_compute_says_so);
	tcase_add_test(tc, threads_made_for_each_part_count_as_many_as_live_at_once);
	tcase_add_test(tc, threads_that_distribute_work_or_compile_are_not_compute_threads);
	suite_add_tcase(suite, tc);
	return suite;
}
