/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading one technique, and about the errors. */
#include "advise/rulebook/technique.h"

#include "advise/shelfbook.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(all_members_are_read)
{
	load_anew();
	const struct tp_technique *fast = tp_catalogue_technique(&book->catalogue, "fast");
	const struct tp_technique *slow = tp_catalogue_technique(&book->catalogue, "slow");
	ck_assert_str_eq(fast->title, "Read faster");
	ck_assert_int_eq(fast->group, TP_GROUP_INPUT);
	ck_assert_int_eq(fast->component, TP_COMPONENT_IMPL);
	ck_assert_int_eq(fast->verb, TP_VERB_REORDER);
	ck_assert_int_eq(fast->saving, TP_SAVING_ITERATION);
	ck_assert_int_eq(fast->kind, TP_ADVICE_FREE);
	ck_assert_int_eq(fast->effort, TP_EFFORT_FLAG);
	ck_assert_int_eq(fast->risk, TP_RISK_NONE);
	ck_assert_str_eq(fast->risk_text, "the same samples");
	ck_assert_uint_eq(fast->n_effects, 2);
	ck_assert_str_eq(fast->effects[1].hardware, "not stated");
	ck_assert_str_eq(fast->effects[1].baseline, "a tape");
	ck_assert_uint_eq(fast->effects[1].line, 8);
	ck_assert_uint_eq(fast->n_needs, 2);
	ck_assert_ptr_nonnull(fast->needs[0].when);
	ck_assert_ptr_null(fast->needs[1].when);
	ck_assert_str_eq(fast->not_when[0].when_written, "cpu.idle_cpus < 0.5");
	ck_assert_str_eq(fast->done.when_written, "loader.workers >= 1");
	ck_assert_str_eq(fast->how[TP_FRAMEWORK_C], "fast()");
	ck_assert_ptr_null(fast->how[TP_FRAMEWORK_JAX]);
	ck_assert_str_eq(fast->verify, "the wait falls");
	ck_assert_int_eq(slow->kind, TP_ADVICE_SEMANTIC);
	ck_assert_int_eq(slow->risk, TP_RISK_HIGH);
	ck_assert_str_eq(slow->mechanism, "adaptive; a phase; importance");
	ck_assert_ptr_null(slow->done.when);
	ck_assert_uint_eq(slow->n_effects + slow->n_needs + slow->n_not_when, 0);
}
END_TEST

