/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of joining ranks: the late rank is known, and the report about it is correct. */
#include "trainprof/analyze/job_join.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)

enum { STEPS = 80 };

/* A small random generator, so that every run is the same. */
static uint64_t noise_ns(uint64_t *state, uint64_t most_ns)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return most_ns ? (*state >> 33) % most_ns : 0;
}

struct scene {
	struct tp_job job;
	uint64_t length_ns[STEPS]; /* length of each step, for all ranks */
};

/* Steps of 40 to 45 ms, or all of equal length. */
static void scene_init(struct scene *scene, bool is_even)
{
	uint64_t state = 1;
	tp_job_init(&scene->job);
	for (size_t k = 0; k < STEPS; k++)
		scene->length_ns[k] = 40 * MS + (is_even ? 0 : noise_ns(&state, 5 * MS));
}

/* A rank whose clock is off by skew and whose recording begins at a step; in each step it works
 * own_ns and waits for the rest. */
static struct tp_job_rank *add_rank(struct scene *scene, int64_t number, const char *host,
				    uint64_t own_ns, uint64_t skew_ns, size_t first_step)
{
	struct tp_job *job = &scene->job;
	uint64_t state = (uint64_t)number + 7;
	struct tp_job_rank rank = {.number = number,
				   .n_ranks = 0,
				   .host = host,
				   .directory = "rank",
				   .end = TP_END_EXITED,
				   .step_ns = 42e6};
	uint64_t at = 1000 * MS + skew_ns;
	rank.started_ns = at;
	rank.steps = tp_alloc(STEPS * sizeof(*rank.steps));
	for (size_t k = 0; k < STEPS; k++) {
		uint64_t length = scene->length_ns[k];
		uint64_t own = own_ns + noise_ns(&state, MS);
		if (k >= first_step)
			rank.steps[rank.n_steps++] =
				(struct tp_job_step){.start_ns = at,
						     .end_ns = at + length,
						     .peer_ns = length > own ? length - own : 0,
						     .is_judged = true};
		at += length;
	}
	rank.n_judged = rank.n_steps;
	rank.ended_ns = at;
	rank.label_ns[TP_LABEL_COMPUTE_MATH] = (double)own_ns;
	rank.label_ns[TP_LABEL_COMMUNICATION_WAIT] = 42e6 - (double)own_ns;
	TP_ARRAY_PUSH(job->ranks, job->n_ranks, job->ranks_capacity) = rank;
	return &job->ranks[job->n_ranks - 1];
}

static int64_t late_number(const struct scene *scene)
{
	return scene->job.late == TP_JOB_NO_RANK ? -1 : scene->job.ranks[scene->job.late].number;
}

START_TEST(the_rank_that_never_waits_is_late)
{
	struct scene scene;
	scene_init(&scene, false);
	for (int64_t i = 0; i < 4; i++)
		add_rank(&scene, i, "host", i == 2 ? 36 * MS : 20 * MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_LATE_RANK);
	ck_assert_int_eq(late_number(&scene), 2);
	ck_assert(scene.job.is_sure);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_CLOCK);
	ck_assert_uint_eq(scene.job.n_steps, STEPS);
	ck_assert_uint_eq(scene.job.n_last, STEPS);
	ck_assert_double_eq_tol(scene.job.late_ns, 16e6, 0.3e6);
	/* 42.5 ms without 16. */
	ck_assert_double_eq_tol(scene.job.gain, 42.5 / 26.5, 0.03);
	ck_assert(scene.job.gain_low <= scene.job.gain && scene.job.gain <= scene.job.gain_high);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(clocks_of_other_hosts_are_found_by_lengths)
{
	struct scene scene;
	scene_init(&scene, false);
	add_rank(&scene, 0, "a", 20 * MS, 0, 0);
	add_rank(&scene, 1, "b", 36 * MS, UINT64_C(7200000) * MS, 9);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_LENGTHS);
	ck_assert_uint_eq(scene.job.n_steps, STEPS - 9);
	ck_assert_int_eq(late_number(&scene), 1);
	ck_assert_int_eq(scene.job.ranks[1].skew_ns, (int64_t)(UINT64_C(7200000) * MS));
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(steps_that_are_all_alike_are_joined_by_order)
{
	struct scene scene;
	scene_init(&scene, true);
	add_rank(&scene, 0, "a", 20 * MS, 0, 0);
	add_rank(&scene, 1, "b", 36 * MS, 500 * MS, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_ORDER);
	ck_assert_int_eq(late_number(&scene), 1);
	tp_job_release(&scene.job);
}
END_TEST

