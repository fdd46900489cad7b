/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of bounds of speed-ups. */
#include "advise/judge/gain.h"
#include "advise/shelf.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <math.h>
#include <stdint.h>

static struct tp_arena arena;
static struct tp_quantity facts[TP_MAX_FACTS];

static void setup(void)
{
	tp_arena_init(&arena);
	facts_init(facts);
}

static void teardown(void)
{
	tp_arena_release(&arena);
}

static const struct tp_expr *figure(double value)
{
	static const struct tp_thresholds none;
	struct tp_expr_scope place = {.file = "x", .line = 1, .thresholds = &none, .arena = &arena};
	const struct tp_expr *expr = NULL;
	ck_assert(!tp_expr_parse(&expr, tp_arena_printf(&arena, "%.6f", value), TP_EXPR_NUMBER,
				 &place, NULL));
	return expr;
}

static struct tp_gain estimate(const struct tp_gain_input *basis, enum tp_part part, double least,
			       double most)
{
	struct tp_rule_gain rule = {.kind = TP_GAIN_PART,
				    .part = part,
				    .label = TP_N_LABELS,
				    .fraction = figure(most),
				    .at_least = figure(least)};
	return tp_gain_estimate(basis, &rule, facts, 100);
}

/* A step of 100 ns: exposed and solo time of the loader, the rest is compute. */
static struct tp_gain_input basis_of(double exposed, double solo, double supply)
{
	struct tp_gain_input basis = {.whole_ns = 100};
	struct tp_gain_part *loader = &basis.parts[TP_PART_DATALOADER];
	struct tp_gain_part *compute = &basis.parts[TP_PART_COMPUTE];
	*loader = (struct tp_gain_part){true, exposed, 100 - exposed, 100 - solo, 0, 0};
	double without = fmax(exposed, supply);
	*compute =
		(struct tp_gain_part){true, 100 - exposed, without, fmax(without, exposed), 0, 0};
	return basis;
}

START_TEST(a_whole_part_gains_what_its_bracket_says)
{
	/* 40 of 100 are exposed, 30 of them solo: the new step is between 60 and 70. */
	struct tp_gain_input basis = basis_of(40, 30, 0);
	struct tp_gain gain = estimate(&basis, TP_PART_DATALOADER, 1, 1);
	ck_assert(gain.is_known);
	ck_assert_double_eq_tol(gain.low, 100.0 / 70, 1e-9);
	ck_assert_double_eq_tol(gain.high, 100.0 / 60, 1e-9);
	ck_assert_double_eq_tol(gain.value, sqrt(gain.low * gain.high), 1e-9);
}
END_TEST

START_TEST(the_wait_for_a_cpu_may_go_with_the_work)
{
	/* 30 of computing, 10 of Python, 60 of waiting for a CPU: a quarter of it is Python's. */
	static const double ratios[] = {0.3, 0.1, 0.6};
	static const enum tp_part parts[] = {TP_PART_COMPUTE, TP_PART_HOST, TP_PART_IDLE};
	for (int i = 0; i < TP_N_PARTS; i++)
		facts[tp_part_facts[i]] = (struct tp_quantity){.is_known = true};
	for (size_t i = 0; i < TP_ARRAY_LEN(parts); i++)
		facts[tp_part_facts[parts[i]]].value = ratios[i];
	struct tp_gain_input basis = tp_gain_input_of_facts(facts);
	ck_assert_double_eq_tol(estimate(&basis, TP_PART_HOST, 0, 1).high, 1 / 0.9, 1e-9);
	facts[TP_FACT_STEP_RUNNABLE] = (struct tp_quantity){.is_known = true, .value = 0.6};
	basis = tp_gain_input_of_facts(facts);
	struct tp_gain gain = estimate(&basis, TP_PART_HOST, 0, 1);
	ck_assert_double_eq_tol(gain.high, 1 / 0.75, 1e-9);
	ck_assert_double_eq_tol(gain.low, 1, 1e-9);
	ck_assert_double_eq_tol(estimate(&basis, TP_PART_HOST, 0, 0.5).high, 1 / 0.875, 1e-9);
	/* The wait itself, and all work: nothing else is left. */
	ck_assert_double_eq_tol(estimate(&basis, TP_PART_IDLE, 0, 1).high, 1 / 0.4, 1e-9);
	ck_assert_double_eq_tol(estimate(&basis, TP_PART_COMPUTE, 0, 1).high, 1 / 0.25, 1e-9);
}
END_TEST

