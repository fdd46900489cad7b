/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the order of a plan's steps and their bounds, with numbers computed by hand. */
#include "advise/plan/plan_build.h"
#include "advise/shelf.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static struct tp_findings findings;
static struct tp_quantity facts[TP_N_FACTS];

/* A step of 100 ms: 40 % compute, 40 % waiting for data, 20 % host. */
static void setup(void)
{
	shelf_open(&shelf);
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{}");
	shelf_put(&shelf, "pages.json",
		  "{\"pages\": [{\"id\": \"p\", \"title\": \"P\", \"steps\": [\"first\", "
		  "\"second\"]}]}");
	facts_init(facts);
	facts_set(facts, TP_FACT_STEP_COUNT, 10);
	facts_set(facts, TP_FACT_STEP_TIME, 100e6);
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.4);
	facts_set(facts, TP_FACT_STEP_DATALOADER, 0.4);
	facts_set(facts, TP_FACT_STEP_HOST, 0.2);
	facts_set(facts, TP_FACT_STEP_COMMUNICATION, 0);
	facts_set(facts, TP_FACT_STEP_MEMORY, 0);
	facts_set(facts, TP_FACT_STEP_IDLE, 0);
}

static void teardown(void)
{
	tp_findings_release(&findings);
	tp_rulebook_free(book);
	shelf_close(&shelf);
	findings = (struct tp_findings){0};
	book = NULL;
}

/* Writes a rule with this limit and a gain of a part, or "" for none. */
static void put(const char *name, const char *limit, const char *action, const char *gain)
{
	char *members =
		tp_asprintf(", \"limits\": [\"%s\"]%s%s", limit, *gain ? ", \"gain\": " : "", gain);
	shelf_put_advice(&shelf, name, "step.count > 1", action, members);
	free(members);
}

static const struct tp_action_plan *judged(void)
{
	struct tp_error err = {0};
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
	tp_advise_facts(&findings, book, facts);
	return &findings.action_plan;
}

static const char *rule_of(const struct tp_plan_step *step, size_t i)
{
	return findings.items[step->advice[i]].rule;
}

static void is_of_several(const struct tp_bound *bound, double low, double high, double saved_ms)
{
	ck_assert(bound->is_known);
	ck_assert_double_eq_tol(bound->low, low, 1e-9);
	ck_assert_double_eq_tol(bound->high, high, 1e-9);
	ck_assert_double_eq_tol(bound->value, 100 / (100 - saved_ms), 1e-9);
}

/* Saving of a step of 100 ms, by the geometric mean of the bounds. */
static double saved_ms(double least_ms, double most_ms)
{
	return 100 - sqrt((100 - least_ms) * (100 - most_ms));
}

static void is_bound(const struct tp_bound *bound, double low, double high)
{
	is_of_several(bound, low, high, saved_ms(100 - 100 / low, 100 - 100 / high));
}

#define OWN(id) "\"id\": \"" id "\""
#define GAIN(part, most, least)                                                                    \
	"{\"part\": \"" part "\", \"fraction\": \"" most "\", \"at_least\": \"" least              \
	"\", \"method\": \"m\"}"

