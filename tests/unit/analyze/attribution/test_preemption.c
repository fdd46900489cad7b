/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of where a thread was when it lost its CPU, on hand-made timelines. */
#include "analyze/attribution/preemption.h"

#include <check.h>

enum { MAX = 4000, MS = 1000000, TRAIN = 0, LOAD = 1, N_STACKS = 3, NATIVE = 2 };

static struct tp_sample samples[MAX];
static struct tp_sample leavings[MAX];
static struct tp_segment segments[MAX];
static struct tp_stack_class classes[N_STACKS];
static struct tp_run runs[MAX];
static size_t sample_index[3];
static size_t run_index[3]; /* the main thread, then a loader thread */
static struct tp_thread_info threads[2];
static struct tp_trace trace;
static struct tp_analysis analysis;
static struct tp_timeline timeline;
static struct tp_preemption lostcpu;
static size_t n_samples;
static uint64_t now_ns;

static void setup(void)
{
	n_samples = 0;
	now_ns = 0;
	classes[TRAIN] = (struct tp_stack_class){.phase = TP_PHASE_COMPUTE, .has_python = true};
	classes[LOAD] = (struct tp_stack_class){.phase = TP_PHASE_DATALOADER, .has_python = true};
	classes[NATIVE] = (struct tp_stack_class){.phase = TP_PHASE_DATALOADER};
	trace = (struct tp_trace){.samples = samples,
				  .leavings = leavings,
				  .runs = runs,
				  .run_index = run_index,
				  .sample_index = sample_index,
				  .n_tasks = 2,
				  .run.sample_rate_hz = 100};
	analysis = (struct tp_analysis){.trace = &trace, .classes = classes, .threads = threads};
	threads[1].role = TP_THREAD_LOADER;
	run_index[1] = run_index[2] = 0;
	sample_index[1] = sample_index[2] = 0;
	timeline = (struct tp_timeline){.segments = segments};
}

static void add(enum tp_state state, uint64_t length_ns, uint32_t sample)
{
	segments[timeline.n++] = (struct tp_segment){.start_ns = now_ns,
						     .end_ns = now_ns + length_ns,
						     .state = state,
						     .sample = sample,
						     .is_inferred = false};
	now_ns += length_ns;
}

/* Adds a run with one sample at `at_ns` in it. */
static void run(uint64_t length_ns, uint64_t at_ns, uint32_t stack)
{
	samples[n_samples] = (struct tp_sample){.time_ns = now_ns + at_ns, .stack = stack};
	add(TP_STATE_ON_CPU, length_ns, (uint32_t)n_samples++);
}

/* Adds a run without a sample, which the sample of another run represents. */
static void run_unseen(uint64_t length_ns, uint32_t like)
{
	add(TP_STATE_ON_CPU, length_ns, like);
	segments[timeline.n - 1].is_inferred = true;
}

/* Adds a sample taken as the thread leaves its CPU, shortly before the end of the run. */
static void leave(uint32_t stack)
{
	leavings[trace.n_leavings++] = (struct tp_sample){.time_ns = now_ns - 3000, .stack = stack};
}

/* Adds a wait for a CPU and returns the index of its segment. */
static size_t lose(void)
{
	add(TP_STATE_RUNNABLE, 3 * MS, TP_NO_SAMPLE);
	return timeline.n - 1;
}

/* The same, with a poll during the wait. */
static size_t preempt_and_read(uint32_t stack)
{
	samples[n_samples++] = (struct tp_sample){.time_ns = now_ns + 1 * MS,
						  .state = TP_STATE_RUNNABLE,
						  .flags = TP_SAMPLE_POLLED,
						  .stack = stack};
	return lose();
}

static enum tp_phase phase(size_t at, enum tp_phase before)
{
	tp_preemption_build(&lostcpu, &analysis, &timeline, false);
	enum tp_phase found = tp_preemption_phase(&lostcpu, at, before);
	tp_preemption_release(&lostcpu);
	return found;
}

