/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of text: distances, numbers with units, UTF-8, patterns. */
#include "trainprof/base/text.h"

#include "trainprof/base/memory.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *a;
	const char *b;
	unsigned distance;
} distances[] = {
	{"", "", 0},
	{"a", "", 1},
	{"", "abc", 3},
	{"report", "report", 0},
	{"reprot", "report", 1},
	{"duraton", "duration", 1},
	{"kitten", "sitting", 3},
	{"ca", "abc", 3}, /* restricted distance: a swapped pair is not edited again */
	{"abcdef", "badcfe", 3},
};

START_TEST(distance_counts_inserts_deletes_replaces_and_swaps)
{
	ck_assert_uint_eq(tp_text_distance(distances[_i].a, distances[_i].b),
			  distances[_i].distance);
	ck_assert_uint_eq(tp_text_distance(distances[_i].b, distances[_i].a),
			  distances[_i].distance);
}
END_TEST

START_TEST(distance_of_very_long_names_stays_inside_its_table)
{
	char a[200];
	char b[200];
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	a[199] = b[199] = '\0';
	ck_assert_uint_eq(tp_text_distance(a, b), 63);
	ck_assert_uint_eq(tp_text_distance(a, a), 0);
}
END_TEST

START_TEST(the_nearest_name_is_near_and_nothing_else_is)
{
	static const char *const names[] = {"run", "report", NULL, "explain", "rules", "doctor"};
	static const struct {
		const char *word;
		const char *nearest;
	} words[] = {
		{"reprot", "report"}, {"rnu", "run"},    {"explian", "explain"},
		{"doctr", "doctor"},  {"x", NULL},       {"", NULL},
		{"something", NULL},  {"rule", "rules"}, {"ru", "run"},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(words); i++) {
		const char *found = tp_text_closest(words[i].word, names, TP_ARRAY_LEN(names));
		ck_assert_msg(words[i].nearest ? found && !strcmp(found, words[i].nearest) : !found,
			      "'%s' gives '%s'", words[i].word, found ? found : "(none)");
	}
}
END_TEST

static const struct {
	const char *text;
	bool is_good;
	uint64_t ns;
} durations[] = {
	{"1ns", true, 1},
	{"2us", true, 2000},
	{"90ms", true, 90000000},
	{"0.29ms", true, 290000},
	{"2s", true, UINT64_C(2000000000)},
	{"0s", true, 0},
	{".5s", true, 500000000},
	{"2m", true, UINT64_C(120000000000)},
	{"1.5h", true, UINT64_C(5400000000000)},
	{"1e3s", true, UINT64_C(1000000000000)},
	{"90", false, 0},
	{"s", false, 0},
	{"", false, 0},
	{"-1s", false, 0},
	{"+1s", false, 0},
	{" 1s", false, 0},
	{"1 s", false, 0},
	{"1s ", false, 0},
	{"1S", false, 0},
	{"1h30m", false, 0},
	{"0x10s", false, 0},
	{"1e400s", false, 0},
	{"1e12h", false, 0},
	{"infs", false, 0},
	{"nans", false, 0},
	{".s", false, 0},
	{"1..2s", false, 0},
};

START_TEST(durations_are_one_number_and_one_unit)
{
	uint64_t ns = 77;
	ck_assert_msg(tp_text_parse_duration(durations[_i].text, &ns) == durations[_i].is_good,
		      "'%s'", durations[_i].text);
	ck_assert_uint_eq(ns, durations[_i].is_good ? durations[_i].ns : 77);
}
END_TEST

