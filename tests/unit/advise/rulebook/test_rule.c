/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a rule that was read from its file. */
#include "advise/shelf.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <string.h>

static struct tp_arena arena;

static void setup(void)
{
	tp_arena_init(&arena);
}

static void teardown(void)
{
	tp_arena_release(&arena);
}

static enum tp_status read_rule(struct tp_rule *out, const char *text, struct tp_error *err)
{
	static const struct tp_thresholds none;
	struct tp_json_doc *doc = NULL;
	ck_assert(!tp_json_parse(&doc, text, strlen(text), "r.json", err));
	enum tp_status status = tp_rule_read(out, doc, "test/a", &none, &arena, err);
	tp_json_free(doc);
	return status;
}

#define HEAD                                                                                       \
	"{\"id\": \"test/a\", \"title\": \"T\", \"needs\": [\"step.count\", \"step.time_ns\"],\n"  \
	" \"when\": [\"step.count > 1\"], \"because\": \"b\""

START_TEST(a_note_needs_no_actions)
{
	struct tp_rule rule;
	struct tp_error err = {0};
	ck_assert_msg(!read_rule(&rule, HEAD ", \"note\": true}", &err), "%s", err.text);
	ck_assert(rule.is_note);
	ck_assert_int_eq(read_rule(&rule, HEAD "}", &err), TP_PARSE);
	ck_assert_str_eq(err.text, "r.json:1: 'do' is missing");
}
END_TEST

START_TEST(a_verdict_is_a_note_with_an_order)
{
	struct tp_rule rule;
	struct tp_error err = {0};
	ck_assert_msg(!read_rule(&rule,
				 HEAD ", \"verdict\": {\"id\": \"x_bound\", \"order\": 12, "
				      "\"title\": \"X\", \"sentence\": \"{step.count} steps.\"}}",
				 &err),
		      "%s", err.text);
	ck_assert(rule.is_note);
	ck_assert_uint_eq(rule.verdict.order, 12);
	ck_assert_int_eq(read_rule(&rule,
				   HEAD ", \"verdict\": {\"id\": \"x\", \"order\": -1, \"title\": "
					"\"X\", \"sentence\": \"s\"}}",
				   &err),
			 TP_PARSE);
}
END_TEST

START_TEST(a_figure_named_once_is_used_everywhere)
{
	struct tp_rule rule;
	struct tp_error err = {0};
	ck_assert_msg(!read_rule(&rule,
				 "{\"id\": \"test/a\", \"title\": \"T\", \"note\": true,\n"
				 " \"needs\": [\"step.count\"], \"let\": {\"two\": \"2\", "
				 "\"double\": \"$two * step.count\"},\n"
				 " \"when\": [\"$double > 9\"], \"because\": \"{$double|count}\"}",
				 &err),
		      "%s", err.text);
	struct tp_quantity facts[TP_N_FACTS];
	facts_init(facts);
	facts_set(facts, TP_FACT_STEP_COUNT, 5);
	ck_assert_int_eq(tp_expr_truth(rule.when[0].expr, facts).value, TP_YES);
	const struct tp_sentence_words terms = {0};
	ck_assert_str_eq(tp_sentence_fill(rule.because, facts, &terms, &arena), "10");
}
END_TEST

START_TEST(the_first_error_is_reported_and_nothing_is_loaded)
{
	struct tp_rule rule = {.title = "untouched"};
	struct tp_error err = {0};
	ck_assert_int_eq(read_rule(&rule, "{\"id\": \"test/a\",\n \"tilte\": 3,\n \"wehn\": 3}",
				   &err),
			 TP_PARSE);
	ck_assert_str_eq(err.text, "r.json:2: a rule has no key 'tilte'; nearest: title");
	ck_assert_str_eq(rule.title, "untouched");
	ck_assert_int_eq(read_rule(&rule, "[1, 2]", &err), TP_PARSE);
	ck_assert_int_eq(read_rule(&rule, "{}", &err), TP_PARSE);
}
END_TEST

START_TEST(facts_of_an_idiom_are_known_to_idioms_only)
{
	static const char idiom[] =
		"{\"id\": \"test/a\", \"title\": \"T\", \"needs\": [\"idiom.held_ratio\"],\n"
		" \"when\": [\"idiom.held_ratio > 1%\"], \"because\": \"b\", \"note\": true}";
	struct tp_rule rule;
	struct tp_error err = {0};
	ck_assert_int_eq(read_rule(&rule, idiom, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "known to rules with 'match' only"));
	ck_assert_int_eq(read_rule(&rule, HEAD ", \"note\": true, \"match\": []}", &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "needs idiom.held_ratio"));
}
END_TEST

Suite *suite_advise_rule(void);
Suite *suite_advise_rule(void)
{
	Suite *suite = suite_create("advise_rule");
	TCase *tcase = tcase_create("rule");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_note_needs_no_actions);
	tcase_add_test(tcase, a_verdict_is_a_note_with_an_order);
	tcase_add_test(tcase, a_figure_named_once_is_used_everywhere);
	tcase_add_test(tcase, the_first_error_is_reported_and_nothing_is_loaded);
	tcase_add_test(tcase, facts_of_an_idiom_are_known_to_idioms_only);
	suite_add_tcase(suite, tcase);
	return suite;
}
