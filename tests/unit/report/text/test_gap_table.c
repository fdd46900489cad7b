/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the section on gaps. */
#include "report/text/gap_table.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/report/report.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tp_trace_builder builder;
static struct tp_trace trace;

static void put_stop(enum tp_stop_kind kind, pid_t pid, double from_s, double to_s)
{
	char reason[TP_STOP_REASON_SIZE];
	tp_stop_format(reason, kind, pid, 0);
	tp_sink_gap(&builder.sink, TP_STOP_SOURCE, reason, (uint64_t)(from_s * 1e9),
		    (uint64_t)(to_s * 1e9), 0);
}

static char *table(void)
{
	const struct tp_run_info run = {.ended_ns = 100 * TP_NS_PER_S,
					.measure_until_ns = 100 * TP_NS_PER_S};
	struct tp_report_style style = {.width = 80};
	struct tp_report_digest digest = {.trace = &trace};
	struct tp_page page;
	tp_trace_build(&trace, &builder, &run);
	tp_page_init(&page, &style);
	tp_report_gap_table(&page, &digest);
	char *text = tp_strdup(tp_buf_text(&page.out));
	tp_page_release(&page);
	tp_trace_release(&trace);
	return text;
}

/* The first stop is taken out of all other times; here the second one stands where it was. */
START_TEST(stops_have_the_times_of_the_clock)
{
	tp_trace_builder_init(&builder);
	const struct tp_task task = {.tid = 7, .pid = 7, .parent = TP_NO_TASK, .utime_ns = 9};
	tp_sink_task(&builder.sink, &task);
	put_stop(TP_STOP_SIGNAL, 7, 10, 40);
	put_stop(TP_STOP_MEASURER, 0, 50, 52);
	tp_sink_gap(&builder.sink, "perf", "a ring was full", 60 * TP_NS_PER_S, 60 * TP_NS_PER_S,
		    12);
	tp_sink_gap(&builder.sink, "nvml", "gone", 90 * TP_NS_PER_S, UINT64_MAX, 0);
	char *text = table();
	ck_assert_str_eq(text,
			 "\nGaps in the recording\n"
			 "  at            for           cause\n"
			 "  10.0 s        30.0 s        stopped by a signal, process 7\n"
			 "  50.0 s        2.00 s        trainprof itself stood still\n"
			 "  60.0 s        -             perf: a ring was full, 12 records lost\n"
			 "  90.0 s        10.0 s        nvml: gone\n");
	free(text);
	tp_trace_builder_release(&builder);
}
END_TEST

START_TEST(what_has_no_line_is_in_the_sum_of_its_cause)
{
	enum { N = TP_REPORT_GAPS_OF_CAUSE + 5 };
	tp_trace_builder_init(&builder);
	for (uint64_t i = 0; i < N; i++)
		tp_sink_gap(&builder.sink, "perf", "a ring was full", (i + 1) * TP_NS_PER_S,
			    (i + 1) * TP_NS_PER_S + TP_NS_PER_S / 2, 3);
	put_stop(TP_STOP_DEBUGGER, 0, 70, 71);
	char *text = table();
	size_t n_lines = 0;
	for (const char *at = text; (at = strstr(at, "3 records lost")); at++)
		n_lines++;
	ck_assert_uint_eq(n_lines, TP_REPORT_GAPS_OF_CAUSE);
	ck_assert_ptr_nonnull(
		strstr(text,
		       "  5 more        2.50 s        perf: a ring was full, 15 records lost\n"));
	ck_assert_ptr_nonnull(strstr(text, "held by a debugger"));
	free(text);
	tp_trace_builder_release(&builder);
}
END_TEST

START_TEST(without_gaps_there_is_no_table)
{
	tp_trace_builder_init(&builder);
	char *text = table();
	ck_assert_str_eq(text, "");
	free(text);
	tp_trace_builder_release(&builder);
}
END_TEST

Suite *suite_report_gap_table(void);
Suite *suite_report_gap_table(void)
{
	Suite *suite = suite_create("report/gap_table");
	TCase *tc = tcase_create("gap_table");
	tcase_add_test(tc, stops_have_the_times_of_the_clock);
	tcase_add_test(tc, what_has_no_line_is_in_the_sum_of_its_cause);
	tcase_add_test(tc, without_gaps_there_is_no_table);
	suite_add_tcase(suite, tc);
	return suite;
}
