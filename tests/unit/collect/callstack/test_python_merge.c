/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of merging Python frames into machine stacks. */
#include "collect/callstack/python_merge.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* A stack written as letters, innermost first. Native: 'E' is an evaluation frame, any other letter
 * a C function. Python: a capital was called from C, a small letter by the Python frame that
 * follows it. */
static const char *merged(const char *native, bool is_cut, const char *python, size_t max,
			  bool *fits)
{
	static char text[64];
	struct tp_python_place places[16];
	struct tp_python_merge_slot slots[32];
	bool is_evaluation[16];
	size_t n_native = strlen(native);
	size_t n_places = strlen(python);
	for (size_t i = 0; i < n_native; i++)
		is_evaluation[i] = native[i] == 'E';
	for (size_t i = 0; i < n_places; i++)
		places[i] =
			(struct tp_python_place){.is_entry = python[i] >= 'A' && python[i] <= 'Z'};
	size_t n = tp_python_merge(slots, max, is_evaluation, n_native, is_cut, places, n_places,
				   fits);
	ck_assert_uint_le(n, max);
	for (size_t i = 0; i < n; i++)
		text[i] = slots[i].is_python ? python[slots[i].at] : native[slots[i].at];
	text[n] = '\0';
	return text;
}

static const struct {
	const char *what;
	const char *native;
	bool is_cut;
	const char *python;
	const char *merged;
	bool fits;
} cases[] = {
	{"one call", "xEm", false, "A", "xAm", true},
	{"calls within Python", "xEm", false, "abC", "xabCm", true},
	{"C between", "xEyEm", false, "aBcD", "xaBycDm", true},
	{"C on both ends of each", "EpEqEm", false, "ABC", "ApBqCm", true},
	{"no Python", "xy", false, "", "xy", true},
	{"Python went deeper: what is common", "xEm", false, "aBcD", "xcDm", false},
	{"Python came back: what is common", "xEyEm", false, "cD", "xEycDm", false},
	{"the native half lacks its root", "xEy", true, "aBcD", "xaBycD", true},
	{"and has no evaluation frame at all", "xy", true, "aBC", "xyaBC", true},
	{"it is cut and yet deeper", "xEyEz", true, "aB", "xEyaBz", false},
	{"no native half", "", true, "aB", "aB", true},
	{"the outermost is always a call", "xEm", false, "ab", "xabm", true},
};

START_TEST(frames_come_where_they_were_called)
{
	bool fits;
	ck_assert_str_eq(merged(cases[_i].native, cases[_i].is_cut, cases[_i].python, 32, &fits),
			 cases[_i].merged);
	ck_assert_msg(fits == cases[_i].fits, "%s", cases[_i].what);
}
END_TEST

START_TEST(the_outer_end_is_left_out_where_there_is_no_room)
{
	bool fits;
	ck_assert_str_eq(merged("xEyEm", false, "aBcD", 3, &fits), "xaB");
	ck_assert_str_eq(merged("xEyEm", false, "aBcD", 0, &fits), "");
}
END_TEST

START_TEST(evaluation_frames_are_known_by_name)
{
	ck_assert(tp_python_merge_is_evaluation("_PyEval_EvalFrameDefault"));
	ck_assert(tp_python_merge_is_evaluation("_PyEval_EvalFrameDefault.cold"));
	ck_assert(tp_python_merge_is_evaluation("_TAIL_CALL_CALL"));
	ck_assert(!tp_python_merge_is_evaluation("_PyEval_Vector"));
	ck_assert(!tp_python_merge_is_evaluation("PyEval_EvalCode"));
	ck_assert(!tp_python_merge_is_evaluation(""));
}
END_TEST

Suite *suite_collect_python_merge(void);
Suite *suite_collect_python_merge(void)
{
	Suite *suite = suite_create("collect/pymerge");
	TCase *tc = tcase_create("merge");
	tcase_add_loop_test(tc, frames_come_where_they_were_called, 0,
			    (int)(sizeof(cases) / sizeof(*cases)));
	tcase_add_test(tc, the_outer_end_is_left_out_where_there_is_no_room);
	tcase_add_test(tc, evaluation_frames_are_known_by_name);
	suite_add_tcase(suite, tc);
	return suite;
}