START_TEST(diagnosis_comes_before_size_and_shares_go_one_after_another)
{
	/* "disk" is second in the order of diagnosis, "wait" first; the gain of disk is larger. */
	put("large", "disk", OWN("one"), GAIN("dataloader", "100%", "0"));
	put("small", "wait", OWN("two"), GAIN("host", "50%", "50%"));
	const struct tp_action_plan *action_plan = judged();
	/* A finding with only a bound comes last, however large the bound is. */
	ck_assert_str_eq(findings.items[0].rule, "test/small");
	ck_assert_uint_eq(action_plan->n_steps, 2);
	const struct tp_plan_step *first = &action_plan->steps[0];
	const struct tp_plan_step *second = &action_plan->steps[1];
	ck_assert_str_eq(rule_of(first, 0), "test/small");
	ck_assert_str_eq(rule_of(second, 0), "test/large");
	ck_assert_uint_eq(first->order, 1);
	ck_assert_str_eq(first->stage, "first");
	ck_assert_str_eq(second->stage, "second");
	/* Half of the host's 20 ms is surely saved: 100 become 90. */
	is_bound(&first->gain, 100.0 / 90, 100.0 / 90);
	is_bound(&first->so_far, 100.0 / 90, 100.0 / 90);
	/* Saves none or all of 40 ms: 60 to 100 ms alone, 50 to 90 ms after the first step. Not
	 * 1.85, the product of both. */
	is_bound(&second->gain, 1, 100.0 / 60);
	is_of_several(&second->so_far, 100.0 / 90, 100.0 / 50, 10 + saved_ms(0, 40));
	ck_assert(first->adds && second->adds);
	/* 40 ms of compute remain: 25 steps per second. */
	ck_assert_str_eq(second->then_limit, "compute");
	ck_assert_double_eq_tol(second->then_steps_per_s, 25, 1e-9);
	ck_assert_double_eq_tol(action_plan->step_ns, 100e6, 1e-3);
	ck_assert_double_eq_tol(findings.combined_high, second->so_far.high, 1e-12);
	ck_assert_double_eq_tol(findings.combined_low, second->so_far.low, 1e-12);
}
END_TEST

