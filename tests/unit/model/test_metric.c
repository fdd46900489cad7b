/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of metrics: recordings identify them by name, so names are unique and can be looked
 * up. */
#include "trainprof/model/metric.h"

#include <check.h>
#include <string.h>

START_TEST(every_metric_is_found_by_its_name_alone)
{
	for (int i = 0; i < TP_N_METRICS; i++) {
		const struct tp_metric_desc *desc = tp_metric_desc((enum tp_metric)i);
		ck_assert_msg((int)tp_metric_find(desc->name) == i, "'%s' is there twice",
			      desc->name);
		ck_assert_uint_gt(strlen(desc->unit), 0);
		ck_assert_uint_lt(strlen(desc->unit), 32); /* limit of the reader of recordings */
	}
	ck_assert_int_eq(tp_metric_find("novel"), TP_N_METRICS);
}
END_TEST

START_TEST(subjects_and_kinds_are_as_their_names_say)
{
	static const struct {
		enum tp_metric metric;
		const char *name;
		enum tp_metric_kind kind;
		enum tp_metric_subject subject;
	} rows[] = {
		{TP_METRIC_TASK_RUN, "task.run_ns", TP_METRIC_KIND_COUNTER, TP_METRIC_OF_TASK},
		{TP_METRIC_PROC_RSS, "process.rss_bytes", TP_METRIC_KIND_GAUGE,
		 TP_METRIC_OF_PROCESS},
		{TP_METRIC_PSI_CPU, "psi.cpu_some_ns", TP_METRIC_KIND_COUNTER, TP_METRIC_OF_HOST},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tp_metric_desc *desc = tp_metric_desc(rows[i].metric);
		ck_assert_str_eq(desc->name, rows[i].name);
		ck_assert_int_eq(desc->kind, rows[i].kind);
		ck_assert_int_eq(desc->subject, rows[i].subject);
	}
	for (int i = 0; i < TP_N_METRICS; i++) {
		const struct tp_metric_desc *desc = tp_metric_desc((enum tp_metric)i);
		if (strncmp(desc->name, "task.", 5) == 0)
			ck_assert_int_eq(desc->subject, TP_METRIC_OF_TASK);
		if (strncmp(desc->name, "process.", 8) == 0)
			ck_assert_int_eq(desc->subject, TP_METRIC_OF_PROCESS);
	}
}
END_TEST

Suite *suite_model_metric(void);
Suite *suite_model_metric(void)
{
	Suite *suite = suite_create("model/metric");
	TCase *tc = tcase_create("metric");
	tcase_add_test(tc, every_metric_is_found_by_its_name_alone);
	tcase_add_test(tc, subjects_and_kinds_are_as_their_names_say);
	suite_add_tcase(suite, tc);
	return suite;
}