START_TEST(a_fraction_gains_its_fraction)
{
	struct tp_gain_input basis = basis_of(40, 40, 0);
	struct tp_gain gain = estimate(&basis, TP_PART_DATALOADER, 0.25, 0.5);
	ck_assert_double_eq_tol(gain.low, 100.0 / 90, 1e-9);
	ck_assert_double_eq_tol(gain.high, 100.0 / 80, 1e-9);
	gain = estimate(&basis, TP_PART_DATALOADER, 0, 0.5);
	ck_assert_double_eq_tol(gain.low, 1, 1e-9);
}
END_TEST

/* Half of the idiom's time may be that of other calls of its line. */
START_TEST(time_that_other_calls_share_is_no_sure_gain)
{
	struct tp_gain_input basis = basis_of(40, 40, 0);
	facts_set(facts, TP_FACT_IDIOM_SHARED, 0.5);
	struct tp_gain gain = estimate(&basis, TP_PART_DATALOADER, 0.5, 0.5);
	ck_assert_double_eq_tol(gain.low, 100.0 / 90, 1e-9);
	ck_assert_double_eq_tol(gain.high, 100.0 / 80, 1e-9);
}
END_TEST

START_TEST(the_supply_of_the_loader_bounds_what_compute_gains)
{
	/* Compute takes 80 of 100, but a batch arrives only every 70: the gain is at most 100 to
	 * 70. */
	struct tp_gain_input basis = basis_of(20, 20, 70);
	struct tp_gain gain = estimate(&basis, TP_PART_COMPUTE, 1, 1);
	ck_assert_double_eq_tol(gain.high, 100.0 / 70, 1e-9);
}
END_TEST

START_TEST(no_gain_is_infinite_and_none_is_invented)
{
	struct tp_gain_input basis = basis_of(100, 100, 0);
	ck_assert_double_eq_tol(estimate(&basis, TP_PART_DATALOADER, 1, 1).high, 100, 1e-9);
	ck_assert(!estimate(&basis, TP_PART_MEMORY, 1, 1).is_known);
	struct tp_gain_input empty = {0};
	ck_assert(!estimate(&empty, TP_PART_DATALOADER, 1, 1).is_known);
	struct tp_rule_gain none = {.kind = TP_GAIN_NONE};
	ck_assert(!tp_gain_estimate(&basis, &none, facts, 100).is_known);
}
END_TEST

START_TEST(a_profile_without_a_bracket_promises_nothing)
{
	struct tp_profile profile = {.total_ns = 1000};
	profile.parts[TP_PART_DATALOADER].time_ns = 400;
	profile.parts[TP_PART_COMPUTE].time_ns = 600;
	struct tp_gain_input basis = tp_gain_input_of_profile(&profile);
	ck_assert(!estimate(&basis, TP_PART_DATALOADER, 1, 1).is_known);
	profile.parts[TP_PART_DATALOADER].without_low_ns = 600;
	profile.parts[TP_PART_DATALOADER].without_high_ns = 600;
	basis = tp_gain_input_of_profile(&profile);
	ck_assert_double_eq_tol(estimate(&basis, TP_PART_DATALOADER, 1, 1).value, 1000.0 / 600,
				1e-9);
	profile.parts[TP_PART_DATALOADER].without_high_ns = NAN;
	basis = tp_gain_input_of_profile(&profile);
	ck_assert(!estimate(&basis, TP_PART_DATALOADER, 1, 1).is_known);
}
END_TEST

