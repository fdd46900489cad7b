/* A finding is shown with all that speaks for and against it. */
#include "golden.h"
#include "sample.h"

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

Suite *suite_report_explain(void);
Suite *suite_report_explain(void)
{
	Suite *suite = suite_create("report_explain");
	TCase *tc = tcase_create("explain");
	tcase_add_test(tc, explained_finding_equals_its_golden_file);
	suite_add_tcase(suite, tc);
	return suite;
}