START_TEST(a_sample_just_before_or_after_decides)
{
	run(8 * MS, 2 * MS, TRAIN);
	run(2 * MS, 2 * MS - 1000, LOAD);
	size_t first = lose();
	run(8 * MS, 4 * MS, TRAIN);
	size_t second = lose();
	run(8 * MS, 1000, LOAD);
	ck_assert_int_eq(phase(first, TP_PHASE_COMPUTE), TP_PHASE_DATALOADER);
	ck_assert_int_eq(phase(second, TP_PHASE_COMPUTE), TP_PHASE_DATALOADER);
}
END_TEST

START_TEST(agreeing_samples_before_and_after_decide)
{
	/* Other losses of the CPU, although known, must not outweigh the samples around this
	 * one. */
	for (int i = 0; i < 50; i++) {
		run(8 * MS, 8 * MS - 1000, LOAD);
		lose();
	}
	for (int i = 0; i < 3; i++)
		run(8 * MS, 4 * MS, TRAIN);
	size_t at = lose();
	for (int i = 0; i < 3; i++)
		run(8 * MS, 4 * MS, TRAIN);
	ck_assert_int_eq(phase(at, TP_PHASE_COMPUTE), TP_PHASE_COMPUTE);
}
END_TEST

/* Each run continues with training for 1 ms, loads for 5, trains for 2 and then loses the CPU. Each
 * has a sample at the next one of 40 places: five in eight are in loading, except those near the
 * ends. */
START_TEST(stays_that_were_hit_at_their_end_stand_for_the_others)
{
	enum { STAYS = 1000, PLACES = 40 };
	static size_t lost[STAYS];
	size_t n_right = 0;
	size_t n_before = 0;
	for (int i = 0; i < STAYS; i++) {
		uint64_t at_ns = (uint64_t)(i * 7 % PLACES) * 8 * MS / PLACES;
		run(8 * MS, at_ns, at_ns < 1 * MS || at_ns >= 6 * MS ? TRAIN : LOAD);
		lost[i] = lose();
	}
	tp_preemption_build(&lostcpu, &analysis, &timeline, false);
	for (int i = 0; i < STAYS; i++) {
		enum tp_phase before = classes[samples[i].stack].phase;
		n_before += before == TP_PHASE_COMPUTE;
		n_right += tp_preemption_phase(&lostcpu, lost[i], before) == TP_PHASE_COMPUTE;
	}
	tp_preemption_release(&lostcpu);
	ck_assert_uint_eq(n_before, STAYS * 3 / 8);
	/* All except those where two loading samples on each side agree by chance, at most one in
	 * seven. */
	ck_assert_uint_ge(n_right, STAYS * 6 / 7);
}
END_TEST

/* Here the random places of samples do not help: each run trains for 8 ms, and every second run
 * lasts longer and loses the CPU in the loading that follows; one of ten is sampled when it
 * leaves. */
START_TEST(sampled_preemptions_stand_for_runs_of_equal_length)
{
	enum { STAYS = 1000 };
	static size_t lost[STAYS];
	size_t n_right = 0;
	for (int i = 0; i < STAYS; i++) {
		bool loads = i % 2;
		run(loads ? 9 * MS : 4 * MS, 2 * MS, TRAIN);
		if (i % 10 < 2)
			leave(loads ? LOAD : TRAIN);
		lost[i] = lose();
	}
	tp_preemption_build(&lostcpu, &analysis, &timeline, false);
	for (int i = 0; i < STAYS; i++)
		n_right += tp_preemption_phase(&lostcpu, lost[i], TP_PHASE_COMPUTE) ==
			   (i % 2 ? TP_PHASE_DATALOADER : TP_PHASE_COMPUTE);
	tp_preemption_release(&lostcpu);
	ck_assert_uint_eq(n_right, STAYS);
}
END_TEST

/* The main thread loses its CPU to the loader after runs of equal length: every other time in
 * loading, because it wakes the loader, otherwise while it trains, when the loader has waited long
 * enough for a CPU. One of ten is sampled when it leaves, for a while only those of one kind and
 * then only those of the other. */
