/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading a report.json. */
#include "sheet.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <string.h>

START_TEST(parts_sum_to_the_mean_step)
{
	struct tp_arena arena = {0};
	const struct tp_run_values *run =
		sheet_run(&(struct sheet){.step_ns = 2e7, .dataloader = 0.25}, "a", &arena);
	double sum = 0;
	for (int part = 0; part < TP_N_PARTS; part++)
		sum += run->part_ns[part];
	ck_assert_double_eq_tol(sum, 2e7, 1);
	ck_assert_double_eq_tol(run->part_ns[TP_PART_DATALOADER], 5e6, 1);
	ck_assert_uint_eq(run->n_steps, 100);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(null_is_unknown_with_a_reason_and_not_zero)
{
	struct tp_arena arena = {0};
	const struct tp_run_values *run = sheet_run(
		&(struct sheet){
			.step_ns = 1e7,
			.metrics = ", \"loader.workers\": {\"value\": null, \"missing\": \"why\"}"},
		"a", &arena);
	ck_assert(!run->facts[TP_FACT_LOADER_WORKERS].is_known);
	ck_assert_str_eq(run->facts[TP_FACT_LOADER_WORKERS].missing, "why");
	ck_assert(!run->facts[TP_FACT_COMPUTE_THREADS].is_known);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(version_1_1_lists_unknown_facts_by_reason_and_names_suppressed_findings)
{
	struct tp_arena arena = {0};
	const struct tp_run_values *run =
		sheet_run(&(struct sheet){.schema = "trainprof-report/1.1",
					  .step_ns = 1e7,
					  .missing = "{\"because\": \"no loader\", \"metrics\":"
						     "[\"loader.workers\", \"of.the_future\"]}",
					  .findings =
						  "{\"rule\": \"a/b\", \"state\": \"suppressed\","
						  "\"level\": \"high\", \"suppressed\": \"a/c\"}"},
			  "a", &arena);
	ck_assert_str_eq(run->facts[TP_FACT_LOADER_WORKERS].missing, "no loader");
	ck_assert_ptr_null(run->facts[TP_FACT_COMPUTE_THREADS].missing);
	ck_assert_int_eq(run->findings[0].state, TP_FINDING_FIRED);
	ck_assert(!run->findings[0].is_advice);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(findings_name_the_fact_that_must_change)
{
	struct tp_arena arena = {0};
	const struct tp_run_values *run = sheet_run(
		&(struct sheet){
			.step_ns = 1e7,
			.findings =
				"{\"rule\": \"a/b\", \"state\": \"fired\", \"level\": \"high\","
				"\"gain\": {\"speedup\": {\"value\": 1.5}, \"bracket\": [1.2, "
				"1.9]},"
				"\"verify\": \"step.dataloader_ratio, now 33 %, should fall.\"},"
				"{\"rule\": \"a/c\", \"state\": \"fired\", \"level\": \"high\","
				"\"suppressed\": \"a/b says it\"},"
				"{\"rule\": \"a/d\", \"state\": \"not_judged\"}"},
		"a", &arena);
	ck_assert_uint_eq(run->n_findings, 3);
	ck_assert_uint_eq(run->findings[0].moves, TP_FACT_STEP_DATALOADER);
	ck_assert(run->findings[0].is_advice && run->findings[0].has_gain);
	ck_assert(!run->findings[1].is_advice);
	ck_assert_int_eq(run->findings[2].state, TP_FINDING_NOT_JUDGED);
	tp_arena_release(&arena);
}
END_TEST

static void check_refused(const struct sheet *sheet, enum tp_status status, const char *words)
{
	struct tp_arena arena = {0};
	struct tp_run_values run;
	struct tp_error err = {0};
	ck_assert_int_eq(sheet_read(&run, sheet, "x.json", &arena, &err), status);
	ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
	tp_arena_release(&arena);
}

START_TEST(other_documents_and_versions_are_refused)
{
	check_refused(&(struct sheet){.schema = "trainprof-report/2.0", .step_ns = 1}, TP_VERSION,
		      "this reads trainprof-report/1.x");
	check_refused(&(struct sheet){.schema = "trainprof-plan/1.0", .step_ns = 1}, TP_PARSE,
		      "no report of trainprof");
}
END_TEST

START_TEST(impossible_times_are_refused)
{
	check_refused(&(struct sheet){.step_ns = -1e7}, TP_PARSE, "step.time_ns is below zero");
	check_refused(&(struct sheet){.step_ns = 1e7, .dataloader = -0.5}, TP_PARSE, "below zero");
	check_refused(&(struct sheet){.step_ns = 1e300}, TP_PARSE,
		      "step.time_ns is beyond 30 years");
}
END_TEST

Suite *suite_gate_report_read(void);

Suite *suite_gate_report_read(void)
{
	Suite *s = suite_create("gate_report_read");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, parts_sum_to_the_mean_step);
	tcase_add_test(tc, null_is_unknown_with_a_reason_and_not_zero);
	tcase_add_test(tc, version_1_1_lists_unknown_facts_by_reason_and_names_suppressed_findings);
	tcase_add_test(tc, findings_name_the_fact_that_must_change);
	tcase_add_test(tc, other_documents_and_versions_are_refused);
	tcase_add_test(tc, impossible_times_are_refused);
	suite_add_tcase(s, tc);
	return s;
}
