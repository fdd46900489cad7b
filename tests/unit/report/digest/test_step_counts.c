/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the counts of steps by kind, their rate, and the line that shows their times. */
#include "report/digest/step_counts.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"
#include "trainprof/report/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 1000 };

static struct tp_profile *profile;
static struct tp_step steps[MAX_STEPS];

static void setup(void)
{
	profile = calloc(1, sizeof(*profile));
	profile->steps = steps;
}

static void teardown(void)
{
	free(profile);
}

static void add_steps(size_t n, enum tp_step_kind kind, uint64_t length_ns)
{
	for (size_t i = 0; i < n; i++) {
		struct tp_step *step = &steps[profile->n_steps++];
		*step = (struct tp_step){.start_ns = 1000,
					 .end_ns = 1000 + length_ns,
					 .kind = kind};
	}
}

static void assert_counts(const char *expected)
{
	struct tp_buf text = {0};
	tp_report_add_step_counts(&text, profile);
	ck_assert_str_eq(tp_buf_text(&text), expected);
	tp_buf_release(&text);
}

START_TEST(each_kind_is_named_and_the_sum_is_all)
{
	assert_counts("");
	add_steps(23, TP_STEP_WARMUP, 1);
	add_steps(550, TP_STEP_STEADY, 1);
	add_steps(31, TP_STEP_SLOW, 1);
	assert_counts("604 steps: 550 steady, 23 warm-up, 31 slow");
	add_steps(2, TP_STEP_CHECKPOINT, 1);
	add_steps(1, TP_STEP_EVALUATION, 1);
	add_steps(4, TP_STEP_COUNTED, 1);
	add_steps(1, TP_STEP_CUT, 1);
	add_steps(7, TP_STEP_OTHER, 1);
	profile->n_untraced = 20;
	assert_counts("639 steps: 550 steady, 23 warm-up, 7 at another speed, 31 slow, 2 with a "
		      "checkpoint, 1 with an evaluation, 4 with counters read, 1 incomplete, 20 "
		      "not traced");
	uint64_t counts[TP_N_STEP_KINDS];
	uint64_t sum = 0;
	tp_report_count_steps(profile, counts);
	for (int k = 0; k < TP_N_STEP_KINDS; k++) {
		ck_assert_uint_gt(counts[k], 0);
		sum += counts[k];
	}
	ck_assert_uint_eq(sum, profile->n_steps);
}
END_TEST

START_TEST(one_step_has_no_plural)
{
	add_steps(1, TP_STEP_STEADY, 1);
	assert_counts("1 step: 1 steady");
}
END_TEST

START_TEST(rate_is_that_of_steady_steps_and_unknown_without_them)
{
	struct tp_buf text = {0};
	tp_report_add_step_rate(&text, profile);
	ck_assert_uint_eq(text.len, 0);
	profile->is_of_steps = true;
	profile->step_time = (struct tp_stat){.n = 10, .mean = 44444444};
	tp_report_add_step_rate(&text, profile);
	ck_assert_str_eq(tp_buf_text(&text), "22.5 steps/s");
	ck_assert(tp_report_sample_rate(profile) == 0);
	tp_buf_release(&text);
}
END_TEST

START_TEST(samples_per_second_are_shown_when_they_are_known)
{
	tp_fact_id id = tp_fact_find("throughput.samples_per_s");
	if (id >= tp_n_facts)
		return;
	struct tp_buf text = {0};
	profile->is_of_steps = true;
	profile->step_time = (struct tp_stat){.n = 10, .mean = 44444444};
	profile->facts[id].is_known = true;
	profile->facts[id].value = 180;
	tp_report_add_step_rate(&text, profile);
	ck_assert_str_eq(tp_buf_text(&text), "22.5 steps/s (180 samples/s)");
	tp_buf_release(&text);
}
END_TEST

static void assert_page(unsigned width, bool is_ascii, const char *expected)
{
	struct tp_report_style style = {.width = width, .is_ascii = is_ascii};
	struct tp_page page;
	tp_page_init(&page, &style);
	tp_report_print_step_counts(&page, profile);
	ck_assert_str_eq(tp_buf_text(&page.out), expected);
	tp_page_release(&page);
}

START_TEST(line_draws_the_time_of_steps_from_zero)
{
	add_steps(10, TP_STEP_WARMUP, 800);
	add_steps(50, TP_STEP_STEADY, 100);
	add_steps(20, TP_STEP_STEADY, 400);
	assert_page(41, false, "80 steps: 70 steady, 10 warm-up  █▁▁▁▁▁▄▄\n");
	assert_page(41, true, "80 steps: 70 steady, 10 warm-up  #_____::\n");
}
END_TEST

START_TEST(equal_steps_lie_at_half_the_height)
{
	add_steps(80, TP_STEP_STEADY, 100);
	assert_page(29, false, "80 steps: 80 steady  ▄▄▄▄▄▄▄▄\n");
}
END_TEST

START_TEST(few_steps_alike_need_no_line)
{
	add_steps(6, TP_STEP_STEADY, 100);
	profile->n_steady = 6;
	ck_assert(!tp_report_has_step_line(profile));
	add_steps(1, TP_STEP_WARMUP, 100);
	ck_assert(tp_report_has_step_line(profile));
}
END_TEST

START_TEST(every_width_keeps_the_numbers_and_its_bound)
{
	add_steps(10, TP_STEP_WARMUP, 800);
	add_steps(500, TP_STEP_STEADY, 100);
	add_steps(20, TP_STEP_SLOW, 400);
	add_steps(2, TP_STEP_CHECKPOINT, 5000);
	add_steps(1, TP_STEP_CUT, 50);
	for (unsigned width = 40; width <= 200; width++)
		for (int is_ascii = 0; is_ascii < 2; is_ascii++) {
			struct tp_report_style style = {.width = width, .is_ascii = is_ascii};
			struct tp_page page;
			tp_page_init(&page, &style);
			tp_report_print_step_counts(&page, profile);
			ck_assert_uint_le(page.n_lines, width < 64 ? 3 : 2);
			ck_assert_ptr_nonnull(strstr(tp_buf_text(&page.out), "incomplete"));
			char *copy = strdup(tp_buf_text(&page.out));
			for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
				ck_assert_uint_le(tp_text_width(line), width);
			free(copy);
			tp_page_release(&page);
		}
}
END_TEST

START_TEST(steps_without_length_and_few_steps_draw_nothing_odd)
{
	add_steps(3, TP_STEP_STEADY, 100);
	assert_page(80, false, "3 steps: 3 steady\n");
	profile->n_steps = 0;
	add_steps(9, TP_STEP_CUT, 0);
	assert_page(80, false, "9 steps: 9 incomplete\n");
}
END_TEST

Suite *suite_report_step_counts(void);
Suite *suite_report_step_counts(void)
{
	Suite *suite = suite_create("report/step_counts");
	TCase *tc = tcase_create("step_counts");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_kind_is_named_and_the_sum_is_all);
	tcase_add_test(tc, one_step_has_no_plural);
	tcase_add_test(tc, rate_is_that_of_steady_steps_and_unknown_without_them);
	tcase_add_test(tc, samples_per_second_are_shown_when_they_are_known);
	tcase_add_test(tc, line_draws_the_time_of_steps_from_zero);
	tcase_add_test(tc, equal_steps_lie_at_half_the_height);
	tcase_add_test(tc, few_steps_alike_need_no_line);
	tcase_add_test(tc, every_width_keeps_the_numbers_and_its_bound);
	tcase_add_test(tc, steps_without_length_and_few_steps_draw_nothing_odd);
	suite_add_tcase(suite, tc);
	return suite;
}