START_TEST(the_step_of_a_job_is_the_one_that_its_brackets_are_of)
{
	/* Two devices: windows of 90 and 110, with a mean of 100; between the starts of two steps
	 * of the slower one there are 120. None of the loader's 40 is solo. */
	struct tp_profile profile = {.total_ns = 1000, .is_of_steps = true, .bracket_ns = 100};
	profile.step_time.n = 5;
	profile.step_time.mean = 120;
	profile.parts[TP_PART_COMPUTE] = (struct tp_part_result){.time_ns = 600,
								 .without_low_ns = 60,
								 .without_high_ns = 70,
								 .work_ns = 90};
	profile.parts[TP_PART_DATALOADER] = (struct tp_part_result){.time_ns = 400,
								    .without_low_ns = 90,
								    .without_high_ns = 100};
	struct tp_gain_input basis = tp_gain_input_of_profile(&profile);
	struct tp_gain gain = estimate(&basis, TP_PART_DATALOADER, 1, 1);
	ck_assert_double_eq_tol(gain.low, 1, 1e-9);
	ck_assert_double_eq_tol(gain.high, 100.0 / 90, 1e-9);
	ck_assert_double_eq_tol(basis.parts[TP_PART_COMPUTE].work_ns, 90, 1e-9);
}
END_TEST

/* ---- all advice together ---- */

static uint64_t random_state = 2463534242u;

static double random_unit(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static struct tp_gain_input random_basis(void)
{
	struct tp_gain_input basis = {.whole_ns = 100};
	double rest = 100;
	for (int i = 0; i < TP_N_PARTS; i++) {
		double exposed = i + 1 < TP_N_PARTS ? rest * random_unit() * 0.6 : rest;
		double solo = exposed * random_unit();
		rest -= exposed;
		basis.parts[i] =
			(struct tp_gain_part){true, exposed, 100 - exposed, 100 - solo, 0, 0};
	}
	return basis;
}

START_TEST(together_is_at_least_each_and_never_more_than_the_parts_allow)
{
	for (int round = 0; round < 2000; round++) {
		struct tp_gain_input basis = random_basis();
		struct tp_gain gains[5];
		size_t n = 1 + (size_t)(random_unit() * 5);
		double removed[TP_N_PARTS] = {0};
		for (size_t i = 0; i < n; i++) {
			enum tp_part part = (enum tp_part)(random_unit() * TP_N_PARTS);
			double most = random_unit();
			gains[i] = estimate(&basis, part, most * random_unit(), most);
			removed[part] = fmin(1, removed[part] + gains[i].most);
		}
		struct tp_next_limit then;
		struct tp_gain all = tp_gain_combine(&basis, gains, n, 100, &then);
		ck_assert(all.is_known);
		ck_assert(all.low >= 1 && all.low <= all.value && all.value <= all.high);
		double left = 100;
		for (int i = 0; i < TP_N_PARTS; i++)
			left -= removed[i] * basis.parts[i].exposed_ns;
		ck_assert_double_le(all.high, fmax(100 / fmax(left, 1), 1) * (1 + 1e-9));
		for (size_t i = 0; i < n; i++) {
			ck_assert_double_ge(all.high * (1 + 1e-9), gains[i].high);
			ck_assert_double_ge(all.low * (1 + 1e-9), gains[i].low);
		}
	}
}
END_TEST

START_TEST(one_advice_alone_is_all_together)
{
	struct tp_gain_input basis = basis_of(40, 30, 0);
	struct tp_gain gain = estimate(&basis, TP_PART_DATALOADER, 0.3, 0.9);
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, &gain, 1, 100, &then);
	ck_assert_double_eq_tol(all.low, gain.low, 1e-9);
	ck_assert_double_eq_tol(all.high, gain.high, 1e-9);
	ck_assert_double_eq_tol(all.value, gain.value, 1e-9);
	ck_assert_int_eq(then.part, TP_PART_COMPUTE);
	ck_assert_double_eq_tol(then.left_ns, basis.parts[TP_PART_COMPUTE].exposed_ns, 1e-6);
}
END_TEST

/* The gains are not combined as the mean of all bounds: for many wide ranges it would be far above
 * the sum of the shown values. */
