/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of joining ranks: the late rank is known, and the report about it is correct. */
#include "trainprof/analyze/job_join.h"

#include "job_scene.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>

START_TEST(the_rank_that_never_waits_is_late)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 4; i++)
		job_scene_add(&scene, i, "host", i == 2 ? 36 * JOB_SCENE_MS : 20 * JOB_SCENE_MS, 0,
			      0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_LATE_RANK);
	ck_assert_int_eq(job_scene_late(&scene), 2);
	ck_assert(scene.job.is_sure);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_CLOCK);
	ck_assert_uint_eq(scene.job.n_steps, JOB_SCENE_STEPS);
	ck_assert_uint_eq(scene.job.n_last, JOB_SCENE_STEPS);
	ck_assert_double_eq_tol(scene.job.late_ns, 16e6, 0.3e6);
	/* 42.5 ms without 16. */
	ck_assert_double_eq_tol(scene.job.gain, 42.5 / 26.5, 0.03);
	ck_assert(scene.job.gain_low <= scene.job.gain && scene.job.gain <= scene.job.gain_high);
	tp_job_release(&scene.job);
}
END_TEST

/* Even the last rank exchanges for 28 of 40 ms, and the others wait 4 ms for it, each in its turn.
 */
START_TEST(all_wait_where_the_exchange_is_longer_than_the_waits_for_the_last_rank)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank = job_scene_add(&scene, i, "host", 5 * JOB_SCENE_MS, 0, 0);
		for (size_t k = 0; k < rank->n_steps; k++)
			if (k % 3 == (size_t)i)
				rank->steps[k].peer_ns -= 6 * JOB_SCENE_MS;
	}
	tp_job_join(&scene.job);
	ck_assert_double_gt(scene.job.wait_ratio, 0.05);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_ALL_WAIT);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_rank_later_by_less_than_the_waits_for_cpus_is_not_sure)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 4; i++) {
		uint64_t own_ns = (i == 2 ? 36 : 30) * JOB_SCENE_MS;
		struct tp_job_rank *rank = job_scene_add(&scene, i, "host", own_ns, 0, 0);
		rank->label_ns[TP_LABEL_IDLE_RUNNABLE] = 8e6;
		rank->label_ns[TP_LABEL_COMPUTE_MATH] -= 8e6;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(job_scene_late(&scene), 2);
	ck_assert(!scene.job.is_sure);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(clocks_of_other_hosts_are_found_by_lengths)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	job_scene_add(&scene, 0, "a", 20 * JOB_SCENE_MS, 0, 0);
	job_scene_add(&scene, 1, "b", 36 * JOB_SCENE_MS, UINT64_C(7200000) * JOB_SCENE_MS, 9);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_LENGTHS);
	ck_assert_uint_eq(scene.job.n_steps, JOB_SCENE_STEPS - 9);
	ck_assert_int_eq(job_scene_late(&scene), 1);
	ck_assert_int_eq(scene.job.ranks[1].skew_ns, (int64_t)(UINT64_C(7200000) * JOB_SCENE_MS));
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(steps_that_are_all_alike_are_joined_by_order)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	job_scene_add(&scene, 0, "a", 20 * JOB_SCENE_MS, 0, 0);
	job_scene_add(&scene, 1, "b", 36 * JOB_SCENE_MS, 500 * JOB_SCENE_MS, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_ORDER);
	ck_assert_int_eq(job_scene_late(&scene), 1);
	tp_job_release(&scene.job);
}
END_TEST

/* The borders are so inexact that no steps overlap by half. Lengths fit at many lags, even large
 * ones; but ranks of one host have one clock, which shows which steps are the same. */