START_TEST(sizes_shares_rates_and_counts_are_read_exactly)
{
	uint64_t bytes = 0;
	ck_assert(tp_text_parse_size("2GiB", &bytes) && bytes == UINT64_C(2147483648));
	ck_assert(tp_text_parse_size("10kB", &bytes) && bytes == 10000);
	ck_assert(tp_text_parse_size("64B", &bytes) && bytes == 64);
	ck_assert(tp_text_parse_size("0.5KiB", &bytes) && bytes == 512);
	ck_assert(!tp_text_parse_size("10", &bytes));
	ck_assert(!tp_text_parse_size("10KB", &bytes));
	ck_assert(!tp_text_parse_size("9999999TiB", &bytes));
	double ratio = 0;
	ck_assert(tp_text_parse_percent("1%", &ratio));
	ck_assert_double_eq_tol(ratio, 0.01, 1e-15);
	ck_assert(tp_text_parse_percent("0.5%", &ratio));
	ck_assert_double_eq_tol(ratio, 0.005, 1e-15);
	ck_assert(!tp_text_parse_percent("1", &ratio));
	double hz = 0;
	ck_assert(tp_text_parse_rate("99", &hz) && hz > 98.9 && hz < 99.1);
	ck_assert(tp_text_parse_rate("1kHz", &hz) && hz > 999 && hz < 1001);
	ck_assert(!tp_text_parse_rate("99 Hz", &hz));
	uint64_t n = 0;
	ck_assert(tp_text_parse_count("18446744073709551615", &n) && n == UINT64_MAX);
	static const char *const bad[] = {
		"18446744073709551616", "-1", "+1", "", " 1", "1 ", "1.0", "0x1", "one"};
	for (size_t i = 0; i < TP_ARRAY_LEN(bad); i++)
		ck_assert_msg(!tp_text_parse_count(bad[i], &n), "'%s'", bad[i]);
	ck_assert_uint_eq(n, UINT64_MAX);
	pid_t pid = 0;
	ck_assert(tp_text_parse_pid("2147483647", &pid) && pid == 2147483647);
	ck_assert(!tp_text_parse_pid("2147483648", &pid) && !tp_text_parse_pid("0", &pid));
	ck_assert(!tp_text_parse_pid("-1", &pid) && !tp_text_parse_pid(" 1", &pid));
	ck_assert_int_eq(pid, 2147483647);
}
END_TEST