START_TEST(together_they_save_what_their_values_say)
{
	struct tp_gain_input basis = basis_of(50, 50, 0);
	struct tp_gain gains[3] = {estimate(&basis, TP_PART_DATALOADER, 0, 1),
				   estimate(&basis, TP_PART_DATALOADER, 0, 1),
				   estimate(&basis, TP_PART_COMPUTE, 0, 0.8)};
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 3, 100, &then);
	double left = 100 / gains[0].value + 100 / gains[2].value - 100;
	ck_assert_double_eq_tol(gains[0].value, sqrt(2), 1e-9);
	ck_assert_double_eq_tol(gains[2].value, sqrt(100.0 / 60), 1e-9);
	ck_assert_double_eq_tol(all.value, 100 / left, 1e-9); /* 2.07 */
	ck_assert_double_eq_tol(all.high, 10, 1e-9);          /* the mean would be 3.16 */
}
END_TEST

START_TEST(two_ways_to_remove_one_thing_remove_it_once)
{
	struct tp_gain_input basis = basis_of(40, 40, 0);
	struct tp_gain gains[2] = {estimate(&basis, TP_PART_DATALOADER, 1, 1),
				   estimate(&basis, TP_PART_DATALOADER, 1, 1)};
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(all.high, 100.0 / 60, 1e-9); /* not the square of it */
	ck_assert_double_eq_tol(all.low, 100.0 / 60, 1e-9);
}
END_TEST

START_TEST(the_largest_fraction_of_a_label_counts)
{
	struct tp_gain_input basis = basis_of(40, 40, 0);
	struct tp_gain gains[3] = {estimate(&basis, TP_PART_DATALOADER, 0, 0.5),
				   estimate(&basis, TP_PART_DATALOADER, 0, 0.4),
				   estimate(&basis, TP_PART_DATALOADER, 0, 0.25)};
	gains[0].label = gains[1].label = TP_LABEL_DATALOADER_PREP;
	gains[2].label = TP_LABEL_DATALOADER_FETCH;
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 3, 100, &then);
	ck_assert_double_eq_tol(all.high, 100.0 / (100 - 0.75 * 40), 1e-9);
}
END_TEST

START_TEST(advice_for_all_of_a_part_shrinks_what_labels_leave)
{
	/* A loader that becomes four times as fast; half of its time is preparation, which is
	 * removed. */
	struct tp_gain_input basis = basis_of(80, 80, 0);
	struct tp_gain gains[2] = {estimate(&basis, TP_PART_DATALOADER, 0, 0.75),
				   estimate(&basis, TP_PART_DATALOADER, 0, 0.5)};
	gains[1].label = TP_LABEL_DATALOADER_PREP;
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(all.high, 100 / (100 - 80 * (1 - 0.25 * 0.5)), 1e-9);
}
END_TEST

START_TEST(sure_pieces_of_a_part_add_up)
{
	/* Half of 40 is one label, a quarter another, and advice about the whole part surely saves
	 * 60 %. */
	struct tp_gain_input basis = basis_of(40, 40, 0);
	struct tp_gain gains[3] = {estimate(&basis, TP_PART_DATALOADER, 0.5, 0.5),
				   estimate(&basis, TP_PART_DATALOADER, 0.25, 0.25),
				   estimate(&basis, TP_PART_DATALOADER, 0.6, 0.6)};
	gains[0].label = TP_LABEL_DATALOADER_PREP;
	gains[1].label = TP_LABEL_DATALOADER_FETCH;
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(all.low, 100.0 / 70, 1e-9);
	ck_assert_double_eq_tol(all.high, 100.0 / 70, 1e-9);
	all = tp_gain_combine(&basis, gains, 3, 100, &then);
	ck_assert_double_eq_tol(all.low, 100.0 / 70, 1e-9); /* 75 % are more than 60 % */
	ck_assert_double_eq_tol(all.high, 100.0 / (60 + 0.4 * 0.25 * 40), 1e-9);
}
END_TEST

