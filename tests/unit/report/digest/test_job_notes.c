/* SPDX-License-Identifier: Apache-2.0 */
/* A note is printed only if it contains information. */
#include "report/jobsample.h"

#include "report/digest/job_notes.h"

#include "trainprof/model/fact.h"

#include <check.h>

enum { NOTE_RANKS, NOTE_DEVICES, NOTE_HIDDEN, NOTE_EVIDENCE };

static void assert_note(const struct sample *s, int note, const char *expected)
{
	struct tp_report_digest digest;
	struct tp_buf text = {0};
	tp_report_digest_make(&digest, &s->report);
	tp_report_add_job_note(&text, &digest, note);
	ck_assert_str_eq(tp_buf_text(&text), expected);
	tp_buf_release(&text);
}

START_TEST(late_rank_is_named_with_what_it_did)
{
	struct sample s;
	job_init(&s);
	assert_note(&s, NOTE_RANKS,
		    "Rank 7 made the others wait 35.2 ms, 78 % of waits: host 54 %, not captured "
		    "30 %");
	s.profile.n_blames = 0;
	assert_note(&s, NOTE_RANKS, "Rank 7 made the others wait 35.2 ms, 78 % of waits");
	for (size_t i = 0; i < s.profile.n_devices; i++)
		s.profile.devices[i].wait_caused_ns = 1000;
	assert_note(&s, NOTE_RANKS, "");
	s.profile.not_joined = "one of them has no collectives";
	assert_note(&s, NOTE_RANKS,
		    "Ranks are judged each for itself: one of them has no collectives");
	sample_release(&s);
}
END_TEST

START_TEST(devices_are_busy_or_wait)
{
	struct sample s;
	job_init(&s);
	assert_note(&s, NOTE_DEVICES,
		    "8 devices busy 44 % (least: rank 7, 21 %), idle: CPU side 89 %, data "
		    "loading 11 %; 261 launches per step");
	sample_release(&s);
	job_alone_init(&s);
	s.profile.micro_batches = 4;
	assert_note(&s, NOTE_DEVICES,
		    "Device busy 57 %, idle: data loading 90 %, CPU side 9.3 %; 1,516 launches per "
		    "step, 4 "
		    "micro-batches");
	s.profile.devices[0].span_ns = s.profile.devices[0].busy_ns = 0;
	assert_note(&s, NOTE_DEVICES, "No device was busy: only the threads are judged");
	sample_release(&s);
}
END_TEST

START_TEST(hidden_time_is_printed_if_there_is_any)
{
	struct sample s;
	job_init(&s);
	assert_note(&s, NOTE_HIDDEN, "Communication 6.07 ms per device, 3.4 % overlapped");
	s.profile.devices[0].union_ns[TP_OP_COPY] = 20000000;
	s.profile.devices[0].exposed_copy_ns = 5000000;
	assert_note(
		&s, NOTE_HIDDEN,
		"Communication 6.07 ms per device, 3.4 % overlapped; copies 2.52 ms per device, "
		"74 % overlapped");
	sample_release(&s);
	job_alone_init(&s);
	assert_note(&s, NOTE_HIDDEN, "");
	s.profile.devices[0].union_ns[TP_OP_COPY] = 100000000;
	assert_note(&s, NOTE_HIDDEN, "Copies 100 ms, 88 % overlapped");
	sample_release(&s);
}
END_TEST

START_TEST(weak_evidence_is_printed_above_five_percent)
{
	struct sample s;
	job_init(&s);
	assert_note(&s, NOTE_EVIDENCE,
		    "12 % of the kernel time is in kernels whose names say little");
	tp_profile_set(&s.profile, TP_FACT_KERNEL_WEAK, 0.05, TP_ORIGIN_MEASURED, 1);
	assert_note(&s, NOTE_EVIDENCE, "");
	tp_profile_set(&s.profile, TP_FACT_DEVICE_UNLINKED, 0.4, TP_ORIGIN_MEASURED, 1);
	assert_note(&s, NOTE_EVIDENCE, "40 % of the device work has no known launching call");
	sample_release(&s);
}
END_TEST

START_TEST(runs_have_no_such_sentences)
{
	struct sample s;
	sample_init(&s);
	for (int i = 0; i < TP_JOB_NOTES_MAX; i++)
		assert_note(&s, i, "");
	sample_release(&s);
}
END_TEST

Suite *suite_report_job_notes(void);
Suite *suite_report_job_notes(void)
{
	Suite *suite = suite_create("report_jobnotes");
	TCase *tc = tcase_create("jobnotes");
	tcase_add_test(tc, late_rank_is_named_with_what_it_did);
	tcase_add_test(tc, devices_are_busy_or_wait);
	tcase_add_test(tc, hidden_time_is_printed_if_there_is_any);
	tcase_add_test(tc, weak_evidence_is_printed_above_five_percent);
	tcase_add_test(tc, runs_have_no_such_sentences);
	suite_add_tcase(suite, tc);
	return suite;
}
