/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the actions of one step of a plan. */
#include "advise/plan/plan_actions.h"
#include "advise/shelf.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static struct tp_findings findings;
static struct tp_quantity facts[TP_N_FACTS];

/* A technique that makes room for "fast". */
static const char room[] =
	"{\"id\": \"room\", \"title\": \"Keep less\", \"group\": \"memory\",\n"
	" \"relieves\": [\"wait\"], \"component\": \"impl\", \"action\": \"Remove\",\n"
	" \"mechanism\": \"static; throughout training; uniform\",\n"
	" \"reduces\": \"capacity\", \"kind\": \"free\", \"effects\": [], \"needs\": [],\n"
	" \"not_when\": [], \"done_when\": \"env.malloc_tuned\", \"together\": [\"fast\"],\n"
	" \"risk\": {\"level\": \"none\", \"text\": \"none\"}, \"effort\": \"flag\",\n"
	" \"how\": {\"c\": \"free()\"}, \"verify\": \"there is room\"}\n";

static void setup(void)
{
	shelf_open(&shelf);
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "techniques/room.json", room);
	shelf_put(&shelf, "thresholds.json", "{}");
	facts_init(facts);
	facts_set(facts, TP_FACT_STEP_COUNT, 10);
}

static void teardown(void)
{
	tp_findings_release(&findings);
	tp_rulebook_free(book);
	shelf_close(&shelf);
	findings = (struct tp_findings){0};
	book = NULL;
}

static const struct tp_plan_step *judged_with(const char *actions, const char *members)
{
	struct tp_error err = {0};
	shelf_put_advice(&shelf, "a", "step.count > 1", actions, members);
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
	tp_advise_facts(&findings, book, facts);
	ck_assert_uint_eq(findings.action_plan.n_steps, 1);
	return findings.action_plan.steps;
}

static const struct tp_plan_step *judged(const char *actions)
{
	return judged_with(actions, ", \"limits\": [\"wait\"]");
}

/* Two actions in place of one. */
#define SECOND(id) "}, {\"headline\": \"H\", \"text\": \"Or that.\", \"technique\": \"" id "\""

static void is_action(const struct tp_plan_step *step, size_t i, enum tp_plan_action_role role,
		      const char *technique)
{
	ck_assert_uint_gt(step->n_actions, i);
	ck_assert_int_eq(step->actions[i].role, role);
	ck_assert_str_eq(step->actions[i].technique, technique);
}

START_TEST(companions_of_a_technique_are_offered_with_it)
{
	const struct tp_plan_step *step = judged("\"technique\": \"fast\"");
	ck_assert_uint_eq(step->n_actions, 3);
	is_action(step, 0, TP_PLAN_ACTION_DO, "fast");
	is_action(step, 1, TP_PLAN_ACTION_WITH, "slow");
	is_action(step, 2, TP_PLAN_ACTION_OPENER, "room");
	ck_assert_str_eq(step->actions[0].text, "Do it.");
	ck_assert_str_eq(step->actions[0].verify, "the wait falls");
	ck_assert_str_eq(step->actions[1].text, "Write slower");
}
END_TEST

START_TEST(applied_techniques_are_not_offered)
{
	facts_set(facts, TP_FACT_ENV_MALLOC, 1);
	const struct tp_plan_step *step = judged("\"technique\": \"fast\"");
	ck_assert_uint_eq(step->n_actions, 2);
	is_action(step, 1, TP_PLAN_ACTION_WITH, "slow");
}
END_TEST

START_TEST(actions_that_free_memory_follow_those_that_use_it)
{
	const struct tp_plan_step *step = judged("\"technique\": \"room\"" SECOND("slow"));
	is_action(step, 0, TP_PLAN_ACTION_DO, "slow");
	is_action(step, 1, TP_PLAN_ACTION_OPENER, "room");
	ck_assert_uint_eq(step->n_actions, 2);
	ck_assert_str_eq(step->actions[0].text, "Or that.");
}
END_TEST

