/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the section on trainprof's own CPU time. */
#include "report/text/own_cpu_table.h"

#include "trainprof/base/memory.h"
#include "trainprof/report/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct tp_trace_builder builder;
static struct tp_trace trace;

static void put(enum tp_metric metric, uint64_t time_ns, double value)
{
	tp_sink_gauge(&builder.sink, metric, TP_NO_TASK, time_ns, value);
}

static char *table(unsigned width)
{
	const struct tp_run_info run = {.started_ns = 1000, .ended_ns = 9000};
	struct tp_report_style style = {.width = width};
	struct tp_report_digest digest = {.trace = &trace};
	struct tp_page page;
	tp_trace_build(&trace, &builder, &run);
	tp_page_init(&page, &style);
	tp_report_own_cpu_table(&page, &digest);
	char *text = tp_strdup(tp_buf_text(&page.out));
	tp_page_release(&page);
	tp_trace_release(&trace);
	return text;
}

START_TEST(rows_have_times_and_shares_and_fit_a_screen)
{
	tp_trace_builder_init(&builder);
	put(TP_METRIC_SELF_CPU, 1000, 50e6);
	put(TP_METRIC_SELF_CPU, 8000, 200e6);
	put(TP_METRIC_SELF_PYTHON, 8000, 100e6);
	char *text = table(80);
	ck_assert_ptr_nonnull(strstr(text, "reading stacks of Python"));
	ck_assert_ptr_nonnull(strstr(text, "100 ms"));
	ck_assert_ptr_nonnull(strstr(text, "50 %"));
	ck_assert_ptr_nonnull(strstr(text, "all of it, by the kernel"));
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");
		ck_assert_uint_le(length, 80);
		line += length + (line[length] == '\n');
	}
	free(text);
	tp_trace_builder_release(&builder);
}
END_TEST

START_TEST(without_stages_there_is_no_table)
{
	tp_trace_builder_init(&builder);
	put(TP_METRIC_SELF_CPU, 1000, 50e6);
	char *text = table(80);
	ck_assert_str_eq(text, "");
	free(text);
	tp_trace_builder_release(&builder);
}
END_TEST

Suite *suite_report_own_cpu_table(void);
Suite *suite_report_own_cpu_table(void)
{
	Suite *suite = suite_create("report/own_cpu_table");
	TCase *tc = tcase_create("own_cpu_table");
	tcase_add_test(tc, rows_have_times_and_shares_and_fit_a_screen);
	tcase_add_test(tc, without_stages_there_is_no_table);
	suite_add_tcase(suite, tc);
	return suite;
}
