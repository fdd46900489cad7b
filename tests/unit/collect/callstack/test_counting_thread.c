/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the choice of a thread whose counters are read. */
#include "collect/callstack/counting_thread.h"

#include <check.h>

enum { FIRST = 10, SECOND = 11, THIRD = 12 };

/* Samples as letters: F of the first thread, s and t of two others. */
static void add(struct tp_counting_thread *thread, const char *samples, int times)
{
	for (int i = 0; i < times; i++)
		for (const char *c = samples; *c; c++)
			tp_counting_thread_add(thread,
					       *c == 'F'   ? FIRST
					       : *c == 's' ? SECOND
							   : THIRD,
					       *c == 'F');
}

static const struct {
	const char *what;
	const char *before;
	int n_before;
	const char *then;
	int n_then;
	bool has_second;
	bool has_third;
} cases[] = {
	{"nothing ran", "", 0, "", 0, false, false},
	{"only the first runs", "F", 200, "", 0, false, false},
	{"the first imports, then waits", "F", 200, "s", 8, true, false},
	{"a few samples say little", "F", 200, "s", 7, false, false},
	{"the first polls now and then", "F", 200, "ssssssssssssF", 40, true, false},
	{"the first works, another loads", "Fs", 200, "FFs", 100, false, false},
	{"the first works again", "s", 200, "Fs", 100, false, false},
	{"one of several works most", "F", 50, "sst", 100, true, false},
	{"the chosen one shares its time with another", "s", 200, "tts", 100, true, false},
	{"two work in turns", "F", 50, "st", 100, true, false},
	{"two work in turns, each for longer", "F", 50, "sstt", 100, true, false},
	{"the chosen one has one sample in 16", "s", 200, "ttttttttttttttts", 100, true, false},
	{"the chosen one has one sample in 17", "s", 200, "tttttttttttttttts", 100, false, true},
	{"a second one follows", "s", 200, "t", 100, false, true},
};

START_TEST(a_thread_is_read_where_it_works_and_the_first_one_does_not)
{
	struct tp_counting_thread thread = {0};
	add(&thread, cases[_i].before, cases[_i].n_before);
	add(&thread, cases[_i].then, cases[_i].n_then);
	ck_assert_msg(tp_counting_thread_is(&thread, SECOND) == cases[_i].has_second &&
			      tp_counting_thread_is(&thread, THIRD) == cases[_i].has_third,
		      "%s", cases[_i].what);
}
END_TEST

Suite *suite_collect_counting_thread(void);
Suite *suite_collect_counting_thread(void)
{
	Suite *suite = suite_create("collect/counting_thread");
	TCase *tc = tcase_create("counting_thread");
	tcase_add_loop_test(tc, a_thread_is_read_where_it_works_and_the_first_one_does_not, 0,
			    (int)(sizeof(cases) / sizeof(*cases)));
	suite_add_tcase(suite, tc);
	return suite;
}
