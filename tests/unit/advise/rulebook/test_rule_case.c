/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the cases of a rule that was read from its file. */
#include "advise/rulebook/rule_case.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <string.h>

static struct tp_arena arena;
static struct tp_rule rule;

static void setup(void)
{
	tp_arena_init(&arena);
	rule = (struct tp_rule){0};
}

static void teardown(void)
{
	tp_arena_release(&arena);
}

static enum tp_status read_cases(const char *text, struct tp_error *err)
{
	struct tp_json_doc *doc = NULL;
	ck_assert(!tp_json_parse(&doc, text, strlen(text), "r.json", err));
	struct tp_json_form form = {.doc = doc, .arena = &arena, .err = err};
	tp_rule_read_cases(&rule, &form, tp_json_root(doc));
	tp_json_free(doc);
	return form.status;
}

START_TEST(facts_take_units_and_intervals)
{
	struct tp_error err = {0};
	ck_assert_msg(
		!read_cases("{\"cases\": [{\"fires\": true, \"facts\": {\n"
			    "\"step.time_ns\": \"2ms\", \"step.count\": 5,\n"
			    "\"env.is_python\": true, \"io.data_files\": null,\n"
			    "\"memory.minor_faults_per_s\": \"300/s\",\n"
			    "\"step.host_ratio\": {\"value\": \"20%\", \"low\": 0.1, \"high\": "
			    "\"30%\", \"coverage\": 0.5}}}]}",
			    &err),
		"%s", err.text);
	const struct tp_quantity *facts = tp_rule_case_facts(&rule.cases[0], &arena);
	ck_assert_double_eq(facts[TP_FACT_STEP_TIME].value, 2e6);
	ck_assert_double_eq(facts[TP_FACT_STEP_COUNT].value, 5);
	ck_assert_double_eq(facts[TP_FACT_ENV_PYTHON].value, 1);
	ck_assert(!facts[TP_FACT_IO_FILES].is_known);
	ck_assert_double_eq_tol(facts[TP_FACT_MEM_MINFLT].value, 300, 1e-9);
	ck_assert_double_eq(facts[TP_FACT_STEP_HOST].low, 0.1);
	ck_assert_double_eq(facts[TP_FACT_STEP_HOST].high, 0.3);
	ck_assert_double_eq(facts[TP_FACT_STEP_HOST].coverage, 0.5);
	ck_assert_ptr_null(rule.cases[0].techniques);
}
END_TEST

START_TEST(expectations_are_three_and_may_be_more)
{
	struct tp_error err = {0};
	ck_assert_msg(
		!read_cases("{\"cases\": [\n"
			    "{\"facts\": {}, \"fires\": true, \"actions\": [], \"gain\": 1.5,\n"
			    " \"level\": \"medium\"},\n"
			    "{\"facts\": {}, \"fires\": false}, {\"facts\": {}, \"fires\": null}]}",
			    &err),
		"%s", err.text);
	ck_assert_uint_eq(rule.n_cases, 3);
	ck_assert_int_eq(rule.cases[0].expected, TP_EXPECT_FIRES);
	ck_assert_int_eq(rule.cases[1].expected, TP_EXPECT_QUIET);
	ck_assert_int_eq(rule.cases[2].expected, TP_EXPECT_NOT_JUDGED);
	ck_assert_ptr_nonnull(rule.cases[0].techniques);
	ck_assert_uint_eq(rule.cases[0].n_techniques, 0);
	ck_assert_int_eq(rule.cases[0].level, TP_LEVEL_MEDIUM);
	ck_assert_double_eq(rule.cases[0].gain, 1.5);
	ck_assert_uint_eq(rule.cases[2].line, 4);
}
END_TEST

START_TEST(errors_in_a_case_are_reported)
{
	static const struct {
		const char *text;
		const char *said;
	} rows[] = {
		{"{\"cases\": [{\"facts\": {\"step.cuont\": 3}, \"fires\": true}]}",
		 "r.json:1: no fact 'step.cuont'; nearest: step.count"},
		{"{\"cases\": [{\"facts\": {\"step.count\": \"3ms\"}, \"fires\": true}]}",
		 "'step.count' is in 1, as 4 or a plain number: this is a time"},
		{"{\"cases\": [{\"facts\": {\"step.count\": true}, \"fires\": true}]}",
		 "this is another type"},
		{"{\"cases\": [{\"facts\": [], \"fires\": true}]}", "'facts' is an object"},
		{"{\"cases\": [{\"facts\": {}}]}", "'fires' is true, false or null"},
		{"{\"cases\": [{\"facts\": {}, \"fires\": true, \"level\": \"note\"}]}",
		 "'level' is high, medium or low"},
		{"{\"cases\": [{\"facts\": {}, \"fires\": true, \"gian\": 2}]}",
		 "a case has no key 'gian'; nearest: gain"},
		{"{\"cases\": {}}", "'cases' is a list"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_error err = {0};
		ck_assert_int_eq(read_cases(rows[i].text, &err), TP_PARSE);
		ck_assert_msg(strstr(err.text, rows[i].said) != NULL, "%s", err.text);
	}
}
END_TEST

Suite *suite_advise_rule_case(void);
Suite *suite_advise_rule_case(void)
{
	Suite *suite = suite_create("advise_rule_case");
	TCase *tcase = tcase_create("rule_case");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, facts_take_units_and_intervals);
	tcase_add_test(tcase, expectations_are_three_and_may_be_more);
	tcase_add_test(tcase, errors_in_a_case_are_reported);
	suite_add_tcase(suite, tcase);
	return suite;
}
