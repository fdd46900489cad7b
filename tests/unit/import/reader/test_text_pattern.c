/* SPDX-License-Identifier: Apache-2.0 */
/* Tests patterns of names. */
#include "import/reader/text_pattern.h"

#include <check.h>
#include <string.h>

static const struct {
	const char *pattern;
	const char *text;
	bool fits;
	int64_t numbers[TP_PATTERN_NUMBERS];
} cases[] = {
	{"a", "a", true, {-1, -1}},
	{"a", "ab", false, {-1, -1}},
	{"", "", true, {-1, -1}},
	{"", "a", false, {-1, -1}},
	{"*", "", true, {-1, -1}},
	{"*", "any", true, {-1, -1}},
	{"ab*", "ab", true, {-1, -1}},
	{"ab*", "a", false, {-1, -1}},
	{"*ab", "xabab", true, {-1, -1}},
	{"*ab", "xaba", false, {-1, -1}},
	{"*ab*", "xxabyy", true, {-1, -1}},
	{"a*b*c", "aXXbYbc", true, {-1, -1}},
	{"a*b*c", "aXXcYb", false, {-1, -1}},
	{"Stream %", "Stream 7", true, {7, -1}},
	{"Stream %", "Stream ", false, {-1, -1}},
	{"Stream %", "Stream 7x", false, {7, -1}},
	{"/device:GPU:%/stream:% Compute", "/device:GPU:1/stream:13 Compute", true, {1, 13}},
	{"/device:GPU:%/stream:% Compute", "/device:GPU:1/stream:all Compute", false, {1, -1}},
	{"*GPU:%", "GPU:x GPU:12", true, {12, -1}},
	{"%", "99999999999999999999", true, {-1, -1}},
};

START_TEST(a_pattern_fits_all_of_a_text)
{
	int64_t numbers[TP_PATTERN_NUMBERS] = {-1, -1};
	const char *text = cases[_i].text;
	ck_assert_int_eq(tp_text_pattern_match(cases[_i].pattern, text, strlen(text), numbers),
			 cases[_i].fits);
	if (cases[_i].fits)
		ck_assert_mem_eq(numbers, cases[_i].numbers, sizeof(numbers));
	ck_assert_int_eq(tp_text_pattern_match(cases[_i].pattern, text, strlen(text), NULL),
			 cases[_i].fits);
}
END_TEST

Suite *suite_import_text_pattern(void);

Suite *suite_import_text_pattern(void)
{
	Suite *suite = suite_create("import/text_pattern");
	TCase *tc = tcase_create("text_pattern");
	tcase_add_loop_test(tc, a_pattern_fits_all_of_a_text, 0,
			    (int)(sizeof(cases) / sizeof(cases[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
