/* SPDX-License-Identifier: Apache-2.0 */
/* Times of devices are summed, and ranks and files have the names that a reader knows. */
#include "report/jobsample.h"

#include "report/digest/job.h"

#include <check.h>
#include <stdlib.h>

START_TEST(shares_of_the_job_are_those_of_the_public_capture)
{
	/* param-dlrm-8ranks: in the order of parts, then the time that was not captured. */
	static const double own[] = {6.733, 37.172, 0.126, 6.321, 48.781, 0.866};
	static const double after[] = {8.381, 1.248, 0.176, 10.207, 70.715, 1.073};
	struct sample s;
	struct tp_report_job job;
	job_init(&s);
	tp_report_job_sum(&job, &s.profile);
	double window = (double)job.window_ns;
	ck_assert_uint_eq(job.window_ns, s.profile.total_ns);
	ck_assert_uint_eq(job.n_ranks, JOB_RANKS);
	for (int p = 0; p < TP_N_PARTS; p++) {
		ck_assert_double_eq_tol(100 * (double)job.own_ns[p] / window, own[p], 0.0006);
		ck_assert_double_eq_tol(100 * (double)job.after_ns[p] / window, after[p], 0.0006);
	}
	ck_assert_double_eq_tol(100 * (double)job.not_captured_ns / window, 8.2, 0.0006);
	sample_release(&s);
}
END_TEST

START_TEST(after_handing_over_sums_to_the_window)
{
	struct sample s;
	job_init(&s);
	for (size_t i = 0; i < s.profile.n_devices; i++) {
		uint64_t after[TP_N_PARTS + 1];
		uint64_t sum = 0;
		tp_report_after(&s.profile.devices[i], after);
		for (int p = 0; p <= TP_N_PARTS; p++)
			sum += after[p];
		ck_assert_uint_eq(sum, s.profile.devices[i].window_ns);
	}
	sample_release(&s);
}
END_TEST

static void assert_device(const struct tp_profile *profile, size_t device, const char *expected)
{
	struct tp_buf text = {0};
	tp_report_add_device(&text, profile, device);
	ck_assert_str_eq(tp_buf_text(&text), expected);
	tp_buf_release(&text);
}

START_TEST(devices_are_named_by_rank_and_by_number_where_a_rank_has_several)
{
	struct sample s;
	struct tp_rank_info ranks[JOB_RANKS];
	job_init(&s);
	memcpy(ranks, s.trace.run.ranks, sizeof(ranks));
	ranks[2].number = 42;
	ranks[3].number = -1;
	s.trace.run.ranks = ranks;
	assert_device(&s.profile, 2, "rank 42");
	assert_device(&s.profile, 3, "rank 3");
	s.profile.devices[3].rank = 2;
	s.profile.devices[3].number = 1;
	assert_device(&s.profile, 2, "rank 42 device 0");
	assert_device(&s.profile, 3, "rank 42 device 1");
	s.profile.devices[4].rank = 63;
	assert_device(&s.profile, 4, "rank 63");
	ck_assert_str_eq(tp_report_device_info(&s.profile, 0)->name, "NVIDIA A100");
	ck_assert_ptr_null(tp_report_device_info(&s.profile, 3));
	ck_assert_ptr_null(tp_report_device_info(&s.profile, 4));
	sample_release(&s);
}
END_TEST

START_TEST(devices_are_ordered_as_the_job_counts_its_ranks)
{
	struct sample s;
	struct tp_rank_info ranks[JOB_RANKS];
	size_t order[JOB_RANKS];
	job_init(&s);
	memcpy(ranks, s.trace.run.ranks, sizeof(ranks));
	for (int i = 0; i < JOB_RANKS; i++)
		ranks[i].number = (i * 3 + 2) % JOB_RANKS;
	s.trace.run.ranks = ranks;
	tp_report_order_devices(order, &s.profile);
	for (size_t i = 0; i < JOB_RANKS; i++)
		ck_assert_int_eq(ranks[order[i]].number, i);
	sample_release(&s);
}
END_TEST

static const struct {
	const char *paths[3];
	const char *formats[3];
	const char *expected;
	size_t n_files;
} files[] = {
	{{"a/worker0.json.gz"}, {"kineto"}, "worker0.json.gz (kineto)", 1},
	{{"job.tar", "job.tar", "job.tar"}, {"kineto", "kineto", "kineto"}, "job.tar (kineto)", 1},
	{{"r0.json", "r1.json"}, {"kineto", "kineto"}, "r0.json and 1 more (kineto)", 2},
	{{"r0.json", "x.sqlite", "r0.json"},
	 {"kineto", "nsys", "kineto"},
	 "r0.json and 1 more (kineto, nsys)",
	 2},
	/* As in a damaged manifest. */
	{{"", NULL}, {NULL, "nsys"}, " and 1 more (unknown, nsys)", 2},
	{{0}, {0}, "no files", 0},
};

START_TEST(files_are_counted_once)
{
	struct tp_rank_info ranks[3] = {0};
	struct tp_run_info run = {.ranks = ranks};
	struct tp_buf text = {0};
	for (size_t i = 0; i < 3; i++) {
		ranks[i].path = files[_i].paths[i];
		ranks[i].format = files[_i].formats[i];
		run.n_ranks += files[_i].paths[i] || files[_i].formats[i];
	}
	tp_report_add_files(&text, &run);
	ck_assert_str_eq(tp_buf_text(&text), files[_i].expected);
	ck_assert_uint_eq(tp_report_n_files(&run), files[_i].n_files);
	tp_buf_release(&text);
}
END_TEST

Suite *suite_report_job(void);
Suite *suite_report_job(void)
{
	Suite *suite = suite_create("report_job");
	TCase *tc = tcase_create("job");
	tcase_add_test(tc, shares_of_the_job_are_those_of_the_public_capture);
	tcase_add_test(tc, after_handing_over_sums_to_the_window);
	tcase_add_test(tc, devices_are_named_by_rank_and_by_number_where_a_rank_has_several);
	tcase_add_test(tc, devices_are_ordered_as_the_job_counts_its_ranks);
	tcase_add_loop_test(tc, files_are_counted_once, 0, (int)TP_ARRAY_LEN(files));
	suite_add_tcase(suite, tc);
	return suite;
}