START_TEST(the_woken_thread_shows_where_the_waker_was)
{
	enum { STAYS = 400 };
	static size_t lost[STAYS];
	struct tp_run *taken = runs + STAYS;
	size_t n_right = 0;
	for (int i = 0; i < STAYS; i++) {
		bool wakes = i % 2;
		run(2 * MS, 1 * MS, TRAIN);
		runs[i] = (struct tp_run){.start_ns = now_ns - 2 * MS,
					  .end_ns = now_ns,
					  .how = TP_RUN_PREEMPTED};
		taken[i] = (struct tp_run){.task = 1,
					   .start_ns = now_ns + 1000,
					   .end_ns = now_ns + 2 * MS,
					   .how = wakes ? TP_RUN_PREEMPTED : TP_RUN_BLOCKED};
		if (i % 20 == (i < STAYS / 2 ? 2 : 1))
			leave(wakes ? LOAD : TRAIN);
		lost[i] = lose();
	}
	run_index[1] = STAYS;
	run_index[2] = 2 * (size_t)STAYS;
	trace.n_runs = run_index[2];
	tp_preemption_build(&lostcpu, &analysis, &timeline, false);
	for (int i = 0; i < STAYS; i++)
		n_right += tp_preemption_phase(&lostcpu, lost[i], TP_PHASE_COMPUTE) ==
			   (i % 2 ? TP_PHASE_DATALOADER : TP_PHASE_COMPUTE);
	tp_preemption_release(&lostcpu);
	ck_assert_uint_ge(n_right,
			  STAYS - 1); /* the loader's activity before the first is unknown */
}
END_TEST

/* Samples at switches were turned off after the first loss, which was of another kind. */
START_TEST(few_sampled_preemptions_do_not_stand_for_many)
{
	enum { STAYS = 1000 };
	static size_t lost[STAYS];
	size_t n_right = 0;
	for (int i = 0; i < STAYS; i++) {
		run(8 * MS, 8 * MS - 1000, TRAIN);
		if (i == 0)
			leave(LOAD);
		lost[i] = lose();
	}
	tp_preemption_build(&lostcpu, &analysis, &timeline, false);
	for (int i = 1; i < STAYS; i++)
		n_right += tp_preemption_phase(&lostcpu, lost[i], TP_PHASE_DATALOADER) ==
			   TP_PHASE_COMPUTE;
	tp_preemption_release(&lostcpu);
	ck_assert_uint_eq(n_right, STAYS - 1);
}
END_TEST

/* A busy machine, a program that is not interpreted: after runs of equal length, all of which are
 * ended by other programs, the CPU is lost for 0.1 ms while it loads and for 8 ms while it trains;
 * it is lost nine times as often during loading. One of 17 is sampled when it leaves. */
START_TEST(long_waits_are_compared_with_long_waits)
{
	enum { STAYS = 1700 };
	static size_t lost[STAYS];
	uint64_t loading_ns = 0;
	uint64_t told_ns = 0;
	for (int i = 0; i < STAYS; i++) {
		bool trains = i % 10 == 9;
		run(2 * MS, 1 * MS, TRAIN);
		if (i % 17 == 0)
			leave(trains ? TRAIN : LOAD);
		add(TP_STATE_RUNNABLE, trains ? 8 * MS : MS / 10, TP_NO_SAMPLE);
		lost[i] = timeline.n - 1;
		loading_ns += trains ? 0 : MS / 10;
	}
	tp_preemption_build(&lostcpu, &analysis, &timeline, false);
	for (int i = 0; i < STAYS; i++) {
		const struct tp_segment *piece = &segments[lost[i]];
		if (tp_preemption_phase(&lostcpu, lost[i], TP_PHASE_COMPUTE) == TP_PHASE_DATALOADER)
			told_ns += piece->end_ns - piece->start_ns;
	}
	tp_preemption_release(&lostcpu);
	ck_assert_uint_eq(told_ns, loading_ns);
}
END_TEST

/* Runs of 8 ms train when the CPU goes to the team. Those that are sampled wake the sampling thread
 * and lose the CPU to it immediately: every other one in loading. One of seven is polled before it
 * continues. */
