/* SPDX-License-Identifier: Apache-2.0 */
/* A finding is shown with all evidence for and against it. */
#include "report/golden.h"
#include "report/sample.h"

#include "trainprof/model/fact.h"
#include "trainprof/report/explain.h"

static struct tp_report_style style = {.width = 80};

START_TEST(explained_finding_equals_its_golden_file)
{
	struct sample s;
	struct tp_page page;
	sample_init(&s);
	s.findings.items[0].doubts = "few steps";
	s.findings.items[1].suppressed = "its gain lies below the limit";
	s.findings.items[2].kind = TP_ADVICE_SEMANTIC;
	s.findings.items[2].price = "compare the validation accuracy";
	tp_page_init(&page, &style);
	for (size_t i = 0; i < 4; i++)
		tp_report_explain(&page, &s.report, &s.findings.items[i]);
	for (size_t i = 0; i < 4; i++)
		tp_report_explain_line(&page, &s.findings.items[i]);
	tp_report_explain_fact(&page, &s.report, TP_FACT_STEP_DATALOADER);
	tp_report_explain_fact(&page, &s.report, TP_FACT_PMU_IPC);
	sample_golden(tp_buf_text(&page.out), "explain");
	tp_page_release(&page);
	sample_release(&s);
}
END_TEST

START_TEST(methods_that_change_iterations_are_compared_with_a_shorter_schedule)
{
	static const char told[] =
		"  against trainprof guide train-shorter: A shorter schedule. Compare with it:\n"
		"          half the schedule: 76.6 % became 75.6 %. Hardware: 8x A100; against 88\n"
		"          epochs; A training recipe (checked 2026-11-21)\n";
	struct sample s;
	struct tp_page page;
	sample_init(&s);
	s.findings.items[0].actions = sample_echo;
	s.findings.items[0].n_actions = 2;
	tp_page_init(&page, &style);
	tp_report_explain(&page, &s.report, &s.findings.items[0]);
	const char *first = strstr(tp_buf_text(&page.out), told);
	ck_assert_msg(first != NULL, "%s", tp_buf_text(&page.out));
	ck_assert_ptr_null(strstr(first + 1, "  against "));
	tp_page_release(&page);
	sample_release(&s);
}
END_TEST

Suite *suite_report_explain(void);
Suite *suite_report_explain(void)
{
	Suite *suite = suite_create("report_explain");
	TCase *tc = tcase_create("explain");
	tcase_add_test(tc, explained_finding_equals_its_golden_file);
	tcase_add_test(tc, methods_that_change_iterations_are_compared_with_a_shorter_schedule);
	suite_add_tcase(suite, tc);
	return suite;
}
