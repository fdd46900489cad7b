/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of threads that are too short-lived to be judged one by one, and of threads that neither
 * names nor reads identify. */
#include "analyze/hand.h"

#include "analyze/roles/thread_role.h"

enum { N_BATCHES = 10, N_EACH = 8 };

/* Runs on a CPU for `length_s`, sampled once after `part` of it. */
static void run_hit(struct hand *hand, uint32_t task, double at, double length_s, uint32_t stack,
		    double part)
{
	hand_run(hand, task, at, at + length_s, TP_RUN_BLOCKED);
	hand_sample(hand,
		    &(struct tp_sample){
			    .task = task, .state = TP_STATE_ON_CPU, .stack = stack, .syscall = -1},
		    at + length_s * part);
}

static void run(struct hand *hand, uint32_t task, double at, double length_s, uint32_t stack)
{
	run_hit(hand, task, at, length_s, stack, 0.5);
}

/* Stacks start in the C library: leaf, entry, start_thread. */
static uint32_t thread_stack(struct hand *hand, const char *module, const char *leaf,
			     const char *entry)
{
	uint32_t frames[] = {hand_frame(hand, module, leaf),
			     hand_frame(hand, "/home/me/train", entry),
			     hand_frame(hand, "/usr/lib/libc.so.6", "start_thread")};
	return tp_sink_stack(&hand->builder.sink, frames, 3, 0);
}

/* Each batch has a thread that starts eight others. Each of these is sampled once, one of eight in
 * the decoder and the others in code without a name. A long-lived thread computes meanwhile. */
START_TEST(threads_that_start_in_one_function_are_judged_together)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_task(&hand, 1, 100, 101, "/home/me/train");
	uint32_t decode = thread_stack(&hand, "/usr/lib/libjpeg.so.62", "scan", "one_item");
	uint32_t copy = thread_stack(&hand, "/home/me/train", "resize_it", "one_item");
	uint32_t spawn = thread_stack(&hand, "/home/me/train", "fill_args", "all_items");
	uint32_t solve = thread_stack(&hand, "/home/me/train", "solve", "member");
	for (double at = 0; at < 10; at += 0.1)
		run(&hand, 1, at, 0.02, solve);
	uint32_t id = 2;
	for (int batch = 0; batch < N_BATCHES; batch++) {
		hand_task(&hand, id, 100, 100 + (int)id, "/home/me/train");
		run(&hand, id++, batch, 0.001, spawn);
		for (int i = 0; i < N_EACH; i++) {
			hand_task(&hand, id, 100, 100 + (int)id, "/home/me/train");
			run(&hand, id++, batch + 0.01, 0.1, i ? copy : decode);
		}
	}
	hand_finish(&hand);
	hand.analysis.roles[0] = TP_ROLE_TRAINER;
	tp_thread_role_assign(&hand.analysis);
	ck_assert_int_eq(hand.analysis.threads[0].role, TP_THREAD_MAIN);
	ck_assert_int_eq(hand.analysis.threads[1].role, TP_THREAD_TEAM);
	for (uint32_t task = 2; task < id; task++)
		ck_assert_msg(hand.analysis.threads[task].role == TP_THREAD_LOADER, "%u: %d", task,
			      (int)hand.analysis.threads[task].role);
	hand_release(&hand);
}
END_TEST

/* A trainer that reads its own data, and a thread that reads a little now and then. */
START_TEST(a_thread_that_hardly_reads_is_no_loader_of_who_reads_itself)
{
	static const struct {
		double main_reads_s; /* per tenth of a second */
		enum tp_thread_role expected;
	} trainers[] = {{0.06, TP_THREAD_OTHER}, {0.001, TP_THREAD_LOADER}};
	for (size_t k = 0; k < 2; k++) {
		struct hand hand;
		hand_init(&hand);
		hand_task(&hand, 0, 100, 100, "/home/me/train");
		hand_task(&hand, 1, 100, 101, "/home/me/train");
		uint32_t unpack = thread_stack(&hand, "/usr/lib/libz.so.1", "inflate", "item");
		uint32_t product = thread_stack(&hand, "/home/me/train", "product", "epoch");
		for (double at = 0; at < 10; at += 0.1) {
			run(&hand, 0, at, trainers[k].main_reads_s, unpack);
			run(&hand, 0, at + 0.065, 0.03, product);
			run(&hand, 1, at + 0.02, 0.002, unpack);
		}
		hand_finish(&hand);
		hand.analysis.roles[0] = TP_ROLE_TRAINER;
		tp_thread_role_assign(&hand.analysis);
		ck_assert_int_eq(hand.analysis.threads[1].role, trainers[k].expected);
		hand_release(&hand);
	}
}
END_TEST

