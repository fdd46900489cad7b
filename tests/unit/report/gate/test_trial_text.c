/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the text on advice that was tried. */
#include "trainprof/report/trial_text.h"

#include "trainprof/report/report.h"

#include <check.h>
#include <string.h>

static const struct tp_finding bounded = {.rule = "compute/too-many-threads",
					  .headline = "Use 2 compute threads",
					  .has_gain = true,
					  .gain_low = 1,
					  .gain_value = 1.2,
					  .gain_high = 1.5};
static const struct tp_finding unknown = {.rule = "host/x", .headline = "Sleep less"};

static const struct tp_trial trials[] = {
	{.number = 1,
	 .finding = &bounded,
	 .state = TP_TRIAL_FASTER,
	 .command = "OMP_NUM_THREADS=2 ./train",
	 .speedup = 1.25,
	 .speedup_low = 1.0,
	 .speedup_high = 1.6,
	 .n_pairs = 5},
	{.number = 2,
	 .finding = &unknown,
	 .state = TP_TRIAL_NOT_TRIED,
	 .because = "no environment variable and no launcher does it"},
	{.number = 3,
	 .finding = &unknown,
	 .state = TP_TRIAL_FAILED,
	 .because = "B ended with exit status 7",
	 .command = "X=1 ./train"},
	{.number = 4,
	 .finding = &unknown,
	 .state = TP_TRIAL_ALIKE,
	 .command = "Y=1 ./train",
	 .speedup = 1,
	 .speedup_low = 0.99,
	 .speedup_high = 1.01,
	 .n_pairs = 3},
};

static const char *text_of(const struct tp_trial *items, size_t n)
{
	static const struct tp_report_style style = {.width = 80};
	static char text[2048];
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_trials_text(&page, items, n);
	snprintf(text, sizeof(text), "%s", tp_buf_text(&page.out));
	tp_page_release(&page);
	return text;
}

START_TEST(each_trial_says_what_was_promised_and_what_was_measured)
{
	ck_assert_str_eq(text_of(trials, 4),
			 " 1  Use 2 compute threads\n"
			 "    promised up to 1.50×, measured 1.25× (1.00 to 1.60) in 5 pairs\n"
			 " 2  Sleep less\n"
			 "    not tried: no environment variable and no launcher does it\n"
			 " 3  Sleep less\n"
			 "    failed: B ended with exit status 7\n"
			 " 4  Sleep less\n"
			 "    measured 1.00× (0.99 to 1.01) in 3 pairs: no difference\n"
			 "\n"
			 "Start it from now on as\n"
			 "  OMP_NUM_THREADS=2 ./train\n");
}
END_TEST

START_TEST(without_a_faster_one_nothing_is_recommended)
{
	const char *text = text_of(trials + 1, 3);
	ck_assert_ptr_nonnull(strstr(text, "Nothing that was tried made it faster.\n"));
	ck_assert_ptr_null(strstr(text, "./train"));
}
END_TEST

/* All changes together are faster than each alone, so the text proposes all of them. */
START_TEST(the_fastest_is_what_to_type)
{
	const struct tp_trial both[] = {trials[0],
					{.state = TP_TRIAL_FASTER,
					 .command = "Z=1 OMP_NUM_THREADS=2 ./train",
					 .speedup = 2,
					 .speedup_low = 1.7,
					 .speedup_high = 2.5,
					 .n_pairs = 3}};
	const char *text = text_of(both, 2);
	ck_assert_ptr_nonnull(strstr(text, "    All that helped, together\n"));
	ck_assert_ptr_nonnull(strstr(text, "now on as\n  Z=1 OMP_NUM_THREADS=2 ./train\n"));
}
END_TEST

/* Settings of a loader are lines of the program; its command stays. */
START_TEST(settings_of_a_loader_are_lines_to_change)
{
	static const char *const lines[] = {"train.py:9  DataLoader(..., num_workers=2)"};
	struct tp_trial trial = {.state = TP_TRIAL_FASTER,
				 .command = "./train",
				 .loader = "num_workers=2",
				 .lines = lines,
				 .n_lines = 1,
				 .speedup = 2,
				 .speedup_low = 1.7,
				 .speedup_high = 2.5,
				 .n_pairs = 3};
	const char *text = text_of(&trial, 1);
	ck_assert_ptr_nonnull(strstr(text, "Change in the program\n  train.py:9  DataLoader(..., "
					   "num_workers=2)\n"));
	ck_assert_ptr_null(strstr(text, "./train"));
	trial.is_command_changed = true;
	ck_assert_ptr_nonnull(strstr(text_of(&trial, 1), "now on as\n  ./train\nChange in"));
}
END_TEST

START_TEST(documents_have_speedups_and_not_ratios_of_time)
{
	struct tp_json_writer w = {0};
	tp_json_open(&w, '{');
	tp_report_trials_json(&w, trials, 2);
	tp_json_close(&w, '}');
	const char *text = tp_buf_text(&w.out);
	const char *measured = strstr(text, "\"measured\"");
	ck_assert_ptr_nonnull(measured);
	ck_assert_ptr_nonnull(strstr(measured, "\"value\": 1.25"));
	ck_assert_ptr_nonnull(strstr(measured, "\"low\": 1,"));
	ck_assert_ptr_nonnull(strstr(measured, "\"high\": 1.6"));
	ck_assert_ptr_nonnull(strstr(text, "\"promise\": \"bound\""));
	ck_assert_ptr_nonnull(strstr(text, "\"state\": \"not tried\""));
	tp_buf_release(&w.out);
}
END_TEST

START_TEST(markdown_says_the_same)
{
	struct tp_buf out = {0};
	tp_report_trials_markdown(&out, trials, 2);
	ck_assert_str_eq(tp_buf_text(&out),
			 "- **1: Use 2 compute threads**: promised up to 1.50×, measured 1.25× "
			 "(1.00 to 1.60) in 5 pairs\n"
			 "- **2: Sleep less**: not tried: no environment variable and no launcher "
			 "does it\n"
			 "\nStart it from now on as\n\n    OMP_NUM_THREADS=2 ./train\n");
	tp_buf_clear(&out);
	struct tp_trial script = trials[0];
	script.command = "OMP_NUM_THREADS=2 sh -c 'cd data\n\nexec ./train'";
	tp_report_trials_markdown(&out, &script, 1);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&out), "\n    OMP_NUM_THREADS=2 sh -c 'cd data\n"
							"    \n    exec ./train'\n"));
	tp_buf_clear(&out);
	struct tp_trial alike = trials[3];
	alike.is_of_runs = true;
	tp_report_trials_markdown(&out, &alike, 1);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&out), "in 3 pairs of whole runs, start included: "
							"no difference\n"));
	ck_assert_ptr_nonnull(
		strstr(tp_buf_text(&out), "\nNothing that was tried made it faster.\n"));
	tp_buf_release(&out);
}
END_TEST

Suite *suite_report_trial_text(void);
Suite *suite_report_trial_text(void)
{
	Suite *suite = suite_create("report/trial_text");
	TCase *tcase = tcase_create("trials");
	tcase_add_test(tcase, each_trial_says_what_was_promised_and_what_was_measured);
	tcase_add_test(tcase, without_a_faster_one_nothing_is_recommended);
	tcase_add_test(tcase, the_fastest_is_what_to_type);
	tcase_add_test(tcase, settings_of_a_loader_are_lines_to_change);
	tcase_add_test(tcase, markdown_says_the_same);
	tcase_add_test(tcase, documents_have_speedups_and_not_ratios_of_time);
	suite_add_tcase(suite, tcase);
	return suite;
}