START_TEST(a_rule_that_knows_what_room_gains_has_it_first)
{
	facts_set(facts, TP_FACT_STEP_HOST, 0.5);
	const struct tp_plan_step *step =
		judged_with("\"technique\": \"room\"" SECOND("slow"),
			    ", \"limits\": [\"wait\"], \"gain\": {\"part\": \"host\", "
			    "\"fraction\": \"50%\", \"method\": \"m\"}");
	is_action(step, 0, TP_PLAN_ACTION_DO, "room");
	is_action(step, 1, TP_PLAN_ACTION_WITH, "fast");
}
END_TEST

START_TEST(room_alone_is_offered_where_nothing_else_is)
{
	const struct tp_plan_step *step = judged("\"technique\": \"room\"");
	is_action(step, 0, TP_PLAN_ACTION_DO, "room");
	is_action(step, 1, TP_PLAN_ACTION_WITH, "fast");
}
END_TEST

START_TEST(an_action_of_which_the_guide_has_no_page_stands_alone)
{
	const struct tp_plan_step *step = judged("\"id\": \"own\", \"example\": \"make it so\"");
	ck_assert_uint_eq(step->n_actions, 1);
	ck_assert_str_eq(step->actions[0].example, "make it so");
	ck_assert_uint_eq(step->actions[0].n_how, 0);
	ck_assert_ptr_null(step->actions[0].verify);
}
END_TEST

START_TEST(instructions_are_for_the_framework_of_the_run)
{
	static const struct {
		enum tp_fact fact;
		double value;
		size_t n;
		const char *first;
	} rows[] = {
		{TP_FACT_STEP_COUNT, 10, 2,
		 "pytorch"}, /* no framework seen: texts of all known frameworks */
		{TP_FACT_ENV_PYTORCH, 1, 1, "pytorch"},
		{TP_FACT_ENV_JAX, 1, 0, NULL}, /* seen, but there is no text for it */
		{TP_FACT_ENV_PYTHON, 0, 1, "c"},
		{TP_FACT_ENV_PYTHON, 1, 2, "pytorch"},
	};
	facts_set(facts, rows[_i].fact, rows[_i].value);
	const struct tp_plan_step *step = judged("\"technique\": \"fast\"");
	ck_assert_uint_eq(step->actions[0].n_how, rows[_i].n);
	if (rows[_i].n)
		ck_assert_str_eq(step->actions[0].how[0].framework, rows[_i].first);
}
END_TEST

START_TEST(a_program_of_c_that_uses_a_framework_is_one_of_the_framework)
{
	facts_set(facts, TP_FACT_ENV_PYTHON, 0);
	facts_set(facts, TP_FACT_ENV_PYTORCH, 1);
	const struct tp_plan_step *step = judged("\"technique\": \"fast\"");
	ck_assert_uint_eq(step->actions[0].n_how, 1);
	ck_assert_str_eq(step->actions[0].how[0].text, "fast=True");
}
END_TEST

Suite *suite_advise_plan_actions(void);
Suite *suite_advise_plan_actions(void)
{
	Suite *suite = suite_create("advise_deeds");
	TCase *tcase = tcase_create("actions");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, companions_of_a_technique_are_offered_with_it);
	tcase_add_test(tcase, applied_techniques_are_not_offered);
	tcase_add_test(tcase, actions_that_free_memory_follow_those_that_use_it);
	tcase_add_test(tcase, room_alone_is_offered_where_nothing_else_is);
	tcase_add_test(tcase, a_rule_that_knows_what_room_gains_has_it_first);
	tcase_add_test(tcase, an_action_of_which_the_guide_has_no_page_stands_alone);
	tcase_add_loop_test(tcase, instructions_are_for_the_framework_of_the_run, 0, 5);
	tcase_add_test(tcase, a_program_of_c_that_uses_a_framework_is_one_of_the_framework);
	suite_add_tcase(suite, tcase);
	return suite;
}
