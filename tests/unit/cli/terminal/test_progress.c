/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line of long operations. */
#include "cli/terminal/progress.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/text.h"

#include <check.h>

static void check_line(const char *file, double share, uint64_t elapsed_s, unsigned columns,
		       const char *wanted)
{
	struct tp_buf line = {0};
	tp_progress_add_line(&line, "importing", file, share, elapsed_s * TP_NS_PER_S, columns);
	ck_assert_str_eq(tp_buf_text(&line), wanted);
	ck_assert_uint_le(tp_text_width(tp_buf_text(&line)), columns);
	tp_buf_release(&line);
}

START_TEST(a_line_says_what_how_much_and_how_long)
{
	check_line("/data/rank0.json.gz", 0.25, 10, 79, "importing rank0.json.gz  25 %, 0:30 left");
	check_line("a", 1, 5, 79, "importing a  100 %, 0:00 left");
}
END_TEST

START_TEST(unknown_progress_is_not_guessed)
{
	check_line("a", -1, 75, 79, "importing a  1:15");
	check_line("a", 0.01, 3, 79, "importing a  1 %, 0:03");
}
END_TEST

START_TEST(a_name_is_cut_and_cannot_steer_the_terminal)
{
	check_line("/x/a\033[31m\nb", -1, 1, 79, "importing a?[31m?b  0:01");
	check_line("/x/a-very-long-name-of-a-trace.json", -1, 1, 30,
		   "importing a-very-long-na  0:01");
}
END_TEST

START_TEST(nothing_is_drawn_in_a_pipe_or_quietly)
{
	struct tp_progress_line progress;
	const struct tp_cli quiet = {.is_quiet = true, .colour = "never"};
	tp_progress_start(&progress, &quiet, "importing", NULL, 0);
	ck_assert(!progress.is_running);
	tp_progress_stop(&progress);
	tp_progress_stop(&progress);
}
END_TEST

Suite *suite_cli_progress(void);
Suite *suite_cli_progress(void)
{
	Suite *suite = suite_create("cli_progress");
	TCase *tc = tcase_create("line");
	tcase_add_test(tc, a_line_says_what_how_much_and_how_long);
	tcase_add_test(tc, unknown_progress_is_not_guessed);
	tcase_add_test(tc, a_name_is_cut_and_cannot_steer_the_terminal);
	tcase_add_test(tc, nothing_is_drawn_in_a_pipe_or_quietly);
	suite_add_tcase(suite, tc);
	return suite;
}
