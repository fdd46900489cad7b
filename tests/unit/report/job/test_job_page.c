/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the report of a job: all formats agree, and no line is too wide. */
#include "trainprof/report/job_text.h"

#include "trainprof/report/report.h"

#include <check.h>
#include <string.h>

static struct tp_job_code code = {.file = "/home/u/train.py",
				  .function = "decode",
				  .line = 30,
				  .label = TP_LABEL_DATALOADER_PREP,
				  .step_ns = 16e6};
static int64_t missing[] = {4, 5, 6, 9};

static struct tp_job_rank ranks[] = {
	{.directory = "prof/rank-0",
	 .host = "alpha",
	 .number = 0,
	 .is_joined = true,
	 .own_ns = 20e6,
	 .wait_ns = 22e6,
	 .n_last = 1},
	{.directory = "prof/rank-1",
	 .host = "evil\x1b[31m|host",
	 .number = 1,
	 .is_joined = true,
	 .is_late = true,
	 .own_ns = 36e6,
	 .wait_ns = 6e6,
	 .n_last = 79},
	{.directory = "prof/rank-2", .number = 2, .unreadable = "damaged"},
};

static struct tp_job late_job(void)
{
	return (struct tp_job){
		.label = "train.py",
		.launcher = "Open MPI",
		.id = "77",
		.ranks = ranks,
		.n_ranks = 3,
		.n_expected = 10,
		.missing = missing,
		.n_missing = 4,
		.n_unreadable = 1,
		.n_hosts = 2,
		.joined_by = TP_JOB_BY_LENGTHS,
		.n_steps = 80,
		.step_ns = 42e6,
		.verdict = TP_JOB_LATE_RANK,
		.is_sure = true,
		.late = 1,
		.n_late = 1,
		.n_last = 79,
		.late_ns = 16e6,
		.gain = 1.62,
		.gain_low = 1.55,
		.gain_high = 1.7,
		.late_label = TP_LABEL_DATALOADER_PREP,
		.late_label_ns = 16e6,
		.late_code = &code,
		.ended = TP_JOB_NO_RANK,
		.hanging = TP_JOB_NO_RANK,
	};
}

static void check_widths(const char *text, size_t width)
{
	while (*text) {
		size_t columns = 0;
		for (; *text && *text != '\n'; text++)
			columns += ((unsigned char)*text & 0xc0) != 0x80;
		ck_assert_uint_le(columns, width);
		text += *text == '\n';
	}
}

START_TEST(the_page_names_rank_host_place_and_gain)
{
	static const char *const says[] = {
		"RANK 1 IS LATE  last in 79 of 80 steps; it takes 16.0 ms longer than the next",
		"decodes and prepares data at",
		"train.py:30",
		"faster by 1.62",
		"a step takes 26.0 ms",
		"No recording of ranks 4-6, 9",
		"Left out prof/rank-2: damaged.",
		"Next: trainprof report prof/rank-1",
	};
	const struct tp_report_style style = {.width = 80};
	struct tp_job job = late_job();
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_job_text(&page, &job, "prof");
	const char *text = tp_buf_text(&page.out);
	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++)
		ck_assert_msg(strstr(text, says[i]), "'%s' is not in\n%s", says[i], text);
	ck_assert_ptr_null(strchr(text, '\x1b'));
	check_widths(text, 80);
	tp_page_release(&page);
}
END_TEST

START_TEST(a_narrow_page_stays_narrow)
{
	const struct tp_report_style style = {.width = 60, .is_ascii = true};
	struct tp_job job = late_job();
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_job_text(&page, &job, NULL);
	check_widths(tp_buf_text(&page.out), 60);
	tp_page_release(&page);
}
END_TEST

START_TEST(uncertain_gains_are_bounds)
{
	struct tp_job job = late_job();
	struct tp_buf markdown = {0};
	job.is_sure = false;
	job.because = "a rank without a recording may be later still";
	tp_report_job_markdown(&markdown, &job);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&markdown), "up to 1.7"));
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&markdown), "not sure: a rank without"));
	/* A host's name cannot end a cell of the table. */
	ck_assert_ptr_null(strstr(tp_buf_text(&markdown), "m|host"));
	tp_buf_release(&markdown);
}
END_TEST