/* Seconds per tenth of a second: the main thread works and then waits, another thread works. */
static const struct {
	const char *claim;
	double main_s;
	const char *module; /* module of the other thread; NULL = the program */
	const char *leaf;   /* the main thread's is "product" */
	double from_s;
	double length_s;
	enum tp_thread_role expected;
	int n_rounds;      /* 0 = 100 */
	bool is_generated; /* the main thread runs generated code */
} nameless[] = {
	{"works on something else all the time", 0.04, NULL, "scramble", 0, 0.1, TP_THREAD_LOADER,
	 0, false},
	{"works on something else, then has to wait for the main thread", 0.1, NULL, "scramble", 0,
	 0.03, TP_THREAD_LOADER, 0, false},
	{"works on something else while the main thread waits", 0.04, NULL, "rows", 0.04, 0.06,
	 TP_THREAD_TEAM, 0, false},
	{"packs what it saves", 0.09, "libz.so.1", "deflate", 0, 0.1, TP_THREAD_OTHER, 0, false},
	{"unpacks what it loads", 0.09, "libz.so.1", "inflate", 0, 0.02, TP_THREAD_LOADER, 0,
	 false},
	{"works on the same at the same time", 0.09, NULL, "product", 0, 0.09, TP_THREAD_TEAM, 0,
	 false},
	{"is waited for nearly all the time", 0.004, NULL, "scramble", 0, 0.1, TP_THREAD_LOADER, 16,
	 false},
	{"is waited for, and works only then", 0.004, NULL, "rows", 0.004, 0.096, TP_THREAD_TEAM,
	 16, false},
	{"works on something else than generated code", 0.04, NULL, "scramble", 0, 0.1,
	 TP_THREAD_LOADER, 0, true},
};

/* A stack in generated code, which has no symbols and no tables. */
static uint32_t generated_stack(struct hand *hand)
{
	const struct tp_frame jit = {.module = tp_sink_string(&hand->builder.sink, "[jit]"),
				     .address = 0x5004};
	uint32_t frames[] = {tp_sink_frame(&hand->builder.sink, &jit),
			     hand_frame(hand, "/home/me/train", "epoch")};
	return tp_sink_stack(&hand->builder.sink, frames, 2, 0);
}

START_TEST(a_thread_that_works_ahead_of_the_main_thread_loads)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_task(&hand, 1, 100, 101, "/home/me/train");
	uint32_t product = thread_stack(&hand, "/home/me/train", "product", "epoch");
	const char *module = nameless[_i].module ? nameless[_i].module : "/home/me/train";
	uint32_t other = thread_stack(&hand, module, nameless[_i].leaf, "entry");
	int n_rounds = nameless[_i].n_rounds ? nameless[_i].n_rounds : 100;
	if (nameless[_i].is_generated)
		product = generated_stack(&hand);
	for (int i = 0; i < n_rounds; i++) {
		double at = 0.1 * i;
		run_hit(&hand, 0, at, nameless[_i].main_s, product, 0.05 + 0.1 * (i * 7 % 10));
		run(&hand, 1, at + nameless[_i].from_s, nameless[_i].length_s, other);
	}
	hand_finish(&hand);
	hand.analysis.roles[0] = TP_ROLE_TRAINER;
	tp_thread_role_assign(&hand.analysis);
	ck_assert_msg(hand.analysis.threads[1].role == nameless[_i].expected, "%s: %d",
		      nameless[_i].claim, (int)hand.analysis.threads[1].role);
	hand_release(&hand);
}
END_TEST

/* A pool's thread without tasks is sampled once, waiting. It has hardly any CPU time, and queues
 * for a CPU for long while the main thread works. */
START_TEST(a_thread_whose_work_no_sample_shows_is_no_loader)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_task(&hand, 1, 100, 101, "/home/me/train");
	uint32_t product = thread_stack(&hand, "/home/me/train", "product", "epoch");
	uint32_t waits = thread_stack(&hand, "/usr/lib/libc.so.6", "pthread_cond_wait", "entry");
	for (int i = 0; i < 100; i++) {
		double at = 0.1 * i;
		run_hit(&hand, 0, at, 0.09, product, 0.05 + 0.1 * (i * 7 % 10));
		hand_run(&hand, 1, at, at + 0.002, i % 2 ? TP_RUN_BLOCKED : TP_RUN_PREEMPTED);
	}
	hand_sample(&hand,
		    &(struct tp_sample){
			    .task = 1, .state = TP_STATE_BLOCKED, .stack = waits, .syscall = -1},
		    5.15);
	hand_finish(&hand);
	hand.analysis.roles[0] = TP_ROLE_TRAINER;
	tp_thread_role_assign(&hand.analysis);
	ck_assert_int_eq(hand.analysis.threads[1].role, TP_THREAD_OTHER);
	hand_release(&hand);
}
END_TEST