START_TEST(no_step_is_shorter_than_the_work_that_is_left)
{
	/* The host works 70 of 100, 20 of them exposed; data takes 40, compute 40. */
	struct tp_gain_input basis = {.whole_ns = 100};
	basis.parts[TP_PART_HOST] = (struct tp_gain_part){true, 20, 80, 100, 70, 0};
	basis.parts[TP_PART_DATALOADER] = (struct tp_gain_part){true, 40, 70, 100, 40, 0};
	basis.parts[TP_PART_COMPUTE] = (struct tp_gain_part){true, 40, 70, 100, 40, 0};
	struct tp_gain gains[3] = {estimate(&basis, TP_PART_DATALOADER, 0, 1),
				   estimate(&basis, TP_PART_COMPUTE, 0, 0.5),
				   estimate(&basis, TP_PART_HOST, 0, 0.5)};
	struct tp_next_limit then;
	/* Without data and half of the compute 40 would remain, but the host still needs 70. */
	struct tp_gain all = tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(all.high, 100.0 / 70, 1e-9);
	ck_assert_int_eq(then.part, TP_PART_HOST);
	ck_assert_double_eq_tol(then.left_ns, 70, 1e-9);
	/* Half of the host's work is 35; the exposed time of all parts is 30. */
	all = tp_gain_combine(&basis, gains, 3, 100, &then);
	ck_assert_double_eq_tol(all.high, 100.0 / 35, 1e-9);
	ck_assert_double_eq_tol(then.left_ns, 35, 1e-9);
}
END_TEST

START_TEST(the_supply_limits_next_where_it_is_the_longest)
{
	/* Compute takes 80 of 100, a batch arrives every 70; the host's 10 are removed, too. */
	struct tp_gain_input basis = basis_of(20, 20, 70);
	basis.parts[TP_PART_HOST] = (struct tp_gain_part){true, 10, 90, 90, 0, 0};
	struct tp_gain gains[2] = {estimate(&basis, TP_PART_COMPUTE, 0, 0.5),
				   estimate(&basis, TP_PART_COMPUTE, 0, 0.8)};
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(all.high, 100.0 / 70, 1e-9);
	ck_assert_int_eq(then.part, TP_PART_DATALOADER);
	ck_assert_double_eq_tol(then.left_ns, 70, 1e-9);
}
END_TEST

/* An idiom takes 20 % of the loop, within its steps; the wait for data takes 40 % of a step. */
START_TEST(an_idiom_and_a_part_together_gain_no_less_than_one)
{
	struct tp_gain_input basis = basis_of(40, 40, 0);
	basis.outside_ratio = 0.3;
	struct tp_rule_gain loop = {.kind = TP_GAIN_LOOP,
				    .fraction = figure(0.2),
				    .at_least = figure(0.1),
				    .is_floor = _i};
	struct tp_gain gains[2] = {estimate(&basis, TP_PART_DATALOADER, 0.5, 1),
				   tp_gain_estimate(&basis, &loop, facts, 100)};
	gains[1].is_inside = true;
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(all.low, gains[0].low, 1e-9);
	ck_assert_double_ge(all.value, gains[0].value);
	double idiom = _i ? gains[1].low : gains[1].value;
	ck_assert_double_eq_tol(all.value, gains[0].value * idiom, 1e-9);
	ck_assert_double_ge(all.high, gains[0].high);
}
END_TEST

/* An idiom may remove all of the longest rest: then it is no next limit. */
START_TEST(what_an_idiom_may_remove_is_no_next_limit)
{
	struct tp_gain_input basis = basis_of(40, 40, 0);
	struct tp_rule_gain loop = {.kind = TP_GAIN_LOOP,
				    .fraction = figure(_i ? 0.7 : 0.2),
				    .at_least = figure(0)};
	struct tp_gain gains[2] = {estimate(&basis, TP_PART_DATALOADER, 1, 1),
				   tp_gain_estimate(&basis, &loop, facts, 100)};
	gains[1].is_inside = true;
	struct tp_next_limit then;
	(void)tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(then.left_ns, 60, 1e-9);
	ck_assert((then.part == TP_N_PARTS) == (_i == 1));
}
END_TEST

START_TEST(time_outside_the_steps_counts_in_the_loop)
{
	/* 20 % of the loop is checkpoints, and the steps could shrink from 100 to 60. */
	struct tp_gain_input basis = basis_of(40, 40, 0);
	basis.outside_ratio = 0.2;
	struct tp_rule_gain loop = {.kind = TP_GAIN_LOOP,
				    .fraction = figure(0.2),
				    .at_least = figure(0.2)};
	struct tp_gain gains[2] = {estimate(&basis, TP_PART_DATALOADER, 1, 1),
				   tp_gain_estimate(&basis, &loop, facts, 100)};
	ck_assert_double_eq_tol(gains[1].value, 1 / 0.8, 1e-9);
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(all.value, 1 / (0.8 * 0.6), 1e-9);
}
END_TEST