START_TEST(ranks_that_compete_for_cpus_make_a_gain_uncertain)
{
	struct tp_job job = late_job();
	struct tp_buf markdown = {0};
	job.lacks_cpus = true;
	tp_report_job_markdown(&markdown, &job);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&markdown), "because ranks compete for CPUs"));
	tp_buf_release(&markdown);
}
END_TEST

START_TEST(json_has_the_same)
{
	struct tp_job job = late_job();
	struct tp_json_writer w = {0};
	struct tp_json_doc *doc = NULL;
	tp_report_job_json(&w, &job);
	ck_assert_int_eq(tp_json_parse(&doc, tp_buf_text(&w.out), w.out.len, "job", NULL), TP_OK);
	const struct tp_json *root = tp_json_root(doc);
	const struct tp_json *late = tp_json_get(root, "late");
	ck_assert_str_eq(tp_json_string(tp_json_get(root, "verdict")), "late_rank");
	ck_assert_double_eq(tp_json_number(tp_json_get(late, "rank"), -1), 1);
	ck_assert_double_eq(tp_json_number(tp_json_get(tp_json_get(late, "place"), "line"), 0), 30);
	ck_assert_uint_eq(tp_json_count(tp_json_get(root, "ranks")), 3);
	ck_assert_uint_eq(tp_json_count(tp_json_get(root, "missing_ranks")), 4);
	tp_json_free(doc);
	tp_json_writer_release(&w);
}
END_TEST

START_TEST(json_says_when_the_judged_steps_were)
{
	struct tp_job_step steps[] = {{.start_ns = 10, .end_ns = 20},
				      {.start_ns = 20, .end_ns = 30, .joined = 1},
				      {.start_ns = 30, .end_ns = 40, .joined = 2},
				      {.start_ns = 40, .end_ns = 50},
				      {.start_ns = 50, .end_ns = 60, .joined = 3}};
	struct tp_job job = late_job();
	struct tp_json_writer w = {0};
	struct tp_json_doc *doc = NULL;
	ranks[0].steps = steps;
	ranks[0].n_steps = 5;
	tp_report_job_json(&w, &job);
	ranks[0].steps = NULL;
	ranks[0].n_steps = 0;
	ck_assert_int_eq(tp_json_parse(&doc, tp_buf_text(&w.out), w.out.len, "job", NULL), TP_OK);
	const struct tp_json *spans = tp_json_get(tp_json_root(doc), "judged_spans_ns");
	static const double borders[] = {20, 40, 50, 60};
	size_t n = 0;
	for (const struct tp_json *span = tp_json_first(spans); span; span = tp_json_after(span))
		for (const struct tp_json *at = tp_json_first(span); at; at = tp_json_after(at))
			ck_assert_double_eq(tp_json_number(at, 0), borders[n++]);
	ck_assert_uint_eq(n, 4);
	tp_json_free(doc);
	tp_json_writer_release(&w);
}
END_TEST

START_TEST(a_rank_that_hangs_comes_first)
{
	const struct tp_report_style style = {.width = 80};
	struct tp_job job = late_job();
	struct tp_page page;
	job.hanging = 1;
	job.hang_ns = 20000000000;
	tp_page_init(&page, &style);
	tp_report_job_text(&page, &job, "prof");
	const char *text = tp_buf_text(&page.out);
	const char *hang = strstr(text, "For the last 20.0 s all others waited for rank 1");
	ck_assert_msg(hang && hang < strstr(text, "IS LATE"), "%s", text);
	tp_page_release(&page);
}
END_TEST

Suite *suite_report_job_page(void);

Suite *suite_report_job_page(void)
{
	Suite *suite = suite_create("report_job_page");
	TCase *tc = tcase_create("forms");
	tcase_add_test(tc, the_page_names_rank_host_place_and_gain);
	tcase_add_test(tc, a_narrow_page_stays_narrow);
	tcase_add_test(tc, uncertain_gains_are_bounds);
	tcase_add_test(tc, ranks_that_compete_for_cpus_make_a_gain_uncertain);
	tcase_add_test(tc, json_has_the_same);
	tcase_add_test(tc, json_says_when_the_judged_steps_were);
	tcase_add_test(tc, a_rank_that_hangs_comes_first);
	suite_add_tcase(suite, tc);
	return suite;
}
