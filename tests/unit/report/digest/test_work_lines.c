/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sentences about functions of loaders, and about causes that were not recognised. */
#include "report/digest/work_lines.h"

#include "report/sample.h"

#include <check.h>

static struct sample sample;
static struct tp_report_digest digest;

static void setup(void)
{
	static struct tp_work_result works[] = {
		{.of = TP_WORK_OF_LOADING, .name = "JPEG decode", .time_ns = 400},
		{.of = TP_WORK_OF_LOADING, .name = "resize", .time_ns = 200},
		{.of = TP_WORK_OF_LOADING, .name = "collate", .time_ns = 180},
		{.of = TP_WORK_OF_LOADING, .name = "resize", .time_ns = 200},
		{.of = TP_WORK_OF_LOADING, .name = "rare", .time_ns = 20},
		{.of = TP_WORK_OF_TASKS, .name = "fitness", .time_ns = 3000},
		{.name = "matrix products", .time_ns = 5000},
	};
	sample_init(&sample);
	sample.profile.works = works;
	sample.profile.n_works = TP_ARRAY_LEN(works);
	sample.profile.work_ns[TP_WORK_OF_LOADING] = 1000;
	sample.profile.work_ns[TP_WORK_OF_MAIN] = 5000;
	tp_report_digest_make(&digest, &sample.report);
}

static void teardown(void)
{
	sample_release(&sample);
}

static void set_share(enum tp_part part, double share)
{
	sample.profile.parts[part].time_ns = (uint64_t)(share * (double)sample.profile.total_ns);
}

static void expect_loading(size_t columns, const char *text)
{
	struct tp_buf out = {0};
	tp_report_add_loading_work(&out, &digest, columns);
	ck_assert_str_eq(tp_buf_text(&out), text);
	tp_buf_release(&out);
}

START_TEST(names_are_summed_and_sorted_and_small_ones_left_out)
{
	set_share(TP_PART_DATALOADER, 0.5);
	sample.profile.n_workers = 2;
	expect_loading(0, "Workers: JPEG decode 40 %, resize 40 %, collate 18 %");
	expect_loading(40, "Workers: JPEG decode 40 %, resize 40 %");
	expect_loading(10, "Workers: JPEG decode 40 %");
	sample.profile.n_workers = 0;
	expect_loading(0, "Loading: JPEG decode 40 %, resize 40 %, collate 18 %");
}
END_TEST

START_TEST(without_a_loading_limit_there_is_no_line)
{
	set_share(TP_PART_DATALOADER, 0.1);
	expect_loading(0, "");
	set_share(TP_PART_DATALOADER, 0.5);
	sample.profile.work_ns[TP_WORK_OF_LOADING] = 0;
	expect_loading(0, "");
}
END_TEST

START_TEST(tasks_of_a_pool_are_told_from_loading)
{
	set_share(TP_PART_DATALOADER, 0.1);
	sample.profile.n_task_workers = 2;
	sample.profile.work_ns[TP_WORK_OF_TASKS] = 3000;
	expect_loading(0, "Workers: fitness 100 %");
	set_share(TP_PART_DATALOADER, 0.5);
	sample.profile.n_workers = 2;
	expect_loading(0, "Loading: JPEG decode 40 %, resize 40 %, collate 18 %");
}
END_TEST

static void expect_unknown_within(size_t columns, const char *text)
{
	struct tp_buf out = {0};
	tp_report_add_unknown_cause(&out, &digest, columns);
	ck_assert_str_eq(tp_buf_text(&out), text);
	tp_buf_release(&out);
}

static void expect_unknown(const char *text)
{
	expect_unknown_within(0, text);
}

START_TEST(a_cause_that_is_not_recognised_is_said_with_lines)
{
	/* The line of the loop says less than the innermost one. */
	static struct tp_line_result lines[] = {
		{.part = TP_PART_HOST, .is_own = false, .line = 2},
		{.part = TP_PART_HOST, .is_own = true, .line = 7},
	};
	struct tp_finding finding = {.state = TP_FINDING_FIRED,
				     .n_actions = 1,
				     .has_gain = true,
				     .gain_low = 1,
				     .gain_value = 1.5,
				     .gain_high = 2};
	struct tp_findings findings = {.items = &finding, .n_items = 1, .n_fired = 1};
	sample.report.findings = &findings;
	sample.profile.lines = lines;
	sample.profile.n_lines = TP_ARRAY_LEN(lines);
	sample.profile.loop.is_known = true;
	set_share(TP_PART_DATALOADER, 0);
	set_share(TP_PART_HOST, 0.6);
	lines[0].time_ns = lines[1].time_ns = sample.profile.parts[TP_PART_HOST].time_ns;
	tp_report_digest_make(&digest, &sample.report);
	expect_unknown("Cause not recognised. Most time: :7 60 %.");
	/* A line that does not fit is left out, and no sentence is cut. */
	lines[0].is_own = true;
	expect_unknown("Cause not recognised. Most time: :2 60 %, :7 60 %.");
	expect_unknown_within(45, "Cause not recognised. Most time: :2 60 %.");
	expect_unknown_within(10, "Cause not recognised. Most time: :2 60 %.");
	lines[0].is_own = false;
	finding.is_cause = true;
	expect_unknown("");
	finding.gain_high = 1.2; /* a cause, but of another part */
	expect_unknown("Cause not recognised. Most time: :7 60 %.");
	finding.gain_high = 2;
	finding.is_cause = false;
	finding.gain_low = 1.2; /* an estimate names the cause */
	expect_unknown("");
	finding.gain_low = 1;
	set_share(TP_PART_HOST, 0.1);
	expect_unknown("");
}
END_TEST

Suite *suite_report_work_lines(void);
Suite *suite_report_work_lines(void)
{
	Suite *suite = suite_create("report_work_lines");
	TCase *tc = tcase_create("work_lines");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, names_are_summed_and_sorted_and_small_ones_left_out);
	tcase_add_test(tc, tasks_of_a_pool_are_told_from_loading);
	tcase_add_test(tc, without_a_loading_limit_there_is_no_line);
	tcase_add_test(tc, a_cause_that_is_not_recognised_is_said_with_lines);
	suite_add_tcase(suite, tc);
	return suite;
}
