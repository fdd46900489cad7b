/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the metrics that must change, computed by hand. */
#include "advise/plan/plan_targets.h"
#include "advise/shelf.h"

#include "trainprof/model/fact.h"

#include <check.h>

static struct tp_arena arena;
static struct tp_quantity facts[TP_N_FACTS];
static struct tp_rule_context context;
static struct tp_rule rule;

/* Data takes 50 ms of 100, 30 of them while nothing else runs; 35 of the 50 are reads. */
static void setup(void)
{
	tp_arena_init(&arena);
	facts_init(facts);
	facts_set(facts, TP_FACT_STEP_DATALOADER, 0.5);
	facts_set(facts, TP_FACT_STEP_FETCH, 0.35);
	context = (struct tp_rule_context){.facts = facts,
					   .arena = &arena,
					   .basis = {.whole_ns = 100}};
	context.basis.parts[TP_PART_DATALOADER] = (struct tp_gain_part){.is_known = true,
									.exposed_ns = 50,
									.without_low_ns = 50,
									.without_high_ns = 70};
	rule = (struct tp_rule){0};
}

static void teardown(void)
{
	tp_arena_release(&arena);
}

static struct tp_candidate candidate_of(enum tp_label label, double least, double most)
{
	return (struct tp_candidate){.rule = &rule,
				     .gain = {.is_known = true,
					      .kind = TP_GAIN_PART,
					      .part = TP_PART_DATALOADER,
					      .label = label,
					      .least = least,
					      .most = most}};
}

static const struct tp_plan_target *targets_of(const struct tp_candidate *a,
					       const struct tp_candidate *b, size_t *n)
{
	const struct tp_candidate *both[] = {a, b};
	return tp_plan_targets_build(&context, both, b ? 2 : 1, n);
}

static void is_target(const struct tp_plan_target *target, enum tp_fact fact, double now,
		      double best, double worst)
{
	ck_assert_int_eq(target->fact, fact);
	ck_assert_double_eq_tol(target->now, now, 1e-9);
	ck_assert_double_eq_tol(target->best, best, 1e-9);
	ck_assert_double_eq_tol(target->worst, worst, 1e-9);
}

START_TEST(a_part_falls_by_what_goes_of_it)
{
	size_t n;
	/* 40 to 80 %: at best 40 of 50 ms, at worst 12 of the 30 that are exposed alone. */
	struct tp_candidate half = candidate_of(TP_N_LABELS, 0.4, 0.8);
	const struct tp_plan_target *target = targets_of(&half, NULL, &n);
	ck_assert_uint_eq(n, 1);
	is_target(target, TP_FACT_STEP_DATALOADER, 0.5, 0.1, 0.38);
	ck_assert(!target->is_of_loop);
}
END_TEST

START_TEST(a_label_is_the_number_where_it_is_known)
{
	size_t n;
	/* Reads are 70 % of the part: at best all of them are saved, at worst none. */
	struct tp_candidate reads = candidate_of(TP_LABEL_DATALOADER_FETCH, 0, 0.7);
	is_target(targets_of(&reads, NULL, &n), TP_FACT_STEP_FETCH, 0.35, 0, 0.35);
	facts[TP_FACT_STEP_FETCH].is_known = false;
	is_target(targets_of(&reads, NULL, &n), TP_FACT_STEP_DATALOADER, 0.5, 0.15, 0.5);
	facts[TP_FACT_STEP_DATALOADER].is_known = false;
	(void)targets_of(&reads, NULL, &n);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(advice_with_the_same_target_appears_once)
{
	size_t n;
	struct tp_candidate a = candidate_of(TP_N_LABELS, 0.1, 0.5);
	struct tp_candidate b = candidate_of(TP_N_LABELS, 0.2, 0.3);
	is_target(targets_of(&a, &b, &n), TP_FACT_STEP_DATALOADER, 0.5, 0.25, 0.44);
	ck_assert_uint_eq(n, 1);
	b.gain.is_known = false;
	is_target(targets_of(&a, &b, &n), TP_FACT_STEP_DATALOADER, 0.5, 0.25, 0.47);
}
END_TEST

static const struct tp_expr *parsed(const char *text)
{
	static const struct tp_thresholds none;
	struct tp_expr_scope place = {.file = "x", .line = 1, .thresholds = &none, .arena = &arena};
	const struct tp_expr *expr = NULL;
	ck_assert(!tp_expr_parse(&expr, text, TP_EXPR_NUMBER, &place, NULL));
	return expr;
}

START_TEST(targets_outside_the_steps_are_shares_of_the_loop)
{
	size_t n;
	facts_set(facts, TP_FACT_RUN_CHECKPOINT_RATIO, 0.2);
	rule.gain.fraction = parsed("run.checkpoint_ratio");
	struct tp_candidate saves = {
		.rule = &rule,
		.gain = {.is_known = true, .kind = TP_GAIN_LOOP, .least = 0.1, .most = 0.2}};
	const struct tp_plan_target *target = targets_of(&saves, NULL, &n);
	is_target(target, TP_FACT_RUN_CHECKPOINT_RATIO, 0.2, 0, 0.1);
	ck_assert(target->is_of_loop);
	/* A product of two facts has no single metric. */
	rule.gain.fraction = parsed("run.checkpoint_ratio * run.outside_ratio");
	(void)targets_of(&saves, NULL, &n);
	ck_assert_uint_eq(n, 0);
}
END_TEST

Suite *suite_advise_plan_targets(void);
Suite *suite_advise_plan_targets(void)
{
	Suite *suite = suite_create("advise_targets");
	TCase *tcase = tcase_create("targets");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_part_falls_by_what_goes_of_it);
	tcase_add_test(tcase, a_label_is_the_number_where_it_is_known);
	tcase_add_test(tcase, advice_with_the_same_target_appears_once);
	tcase_add_test(tcase, targets_outside_the_steps_are_shares_of_the_loop);
	suite_add_tcase(suite, tcase);
	return suite;
}
