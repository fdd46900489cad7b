/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which waits are for the batch that a graph fetches. */
#include "analyze/attribution/pending_fetch.h"

#include "trainprof/base/memory.h"

#include <check.h>

enum { MAIN, FETCHER, OTHER, N_TASKS };
enum { STACK_NONE, STACK_FETCH, STACK_IDLE, N_STACKS };

/* Timelines of the main thread, of a thread of its process and of a thread of another one. */
struct threads {
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_arena arena;
	struct tp_analysis analysis;
	struct tp_sample samples[N_STACKS];
	struct tp_stack_class classes[N_STACKS];
	struct tp_timeline timelines[N_TASKS];
	struct tp_thread_info infos[N_TASKS];
	size_t sample_index[N_TASKS + 1];
};

static void threads_init(struct threads *threads)
{
	*threads = (struct threads){.trace.n_tasks = N_TASKS, .infos[OTHER].leader = OTHER};
	threads->classes[STACK_FETCH].is_fetch_root = true;
	for (uint32_t stack = 0; stack < N_STACKS; stack++)
		threads->samples[stack].stack = stack;
	/* The first sample is one of the main thread, the others are of the fetcher. */
	threads->sample_index[FETCHER] = 1;
	threads->sample_index[OTHER] = threads->sample_index[N_TASKS] = N_STACKS;
	threads->trace.samples = threads->samples;
	threads->trace.sample_index = threads->sample_index;
	threads->analysis = (struct tp_analysis){.trace = &threads->trace,
						 .profile = &threads->profile,
						 .arena = &threads->arena,
						 .classes = threads->classes,
						 .timelines = threads->timelines,
						 .threads = threads->infos};
}

#define BLOCKED(from, to, stack)                                                                   \
	{                                                                                          \
		.start_ns = (from), .end_ns = (to), .state = TP_STATE_BLOCKED, .sample = (stack)   \
	}
#define LIKE_IT(from, to, stack)                                                                   \
	{                                                                                          \
		.start_ns = (from), .end_ns = (to), .state = TP_STATE_BLOCKED, .sample = (stack),  \
		.is_inferred = true                                                                \
	}
#define RUNS(from, to)                                                                             \
	{                                                                                          \
		.start_ns = (from), .end_ns = (to), .state = TP_STATE_ON_CPU,                      \
		.sample = TP_NO_SAMPLE                                                             \
	}

static void set_timeline(struct threads *threads, uint32_t task, struct tp_segment *segments,
			 size_t n)
{
	threads->timelines[task] = (struct tp_timeline){.segments = segments, .n = n};
}

/* Three steps from the main thread's waits at 100, 300 and 500: in the first two the thread waits
 * for a batch, in the third it is there at once. The second wait has no sample of its own, and one
 * of its like is wrong about it. Who is sampled at a wait for a request there fetches nothing. */
START_TEST(a_wait_that_ends_within_a_step_is_for_its_batch_if_samples_say_so)
{
	uint32_t sampled = _i ? STACK_IDLE : STACK_FETCH;
	struct tp_segment steps[] = {BLOCKED(0, 90, STACK_NONE),    RUNS(90, 100),
				     BLOCKED(100, 290, STACK_NONE), RUNS(290, 300),
				     BLOCKED(300, 490, STACK_NONE), RUNS(490, 500),
				     BLOCKED(500, 690, STACK_NONE)};
	struct tp_segment fetches[] = {BLOCKED(0, 101, STACK_IDLE),    RUNS(101, 102),
				       BLOCKED(102, 150, sampled),     RUNS(150, 151),
				       BLOCKED(151, 298, STACK_IDLE),  RUNS(298, 299),
				       LIKE_IT(299, 350, STACK_IDLE),  RUNS(350, 351),
				       BLOCKED(351, 501, STACK_FETCH), RUNS(501, 502),
				       BLOCKED(502, 800, STACK_IDLE)};
	struct tp_segment elsewhere[] = {BLOCKED(102, 150, STACK_FETCH)};
	static const struct tp_interval expected[] = {{102, 150}, {299, 350}};
	struct threads threads;
	struct tp_pending_fetches found = {0};
	threads_init(&threads);
	set_timeline(&threads, MAIN, steps, TP_ARRAY_LEN(steps));
	set_timeline(&threads, FETCHER, fetches, TP_ARRAY_LEN(fetches));
	set_timeline(&threads, OTHER, elsewhere, 1);
	tp_pending_fetch_build(&found, &threads.analysis);
	ck_assert(found.is_seen);
	ck_assert_uint_eq(found.waits.n, _i ? 0 : TP_ARRAY_LEN(expected));
	for (size_t i = 0; i < found.waits.n; i++) {
		ck_assert_uint_eq(found.waits.items[i].start_ns, expected[i].start_ns);
		ck_assert_uint_eq(found.waits.items[i].end_ns, expected[i].end_ns);
	}
	tp_arena_release(&threads.arena);
}
END_TEST

static const struct {
	uint64_t from, to; /* the wait */
	struct tp_fetch first;
} waits[] = {
	{0, 5, {0, 0, false}},     /* before all fetches */
	{0, 100, {10, 30, false}}, /* the first of two */
	{20, 100, {20, 30, false}}, {20, 25, {20, 25, true}}, {0, 35, {10, 30, true}},
	{30, 100, {40, 50, true}},  {50, 100, {0, 0, false}},
};

START_TEST(a_wait_is_for_the_first_fetch_in_it)
{
	struct tp_interval items[] = {{10, 30}, {40, 50}};
	struct tp_pending_fetches fetches = {.waits = {.items = items, .n = 2}};
	struct tp_segment wait = BLOCKED(waits[_i].from, waits[_i].to, STACK_NONE);
	struct tp_fetch first = tp_pending_fetch_first(&fetches, &wait);
	ck_assert_uint_eq(first.start_ns, waits[_i].first.start_ns);
	ck_assert_uint_eq(first.end_ns, waits[_i].first.end_ns);
	ck_assert_int_eq(first.is_last, waits[_i].first.is_last);
}
END_TEST

Suite *suite_analyze_pending_fetch(void);
Suite *suite_analyze_pending_fetch(void)
{
	Suite *suite = suite_create("analyze/pending_fetch");
	TCase *tc = tcase_create("fetches");
	tcase_add_loop_test(tc, a_wait_that_ends_within_a_step_is_for_its_batch_if_samples_say_so,
			    0, 2);
	tcase_add_loop_test(tc, a_wait_is_for_the_first_fetch_in_it, 0, TP_ARRAY_LEN(waits));
	suite_add_tcase(suite, tc);
	return suite;
}
