/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of devices are sorted; whole screens are in test_summary.c. */
#include "report/jobsample.h"

#include "report/text/device_tables.h"

#include <check.h>
#include <stdlib.h>

static char *tables(const struct sample *s, unsigned width)
{
	struct tp_report_digest digest;
	struct tp_report_style style = {.width = width};
	struct tp_page page;
	tp_report_digest_make(&digest, &s->report);
	tp_page_init(&page, &style);
	tp_report_device_tables(&page, &digest);
	tp_report_file_table(&page, &digest);
	char *text = tp_strdup(tp_buf_text(&page.out));
	tp_page_release(&page);
	return text;
}

START_TEST(collectives_come_by_the_time_all_waited)
{
	struct sample s;
	size_t worst[2];
	job_init(&s);
	ck_assert_uint_eq(tp_report_top_collectives(&s.profile, worst, 2), 2);
	ck_assert_uint_eq(worst[0], 0);
	ck_assert_uint_eq(worst[1], 2);
	ck_assert_uint_eq(tp_report_collective_wait(&s.profile, 0), 26435000);
	s.profile.n_collectives = 0;
	ck_assert_uint_eq(tp_report_top_collectives(&s.profile, worst, 2), 0);
	sample_release(&s);
}
END_TEST

START_TEST(skipped_events_are_reported_with_the_reason)
{
	struct sample s;
	struct tp_buf text = {0};
	job_alone_init(&s);
	tp_report_add_kept(&text, &s.trace.run.ranks[0]);
	ck_assert_str_eq(tp_buf_text(&text), "75,718 events, 74,000 kept, 13 malformed (no "
					     "duration), cut at its end");
	tp_buf_release(&text);
	sample_release(&s);
}
END_TEST

START_TEST(ranks_that_are_not_joined_say_why)
{
	struct sample s;
	job_init(&s);
	s.profile.not_joined = "their collectives do not match";
	char *text = tables(&s, 80);
	ck_assert_ptr_nonnull(strstr(text, "not joined: their collectives do not match"));
	ck_assert_ptr_null(strstr(text, "waits split by cause"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(long_lists_say_how_much_is_left_out)
{
	struct sample s;
	struct tp_kernel_result many[25];
	job_init(&s);
	for (size_t i = 0; i < TP_ARRAY_LEN(many); i++)
		many[i] = s.profile.kernels[1];
	s.profile.kernels = many;
	s.profile.n_kernels = TP_ARRAY_LEN(many);
	char *text = tables(&s, 80);
	ck_assert_ptr_nonnull(strstr(text, "  and 5 more\n"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(a_rank_without_devices_and_a_damaged_manifest_are_reported)
{
	struct sample s;
	static const struct tp_rank_info bare = {.number = -1};
	job_alone_init(&s);
	s.trace.run.ranks = &bare;
	s.profile.devices[0] = (struct tp_device_result){.number = -1,
							 .window_ns = 100,
							 .own_ns = {[TP_PART_HOST] = 100}};
	char *text = tables(&s, 80);
	ck_assert_ptr_nonnull(strstr(text, "no device\n"));
	ck_assert_ptr_nonnull(strstr(text, "unknown (unknown)"));
	free(text);
	sample_release(&s);
}
END_TEST

START_TEST(runs_have_no_such_tables)
{
	struct sample s;
	sample_init(&s);
	char *text = tables(&s, 80);
	ck_assert_str_eq(text, "");
	free(text);
	sample_release(&s);
}
END_TEST

Suite *suite_report_device_tables(void);
Suite *suite_report_device_tables(void)
{
	Suite *suite = suite_create("report_devicetables");
	TCase *tc = tcase_create("devicetables");
	tcase_add_test(tc, collectives_come_by_the_time_all_waited);
	tcase_add_test(tc, skipped_events_are_reported_with_the_reason);
	tcase_add_test(tc, ranks_that_are_not_joined_say_why);
	tcase_add_test(tc, long_lists_say_how_much_is_left_out);
	tcase_add_test(tc, a_rank_without_devices_and_a_damaged_manifest_are_reported);
	tcase_add_test(tc, runs_have_no_such_tables);
	suite_add_tcase(suite, tc);
	return suite;
}
