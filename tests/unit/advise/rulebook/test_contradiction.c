/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of conditions that no run can meet, and about advice that contradicts the guide. */
#include "advise/rulebook/contradiction.h"
#include "advise/shelfbook.h"

#include <check.h>
#include <string.h>

/* Checks the report about rule "test/a"; an empty text expects no report. */
static void check_reports(const char *text)
{
	struct tp_buf problems = {0};
	load_anew();
	size_t n = tp_rule_check_conflicts(book, tp_rulebook_find(book, "test/a"), &problems);
	const char *said = tp_buf_text(&problems);
	ck_assert_msg(*text ? n == 1 && strstr(said, text) : n == 0 && !*said,
		      "'%s' instead of '%s'", said, text);
	tp_buf_release(&problems);
}

START_TEST(a_rule_that_can_never_fire_is_reported)
{
	shelf_put_rule(&shelf, "a", "step.count > 1 and step.count < 9", "");
	check_reports("");
	shelf_put_rule(&shelf, "a", "step.count > 9 and step.count < 1", "");
	check_reports(
		"a.json: it can never fire, because of 'step.count > 9 and step.count < 1'\n");
	shelf_put_rule(&shelf, "a", "step.count > 9",
		       ", \"unless\": [{\"when\": \"step.count > 5\", \"because\": \"b\"}]");
	check_reports("it can never fire, because of 'step.count > 5'\n");
	shelf_put_rule(&shelf, "a", "step.count > 5",
		       ", \"unless\": [{\"when\": \"step.count > 9\", \"because\": \"b\"}]");
	check_reports("");
}
END_TEST

START_TEST(parents_conditions_count)
{
	shelf_put_rule(&shelf, "p", "step.count > 9", "");
	shelf_put_rule(&shelf, "q", "true", ", \"parent\": \"test/p\"");
	shelf_put_rule(&shelf, "a", "step.count < 5", ", \"parent\": \"test/q\"");
	check_reports("it can never fire, because of 'step.count < 5'\n");
	shelf_put_rule(&shelf, "a", "step.count > 5", ", \"parent\": \"test/q\"");
	check_reports("");
}
END_TEST

START_TEST(an_action_that_never_applies_is_reported)
{
	shelf_put_advice(&shelf, "a", "step.count > 9",
			 "\"id\": \"x\", \"when\": \"step.count < 5\"", "");
	check_reports("a.json:4: 'x' is never advised by this rule: step.count < 5\n");
	shelf_put_advice(&shelf, "a", "step.count > 5",
			 "\"id\": \"x\", \"when\": \"step.count < 9\"", "");
	check_reports("");
}
END_TEST

/* "fast" needs idle CPUs, is not useful on busy ones, and is done when there is a worker. */
START_TEST(advice_against_the_guide_is_reported)
{
	static const struct {
		const char *when;
		const char *said;
	} rows[] = {
		{"step.count > 1", ""},
		{"cpu.idle_cpus > 2", ""},
		{"cpu.idle_cpus < 1", "'fast' is advised where what it needs is never: idle CPUs"},
		{"loader.workers >= 2", "'fast' is advised where it is done: loader.workers >= 1"},
		{"loader.workers < 1", ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		shelf_put_advice(&shelf, "a", rows[i].when, "\"technique\": \"fast\"", "");
		check_reports(rows[i].said);
	}
	shelf_put_changed(&shelf, "techniques/fast.json", shelf_fast, "cpu.idle_cpus > 1",
			  "step.count > 1");
	shelf_put_advice(&shelf, "a", "cpu.idle_cpus < 0.25", "\"technique\": \"fast\"", "");
	check_reports("'fast' is advised where the guide says not to: all CPUs are busy");
	shelf_put_advice(&shelf, "a", "cpu.idle_cpus < 0.25", "\"id\": \"fast\"", "");
	check_reports("");
}
END_TEST

START_TEST(the_condition_of_an_action_may_mend_it)
{
	shelf_put_advice(&shelf, "a", "step.count > 1",
			 "\"technique\": \"fast\", \"when\": \"cpu.idle_cpus < 1\"", "");
	check_reports("what it needs is never");
	shelf_put_advice(&shelf, "a", "step.count > 1",
			 "\"technique\": \"fast\", \"when\": \"cpu.idle_cpus > 2\"", "");
	check_reports("");
}
END_TEST

Suite *suite_advise_contradiction(void);
Suite *suite_advise_contradiction(void)
{
	Suite *suite = suite_create("advise_contradiction");
	TCase *tcase = tcase_create("contradiction");
	tcase_add_checked_fixture(tcase, setup_guide, teardown);
	tcase_add_test(tcase, a_rule_that_can_never_fire_is_reported);
	tcase_add_test(tcase, parents_conditions_count);
	tcase_add_test(tcase, an_action_that_never_applies_is_reported);
	tcase_add_test(tcase, advice_against_the_guide_is_reported);
	tcase_add_test(tcase, the_condition_of_an_action_may_mend_it);
	suite_add_tcase(suite, tcase);
	return suite;
}