START_TEST(lengths_do_not_outvote_the_clock_of_one_host)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (size_t k = 0; k < JOB_SCENE_STEPS; k++)
		scene.length_ns[k] = (k % 3 == 2 ? 66 : 30) * JOB_SCENE_MS;
	job_scene_add(&scene, 0, "a", 10 * JOB_SCENE_MS, 0, 0);
	for (size_t k = 0; k < JOB_SCENE_STEPS; k++)
		scene.length_ns[k] = (k % 3 == 0 ? 66 : 30) * JOB_SCENE_MS;
	job_scene_add(&scene, 1, "a", 10 * JOB_SCENE_MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_ORDER);
	ck_assert_uint_ge(scene.job.n_steps, JOB_SCENE_STEPS - 1);
	ck_assert_int_lt(llabs(scene.job.ranks[1].skew_ns), (int64_t)(66 * JOB_SCENE_MS));
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(ranks_with_equal_work_are_even)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 4; i++)
		job_scene_add(&scene, i, "host", 38 * JOB_SCENE_MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_EVEN);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	tp_job_release(&scene.job);
}
END_TEST

/* In every fourth step the border is found 22 ms too late. */
START_TEST(a_rank_whose_borders_were_missed_is_not_late)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 2; i++)
		job_scene_add(&scene, i, "host", 38 * JOB_SCENE_MS, 0, 0);
	struct tp_job_step *steps = scene.job.ranks[1].steps;
	for (size_t k = 0; k + 1 < JOB_SCENE_STEPS; k += 4)
		steps[k].end_ns = steps[k + 1].start_ns += 22 * JOB_SCENE_MS;
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_EVEN);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	ck_assert_uint_eq(scene.job.n_steps, JOB_SCENE_STEPS / 2);
	ck_assert_uint_eq(scene.job.n_misplaced, JOB_SCENE_STEPS / 2);
	ck_assert_double_eq_tol(scene.job.step_ns, 40e6, 1);
	tp_job_release(&scene.job);
}
END_TEST

/* The border lies between loading and the exchange: a delay lengthens this step of the late rank,
 * and the next one of the others, which wait for it. */
static const struct {
	size_t every;
	uint64_t delay_ns;
} delays[] = {{5, 22 * JOB_SCENE_MS}, {5, 100 * JOB_SCENE_MS}, {2, 22 * JOB_SCENE_MS}};

START_TEST(a_rank_that_is_late_now_and_then_is_late)
{
	struct job_scene scene;
	const uint64_t delay_ns = delays[_i].delay_ns;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			job_scene_add(&scene, i, "host", 38 * JOB_SCENE_MS, 0, 0);
		uint64_t shift_ns = 0;
		bool waits = false;
		for (size_t k = 0; k < rank->n_steps; k++) {
			struct tp_job_step *step = &rank->steps[k];
			bool is_delayed = k % delays[_i].every == 0;
			step->start_ns += shift_ns;
			shift_ns += (i == 1 ? is_delayed : waits) ? delay_ns : 0;
			step->end_ns += shift_ns;
			step->peer_ns += i != 1 && waits ? delay_ns : 0;
			waits = is_delayed;
		}
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_LATE_RANK);
	ck_assert_int_eq(job_scene_late(&scene), 1);
	ck_assert_uint_eq(scene.job.n_misplaced, 0);
	ck_assert_uint_ge(scene.job.n_steps, JOB_SCENE_STEPS - 1);
	ck_assert_double_eq_tol(scene.job.late_ns, (double)delay_ns / (double)delays[_i].every,
				1e6);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(if_even_the_last_rank_waits_none_is_late)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 3; i++)
		job_scene_add(&scene, i, "host", 10 * JOB_SCENE_MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_ALL_WAIT);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(ranks_that_take_turns_are_not_blamed_alone)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			job_scene_add(&scene, i, "host", 20 * JOB_SCENE_MS, 0, 0);
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

/* Rank 1 is 16 ms late in each step, and seconds in the last five: the mean of its delay may be
 * anything, yet no other rank was ever last. */
