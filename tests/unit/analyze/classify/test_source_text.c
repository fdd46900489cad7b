/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading lines of a program's own source. */
#include "analyze/classify/source_text.h"

#include "trainprof/base/clock.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[32];

static void setup(void)
{
	snprintf(path, sizeof(path), "/tmp/trainprof-text-XXXXXX");
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	static const char text[] = "a = 1\n\tb = [2]\n# c(\nlast";
	ck_assert_int_eq(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
}

/* Opens a trace with this path as its string 1, which starts `after_s` seconds from now. */
static void open_text(struct tp_source_text *text, struct tp_trace *trace, const char **strings,
		      const char *name, int after_s)
{
	strings[0] = "";
	strings[1] = name;
	*trace = (struct tp_trace){.strings = strings, .n_strings = 2};
	trace->run.started_wall_ns =
		tp_clock_wall_ns() + (uint64_t)(int64_t)(after_s * INT64_C(1000000000));
	*text = (struct tp_source_text){.trace = trace};
}

START_TEST(lines_are_numbered_from_one_and_lose_their_indentation)
{
	struct tp_source_text text;
	struct tp_trace trace;
	const char *strings[2];
	open_text(&text, &trace, strings, path, 5);
	ck_assert_str_eq(tp_source_text_line(&text, 1, 1), "a = 1");
	ck_assert_str_eq(tp_source_text_line(&text, 1, 2), "b = [2]");
	ck_assert_str_eq(tp_source_text_line(&text, 1, 4), "last");
	ck_assert_str_eq(tp_source_text_line(&text, 1, 0), "");
	ck_assert_str_eq(tp_source_text_line(&text, 1, 5), "");
	ck_assert(tp_source_text_holds(&text, 1, "[2]"));
	ck_assert(!tp_source_text_holds(&text, 1, "c("));
	ck_assert(!tp_source_text_holds(&text, 1, "d"));
	tp_source_text_release(&text);
}
END_TEST

START_TEST(changed_or_missing_files_have_no_text)
{
	struct tp_source_text text;
	struct tp_trace trace;
	const char *strings[2];
	open_text(&text, &trace, strings, path, -100);
	ck_assert_str_eq(tp_source_text_line(&text, 1, 1), "");
	tp_source_text_release(&text);
	static const char *const names[] = {"/nonexistent.py", "/tmp", "/dev/zero", "<string>", ""};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		open_text(&text, &trace, strings, names[i], 5);
		ck_assert_str_eq(tp_source_text_line(&text, 1, 1), "");
		ck_assert(!tp_source_text_holds(&text, 1, "a"));
		tp_source_text_release(&text);
	}
}
END_TEST

START_TEST(a_file_above_the_limit_has_no_text)
{
	struct tp_source_text text;
	struct tp_trace trace;
	const char *strings[2];
	ck_assert_int_eq(truncate(path, 3 << 20), 0);
	open_text(&text, &trace, strings, path, 5);
	ck_assert_str_eq(tp_source_text_line(&text, 1, 1), "");
	tp_source_text_release(&text);
}
END_TEST

START_TEST(a_line_is_in_a_loop_of_its_own_function)
{
	static const char text[] = "for i in x:\n    def f():\n        a()\n        for j in y:\n"
				   "            b()\n\n        c()\n    d()\ne([z for z in q])\n";
	static const bool is_in_loop[] = {false, true,  false, false, true,
					  false, false, true,  true};
	struct tp_source_text source;
	struct tp_trace trace;
	const char *strings[2];
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	open_text(&source, &trace, strings, path, 5);
	for (uint32_t line = 1; line <= sizeof(is_in_loop); line++)
		ck_assert_msg(tp_source_text_is_in_loop(&source, 1, line) == is_in_loop[line - 1],
			      "line %u", line);
	ck_assert(!tp_source_text_is_in_loop(&source, 1, 99));
	tp_source_text_release(&source);
}
END_TEST

static void open_written(struct tp_source_text *source, struct tp_trace *trace,
			 const char *strings[2], const char *text)
{
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	open_text(source, trace, strings, path, 5);
}

START_TEST(an_element_is_read_by_the_variable_of_a_loop)
{
	static const char text[] = "for i, x in enumerate(y):\n"
				   "    a = z[i] + x\n"
				   "    a = z[idx]\n"
				   "    for b in q:\n"
				   "        s[b, 0] = y[b, mask].std()\n"
				   "        t = [i, b]\n"
				   "        w[f(c, b)] = z[ i ]\n"
				   "        w = x[i + 1]\n"
				   "e([z[k] for k in q])\n"
				   "z[i] = 1\n"
				   "for k in grads:\n"
				   "    m[k] = m[k] + grads[k]\n"
				   "    m[k] = 0 * my_grads[k]\n"
				   "for k, v in self.d.items():\n"
				   "    m[k] = m[k] + v\n";
	static const bool is_by_index[] = {false, true,  false, false, true, false, true, false,
					   true,  false, false, false, true, false, false};
	struct tp_source_text source;
	struct tp_trace trace;
	const char *strings[2];
	open_written(&source, &trace, strings, text);
	for (uint32_t line = 1; line <= sizeof(is_by_index); line++)
		ck_assert_msg(tp_source_text_is_by_index(&source, 1, line) == is_by_index[line - 1],
			      "line %u", line);
	ck_assert(!tp_source_text_is_by_index(&source, 1, 0));
	ck_assert(!tp_source_text_is_by_index(&source, 1, 99));
	tp_source_text_release(&source);
}
END_TEST

START_TEST(a_poll_is_all_that_a_loop_with_a_condition_does)
{
	static const char text[] = "while not buf:\n"
				   "    # wait\n"
				   "    sleep(1)\n"
				   "\n"
				   "while buf: sleep(1)\n"
				   "while True:\n"
				   "    sleep(1)\n"
				   "while q:\n"
				   "    sleep(1)\n"
				   "    q.pop()\n"
				   "for i in x:\n"
				   "    sleep(1)\n"
				   "while time.time() < end:\n"
				   "    sleep(1)\n";
	static const bool is_poll[] = {false, false, true,  false, true,  false, false,
				       false, false, false, false, false, false, false};
	struct tp_source_text source;
	struct tp_trace trace;
	const char *strings[2];
	open_written(&source, &trace, strings, text);
	for (uint32_t line = 1; line <= sizeof(is_poll); line++)
		ck_assert_msg(tp_source_text_is_poll(&source, 1, line) == is_poll[line - 1],
			      "line %u", line);
	ck_assert(!tp_source_text_is_poll(&source, 1, 99));
	tp_source_text_release(&source);
}
END_TEST

Suite *suite_analyze_source_text(void);
Suite *suite_analyze_source_text(void)
{
	Suite *suite = suite_create("analyze_source_text");
	TCase *tc = tcase_create("source_text");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lines_are_numbered_from_one_and_lose_their_indentation);
	tcase_add_test(tc, changed_or_missing_files_have_no_text);
	tcase_add_test(tc, a_file_above_the_limit_has_no_text);
	tcase_add_test(tc, a_line_is_in_a_loop_of_its_own_function);
	tcase_add_test(tc, an_element_is_read_by_the_variable_of_a_loop);
	tcase_add_test(tc, a_poll_is_all_that_a_loop_with_a_condition_does);
	suite_add_tcase(suite, tc);
	return suite;
}
