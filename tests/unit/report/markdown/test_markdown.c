/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown equals its golden file, and names cannot break out of it. */
#include "report/golden.h"
#include "report/sample.h"

static char *render(const struct tp_report *report)
{
	char *text = NULL;
	size_t size = 0;
	struct tp_report_style style = {.width = 80};
	FILE *out = open_memstream(&text, &size);
	ck_assert_int_eq(tp_exporter_find("markdown")->write(report, &style, out, NULL), TP_OK);
	fclose(out);
	return text;
}

START_TEST(markdown_equals_its_golden_file)
{
	struct sample s;
	sample_init(&s);
	char *text = render(&s.report);
	sample_golden(text, "markdown");
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(methods_that_change_iterations_are_compared_with_a_shorter_schedule)
{
	struct sample s;
	sample_init(&s);
	s.findings.items[0].actions = sample_echo;
	s.findings.items[0].n_actions = 2;
	char *text = render(&s.report);
	ck_assert_ptr_nonnull(strstr(text, "against `train-shorter`: A shorter schedule. half the "
					   "schedule: 76.6 % became 75.6 % (A training recipe)"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(reduced_detail_is_reported)
{
	struct sample s;
	sample_init(&s);
	sample_reduce(&s);
	char *text = render(&s.report);
	ck_assert_ptr_nonnull(strstr(text, "Less detail: switch records off above 20000/s per CPU "
					   "for 40 % of the run; the kernel throttled sampling; "
					   "50 of 99 samples per second, 12 % of them without a"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(a_command_cannot_leave_its_code_span_or_turn_the_text_around)
{
	static const char *command[] = {"x`y\n", "\x1b[2J\xe2\x80\xae", "\xc2\x9b"};
	struct sample s;
	sample_init(&s);
	s.trace.run.command = command;
	s.trace.run.n_command = TP_ARRAY_LEN(command);
	char *text = render(&s.report);
	ck_assert_ptr_null(strstr(text, "x`y"));
	ck_assert_ptr_null(strchr(text, '\x1b'));
	ck_assert_ptr_null(strstr(text, "\xe2\x80\xae"));
	ck_assert_ptr_null(strstr(text, "\xc2\x9b"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(a_small_part_is_not_nothing)
{
	struct sample s;
	sample_init(&s);
	s.profile.parts[TP_PART_IDLE].time_ns = 1000;
	char *text = render(&s.report);
	ck_assert_ptr_nonnull(strstr(text, "| idle | 0.0 ms | &lt;1 % |"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(names_do_not_become_markup)
{
	static const char *command[] = {"./a`b`", "<script>"};
	struct sample s;
	sample_init(&s);
	s.trace.run.command = command;
	s.trace.run.n_command = 2;
	s.findings.items[0].headline = "Use <b>bold</b> | and *stars* [x](y)";
	char *text = render(&s.report);
	ck_assert_ptr_null(strstr(text, "<b>"));
	ck_assert_ptr_nonnull(strstr(text, "&lt;b>bold&lt;/b> \\| and \\*stars\\* \\[x\\](y)"));
	ck_assert_ptr_nonnull(strstr(text, "`./a'b' <script>`"));
	free(text);
	sample_release(&s);
}
END_TEST

Suite *suite_report_markdown(void);
Suite *suite_report_markdown(void)
{
	Suite *suite = suite_create("report_markdown");
	TCase *tc = tcase_create("markdown");
	tcase_add_test(tc, markdown_equals_its_golden_file);
	tcase_add_test(tc, reduced_detail_is_reported);
	tcase_add_test(tc, methods_that_change_iterations_are_compared_with_a_shorter_schedule);
	tcase_add_test(tc, a_command_cannot_leave_its_code_span_or_turn_the_text_around);
	tcase_add_test(tc, a_small_part_is_not_nothing);
	tcase_add_test(tc, names_do_not_become_markup);
	suite_add_tcase(suite, tc);
	return suite;
}