/* Half of the loop is outside of the steps. Data loading takes 40 % of a step: without it the steps
 * are 1.67 times as fast, the loop only 1.25 times. */
START_TEST(in_the_loop_all_together_gain_no_less_than_one)
{
	struct tp_gain_input basis = basis_of(40, 40, 0);
	basis.outside_ratio = 0.5;
	struct tp_rule_gain loop = {.kind = TP_GAIN_LOOP,
				    .fraction = figure(0.05),
				    .at_least = figure(0.02)};
	struct tp_gain gains[2] = {estimate(&basis, TP_PART_DATALOADER, 1, 1),
				   tp_gain_estimate(&basis, &loop, facts, 100)};
	struct tp_gain steps = tp_gain_of_loop(&basis, &gains[0]);
	ck_assert_double_eq_tol(gains[0].value, 1 / 0.6, 1e-9);
	ck_assert_double_eq_tol(steps.value, 1 / 0.8, 1e-9);
	ck_assert_double_eq(tp_gain_of_loop(&basis, &gains[1]).value, gains[1].value);
	struct tp_next_limit then;
	struct tp_gain all = tp_gain_combine(&basis, gains, 2, 100, &then);
	ck_assert_double_eq_tol(all.low, 1 / (1 - 0.2 - 0.02), 1e-9);
	ck_assert_double_ge(all.value, steps.value);
	ck_assert_double_ge(all.high, steps.high);
	/* One of them alone, on a page that speaks of the loop. */
	basis.is_of_loop = true;
	all = tp_gain_combine(&basis, gains, 1, 100, &then);
	ck_assert_double_eq_tol(all.low, steps.low, 1e-9);
	ck_assert_double_eq_tol(all.value, steps.value, 1e-9);
	ck_assert_double_eq_tol(all.high, steps.high, 1e-9);
}
END_TEST

Suite *suite_advise_gain(void);
Suite *suite_advise_gain(void)
{
	Suite *suite = suite_create("advise_gain");
	TCase *tcase = tcase_create("gain");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_whole_part_gains_what_its_bracket_says);
	tcase_add_test(tcase, the_wait_for_a_cpu_may_go_with_the_work);
	tcase_add_test(tcase, a_fraction_gains_its_fraction);
	tcase_add_test(tcase, time_that_other_calls_share_is_no_sure_gain);
	tcase_add_test(tcase, the_supply_of_the_loader_bounds_what_compute_gains);
	tcase_add_test(tcase, no_gain_is_infinite_and_none_is_invented);
	tcase_add_test(tcase, a_profile_without_a_bracket_promises_nothing);
	tcase_add_test(tcase, together_is_at_least_each_and_never_more_than_the_parts_allow);
	tcase_add_test(tcase, one_advice_alone_is_all_together);
	tcase_add_test(tcase, together_they_save_what_their_values_say);
	tcase_add_test(tcase, two_ways_to_remove_one_thing_remove_it_once);
	tcase_add_test(tcase, the_largest_fraction_of_a_label_counts);
	tcase_add_test(tcase, advice_for_all_of_a_part_shrinks_what_labels_leave);
	tcase_add_loop_test(tcase, an_idiom_and_a_part_together_gain_no_less_than_one, 0, 2);
	tcase_add_loop_test(tcase, what_an_idiom_may_remove_is_no_next_limit, 0, 2);
	tcase_add_test(tcase, time_outside_the_steps_counts_in_the_loop);
	tcase_add_test(tcase, in_the_loop_all_together_gain_no_less_than_one);
	tcase_add_test(tcase, the_step_of_a_job_is_the_one_that_its_brackets_are_of);
	tcase_add_test(tcase, sure_pieces_of_a_part_add_up);
	tcase_add_test(tcase, no_step_is_shorter_than_the_work_that_is_left);
	tcase_add_test(tcase, the_supply_limits_next_where_it_is_the_longest);
	suite_add_tcase(suite, tcase);
	return suite;
}
