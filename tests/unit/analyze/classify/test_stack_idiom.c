/* SPDX-License-Identifier: Apache-2.0 */
/* Claims about idioms: what their files may say, and which of them a stack shows. */
#include "analyze/classify/pattern_tables.h"
#include "analyze/classify/stack_class.h"
#include "analyze/classify/stack_idiom.h"

#include "analyze/analysis.h"
#include "analyze/sim.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Loads one idiom of this text beside the shipped patterns. */
static enum tp_status load_idiom(struct tp_patterns *patterns, const char *text,
				 struct tp_error *err)
{
	char folder[] = "/tmp/trainprof-idioms-XXXXXX";
	char path[64];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.json", folder);
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	enum tp_status status = tp_patterns_load_idioms(patterns, folder, err);
	unlink(path);
	rmdir(folder);
	return status;
}

static struct tp_patterns *load_shipped(void)
{
	struct tp_patterns *patterns;
	struct tp_error err;
	ck_assert_msg(!tp_patterns_load(&patterns, "rules/patterns", &err), "%s", err.text);
	return patterns;
}

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
	{"{\"id\": \"idiom/x\", \"match\": [{\"stack\": [\"c:libjpeg*:f\"]}]}", "no example"},
	{"{\"match\": [{\"stack\": [\"c:libjpeg*:f\"]}]}", "no text"},
	{"{\"id\": \"idiom/x\", \"match\": [{\"stack\": [\"c:libjpeg*:f\"]}], \"examples\": "
	 "[{\"stack\": [\"c:libjpeg.so:f\"], \"fits\": 1}]}",
	 "neither true nor false"},
	{"[1", "x.json"},
};

START_TEST(what_is_wrong_is_refused_with_file_and_line)
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

/* The id of the idiom that a stack of a simulated thread shows, or "". */
static const char *idiom_of(struct tp_patterns *patterns, const char *path)
{
	static char id[80];
	struct sim sim;
	struct tp_arena arena = {0};
	sim_init(&sim, 100, 50, 1);
	uint32_t stack = sim_new_stack(&sim, path);
	tp_trace_build(&sim.trace, &sim.builder, &sim.run);
	struct tp_analysis analysis = {
		.trace = &sim.trace, .patterns = patterns, .arena = &arena};
	(void)tp_stack_class_build(&sim.trace, patterns, &arena, &analysis.frame_flags);
	const struct tp_stack_reading *readings = tp_stack_idiom_build(&analysis);
	uint16_t idiom = readings[stack].idiom;
	snprintf(id, sizeof(id), "%s",
		 idiom == TP_NO_IDIOM ? "" : patterns->idioms.idioms[idiom].id);
	tp_trace_release(&sim.trace);
	tp_arena_release(&arena);
	return id;
}

START_TEST(the_way_that_says_most_wins)
{
	struct tp_patterns *patterns = load_shipped();
	struct tp_error err;
	ck_assert_int_eq(load_idiom(patterns,
				    "{\"id\": \"idiom/wide\", \"match\": [{\"stack\": "
				    "[\"c:libz*:*\"]}],\n\"examples\": [{\"stack\": "
				    "[\"c:libz.so:f\"]}]}",
				    &err),
			 TP_OK);
	ck_assert_int_eq(load_idiom(patterns,
				    "{\"id\": \"idiom/narrow\", \"match\": [{\"stack\": "
				    "[\"c:libz*:inflate*\", \"own:read*\"]}],\n\"examples\": "
				    "[{\"stack\": [\"c:libz.so:inflate\", \"own:read_all\"]}]}",
				    &err),
			 TP_OK);
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 libz.so.1!inflate:1"), "idiom/wide");
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 a.py>Data.read_all:2 libz.so.1!inflate:1"),
			 "idiom/narrow");
	/* Order matters: the library is called from there, not the other way round. */
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 libz.so.1!inflate:1 a.py>read_all:2"),
			 "idiom/wide");
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 libm.so.6!exp:1"), "");
	tp_patterns_free(patterns);
}
END_TEST

START_TEST(code_of_the_user_s_own_is_no_library_whatever_its_name)
{
	struct tp_patterns *patterns = load_shipped();
	struct tp_error err;
	ck_assert_msg(!tp_patterns_load_idioms(patterns, "rules/idioms", &err), "%s", err.text);
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 /usr/lib/python3/dist-packages/pandas/"
					    "core/frame.py>DataFrame.iterrows:5"),
			 "idiom/pandas-rows");
	ck_assert_str_eq(
		idiom_of(patterns,
			 "a.py>main:1 /home/me/pandas/core/frame.py>DataFrame.iterrows:5"),
		"");
	tp_patterns_free(patterns);
}
END_TEST

START_TEST(a_later_folder_replaces_an_idiom)
{
	struct tp_patterns *patterns = load_shipped();
	struct tp_error err;
	static const char *const names[] = {"first", "later"};
	for (size_t i = 0; i < 2; i++) {
		char *filled = tp_asprintf("{\"id\": \"idiom/x\", \"match\": [{\"stack\": "
					   "[\"c:%s*:f\"]}], \"examples\": [{\"stack\": "
					   "[\"c:%s.so:f\"]}]}",
					   names[i], names[i]);
		ck_assert_int_eq(load_idiom(patterns, filled, &err), TP_OK);
		free(filled);
	}
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 first.so!f:1"), "");
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 later.so!f:1"), "idiom/x");
	tp_patterns_free(patterns);
}
END_TEST

Suite *suite_analyze_stack_idiom(void);
Suite *suite_analyze_stack_idiom(void)
{
	Suite *suite = suite_create("analyze/stack_idiom");
	TCase *tc = tcase_create("stack_idiom");
	tcase_add_test(tc, what_is_wrong_is_refused_with_file_and_line);
	tcase_add_test(tc, an_example_that_goes_astray_is_found_by_the_check);
	tcase_add_test(tc, examples_of_shipped_idioms_come_out);
	tcase_add_test(tc, the_way_that_says_most_wins);
	tcase_add_test(tc, code_of_the_user_s_own_is_no_library_whatever_its_name);
	tcase_add_test(tc, a_later_folder_replaces_an_idiom);
	suite_add_tcase(suite, tc);
	return suite;
}
