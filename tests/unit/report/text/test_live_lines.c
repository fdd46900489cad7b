/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a live view that come from earlier intervals. */
#include "report/text/live_lines.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct tp_live_history history;

/* The lines for a history of n intervals, on a page of that width. */
static const char *lines(size_t n, unsigned width, bool is_ascii)
{
	static char text[1000];
	const struct tp_report_style style = {.width = width, .is_ascii = is_ascii};
	const struct tp_live live = {.history = &history};
	struct tp_page page;
	history.n = n;
	tp_page_init(&page, &style);
	tp_report_live_history(&page, &live);
	snprintf(text, sizeof(text), "%s", tp_buf_text(&page.out));
	tp_page_release(&page);
	return text;
}

static void begin(void)
{
	history = (struct tp_live_history){0};
	for (size_t i = 0; i < TP_LIVE_INTERVALS_MAX; i++) {
		double step_ns = i == 3 ? 80e6 : 40e6;
		history.items[i] = (struct tp_live_interval){.step_ns = step_ns,
							     .step_max_ns = step_ns + 10e6};
	}
}

START_TEST(each_interval_is_a_cell_and_the_longest_step_is_named)
{
	begin();
	ck_assert_str_eq(lines(5, 80, false), "  ▃▃▃▇▃  longest step 90.0 ms\n");
	ck_assert_str_eq(lines(5, 80, true), "  ---*-  longest step 90.0 ms\n");
	ck_assert_str_eq(lines(1, 80, false), "");
}
END_TEST

/* The newest are shown; of those that do not fit nothing is said. */
START_TEST(lines_keep_to_the_width)
{
	begin();
	for (unsigned width = 40; width < 200; width += 13) {
		const char *text = lines(TP_LIVE_INTERVALS_MAX, width, true);
		ck_assert_uint_le(strcspn(text, "\n"), width);
		ck_assert_ptr_nonnull(strstr(text, "longest step 50.0 ms"));
	}
}
END_TEST

/* The rank that waits least for the others comes first: they wait for it. */
START_TEST(ranks_are_in_the_order_of_their_waits)
{
	struct tp_task tasks[] = {
		{.pid = 52, .parent = TP_NO_TASK}, /* the rank, … */
		{.pid = 60, .parent = 0},          /* its loader, */
		{.pid = 51, .parent = TP_NO_TASK}, /* and another rank */
	};
	const struct tp_trace trace = {.tasks = tasks, .n_tasks = 3};
	struct tp_thread_result threads[] = {
		{.task = 0, .process_role = TP_ROLE_TRAINER, .on_cpu_ns = 900000000},
		{.task = 1, .process_role = TP_ROLE_LOADER, .on_cpu_ns = 100000000},
		{.task = 2, .process_role = TP_ROLE_TRAINER, .on_cpu_ns = 2000000000},
	};
	struct tp_profile profiles[3];
	struct tp_live_rank ranks[3];
	for (unsigned i = 0; i < 3; i++) {
		profiles[i] = (struct tp_profile){.trace = &trace,
						  .total_ns = 1000,
						  .window_end_ns = 2000000000,
						  .limiter = TP_PART_HOST,
						  .threads = threads,
						  .n_threads = 3};
		profiles[i].parts[TP_PART_COMMUNICATION].time_ns = 400 - 100 * i;
		ranks[i] = (struct tp_live_rank){.number = i,
						 .pid = 50 + (int)i,
						 .profile = &profiles[i]};
	}
	const struct tp_live live = {.ranks = ranks, .n_ranks = 3, .shown_rank = 2};
	const struct tp_report_style style = {.width = 80};
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_live_ranks(&page, &live, 2);
	ck_assert_str_eq(tp_buf_text(&page.out),
			 "    rank      pid  CPU %  comm. %  most of its time\n"
			 ">      2       52   50.0     20.0  host\n"
			 "       2 more\n\n");
	tp_page_release(&page);
	tp_page_init(&page, &style);
	profiles[2].total_ns = 0;
	tp_report_live_ranks(&page, &live, 3);
	ck_assert_ptr_nonnull(strstr(tp_buf_text(&page.out),
				     ">      2       52   50.0        ?  its main thread was not"));
	tp_page_release(&page);
}
END_TEST

START_TEST(an_interval_without_steps_is_empty)
{
	begin();
	history.items[1] = (struct tp_live_interval){0};
	ck_assert_ptr_nonnull(strstr(lines(3, 80, true), "  + +  longest step 50.0 ms"));
	history.items[0] = history.items[2] = history.items[1];
	ck_assert_str_eq(lines(3, 80, true), "");
}
END_TEST

START_TEST(the_last_alarm_stays)
{
	begin();
	snprintf(history.alarm, sizeof(history.alarm), "14:03:11  Steps are slower.");
	ck_assert_str_eq(lines(0, 80, true), "  14:03:11  Steps are slower.\n");
}
END_TEST

Suite *suite_report_live_lines(void);
Suite *suite_report_live_lines(void)
{
	Suite *suite = suite_create("report_live_lines");
	TCase *tc = tcase_create("live_lines");
	tcase_add_test(tc, each_interval_is_a_cell_and_the_longest_step_is_named);
	tcase_add_test(tc, lines_keep_to_the_width);
	tcase_add_test(tc, an_interval_without_steps_is_empty);
	tcase_add_test(tc, ranks_are_in_the_order_of_their_waits);
	tcase_add_test(tc, the_last_alarm_stays);
	suite_add_tcase(suite, tc);
	return suite;
}