/* In a pool of the standard library, as _worker() waits for the next task itself. */
static uint32_t pool_stack(struct hand *hand, const char *task)
{
	struct tp_sink *sink = &hand->builder.sink;
	struct tp_frame loop = {.kind = TP_FRAME_PYTHON,
				.symbol = tp_sink_string(sink, "_worker"),
				.line = 81};
	loop.module = tp_sink_string(sink, "/usr/lib/python3.11/concurrent/futures/thread.py");
	loop.file = loop.module;
	struct tp_frame inner = {.kind = TP_FRAME_PYTHON,
				 .module = tp_sink_string(sink, "/home/me/train.py"),
				 .symbol = tp_sink_string(sink, task ? task : ""),
				 .line = 22};
	inner.file = inner.module;
	uint32_t frames[2] = {tp_sink_frame(sink, task ? &inner : &loop),
			      tp_sink_frame(sink, &loop)};
	return tp_sink_stack(sink, frames, task ? 2 : 1, 0);
}

/* It waits for a task in seven of ten samples, and for its answer in three. */
START_TEST(a_thread_of_a_pool_is_what_its_tasks_are)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_task(&hand, 1, 100, 101, "/home/me/train");
	uint32_t product = thread_stack(&hand, "/home/me/train", "product", "epoch");
	uint32_t task = pool_stack(&hand, _i ? "simulate" : "fetch");
	struct tp_sample wait = {.task = 1,
				 .state = TP_STATE_BLOCKED,
				 .cause = TP_CAUSE_SOCKET,
				 .syscall = -1};
	for (int i = 0; i < 90; i++) {
		double at = 0.1 * i;
		run(&hand, 0, at, 0.06, product);
		run(&hand, 1, at + 0.061, 0.001, task);
		for (int k = 0; k < 10; k++) {
			wait.stack = k < 3 ? task : pool_stack(&hand, NULL);
			hand_sample(&hand, &wait, at + 0.063 + 0.003 * k);
		}
	}
	hand_finish(&hand);
	hand.analysis.roles[0] = TP_ROLE_TRAINER;
	tp_thread_role_assign(&hand.analysis);
	enum tp_thread_role role = hand.analysis.threads[1].role;
	ck_assert_msg((role == TP_THREAD_LOADER) == (_i == 0), "role %d", (int)role);
	hand_release(&hand);
}
END_TEST

/* Some of 1,000 samples are of the loader's work between two waits for a task, others of other work
 * there. The main thread reads its data itself. */
static const struct {
	const char *claim;
	int n_fetch;
	int n_other;
	bool is_loader;
} waiters[] = {
	{"one sample says nothing", 1, 0, false},
	{"most of its work is loading", 40, 20, true},
	{"a few samples more than half say nothing", 20, 10, false},
	{"most of its work is another one", 20, 40, false},
};

START_TEST(only_work_between_waits_makes_a_thread_a_loader)
{
	enum { N_SAMPLES = 1000 };
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/home/me/train");
	hand_task(&hand, 1, 100, 101, "/home/me/train");
	uint32_t unpack = thread_stack(&hand, "/usr/lib/libz.so.1", "inflate", "item");
	struct tp_sample sample = {.task = 1,
				   .state = TP_STATE_BLOCKED,
				   .cause = TP_CAUSE_SOCKET,
				   .syscall = -1};
	for (int i = 0; i < N_SAMPLES; i++) {
		run(&hand, 0, 0.01 * i, 0.006, unpack);
		bool is_fetch = i < waiters[_i].n_fetch;
		bool is_other = !is_fetch && i < waiters[_i].n_fetch + waiters[_i].n_other;
		sample.stack = pool_stack(&hand, is_fetch ? "fetch" : is_other ? "simulate" : NULL);
		hand_sample(&hand, &sample, 0.01 * i + 0.007);
	}
	hand_finish(&hand);
	hand.analysis.roles[0] = TP_ROLE_TRAINER;
	tp_thread_role_assign(&hand.analysis);
	enum tp_thread_role role = hand.analysis.threads[1].role;
	ck_assert_msg((role == TP_THREAD_LOADER) == waiters[_i].is_loader, "%s: %d",
		      waiters[_i].claim, (int)role);
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_thread_role(void);
Suite *suite_analyze_thread_role(void)
{
	Suite *suite = suite_create("analyze/threadrole");
	TCase *tc = tcase_create("kinds");
	tcase_add_test(tc, a_thread_that_hardly_reads_is_no_loader_of_who_reads_itself);
	tcase_add_test(tc, threads_that_start_in_one_function_are_judged_together);
	tcase_add_test(tc, a_thread_whose_work_no_sample_shows_is_no_loader);
	tcase_add_loop_test(tc, a_thread_that_works_ahead_of_the_main_thread_loads, 0,
			    sizeof(nameless) / sizeof(nameless[0]));
	tcase_add_loop_test(tc, a_thread_of_a_pool_is_what_its_tasks_are, 0, 2);
	tcase_add_loop_test(tc, only_work_between_waits_makes_a_thread_a_loader, 0,
			    sizeof(waiters) / sizeof(waiters[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
