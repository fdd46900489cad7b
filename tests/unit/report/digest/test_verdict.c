/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of devices name their largest loss; runs are told by rules. */
#include "report/jobsample.h"

#include "report/digest/verdict.h"

#include <check.h>

static const struct {
	enum tp_part loss;
	const char *id;
	const char *title;
	const char *sentence;
} losses[] = {
	{TP_PART_HOST, "host_bound", "HOST-BOUND",
	 "Waiting for the host takes 71 % of each step; compute takes 8.4 %."},
	{TP_PART_DATALOADER, "dataloader_bound", "DATALOADER-BOUND",
	 "Waiting for data takes 10 % of each step; compute takes 8.4 %."},
	{TP_PART_COMMUNICATION, "communication_bound", "COMMUNICATION-BOUND",
	 "Communication takes 9.4 % of each step; compute takes 8.4 %."},
	{TP_PART_MEMORY, "memory_bound", "MEMORY-BOUND",
	 "Handling memory takes 0.2 % of each step; compute takes 8.4 %."},
	{TP_PART_IDLE, "idle_bound", "IDLE-BOUND",
	 "Standing still takes 1.1 % of each step; compute takes 8.4 %."},
	{TP_N_PARTS, "compute_bound", "COMPUTE-BOUND", "Compute takes 8.4 % of each step."},
};

START_TEST(largest_loss_is_named_whatever_rules_say)
{
	struct sample s;
	struct tp_buf text = {0};
	job_init(&s);
	s.profile.largest_loss = losses[_i].loss;
	ck_assert_str_eq(tp_report_verdict_id(&s.report), losses[_i].id);
	ck_assert_str_eq(tp_report_verdict_title(&s.report), losses[_i].title);
	tp_report_add_verdict(&text, &s.report);
	ck_assert_str_eq(tp_buf_text(&text), losses[_i].sentence);
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

START_TEST(without_device_work_threads_are_meant)
{
	struct sample s;
	struct tp_buf text = {0};
	job_alone_init(&s);
	s.profile.devices[0].span_ns = 0;
	s.profile.largest_loss = TP_PART_HOST;
	tp_report_add_verdict(&text, &s.report);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "Work around the math takes"));
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

START_TEST(without_steps_shares_are_of_the_time_measured)
{
	struct sample s;
	struct tp_buf text = {0};
	job_init(&s);
	s.profile.is_of_steps = false;
	s.report.findings = NULL;
	tp_report_add_verdict(&text, &s.report);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "71 % of the time measured;"));
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

START_TEST(lost_records_come_before_any_limit)
{
	struct sample s;
	job_init(&s);
	s.findings.verdict = "records_lost";
	s.findings.verdict_title = "RECORDS LOST";
	ck_assert_str_eq(tp_report_verdict_id(&s.report), "records_lost");
	ck_assert_str_eq(tp_report_verdict_title(&s.report), "RECORDS LOST");
	sample_release(&s);
}
END_TEST

START_TEST(runs_are_told_by_rules)
{
	struct sample s;
	struct tp_buf text = {0};
	sample_init(&s);
	s.profile.largest_loss = TP_PART_HOST;
	ck_assert_str_eq(tp_report_verdict_id(&s.report), "compute_bound");
	ck_assert_str_eq(tp_report_verdict_title(&s.report), "Compute-bound");
	s.report.findings = NULL;
	s.report.no_findings_because = "no folder";
	ck_assert_str_eq(tp_report_verdict_id(&s.report), "none");
	tp_report_add_verdict(&text, &s.report);
	ck_assert_str_eq(tp_buf_text(&text), "No rules were applied: no folder.");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

Suite *suite_report_verdict(void);
Suite *suite_report_verdict(void)
{
	Suite *suite = suite_create("report_verdict");
	TCase *tc = tcase_create("verdict");
	tcase_add_loop_test(tc, largest_loss_is_named_whatever_rules_say, 0,
			    (int)TP_ARRAY_LEN(losses));
	tcase_add_test(tc, without_device_work_threads_are_meant);
	tcase_add_test(tc, without_steps_shares_are_of_the_time_measured);
	tcase_add_test(tc, lost_records_come_before_any_limit);
	tcase_add_test(tc, runs_are_told_by_rules);
	suite_add_tcase(suite, tc);
	return suite;
}