/* The borders are so inexact that no steps overlap by half. Lengths fit at many lags, even large
 * ones; but ranks of one host have one clock, which shows which steps are the same. */
START_TEST(lengths_do_not_outvote_the_clock_of_one_host)
{
	struct scene scene;
	scene_init(&scene, true);
	for (size_t k = 0; k < STEPS; k++)
		scene.length_ns[k] = (k % 3 == 2 ? 66 : 30) * MS;
	add_rank(&scene, 0, "a", 10 * MS, 0, 0);
	for (size_t k = 0; k < STEPS; k++)
		scene.length_ns[k] = (k % 3 == 0 ? 66 : 30) * MS;
	add_rank(&scene, 1, "a", 10 * MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_ORDER);
	ck_assert_uint_ge(scene.job.n_steps, STEPS - 1);
	ck_assert_int_lt(llabs(scene.job.ranks[1].skew_ns), (int64_t)(66 * MS));
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(ranks_with_equal_work_are_even)
{
	struct scene scene;
	scene_init(&scene, true);
	for (int64_t i = 0; i < 4; i++)
		add_rank(&scene, i, "host", 38 * MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_EVEN);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(when_even_the_last_one_waits_nobody_is_late)
{
	struct scene scene;
	scene_init(&scene, true);
	for (int64_t i = 0; i < 3; i++)
		add_rank(&scene, i, "host", 10 * MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_ALL_WAIT);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(ranks_that_take_turns_are_not_blamed_alone)
{
	struct scene scene;
	scene_init(&scene, true);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank = add_rank(&scene, i, "host", 20 * MS, 0, 0);
		for (size_t k = 0; k < rank->n_steps; k++)
			if (k % 3 == (size_t)i)
				rank->steps[k].peer_ns = 0;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_IN_TURN);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	ck_assert_double_gt(scene.job.wait_ratio, 0.2);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(two_that_are_late_together_are_both_named)
{
	struct scene scene;
	scene_init(&scene, true);
	for (int64_t i = 0; i < 5; i++)
		add_rank(&scene, i, "host", i == 1 || i == 4 ? 36 * MS : 20 * MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_LATE_RANK);
	ck_assert_uint_eq(scene.job.n_late, 2);
	ck_assert(scene.job.ranks[1].is_late && scene.job.ranks[4].is_late);
	ck_assert(!scene.job.ranks[0].is_late);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_host_whose_ranks_are_all_late_is_named)
{
	struct scene scene;
	scene_init(&scene, false);
	for (int64_t i = 0; i < 6; i++)
		add_rank(&scene, i,
			 i < 2   ? "slow"
			 : i < 4 ? "b"
				 : "c",
			 i < 2 ? 36 * MS : 20 * MS, (uint64_t)(i / 2) * 1000 * MS, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_SLOW_HOST);
	ck_assert_str_eq(scene.job.slow_host, "slow");
	ck_assert_uint_eq(scene.job.n_hosts, 3);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_missing_rank_keeps_others_from_being_blamed_for_sure)
{
	struct scene scene;
	scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++)
		add_rank(&scene, i < 2 ? i : 3, "host", i == 1 ? 25 * MS : 20 * MS, 0, 0)->n_ranks =
			4;
	tp_job_join(&scene.job);
	ck_assert_uint_eq(scene.job.n_missing, 1);
	ck_assert_int_eq(scene.job.missing[0], 2);
	ck_assert_int_eq(late_number(&scene), 1);
	ck_assert(!scene.job.is_sure);
	ck_assert_ptr_nonnull(scene.job.because);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(of_a_rank_recorded_twice_the_later_counts)
{
	struct scene scene;
	scene_init(&scene, false);
	add_rank(&scene, 0, "host", 20 * MS, 0, 0);
	add_rank(&scene, 1, "host", 36 * MS, 0, 0)->started_wall_ns = 1;
	add_rank(&scene, 1, "host", 20 * MS, 0, 0)->started_wall_ns = 2;
	tp_job_join(&scene.job);
	ck_assert(!scene.job.ranks[1].is_duplicate);
	ck_assert_uint_eq(scene.job.ranks[1].started_wall_ns, 2);
	ck_assert(scene.job.ranks[2].is_duplicate);
	ck_assert_int_eq(late_number(&scene), -1);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(recordings_that_cannot_be_compared_give_no_answer)
{
	struct scene scene;
	scene_init(&scene, false);
	add_rank(&scene, 0, "host", 20 * MS, 0, 0);
	add_rank(&scene, 1, NULL, 36 * MS, 0, 0)->unreadable = "damaged";
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_CANNOT_TELL);
	ck_assert_uint_eq(scene.job.n_unreadable, 1);
	ck_assert_ptr_nonnull(scene.job.not_joined);
	tp_job_release(&scene.job);
	/* No ranks at all. */
	tp_job_init(&scene.job);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_CANNOT_TELL);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_short_recording_does_not_shorten_the_others)
{
	struct scene scene;
	scene_init(&scene, false);
	add_rank(&scene, 0, "host", 20 * MS, 0, 0);
	add_rank(&scene, 1, "host", 36 * MS, 0, 0);
	add_rank(&scene, 2, "host", 20 * MS, 0, STEPS - 10);
	tp_job_join(&scene.job);
	ck_assert_uint_eq(scene.job.n_steps, STEPS);
	ck_assert(!scene.job.ranks[2].is_joined);
	ck_assert_int_eq(late_number(&scene), 1);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(the_function_that_others_do_not_have_is_the_cause)
{
	struct scene scene;
	scene_init(&scene, false);
	struct tp_job_code work = {.file = "/a/train.py",
				   .function = "forward",
				   .line = 10,
				   .label = TP_LABEL_COMPUTE_MATH,
				   .step_ns = 20e6};
	struct tp_job_code decode = {.file = "/a/train.py",
				     .function = "decode",
				     .line = 30,
				     .label = TP_LABEL_DATALOADER_PREP,
				     .step_ns = 16e6};
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			add_rank(&scene, i, "host", i == 0 ? 36 * MS : 20 * MS, 0, 0);
		rank->codes[rank->n_codes++] = work;
		if (i == 0)
			rank->codes[rank->n_codes++] = decode;
	}
	tp_job_join(&scene.job);
	ck_assert_ptr_nonnull(scene.job.late_code);
	ck_assert_str_eq(scene.job.late_code->function, "decode");
	ck_assert_int_eq(scene.job.late_label, TP_LABEL_DATALOADER_PREP);
	ck_assert_double_eq(scene.job.others_code_ns, 0);
	tp_job_release(&scene.job);
}
END_TEST

static void end_with(struct tp_job_rank *rank, int number, uint64_t end_ns, uint64_t tail_ns)
{
	rank->end = TP_END_SIGNALED;
	rank->end_code = number;
	rank->ended_ns = end_ns;
	rank->peer_tail_ns = tail_ns;
}

START_TEST(the_first_rank_that_died_is_named)
{
	struct scene scene;
	scene_init(&scene, false);
	end_with(add_rank(&scene, 0, "host", 20 * MS, 0, 0), SIGTERM, 9000 * MS, 2900 * MS);
	end_with(add_rank(&scene, 1, "host", 20 * MS, 0, 0), SIGSEGV, 6000 * MS, 0);
	end_with(add_rank(&scene, 2, "host", 20 * MS, 0, 0), SIGTERM, 9000 * MS, 2800 * MS);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.ended, 1);
	ck_assert_uint_eq(scene.job.n_ended, 3);
	ck_assert_uint_eq(scene.job.ended_wait_ns, 2900 * MS);
	ck_assert_int_eq(scene.job.stopped_by, 0);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_rank_that_left_while_others_waited_is_named)
{
	struct scene scene;
	scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank = add_rank(&scene, i, "host", 20 * MS, 0, 0);
		rank->end = TP_END_UNKNOWN;
		rank->ended_ns += i == 1 ? 0 : 2000 * MS;
		rank->peer_tail_ns = i == 1 ? 0 : 1900 * MS;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.ended, 1);
	ck_assert_uint_eq(scene.job.n_ended, 1);
	ck_assert_uint_eq(scene.job.ended_wait_ns, 1900 * MS);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_job_that_is_stopped_as_a_whole_has_no_culprit)
{
	struct scene scene;
	scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++)
		end_with(add_rank(&scene, i, "host", 20 * MS, 0, 0), SIGINT, 9000 * MS, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.ended, TP_JOB_NO_RANK);
	ck_assert_int_eq(scene.job.stopped_by, SIGINT);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(of_a_job_that_still_runs_no_rank_has_ended)
{
	struct scene scene;
	scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank = add_rank(&scene, i, "host", 20 * MS, 0, 0);
		rank->end = TP_END_UNKNOWN;
		rank->is_cut = true;
	}
	tp_job_join(&scene.job);
	ck_assert(scene.job.is_open);
	ck_assert_int_eq(scene.job.ended, TP_JOB_NO_RANK);
	ck_assert_int_eq(scene.job.stopped_by, 0);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(the_rank_for_which_all_wait_up_to_the_end_hangs)
{
	struct scene scene;
	scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++)
		end_with(add_rank(&scene, i, "host", 20 * MS, 0, 0), SIGTERM, 30000 * MS,
			 i == 1 ? 0 : 20000 * MS);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.hanging, 1);
	ck_assert_uint_eq(scene.job.hang_ns, 20000 * MS);
	tp_job_release(&scene.job);
}
END_TEST