/* Changes of the file of "fast", and the messages about them. */
static const struct {
	const char *from;
	const char *to;
	const char *said;
} mistakes[] = {
	{"\"verify\"", "\"verfy\"",
	 "fast.json:17: a technique has no key 'verfy'; nearest: verify"},
	{"\"id\": \"fast\"", "\"id\": \"fats\"",
	 "fast.json:1: id is 'fats' but its file is 'fast'"},
	{"\"input\"", "\"inputs\"",
	 "fast.json:1: 'group' is input, kernels, memory, communication, iterations, "
	 "off-step or cpu"},
	{"\"impl\"", "\"Impl\"",
	 "'component' is F.param, F.arch, D.train, D.derived, O.obj, O.alg or impl"},
	{"\"Reorder\"", "\"Rework\"", "'action' is Remove, Restrict, Reorder, Replace or Retrofit"},
	{"\"iteration\"", "\"time\"",
	 "'reduces' is iteration, iterations, both, capacity or other"},
	{"\"free\"", "\"cheap\"", "fast.json:5: 'kind' is free or semantic"},
	{"\"flag\"", "\"small\"", "'effort' is flag, lines or refactor"},
	{"\"level\": \"none\"", "\"level\": \"some\"", "'level' is none, low, medium or high"},
	{"\"level\": \"none\", ", "", "'level' is missing"},
	{"static; throughout", "static, throughout", "'mechanism' is timing; duration; selection"},
	{"; uniform", "", "'mechanism' is timing; duration; selection"},
	{"; uniform", "; uniformly", "'uniformly' is none of the words"},
	{"\"hardware\": \"one A100\", ", "", "fast.json:7: 'hardware' is missing"},
	{"\"one A100\"", "\"\"", "fast.json:7: 'hardware' must be a text"},
	{"\"baseline\": \"a tape\", ", "", "fast.json:8: 'baseline' is missing"},
	{", \"source\": \"BOOK\"", "", "fast.json:8: 'source' is missing"},
	{"\"2x\"", "2", "fast.json:8: 'text' must be a text"},
	{"cpu.idle_cpus > 1", "cpu.idle_cpu > 1",
	 "fast.json:9: no fact 'cpu.idle_cpu'; nearest: cpu.idle_cpus"},
	{"cpu.idle_cpus > 1", "cpu.idle_cpus > $spare", "fast.json:9: no threshold '$spare'"},
	{"cpu.idle_cpus > 1", "cpu.idle_cpus >", "fast.json:9:"},
	{"cpu.idle_cpus > 1", "cpu.idle_cpus > 1ms", "fast.json:9:"},
	{"cpu.idle_cpus < 0.5", "cpu.idle_cpus", "fast.json:11:"},
	{"loader.workers >= 1", "loader.wokers >= 1",
	 "fast.json:12: no fact 'loader.wokers'; nearest: loader.workers"},
	{"\"pytorch\"", "\"torch\"", "fast.json:16: how has no key 'torch'; nearest: pytorch"},
	{"{\"pytorch\": \"fast=True\", \"c\": \"fast()\"}", "{}",
	 "'how' says it for one framework at least"},
	{"\"patience\"", "3", "fast.json:10: 'text' must be a text"},
	{"\"not_when\"", "\"notes\"", "a technique has no key 'notes'"},
	{"\"relieves\": [\"wait\", \"disk\"],", "", "'relieves' is missing"},
	{"\"risk\"", "\"risks\"", "a technique has no key 'risks'; nearest: risk"},
	{"Read faster", "Read faster and faster and faster and faster and faster and faster.",
	 "fast.json:1: 'title' has 67 columns, 60 are allowed"},
	{"Read faster", "Read f\xe4ster", "fast.json"},
	{"the wait falls\"}", "the wait falls\", \"verify\": \"again\"}", "verify"},
};

START_TEST(mistakes_name_file_line_and_the_nearest)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		shelf_put_changed(&shelf, "techniques/fast.json", shelf_fast, mistakes[i].from,
				  mistakes[i].to);
		ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
		ck_assert_msg(strstr(err.text, mistakes[i].said) != NULL, "'%s' instead of '%s'",
			      err.text, mistakes[i].said);
	}
}
END_TEST

START_TEST(a_text_may_have_240_columns_and_no_more)
{
	char text[TP_TECHNIQUE_TEXT + 2];
	memset(text, 'x', sizeof(text));
	text[TP_TECHNIQUE_TEXT] = '\0';
	shelf_put_changed(&shelf, "techniques/fast.json", shelf_fast, "the wait falls", text);
	load_anew();
	tp_rulebook_free(book);
	book = NULL;
	text[TP_TECHNIQUE_TEXT] = 'x';
	text[TP_TECHNIQUE_TEXT + 1] = '\0';
	shelf_put_changed(&shelf, "techniques/fast.json", shelf_fast, "the wait falls", text);
	ck_assert_int_eq(shelf_load(&shelf, &book, &err), TP_PARSE);
	ck_assert_ptr_nonnull(strstr(err.text, "'verify' has 241 columns, 240 are allowed"));
}
END_TEST

Suite *suite_advise_technique(void);
Suite *suite_advise_technique(void)
{
	Suite *suite = suite_create("advise_technique");
	TCase *tcase = tcase_create("technique");
	tcase_add_checked_fixture(tcase, setup_guide, teardown);
	tcase_add_test(tcase, all_members_are_read);
	tcase_add_test(tcase, mistakes_name_file_line_and_the_nearest);
	tcase_add_test(tcase, a_text_may_have_240_columns_and_no_more);
	suite_add_tcase(suite, tcase);
	return suite;
}