START_TEST(preemptions_by_sampling_do_not_stand_for_others)
{
	enum { STAYS = 1000 };
	static size_t lost[STAYS];
	static enum tp_phase truth[STAYS];
	size_t n_right = 0;
	for (int i = 0; i < STAYS; i++) {
		bool is_sampled = i % 3 == 0;
		uint64_t length_ns = is_sampled && i % 2 ? 4 * MS : 8 * MS;
		uint32_t stack = length_ns == 4 * MS ? LOAD : TRAIN;
		uint64_t from_ns = now_ns;
		if (is_sampled)
			run(length_ns, length_ns - 1000, stack);
		else
			run_unseen(length_ns, 0);
		runs[i] = (struct tp_run){.start_ns = from_ns,
					  .end_ns = now_ns,
					  .how = TP_RUN_PREEMPTED};
		runs[STAYS + i] = (struct tp_run){.task = 1,
						  .start_ns = now_ns + (is_sampled ? 1 * MS : 1000),
						  .end_ns = now_ns + 2 * MS};
		truth[i] = classes[stack].phase;
		lost[i] = i % 7 == 0 ? preempt_and_read(stack) : lose();
	}
	threads[1].role = TP_THREAD_TEAM;
	run_index[1] = STAYS;
	run_index[2] = 2 * (size_t)STAYS;
	trace.n_runs = run_index[2];
	sample_index[1] = sample_index[2] = n_samples;
	tp_preemption_build(&lostcpu, &analysis, &timeline, true);
	for (int i = 0; i < STAYS; i++)
		n_right += tp_preemption_phase(&lostcpu, lost[i], TP_PHASE_DATALOADER) == truth[i];
	tp_preemption_release(&lostcpu);
	ck_assert_uint_eq(n_right, STAYS);
}
END_TEST

START_TEST(one_that_left_to_wait_says_nothing_of_the_next_loss)
{
	run(8 * MS, 4 * MS, TRAIN);
	leave(LOAD);
	add(TP_STATE_BLOCKED, 5 * MS, TP_NO_SAMPLE);
	run(8 * MS, 8 * MS - 1000, TRAIN);
	size_t at = lose();
	ck_assert_int_eq(phase(at, TP_PHASE_COMPUTE), TP_PHASE_COMPUTE);
}
END_TEST

START_TEST(a_woken_thread_is_where_it_waited)
{
	run(8 * MS, 8 * MS - 1000, TRAIN);
	add(TP_STATE_BLOCKED, 5 * MS, TP_NO_SAMPLE);
	size_t at = lose();
	run(8 * MS, 1000, TRAIN);
	ck_assert_int_eq(phase(at, TP_PHASE_DATALOADER), TP_PHASE_DATALOADER);
}
END_TEST

START_TEST(representative_and_hidden_samples_decide_nothing)
{
	run(8 * MS, 8 * MS - 1000, NATIVE);
	size_t hidden = lose();
	run_unseen(8 * MS, 0);
	size_t unseen = lose();
	run(8 * MS, 4 * MS, TRAIN);
	sample_index[1] = sample_index[2] = n_samples;
	tp_preemption_build(&lostcpu, &analysis, &timeline, true);
	ck_assert_int_eq(tp_preemption_phase(&lostcpu, hidden, TP_PHASE_COMPUTE), TP_PHASE_COMPUTE);
	ck_assert_int_eq(tp_preemption_phase(&lostcpu, unseen, TP_PHASE_COMPUTE), TP_PHASE_COMPUTE);
	tp_preemption_release(&lostcpu);
}
END_TEST

Suite *suite_analyze_preemption(void);
Suite *suite_analyze_preemption(void)
{
	Suite *suite = suite_create("analyze/lostcpu");
	TCase *tc = tcase_create("lostcpu");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_sample_just_before_or_after_decides);
	tcase_add_test(tc, agreeing_samples_before_and_after_decide);
	tcase_add_test(tc, stays_that_were_hit_at_their_end_stand_for_the_others);
	tcase_add_test(tc, sampled_preemptions_stand_for_runs_of_equal_length);
	tcase_add_test(tc, the_woken_thread_shows_where_the_waker_was);
	tcase_add_test(tc, few_sampled_preemptions_do_not_stand_for_many);
	tcase_add_test(tc, long_waits_are_compared_with_long_waits);
	tcase_add_test(tc, preemptions_by_sampling_do_not_stand_for_others);
	tcase_add_test(tc, one_that_left_to_wait_says_nothing_of_the_next_loss);
	tcase_add_test(tc, a_woken_thread_is_where_it_waited);
	tcase_add_test(tc, representative_and_hidden_samples_decide_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