/* The rank's steps are unknown: only its share of waiting is known. */
static struct tp_job_rank *add_stepless(struct scene *scene, int64_t number, double waits)
{
	struct tp_job_rank *rank = add_rank(scene, number, "host", 0, 0, STEPS);
	rank->label_ns[TP_LABEL_COMPUTE_MATH] = 1e9 * (1 - waits);
	rank->label_ns[TP_LABEL_COMMUNICATION_WAIT] = 1e9 * waits;
	return rank;
}

START_TEST(without_steps_the_one_that_waits_least_is_named_and_not_for_sure)
{
	struct scene scene;
	scene_init(&scene, false);
	add_stepless(&scene, 0, 0.6);
	add_stepless(&scene, 1, 0.1);
	add_stepless(&scene, 2, 0.5);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_SHARES);
	ck_assert_int_eq(late_number(&scene), 1);
	ck_assert(!scene.job.is_sure);
	ck_assert_double_eq(scene.job.gain_low, 1);
	ck_assert_double_eq_tol(scene.job.late_ns, 0.4e9, 1e6);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_rank_that_hangs_is_promised_no_gain)
{
	struct scene scene;
	scene_init(&scene, false);
	add_stepless(&scene, 0, 0.9)->peer_tail_ns = 20000 * MS;
	add_stepless(&scene, 1, 0.1);
	scene.job.ranks[0].end = scene.job.ranks[1].end = TP_END_RUNNING;
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.hanging, 1);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	tp_job_release(&scene.job);
}
END_TEST