static const struct {
	const char *text;
	const char *repaired;
} utf8[] = {
	{"", ""},
	{"plain", "plain"},
	{"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"},
	{"\xff", "\xef\xbf\xbd"},
	{"a\x80z", "a\xef\xbf\xbdz"},
	{"\xc3", "\xef\xbf\xbd"},                                 /* truncated */
	{"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* truncated */
	{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong '/' */
	{"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
	{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
	{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},                 /* the last code point */
	{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
};

START_TEST(bytes_that_are_not_utf8_are_replaced_one_by_one)
{
	struct tp_buf out = {0};
	tp_text_add_utf8(&out, utf8[_i].text);
	ck_assert_str_eq(tp_buf_text(&out), utf8[_i].repaired);
	tp_buf_clear(&out);
	tp_text_add_utf8(&out, utf8[_i].repaired);
	ck_assert_str_eq(tp_buf_text(&out), utf8[_i].repaired);
	tp_buf_release(&out);
}
END_TEST

START_TEST(width_counts_characters)
{
	ck_assert_uint_eq(tp_text_width(""), 0);
	ck_assert_uint_eq(tp_text_width("abc"), 3);
	ck_assert_uint_eq(tp_text_width("\xc3\xbc\xe2\x96\x88\xe2\x96\x8f"), 3);
}
END_TEST

static const struct {
	const char *pattern;
	const char *text;
	bool matches;
} globs[] = {
	{"", "", true},
	{"*", "", true},
	{"*", "anything", true},
	{"?", "", false},
	{"?", "a", true},
	{"a*c", "abc", true},
	{"a*c", "ac", true},
	{"a*c", "acb", false},
	{"*.so*", "libm.so.6", true},
	{"*gemm*", "sgemm_", true},
	{"a**b", "ab", true},
	{"*a*b*c", "xaybzc", true},
	{"*a*b*c", "xaybz", false},
	{"abc", "abcd", false},
	{"abc*", "abc", true},
	{"[a]", "a", false},
	{"[a]", "[a]", true},
	{"ab?", "ab", false},
	{"*?", "", false},
	{"*ab", "aab", true},
	{"*abab", "ababab", true},
	{"*\\*\\* 3*", "y = x ** 3", true},
	{"*\\*\\* 3*", "f(a, 3)", false},
	{"\\?", "?", true},
	{"\\?", "a", false},
	{"\\a", "\\a", true},
};

START_TEST(globs_match_as_documented)
{
	ck_assert_msg(tp_text_glob(globs[_i].pattern, globs[_i].text) == globs[_i].matches,
		      "'%s' and '%s'", globs[_i].pattern, globs[_i].text);
}
END_TEST

START_TEST(a_glob_of_many_stars_does_not_take_for_ever)
{
	char text[5001];
	memset(text, 'a', 5000);
	text[5000] = '\0';
	ck_assert(!tp_text_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}
END_TEST

START_TEST(a_prefix_is_the_beginning)
{
	ck_assert(tp_text_starts_with("prefix", "pre"));
	ck_assert(tp_text_starts_with("prefix", ""));
	ck_assert(!tp_text_starts_with("pre", "prefix"));
	ck_assert(!tp_text_starts_with("", "p"));
}
END_TEST

START_TEST(a_base_name_follows_the_last_slash)
{
	ck_assert_str_eq(tp_text_base_name("/home/me/train.py"), "train.py");
	ck_assert_str_eq(tp_text_base_name("train.py"), "train.py");
	ck_assert_str_eq(tp_text_base_name("data/"), "data/");
	ck_assert_str_eq(tp_text_base_name(""), "");
}
END_TEST

START_TEST(what_has_no_name_is_left_out_of_the_name_of_a_function)
{
	ck_assert_uint_eq(tp_text_function_length("prepare.<locals>.<genexpr>"), 7);
	ck_assert_uint_eq(tp_text_function_length("f.<locals>.<lambda>.<locals>.<listcomp>"), 1);
	ck_assert_uint_eq(tp_text_function_length("f.<locals>.inner"), 16);
	ck_assert_uint_eq(tp_text_function_length("f.<locals>.<lambda>.<locals>.g"), 30);
	ck_assert_uint_eq(tp_text_function_length(
				  "f.<locals>.<lambda>.<locals>.g.<locals>.<genexpr>"),
			  30);
	ck_assert_uint_eq(tp_text_function_length("<module>"), 8);
	ck_assert_uint_eq(tp_text_function_length(""), 0);
}
END_TEST

/* NULL = unchanged. */
static const struct {
	const char *word;
	const char *quoted;
} words[] = {
	{"prof", NULL},
	{"a/b-c_d.e:f,g=h+i%j@k", NULL},
	{"d\xc3\xa9j\xc3\xa0", NULL},
	{"", "''"},
	{"a b", "'a b'"},
	{"it's", "'it'\\''s'"},
	{"$HOME", "'$HOME'"},
	{"`id`", "'`id`'"},
	{"a;b&c|d", "'a;b&c|d'"},
	{"*?[a]~{b}", "'*?[a]~{b}'"},
	{"a\nb\tc", "'a\nb\tc'"},
	{"back\\slash\"", "'back\\slash\"'"},
	{"-x", "./-x"},
	{"-x y", "./'-x y'"},
	{"-", NULL},
	{"~", "'~'"},
	{"#a", "'#a'"},
	{"a!b", "'a!b'"},
};

START_TEST(a_shell_reads_a_word_back)
{
	struct tp_buf command = {0};
	char read_back[80];
	const char *expected = words[_i].quoted ? words[_i].quoted : words[_i].word;
	tp_text_add_word(&command, words[_i].word);
	ck_assert_str_eq(tp_buf_text(&command), expected);
	tp_buf_clear(&command);
	tp_buf_puts(&command, "printf %s ");
	tp_text_add_word(&command, words[_i].word);
	FILE *shell = popen(command.data, "r"); /* NOLINT(cert-env33-c): the shell is the judge */
	ck_assert_ptr_nonnull(shell);
	size_t n = fread(read_back, 1, sizeof(read_back) - 1, shell);
	ck_assert_int_eq(pclose(shell), 0);
	read_back[n] = '\0';
	const char *word = read_back;
	if (words[_i].word[0] == '-' && words[_i].word[1])
		word += strlen("./");
	ck_assert_str_eq(word, words[_i].word);
	tp_buf_release(&command);
}
END_TEST

START_TEST(a_terminal_gets_no_control_characters_and_none_that_turn_text)
{
	static const struct {
		const char *text;
		const char *safe;
	} rows[] = {
		{"plain \xc3\xa4 \xe2\x80\xa6 \xf0\x9f\x98\x80\n",
		 "plain \xc3\xa4 \xe2\x80\xa6 \xf0\x9f\x98\x80\n"},
		{"\033[2J\x7f\t\r", "?[2J???"},
		{"\xc2\x9b"
		 "1m\xc2\xa0",
		 "?1m\xc2\xa0"},
		{"\x9b"
		 "1m",
		 "\xef\xbf\xbd"
		 "1m"},
		{"a\xe2\x80\xae"
		 "b",
		 "a?b"},                                  /* U+202E, right-to-left override */
		{"\xe2\x81\xa6\xe2\x81\xa9", "??"},       /* U+2066, U+2069: isolates */
		{"\xd8\x9c\xe2\x80\x8f", "??"},           /* U+061C, U+200F: marks */
		{"\xe2\x80\xa8\xe2\x80\xa9", "??"},       /* U+2028, U+2029: separators */
		{"\xd7\x90\xd7\x91", "\xd7\x90\xd7\x91"}, /* Hebrew itself */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_buf out = {0};
		tp_text_add_safe(&out, rows[i].text);
		ck_assert_str_eq(tp_buf_text(&out), rows[i].safe);
		tp_buf_release(&out);
	}
}
END_TEST

Suite *suite_base_text(void);
Suite *suite_base_text(void)
{
	Suite *suite = suite_create("base/text");
	TCase *tc = tcase_create("text");
	tcase_add_loop_test(tc, distance_counts_inserts_deletes_replaces_and_swaps, 0,
			    TP_ARRAY_LEN(distances));
	tcase_add_test(tc, distance_of_very_long_names_stays_inside_its_table);
	tcase_add_test(tc, the_nearest_name_is_near_and_nothing_else_is);
	tcase_add_loop_test(tc, durations_are_one_number_and_one_unit, 0, TP_ARRAY_LEN(durations));
	tcase_add_test(tc, sizes_shares_rates_and_counts_are_read_exactly);
	tcase_add_loop_test(tc, bytes_that_are_not_utf8_are_replaced_one_by_one, 0,
			    TP_ARRAY_LEN(utf8));
	tcase_add_loop_test(tc, a_shell_reads_a_word_back, 0, TP_ARRAY_LEN(words));
	tcase_add_test(tc, width_counts_characters);
	tcase_add_loop_test(tc, globs_match_as_documented, 0, TP_ARRAY_LEN(globs));
	tcase_add_test(tc, a_glob_of_many_stars_does_not_take_for_ever);
	tcase_add_test(tc, a_prefix_is_the_beginning);
	tcase_add_test(tc, a_base_name_follows_the_last_slash);
	tcase_add_test(tc, what_has_no_name_is_left_out_of_the_name_of_a_function);
	tcase_add_test(tc, a_terminal_gets_no_control_characters_and_none_that_turn_text);
	suite_add_tcase(suite, tc);
	return suite;
}
