/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of tokens. */
#include "advise/condition/token.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(numbers_are_read_as_strtod_reads_them)
{
	static const char *const texts[] = {"0",   "1",       "0.05",      "0.1",        "3.14159",
					    "1.2", "0.00001", "123456789", "999999.999", "0.7"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		double value;
		struct tp_dimension dimension;
		ck_assert(tp_token_parse_number(texts[i], &value, &dimension));
		ck_assert_double_eq(value, strtod(texts[i], NULL));
	}
}
END_TEST

START_TEST(units_are_part_of_a_number)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {{"5%", 0.05},    {"7%", 0.07},  {"2ms", 2e6},           {"1GiB", 1073741824},
		    {"1.5s", 1.5e9}, {"10us", 1e4}, {"1MiB/s", 1048576e-9}, {"25000/s", 25e-6},
		    {"64B", 64},     {"2h", 7200e9}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double value;
		struct tp_dimension dimension;
		ck_assert_msg(tp_token_parse_number(rows[i].text, &value, &dimension), "%s",
			      rows[i].text);
		ck_assert_double_eq_tol(value, rows[i].value, 1e-12 * rows[i].value);
	}
}
END_TEST

START_TEST(malformed_numbers_are_refused)
{
	static const char *const texts[] = {"",
					    "x",
					    "5 %",
					    "5%%",
					    "1e3",
					    "-1",
					    "1.2.3",
					    "5ms ",
					    "5%/s",
					    "5zz",
					    ".5",
					    "1_000",
					    "1234567890123456789",
					    "nan",
					    "inf"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		double value;
		struct tp_dimension dimension;
		ck_assert_msg(!tp_token_parse_number(texts[i], &value, &dimension), "'%s'",
			      texts[i]);
	}
}
END_TEST

START_TEST(a_condition_is_cut_into_its_words)
{
	static const struct {
		enum tp_token_kind kind;
		const char *text;
	} expected[] = {{TP_TOKEN_NAME, "step.count"}, {TP_TOKEN_SIGN, ">="},
			{TP_TOKEN_NUMBER, ""},         {TP_TOKEN_NAME, "and"},
			{TP_TOKEN_SIGN, "("},          {TP_TOKEN_THRESHOLD, "part.high"},
			{TP_TOKEN_SIGN, "<"},          {TP_TOKEN_NAME, "x"},
			{TP_TOKEN_SIGN, "/"},          {TP_TOKEN_NAME, "sum"},
			{TP_TOKEN_SIGN, ")"},          {TP_TOKEN_END, ""}};
	const char *text = "step.count>=10 and ($part.high < x/sum)";
	size_t at = 0;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct tp_token token;
		tp_token_next(text, &at, &token);
		ck_assert_int_eq(token.kind, expected[i].kind);
		if (token.kind != TP_TOKEN_NUMBER)
			ck_assert_str_eq(token.text, expected[i].text);
	}
}
END_TEST

Suite *suite_advise_token(void);
Suite *suite_advise_token(void)
{
	Suite *suite = suite_create("advise_token");
	TCase *tcase = tcase_create("token");
	tcase_add_test(tcase, numbers_are_read_as_strtod_reads_them);
	tcase_add_test(tcase, units_are_part_of_a_number);
	tcase_add_test(tcase, malformed_numbers_are_refused);
	tcase_add_test(tcase, a_condition_is_cut_into_its_words);
	suite_add_tcase(suite, tcase);
	return suite;
}
