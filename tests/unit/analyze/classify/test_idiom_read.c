/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of files of idioms: what they may contain, and what is refused. */
#include "analyze/classify/pattern_tables.h"
#include "analyze/idiomfolder.h"

#include "trainprof/base/memory.h"

#define IDIOM(match)                                                                               \
	"{\"id\": \"idiom/x\", \"match\": " match ",\n"                                            \
	" \"examples\": [{\"stack\": [\"own:f\"]}]}\n"

static const struct {
	const char *text;
	const char *said;
} mistakes[] = {
	{IDIOM("[]"), "no list of stacks"},
	{IDIOM("{}"), "no list of stacks"},
	{IDIOM("[{}]"), "fits nearly every stack"},
	{IDIOM("[{\"stack\": [\"own:*\"]}]"), "fits nearly every stack"},
	{IDIOM("[{\"stack\": [\"k:*\"]}]"), "fits nearly every stack"},
	{IDIOM("[{\"code\": [\"*\"]}]"), "fits nearly every stack"},
	{IDIOM("[{\"stack\": [\"c:*:*\"]}]"), "fits any file or library"},
	{IDIOM("[{\"stack\": [\"py:json/*|*:loads\"]}]"), "fits any file or library"},
	{IDIOM("[{\"stack\": [\"js:json/*:loads\"]}]"), "no frame as"},
	{IDIOM("[{\"stack\": [\"c:libjpeg\"]}]"), "no function in"},
	{IDIOM("[{\"stack\": [7]}]"), "no frame as"},
	{IDIOM("[{\"stack\": \"c:libjpeg*:f\"}]"), "not a list"},
	{IDIOM("[{\"stacks\": [\"c:libjpeg*:f\"]}]"), "nearest: stack"},
	{IDIOM("[{\"code\": \"gc.collect\"}]"), "not a list"},
	{IDIOM("[{\"stack\": [\"c:libjpeg*:f\"], \"grows\": true}]"), "'grows' needs"},
	{IDIOM("[{\"stack\": [\"c:libjpeg*:f\"], \"polls\": true}]"), "'polls' needs"},
	{IDIOM("[{\"stack\": [\"c:libjpeg*:f\"], \"caller\": true}]"), "'caller' needs"},
	{"{\"id\": \"idiom/x\", \"match\": [{\"stack\": [\"c:libjpeg*:f\"]}]}", "no example"},
	{"{\"match\": [{\"stack\": [\"c:libjpeg*:f\"]}]}", "no text"},
	{"{\"id\": \"idiom/x\", \"match\": [{\"stack\": [\"c:libjpeg*:f\"]}], \"examples\": "
	 "[{\"stack\": [\"c:libjpeg.so:f\"], \"fits\": 1}]}",
	 "neither true nor false"},
	{"[1", "x.json"},
};

START_TEST(errors_are_refused_with_file_and_line)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(mistakes); i++) {
		struct tp_patterns *patterns = load_shipped();
		struct tp_error err = {0};
		ck_assert_int_eq(load_idiom(patterns, mistakes[i].text, &err), TP_PARSE);
		ck_assert_msg(strstr(err.text, mistakes[i].said) && strstr(err.text, "x.json"),
			      "'%s' is not in '%s'", mistakes[i].said, err.text);
		tp_patterns_free(patterns);
	}
}
END_TEST

START_TEST(an_example_that_goes_astray_is_found_by_the_check)
{
	static const char *const texts[] = {
		"{\"id\": \"idiom/x\", \"match\": [{\"stack\": [\"c:libjpeg*:decode\"]}],\n"
		" \"examples\": [{\"stack\": [\"c:libpng.so:decode\"]}]}",
		"{\"id\": \"idiom/x\", \"match\": [{\"stack\": [\"c:libjpeg*:decode\"]}],\n"
		" \"examples\": [{\"stack\": [\"c:libjpeg.so:decode\"]},\n"
		"  {\"stack\": [\"c:libjpeg.so:decode\", \"own:f\"], \"fits\": false}]}",
		"{\"id\": \"idiom/x\", \"match\": [{\"stack\": [\"c:libjpeg*:decode\"]}],\n"
		" \"examples\": [{\"stack\": [\"libjpeg.so\"]}]}",
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(texts); i++) {
		struct tp_patterns *patterns = load_shipped();
		struct tp_error err;
		ck_assert_msg(!load_idiom(patterns, texts[i], &err), "%s", err.text);
		ck_assert_int_eq(tp_patterns_check(patterns, &err), TP_PARSE);
		tp_patterns_free(patterns);
	}
}
END_TEST

START_TEST(examples_of_shipped_idioms_come_out)
{
	struct tp_patterns *patterns = load_shipped();
	struct tp_error err;
	ck_assert_msg(!tp_patterns_load_idioms(patterns, "rules/idioms", &err), "%s", err.text);
	ck_assert_msg(!tp_patterns_check(patterns, &err), "%s", err.text);
	ck_assert_uint_ge(patterns->idioms.n_idioms, 60);
	ck_assert_int_eq(tp_patterns_load_idioms(patterns, "/nonexistent", &err), TP_OK);
	tp_patterns_free(patterns);
}
END_TEST

Suite *suite_analyze_idiom_read(void);
Suite *suite_analyze_idiom_read(void)
{
	Suite *suite = suite_create("analyze_idiom_read");
	TCase *tc = tcase_create("idiom_read");
	tcase_add_test(tc, errors_are_refused_with_file_and_line);
	tcase_add_test(tc, an_example_that_goes_astray_is_found_by_the_check);
	tcase_add_test(tc, examples_of_shipped_idioms_come_out);
	suite_add_tcase(suite, tc);
	return suite;
}
