/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of examples in patterns: a row that cannot be reached is reported. */
#include "analyze/patternfolder.h"

static void assert_check(const char *rows, const char *message)
{
	struct tp_patterns *patterns;
	struct tp_error err = {0};
	ck_assert_msg(load_rows(&patterns, rows, &err) == TP_OK, "%s", err.text);
	enum tp_status status = tp_patterns_check(patterns, &err);
	ck_assert_int_eq(status, message ? TP_PARSE : TP_OK);
	if (message) {
		const char *name = strstr(err.text, "90-test.json");
		ck_assert_msg(name && strcmp(name + sizeof("90-test.json") - 1, message) == 0, "%s",
			      err.text);
	}
	tp_patterns_free(patterns);
}

START_TEST(shipped_examples_are_caught_by_their_rows)
{
	struct tp_patterns *patterns = NULL;
	struct tp_error err = {0};
	ck_assert_int_eq(tp_patterns_load(&patterns, "rules/patterns", &err), TP_OK);
	ck_assert_msg(tp_patterns_check(patterns, &err) == TP_OK, "%s", err.text);
	tp_patterns_free(patterns);
}
END_TEST

START_TEST(an_example_that_goes_astray_is_named)
{
	assert_check("{\"id\": \"a\", \"base\": [\"gemm\"], \"class\": \"compute\", \"family\": "
		     "\"x\"},\n"
		     "{\"id\": \"b\", \"base\": [\"my_gemm\"], \"class\": \"compute\",\n"
		     "\"family\": \"x\", \"examples\": [\"my_gemm_1\"]}",
		     ":3: row 'a' of line 2 catches the example 'my_gemm_1'");
	assert_check(
		"{\"id\": \"a\", \"base\": [\"gemm\"], \"class\": \"compute\", \"family\": \"x\",\n"
		"\"examples\": [\"gem\"]}",
		":2: no row catches the example 'gem'");
	assert_check("{\"span\": [\"step {n}\"], \"sense\": \"none\", \"kind\": [\"python\"]},\n"
		     "{\"span\": [\"step*\"], \"sense\": \"step\", \"examples\": [\"step 4\"]}",
		     ":3: the example 'step 4' means none as python");
	assert_check("{\"span\": [\"step*\"], \"sense\": \"step\", \"examples\": [\"step 4\"]}",
		     NULL);
}
END_TEST

Suite *suite_analyze_pattern_check(void);
Suite *suite_analyze_pattern_check(void)
{
	Suite *suite = suite_create("analyze/patterncheck");
	TCase *tc = tcase_create("patterncheck");
	tcase_add_test(tc, shipped_examples_are_caught_by_their_rows);
	tcase_add_test(tc, an_example_that_goes_astray_is_named);
	suite_add_tcase(suite, tc);
	return suite;
}