START_TEST(a_rank_that_is_always_last_is_late_however_much_its_delay_varies)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 2; i++) {
		uint64_t own_ns = (i == 1 ? 36 : 20) * JOB_SCENE_MS;
		struct tp_job_rank *rank = job_scene_add(&scene, i, "host", own_ns, 0, 0);
		uint64_t shift_ns = 0;
		for (size_t k = 0; k < rank->n_steps; k++) {
			rank->steps[k].start_ns += shift_ns;
			if (k + 5 >= rank->n_steps) {
				shift_ns += 3000 * JOB_SCENE_MS;
				rank->steps[k].peer_ns += i == 1 ? 0 : 3000 * JOB_SCENE_MS;
			}
			rank->steps[k].end_ns += shift_ns;
		}
	}
	tp_job_join(&scene.job);
	ck_assert(scene.job.late_low_ns <= 0);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_LATE_RANK);
	ck_assert_int_eq(job_scene_late(&scene), 1);
	ck_assert_uint_eq(scene.job.n_last, scene.job.n_steps);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(two_that_are_late_together_are_both_named)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 5; i++)
		job_scene_add(&scene, i, "host",
			      i == 1 || i == 4 ? 36 * JOB_SCENE_MS : 20 * JOB_SCENE_MS, 0, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_LATE_RANK);
	ck_assert_uint_eq(scene.job.n_late, 2);
	ck_assert(scene.job.ranks[1].is_late && scene.job.ranks[4].is_late);
	ck_assert(!scene.job.ranks[0].is_late);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_host_with_only_late_ranks_is_named)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 6; i++)
		job_scene_add(&scene, i,
			      i < 2   ? "slow"
			      : i < 4 ? "b"
				      : "c",
			      i < 2 ? 36 * JOB_SCENE_MS : 20 * JOB_SCENE_MS,
			      (uint64_t)(i / 2) * 1000 * JOB_SCENE_MS, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.verdict, TP_JOB_SLOW_HOST);
	ck_assert_str_eq(scene.job.slow_host, "slow");
	ck_assert_uint_eq(scene.job.n_hosts, 3);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_missing_rank_keeps_others_from_being_blamed_for_sure)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++)
		job_scene_add(&scene, i < 2 ? i : 3, "host",
			      i == 1 ? 25 * JOB_SCENE_MS : 20 * JOB_SCENE_MS, 0, 0)
			->n_ranks = 4;
	tp_job_join(&scene.job);
	ck_assert_uint_eq(scene.job.n_missing, 1);
	ck_assert_int_eq(scene.job.missing[0], 2);
	ck_assert_int_eq(job_scene_late(&scene), 1);
	ck_assert(!scene.job.is_sure);
	ck_assert_ptr_nonnull(scene.job.because);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(an_unreadable_rank_keeps_others_from_being_blamed_for_sure)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++)
		job_scene_add(&scene, i, "host", i == 1 ? 25 * JOB_SCENE_MS : 20 * JOB_SCENE_MS, 0,
			      0);
	scene.job.ranks[2].unreadable = "cut off";
	tp_job_join(&scene.job);
	ck_assert_int_eq(job_scene_late(&scene), 1);
	ck_assert(!scene.job.is_sure);
	ck_assert_ptr_nonnull(scene.job.because);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(the_later_of_two_recordings_of_a_rank_counts)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	job_scene_add(&scene, 0, "host", 20 * JOB_SCENE_MS, 0, 0);
	job_scene_add(&scene, 1, "host", 36 * JOB_SCENE_MS, 0, 0)->started_wall_ns = 1;
	job_scene_add(&scene, 1, "host", 20 * JOB_SCENE_MS, 0, 0)->started_wall_ns = 2;
	tp_job_join(&scene.job);
	ck_assert(!scene.job.ranks[1].is_duplicate);
	ck_assert_uint_eq(scene.job.ranks[1].started_wall_ns, 2);
	ck_assert(scene.job.ranks[2].is_duplicate);
	ck_assert_int_eq(job_scene_late(&scene), -1);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(recordings_that_cannot_be_compared_give_no_answer)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	job_scene_add(&scene, 0, "host", 20 * JOB_SCENE_MS, 0, 0);
	job_scene_add(&scene, 1, NULL, 36 * JOB_SCENE_MS, 0, 0)->unreadable = "damaged";
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
	struct job_scene scene;
	job_scene_init(&scene, false);
	job_scene_add(&scene, 0, "host", 20 * JOB_SCENE_MS, 0, 0);
	job_scene_add(&scene, 1, "host", 36 * JOB_SCENE_MS, 0, 0);
	job_scene_add(&scene, 2, "host", 20 * JOB_SCENE_MS, 0, JOB_SCENE_STEPS - 10);
	tp_job_join(&scene.job);
	ck_assert_uint_eq(scene.job.n_steps, JOB_SCENE_STEPS);
	ck_assert(!scene.job.ranks[2].is_joined);
	ck_assert_int_eq(job_scene_late(&scene), 1);
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
	struct job_scene scene;
	job_scene_init(&scene, false);
	end_with(job_scene_add(&scene, 0, "host", 20 * JOB_SCENE_MS, 0, 0), SIGTERM,
		 9000 * JOB_SCENE_MS, 2900 * JOB_SCENE_MS);
	end_with(job_scene_add(&scene, 1, "host", 20 * JOB_SCENE_MS, 0, 0), SIGSEGV,
		 6000 * JOB_SCENE_MS, 0);
	end_with(job_scene_add(&scene, 2, "host", 20 * JOB_SCENE_MS, 0, 0), SIGTERM,
		 9000 * JOB_SCENE_MS, 2800 * JOB_SCENE_MS);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.ended, 1);
	ck_assert_uint_eq(scene.job.n_ended, 3);
	ck_assert_uint_eq(scene.job.ended_wait_ns, 2900 * JOB_SCENE_MS);
	ck_assert_int_eq(scene.job.stopped_by, 0);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_rank_that_left_while_others_waited_is_named)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			job_scene_add(&scene, i, "host", 20 * JOB_SCENE_MS, 0, 0);
		rank->end = TP_END_UNKNOWN;
		rank->ended_ns += i == 1 ? 0 : 2000 * JOB_SCENE_MS;
		rank->peer_tail_ns = i == 1 ? 0 : 1900 * JOB_SCENE_MS;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.ended, 1);
	ck_assert_uint_eq(scene.job.n_ended, 1);
	ck_assert_uint_eq(scene.job.ended_wait_ns, 1900 * JOB_SCENE_MS);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_job_that_is_stopped_as_a_whole_has_no_culprit)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++)
		end_with(job_scene_add(&scene, i, "host", 20 * JOB_SCENE_MS, 0, 0), SIGINT,
			 9000 * JOB_SCENE_MS, 0);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.ended, TP_JOB_NO_RANK);
	ck_assert_int_eq(scene.job.stopped_by, SIGINT);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_running_job_has_no_ended_rank)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			job_scene_add(&scene, i, "host", 20 * JOB_SCENE_MS, 0, 0);
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
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 3; i++)
		end_with(job_scene_add(&scene, i, "host", 20 * JOB_SCENE_MS, 0, 0), SIGTERM,
			 30000 * JOB_SCENE_MS, i == 1 ? 0 : 20000 * JOB_SCENE_MS);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.hanging, 1);
	ck_assert_uint_eq(scene.job.hang_ns, 20000 * JOB_SCENE_MS);
	tp_job_release(&scene.job);
}
END_TEST

