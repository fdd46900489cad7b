/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of verdicts: for traces of devices the largest part, for other runs the result of the
 * rules. */
#include "report/jobsample.h"

#include "report/digest/verdict.h"

#include <check.h>

static const struct {
	enum tp_part largest;
	const char *id;
	const char *cause;
	const char *title;
	const char *sentence;
} parts[] = {
	{TP_PART_HOST, "host_bound", "gpu_waits_for_cpu", "GPU WAITS FOR THE CPU",
	 "90 % of each step; compute 2.0 %."},
	{TP_PART_DATALOADER, "dataloader_bound", "waiting_for_data", "WAITING FOR DATA",
	 "90 % of each step; compute 2.0 %."},
	{TP_PART_COMMUNICATION, "communication_bound", "communicating", "COMMUNICATION",
	 "90 % of each step; compute 2.0 %."},
	{TP_PART_MEMORY, "memory_bound", "moving_memory", "MOVING MEMORY",
	 "90 % of each step; compute 2.0 %."},
	{TP_PART_IDLE, "idle_bound", "gpu_idle", "GPU IDLE", "90 % of each step; compute 2.0 %."},
	{TP_PART_COMPUTE, "compute_bound", "computing", "COMPUTING",
	 "90 % of each step; waiting for the CPU side 2.0 %."},
};

START_TEST(largest_part_is_named_whatever_rules_say)
{
	struct sample s;
	struct tp_buf text = {0};
	job_init(&s);
	for (int p = 0; p < TP_N_PARTS; p++)
		s.profile.parts[p].time_ns = (int)parts[_i].largest == p ? 90 : 2;
	s.profile.total_ns = 100;
	s.profile.largest_loss =
		parts[_i].largest == TP_PART_COMPUTE ? TP_PART_HOST : parts[_i].largest;
	ck_assert_str_eq(tp_report_verdict_id(&s.report), parts[_i].id);
	ck_assert_str_eq(tp_report_verdict_cause(&s.report), parts[_i].cause);
	ck_assert_str_eq(tp_report_verdict_title(&s.report), parts[_i].title);
	tp_report_add_verdict(&text, &s.report);
	ck_assert_str_eq(tp_buf_text(&text), parts[_i].sentence);
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

/* Parts of unknown cause are no verdict, and are named beside it. */
START_TEST(what_was_not_recorded_is_no_verdict)
{
	struct sample s;
	struct tp_buf text = {0};
	job_init(&s);
	for (int p = 0; p < TP_N_PARTS; p++)
		s.profile.parts[p].time_ns = 0;
	s.profile.parts[TP_PART_IDLE].time_ns = 72;
	s.profile.parts[TP_PART_COMMUNICATION].time_ns = 26;
	s.profile.parts[TP_PART_COMPUTE].time_ns = 2;
	s.profile.total_ns = 100;
	s.profile.is_idle_unknown = true;
	ck_assert_str_eq(tp_report_verdict_title(&s.report), "COMMUNICATION");
	tp_report_add_verdict(&text, &s.report);
	ck_assert_str_eq(tp_buf_text(&text), "26 % of each step; compute 2.0 %; unknown 72 %.");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

START_TEST(no_part_is_the_limit_when_most_is_unknown)
{
	struct sample s;
	struct tp_buf text = {0};
	job_init(&s);
	s.profile.is_idle_unknown = true;
	s.findings.verdict = "cannot_tell";
	s.findings.verdict_cause = "mostly_unknown";
	s.findings.verdict_title = "CANNOT TELL";
	s.findings.verdict_sentence = "98 % of the measured time is unknown.";
	ck_assert_str_eq(tp_report_verdict_id(&s.report), "cannot_tell");
	ck_assert_str_eq(tp_report_verdict_cause(&s.report), "mostly_unknown");
	ck_assert_str_eq(tp_report_verdict_title(&s.report), "CANNOT TELL");
	tp_report_add_verdict(&text, &s.report);
	ck_assert_str_eq(tp_buf_text(&text), "98 % of the measured time is unknown.");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

START_TEST(a_trace_of_transfers_names_the_late_rank)
{
	struct sample s;
	struct tp_buf text = {0};
	job_init(&s);
	s.profile.n_devices = 0;
	s.profile.transfers = (struct tp_transfers){.span_ns = 100000000,
						    .late_rank = 3,
						    .n_late = 19,
						    .n_waits = 20,
						    .late_ns = 40000000,
						    .waited_ns = 41000000,
						    .sent_ns = 6000000,
						    .cause = "waiting_for_ranks"};
	ck_assert_str_eq(tp_report_verdict_title(&s.report), "WAITING FOR OTHER RANKS");
	ck_assert_str_eq(tp_report_verdict_id(&s.report), "communication_bound");
	tp_report_add_verdict(&text, &s.report);
	ck_assert_str_eq(
		tp_buf_text(&text),
		"The trace holds communication only: what else a step does is unknown. Rank "
		"3 was last in 19 of 20 operations, and the others waited 40.0 ms for it "
		"(40 % of the time); transfers take 6.0 %.");
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
	tp_report_add_limit(&text, &s.profile, TP_PART_HOST);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "CPU work around the computation takes"));
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
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&text), "71 % of the measured time;"));
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

START_TEST(verdicts_come_from_rules)
{
	struct sample s;
	struct tp_buf text = {0};
	sample_init(&s);
	s.profile.largest_loss = TP_PART_HOST;
	ck_assert_str_eq(tp_report_verdict_id(&s.report), "compute_bound");
	ck_assert_str_eq(tp_report_verdict_title(&s.report), "COMPUTING");
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
	tcase_add_loop_test(tc, largest_part_is_named_whatever_rules_say, 0,
			    (int)TP_ARRAY_LEN(parts));
	tcase_add_test(tc, what_was_not_recorded_is_no_verdict);
	tcase_add_test(tc, no_part_is_the_limit_when_most_is_unknown);
	tcase_add_test(tc, a_trace_of_transfers_names_the_late_rank);
	tcase_add_test(tc, without_device_work_threads_are_meant);
	tcase_add_test(tc, without_steps_shares_are_of_the_time_measured);
	tcase_add_test(tc, lost_records_come_before_any_limit);
	tcase_add_test(tc, verdicts_come_from_rules);
	suite_add_tcase(suite, tc);
	return suite;
}
