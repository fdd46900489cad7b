/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which idioms a stack shows. */
#include "analyze/classify/pattern_tables.h"
#include "analyze/classify/stack_class.h"
#include "analyze/classify/stack_idiom.h"

#include "analyze/idiomfolder.h"
#include "analyze/sim.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the id of the idiom that a stack of a simulated thread shows, or "". */
static const char *idiom_of(struct tp_patterns *patterns, const char *path)
{
	static char id[80];
	struct sim sim;
	struct tp_arena arena = {0};
	sim_init(&sim, 100, 50, 1);
	uint32_t stack = sim_new_stack(&sim, path);
	tp_trace_build(&sim.trace, &sim.builder, &sim.run);
	struct tp_analysis analysis = {.trace = &sim.trace, .patterns = patterns, .arena = &arena};
	(void)tp_stack_class_build(&sim.trace, patterns, &arena, &analysis.frame_flags);
	const struct tp_stack_reading *readings = tp_stack_idiom_build(&analysis);
	uint16_t idiom = readings[stack].idiom;
	snprintf(id, sizeof(id), "%s",
		 idiom == TP_NO_IDIOM ? "" : patterns->idioms.idioms[idiom].id);
	tp_trace_release(&sim.trace);
	tp_trace_builder_release(&sim.builder);
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
	/* Order matters: that function calls the library, not the other way round. */
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
	ck_assert_str_eq(idiom_of(patterns,
				  "a.py>main:1 /home/me/pandas/core/frame.py>DataFrame.iterrows:5"),
			 "");
	tp_patterns_free(patterns);
}
END_TEST

START_TEST(functions_of_stripped_libraries_have_an_empty_name)
{
	struct tp_patterns *patterns = load_shipped();
	struct tp_error err;
	ck_assert_msg(!tp_patterns_load_idioms(patterns, "rules/idioms", &err), "%s", err.text);
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 python3.11!_PyObject_GC_New:1 "
					    "python3.11!:1 python3.11!:1"),
			 "idiom/gc-passes");
	ck_assert_str_eq(idiom_of(patterns, "a.py>main:1 python3.11!_PyObject_GC_New:1 "
					    "python3.11!:1 libc.so.6!malloc:1"),
			 "");
	tp_patterns_free(patterns);
}
END_TEST

#define LOKY                                                                                       \
	"<string>><module>:1 /v/lib/python3.11/site-packages/joblib/externals/loky/"               \
	"process_executor.py>_process_worker:400 "

/* Joblib's workers collect garbage themselves, once per second; all that they run is below the same
 * function. */
START_TEST(only_the_innermost_python_function_is_the_caller)
{
	struct tp_patterns *patterns = load_shipped();
	struct tp_error err;
	ck_assert_msg(!tp_patterns_load_idioms(patterns, "rules/idioms", &err), "%s", err.text);
	ck_assert_str_eq(idiom_of(patterns, LOKY "python3.11!gc_collect_main:1"), "");
	ck_assert_str_eq(idiom_of(patterns, LOKY "search.py>fit:9 python3.11!gc_collect_main:1"),
			 "idiom/gc-passes");
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
	Suite *suite = suite_create("analyze_stack_idiom");
	TCase *tc = tcase_create("stack_idiom");
	tcase_add_test(tc, the_way_that_says_most_wins);
	tcase_add_test(tc, code_of_the_user_s_own_is_no_library_whatever_its_name);
	tcase_add_test(tc, functions_of_stripped_libraries_have_an_empty_name);
	tcase_add_test(tc, only_the_innermost_python_function_is_the_caller);
	tcase_add_test(tc, a_later_folder_replaces_an_idiom);
	suite_add_tcase(suite, tc);
	return suite;
}