/* The rank's steps are unknown: only its share of waiting is known. */
static struct tp_job_rank *add_stepless(struct job_scene *scene, int64_t number, double waits)
{
	struct tp_job_rank *rank = job_scene_add(scene, number, "host", 0, 0, JOB_SCENE_STEPS);
	rank->label_ns[TP_LABEL_COMPUTE_MATH] = 1e9 * (1 - waits);
	rank->label_ns[TP_LABEL_COMMUNICATION_WAIT] = 1e9 * waits;
	return rank;
}

START_TEST(without_steps_the_one_that_waits_least_is_named_and_not_for_sure)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	add_stepless(&scene, 0, 0.6);
	add_stepless(&scene, 1, 0.1);
	add_stepless(&scene, 2, 0.5);
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.joined_by, TP_JOB_BY_SHARES);
	ck_assert_int_eq(job_scene_late(&scene), 1);
	ck_assert(!scene.job.is_sure);
	ck_assert_double_eq_tol(scene.job.late_ns, 0.4e9, 1e6);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_rank_that_hangs_is_promised_no_gain)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	add_stepless(&scene, 0, 0.9)->peer_tail_ns = 20000 * JOB_SCENE_MS;
	add_stepless(&scene, 1, 0.1);
	scene.job.ranks[0].end = scene.job.ranks[1].end = TP_END_RUNNING;
	tp_job_join(&scene.job);
	ck_assert_int_eq(scene.job.hanging, 1);
	ck_assert_int_eq(scene.job.late, TP_JOB_NO_RANK);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_slow_link_makes_no_rank_late)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 4; i++) {
		struct tp_job_rank *rank =
			job_scene_add(&scene, i, "host", 10 * JOB_SCENE_MS, 0, 0);
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
	tcase_add_test(tc, all_wait_where_the_exchange_is_longer_than_the_waits_for_the_last_rank);
	tcase_add_test(tc, a_rank_later_by_less_than_the_waits_for_cpus_is_not_sure);
	tcase_add_test(tc, clocks_of_other_hosts_are_found_by_lengths);
	tcase_add_test(tc, steps_that_are_all_alike_are_joined_by_order);
	tcase_add_test(tc, lengths_do_not_outvote_the_clock_of_one_host);
	tcase_add_test(tc, ranks_with_equal_work_are_even);
	tcase_add_test(tc, a_rank_whose_borders_were_missed_is_not_late);
	tcase_add_loop_test(tc, a_rank_that_is_late_now_and_then_is_late, 0, 3);
	tcase_add_test(tc, if_even_the_last_rank_waits_none_is_late);
	tcase_add_test(tc, ranks_that_take_turns_are_not_blamed_alone);
	tcase_add_test(tc, a_rank_that_is_always_last_is_late_however_much_its_delay_varies);
	tcase_add_test(tc, two_that_are_late_together_are_both_named);
	tcase_add_test(tc, a_host_with_only_late_ranks_is_named);
	tcase_add_test(tc, a_slow_link_makes_no_rank_late);
	suite_add_tcase(suite, tc);
	tc = tcase_create("incomplete");
	tcase_add_test(tc, a_missing_rank_keeps_others_from_being_blamed_for_sure);
	tcase_add_test(tc, an_unreadable_rank_keeps_others_from_being_blamed_for_sure);
	tcase_add_test(tc, the_later_of_two_recordings_of_a_rank_counts);
	tcase_add_test(tc, recordings_that_cannot_be_compared_give_no_answer);
	tcase_add_test(tc, a_short_recording_does_not_shorten_the_others);
	tcase_add_test(tc, without_steps_the_one_that_waits_least_is_named_and_not_for_sure);
	suite_add_tcase(suite, tc);
	tc = tcase_create("ends");
	tcase_add_test(tc, the_first_rank_that_died_is_named);
	tcase_add_test(tc, a_rank_that_left_while_others_waited_is_named);
	tcase_add_test(tc, a_job_that_is_stopped_as_a_whole_has_no_culprit);
	tcase_add_test(tc, a_running_job_has_no_ended_rank);
	tcase_add_test(tc, the_rank_for_which_all_wait_up_to_the_end_hangs);
	tcase_add_test(tc, a_rank_that_hangs_is_promised_no_gain);
	suite_add_tcase(suite, tc);
	return suite;
}