/* Two functions of each rank, and its wait for a CPU; the third rank is late. */
static const struct {
	const char *what;
	double load_ms, step_ms, cpu_ms;                   /* the late rank */
	double other_load_ms, other_step_ms, other_cpu_ms; /* the other ranks */
	const char *load, *step;                           /* names of the rank's functions */
	enum tp_job_late_kind kind;
} kinds[] = {
	{"larger batches", 4, 28, 0, 4, 14, 0, "load", "step", TP_JOB_LATE_MORE_WORK},
	{"a slow loader", 18, 14, 0, 2, 14, 0, "load", "step", TP_JOB_LATE_OTHER_WORK},
	{"a throttled clock", 16, 16, 0, 9, 9, 0, "load", "step", TP_JOB_LATE_SLOWER_CPU},
	{"a limit of CPU time", 9, 9, 14, 9, 9, 0, "load", "step", TP_JOB_LATE_WITHOUT_CPU},
	{"too few CPUs for all", 4, 28, 18, 4, 14, 9.5, "load", "step", TP_JOB_LATE_MORE_WORK},
	{"a stage of a pipeline", 16, 16, 0, 9, 9, 0, "head", "loss", TP_JOB_LATE_OTHER_STAGE},
};

static void set_code(struct tp_job_rank *rank, const char *function, double ms)
{
	rank->codes[rank->n_codes++] = (struct tp_job_code){.file = "a.py",
							    .function = function,
							    .line = 3,
							    .step_ns = ms * 1e6};
}