START_TEST(small_gains_come_after_the_largest)
{
	/* Compared with ln 1.29 = 0.255, ln 1.026 = 0.026 is a tenth and ln 1.054 = 0.053 a fifth;
	 * the gain of "late" is not known. */
	shelf_put(&shelf, "thresholds.json",
		  "{\"thresholds\": [{\"name\": \"plan.large\", \"value\": \"15%\", \"why\": "
		  "\"w\"}]}");
	put("large", "disk", OWN("one"), GAIN("dataloader", "100%", "0"));
	put("small", "wait", OWN("two"), GAIN("host", "25%", "0"));
	put("middle", "wait", OWN("three"), GAIN("host", "50%", "0"));
	put("late", "disk", OWN("four"), "");
	const struct tp_action_plan *action_plan = judged();
	static const char *const wanted[] = {"test/middle", "test/large", "test/late",
					     "test/small"};
	ck_assert_uint_eq(action_plan->n_steps, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_str_eq(rule_of(&action_plan->steps[i], 0), wanted[i]);
}
END_TEST

START_TEST(another_way_to_the_same_adds_nothing)
{
	put("one", "disk", OWN("one"), GAIN("dataloader", "100%", "0"));
	put("two", "disk", OWN("two"), GAIN("dataloader", "80%", "0"));
	const struct tp_action_plan *action_plan = judged();
	ck_assert_uint_eq(action_plan->n_steps, 2);
	ck_assert_str_eq(rule_of(&action_plan->steps[0], 0), "test/one");
	ck_assert(action_plan->steps[0].adds);
	ck_assert(!action_plan->steps[1].adds);
	is_bound(&action_plan->steps[1].gain, 1, 100.0 / 68);
	is_bound(&action_plan->steps[1].so_far, 1, 100.0 / 60);
}
END_TEST

START_TEST(actions_that_pay_only_together_are_one_step)
{
	/* The file of "fast" says that it pays only with "slow". */
	put("one", "disk", "\"technique\": \"fast\"", GAIN("dataloader", "50%", "0"));
	put("two", "wait", "\"technique\": \"slow\"", GAIN("host", "50%", "50%"));
	put("three", "disk", OWN("own"), GAIN("compute", "25%", "25%"));
	const struct tp_action_plan *action_plan = judged();
	ck_assert_uint_eq(action_plan->n_steps, 2);
	const struct tp_plan_step *both = &action_plan->steps[0];
	ck_assert_uint_eq(both->n_advice, 2);
	ck_assert_str_eq(rule_of(both, 0), "test/two"); /* an estimate comes before a bound */
	ck_assert_str_eq(rule_of(both, 1), "test/one");
	ck_assert_uint_eq(both->order, 1); /* the order of the earlier one */
	/* At least 10 ms, and at most 20 ms more. */
	is_of_several(&both->gain, 100.0 / 90, 100.0 / 70, 10 + saved_ms(0, 20));
	ck_assert_uint_eq(both->n_actions, 2);
	ck_assert_int_eq(both->actions[0].role, TP_PLAN_ACTION_DO);
	ck_assert_int_eq(both->actions[1].role, TP_PLAN_ACTION_DO);
	ck_assert_str_eq(both->against->technique,
			 "fast"); /* slow reduces the number of iterations */
	ck_assert_ptr_null(action_plan->steps[1].against);
	ck_assert_str_eq(action_plan->yardstick->technique, "fast");
}
END_TEST

START_TEST(one_technique_of_two_rules_is_one_move)
{
	put("one", "disk", OWN("same"), GAIN("dataloader", "50%", "0"));
	put("two", "disk", "\"technique\": \"fast\"", GAIN("host", "50%", "0"));
	put("three", "wait", "\"technique\": \"fast\"", GAIN("compute", "50%", "0"));
	const struct tp_action_plan *action_plan = judged();
	ck_assert_uint_eq(action_plan->n_steps, 2);
	ck_assert_uint_eq(action_plan->steps[0].n_advice, 2);
	ck_assert_str_eq(rule_of(&action_plan->steps[0], 0), "test/three");
	is_of_several(&action_plan->steps[0].gain, 1, 100.0 / 70,
		      saved_ms(0, 10) + saved_ms(0, 20));
	is_of_several(&action_plan->steps[1].so_far, 1, 100.0 / 50,
		      saved_ms(0, 20) + saved_ms(0, 10) + saved_ms(0, 20));
}
END_TEST

START_TEST(an_unknown_gain_stays_unknown)
{
	put("one", "wait", OWN("one"), "");
	put("two", "disk", OWN("two"), GAIN("host", "50%", "50%"));
	put("three", "disk", OWN("three"), "");
	const struct tp_action_plan *action_plan = judged();
	ck_assert_uint_eq(action_plan->n_steps, 3);
	/* Advice that is sure comes first; the rest follows the order of the diagnosis. */
	ck_assert_str_eq(rule_of(&action_plan->steps[0], 0), "test/two");
	ck_assert_str_eq(rule_of(&action_plan->steps[1], 0), "test/one");
	ck_assert_str_eq(rule_of(&action_plan->steps[2], 0), "test/three");
	for (size_t i = 1; i < 3; i++) {
		ck_assert(!action_plan->steps[i].gain.is_known && !action_plan->steps[i].adds);
		is_bound(&action_plan->steps[i].so_far, 100.0 / 90, 100.0 / 90);
	}
}
END_TEST

START_TEST(an_unknown_rate_stays_unknown)
{
	put("one", "wait", OWN("one"), GAIN("host", "50%", "50%"));
	facts[TP_FACT_STEP_TIME].is_known = false;
	const struct tp_action_plan *action_plan = judged();
	ck_assert_str_eq(action_plan->steps[0].then_limit, "compute");
	ck_assert(action_plan->steps[0].then_steps_per_s == 0 && action_plan->step_ns == 0);
}
END_TEST

START_TEST(without_advice_there_is_no_move)
{
	put("one", "wait", OWN("one"), GAIN("host", "50%", "50%"));
	facts_set(facts, TP_FACT_STEP_COUNT, 1);
	ck_assert_uint_eq(judged()->n_steps, 0);
}
END_TEST

Suite *suite_advise_plan_build(void);
Suite *suite_advise_plan_build(void)
{
	Suite *suite = suite_create("advise_moves");
	TCase *tcase = tcase_create("steps");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, diagnosis_comes_before_size_and_shares_go_one_after_another);
	tcase_add_test(tcase, small_gains_come_after_the_largest);
	tcase_add_test(tcase, another_way_to_the_same_adds_nothing);
	tcase_add_test(tcase, actions_that_pay_only_together_are_one_step);
	tcase_add_test(tcase, one_technique_of_two_rules_is_one_move);
	tcase_add_test(tcase, an_unknown_gain_stays_unknown);
	tcase_add_test(tcase, an_unknown_rate_stays_unknown);
	tcase_add_test(tcase, without_advice_there_is_no_move);
	suite_add_tcase(suite, tcase);
	return suite;
}
