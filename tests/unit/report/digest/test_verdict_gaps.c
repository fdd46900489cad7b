/* SPDX-License-Identifier: Apache-2.0 */
/* Claims about the footer: it names what would have changed the verdict, and nothing else. */
#include "report/jobsample.h"

#include "report/digest/verdict_gaps.h"

#include <check.h>

static const char *gaps_of(const struct sample *s, struct tp_buf *text)
{
	struct tp_report_digest digest;
	tp_report_digest_make(&digest, &s->report);
	tp_report_add_verdict_gaps(text, &digest);
	return tp_buf_text(text);
}

START_TEST(what_only_refines_advice_is_not_named)
{
	struct sample s;
	struct tp_buf text = {0};
	sample_init(&s);
	ck_assert_str_eq(gaps_of(&s, &text), "");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

START_TEST(a_report_that_cannot_tell_names_what_it_lacks)
{
	struct sample s;
	struct tp_buf text = {0};
	struct tp_finding items[] = {
		{.rule = "gpu/too-hot",
		 .state = TP_FINDING_NOT_JUDGED,
		 .not_judged_because = "gpu.temperature is not known"},
		{.rule = "run/dataloader-bound",
		 .state = TP_FINDING_NOT_JUDGED,
		 .not_judged_because = "step.dataloader_ratio is not known: no stacks"},
	};
	sample_init(&s);
	s.findings.items = items;
	s.findings.n_items = 2;
	ck_assert_str_eq(gaps_of(&s, &text), "");
	s.findings.verdict = "cannot_tell";
	ck_assert_str_eq(gaps_of(&s, &text),
			 "No verdict: step.dataloader_ratio is not known: no stacks");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

Suite *suite_report_verdict_gaps(void);
Suite *suite_report_verdict_gaps(void)
{
	Suite *suite = suite_create("report_verdict_gaps");
	TCase *tc = tcase_create("verdict_gaps");
	tcase_add_test(tc, what_only_refines_advice_is_not_named);
	tcase_add_test(tc, a_report_that_cannot_tell_names_what_it_lacks);
	suite_add_tcase(suite, tc);
	return suite;
}