START_TEST(kinds_of_late_ranks_are_told_apart)
{
	struct scene scene;
	scene_init(&scene, true);
	for (int64_t i = 0; i < 4; i++) {
		bool is_late = i == 2;
		struct tp_job_rank *rank =
			add_rank(&scene, i, "host", (is_late ? 34 : 19) * MS, 0, 0);
		set_code(rank, is_late ? kinds[_i].load : "load",
			 is_late ? kinds[_i].load_ms : kinds[_i].other_load_ms);
		set_code(rank, is_late ? kinds[_i].step : "step",
			 is_late ? kinds[_i].step_ms : kinds[_i].other_step_ms);
		rank->label_ns[TP_LABEL_IDLE_RUNNABLE] =
			(is_late ? kinds[_i].cpu_ms : kinds[_i].other_cpu_ms) * 1e6;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(late_number(&scene), 2);
	ck_assert_msg(scene.job.late_kind == kinds[_i].kind, "%s: %s", kinds[_i].what,
		      tp_job_late_kind_name(scene.job.late_kind));
	tp_job_release(&scene.job);
}
END_TEST

/* On a machine with too few CPUs a rank with more work also waits longer for them, in whichever
 * function it loses its CPU. */
START_TEST(waits_for_a_cpu_do_not_hide_what_a_rank_does)
{
	struct scene scene;
	scene_init(&scene, true);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			add_rank(&scene, i, "host", (i == 1 ? 38 : 10) * MS, 0, 0);
		set_code(rank, "step", i == 1 ? 20 : 5);
		rank->codes[0].label = TP_LABEL_IDLE_RUNNABLE;
		if (i == 1)
			set_code(rank, "decode", 18);
		rank->label_ns[TP_LABEL_IDLE_RUNNABLE] = i == 1 ? 20e6 : 5e6;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(late_number(&scene), 1);
	ck_assert_ptr_nonnull(scene.job.late_code);
	ck_assert_str_eq(scene.job.late_code->function, "decode");
	ck_assert_int_eq(scene.job.late_kind, TP_JOB_LATE_OTHER_WORK);
	tp_job_release(&scene.job);
}
END_TEST

/* The link of one rank is slow: it sends for longer, and the others wait for its data. */
START_TEST(a_slow_link_makes_no_rank_late)
{
	struct scene scene;
	scene_init(&scene, true);
	for (int64_t i = 0; i < 4; i++) {
		struct tp_job_rank *rank = add_rank(&scene, i, "host", 10 * MS, 0, 0);
		rank->label_ns[TP_LABEL_COMMUNICATION_TRANSFER] = i == 1 ? 25e6 : 3e6;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_ALL_WAIT);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	tp_job_release(&scene.job);
}
END_TEST

Suite *suite_analyze_job_join(void);

Suite *suite_analyze_job_join(void)
{
	Suite *suite = suite_create("analyze_job_join");
	TCase *tc = tcase_create("late");
	tcase_add_test(tc, the_rank_that_never_waits_is_late);
	tcase_add_test(tc, clocks_of_other_hosts_are_found_by_lengths);
	tcase_add_test(tc, steps_that_are_all_alike_are_joined_by_order);
	tcase_add_test(tc, lengths_do_not_outvote_the_clock_of_one_host);
	tcase_add_test(tc, ranks_with_equal_work_are_even);
	tcase_add_test(tc, when_even_the_last_one_waits_nobody_is_late);
	tcase_add_test(tc, ranks_that_take_turns_are_not_blamed_alone);
	tcase_add_test(tc, two_that_are_late_together_are_both_named);
	tcase_add_test(tc, a_host_whose_ranks_are_all_late_is_named);
	tcase_add_test(tc, the_function_that_others_do_not_have_is_the_cause);
	tcase_add_loop_test(tc, kinds_of_late_ranks_are_told_apart, 0,
			    sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_test(tc, waits_for_a_cpu_do_not_hide_what_a_rank_does);
	tcase_add_test(tc, a_slow_link_makes_no_rank_late);
	suite_add_tcase(suite, tc);
	tc = tcase_create("incomplete");
	tcase_add_test(tc, a_missing_rank_keeps_others_from_being_blamed_for_sure);
	tcase_add_test(tc, of_a_rank_recorded_twice_the_later_counts);
	tcase_add_test(tc, recordings_that_cannot_be_compared_give_no_answer);
	tcase_add_test(tc, a_short_recording_does_not_shorten_the_others);
	tcase_add_test(tc, without_steps_the_one_that_waits_least_is_named_and_not_for_sure);
	suite_add_tcase(suite, tc);
	tc = tcase_create("ends");
	tcase_add_test(tc, the_first_rank_that_died_is_named);
	tcase_add_test(tc, a_rank_that_left_while_others_waited_is_named);
	tcase_add_test(tc, a_job_that_is_stopped_as_a_whole_has_no_culprit);
	tcase_add_test(tc, of_a_job_that_still_runs_no_rank_has_ended);
	tcase_add_test(tc, the_rank_for_which_all_wait_up_to_the_end_hangs);
	tcase_add_test(tc, a_rank_that_hangs_is_promised_no_gain);
	suite_add_tcase(suite, tc);
	return suite;
}
