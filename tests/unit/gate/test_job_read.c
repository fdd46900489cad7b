/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading the report of a job. */
#include "trainprof/gate/budget.h"
#include "trainprof/gate/gate.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <string.h>

#define RANK(extra, compute, dataloader)                                                           \
	"{\"recording\": \"r\", \"is_duplicate\": false, \"is_cut\": false, " extra                \
	", \"parts_ns\": {\"compute\": " compute ", \"dataloader\": " dataloader "}}"
#define JOINED "\"is_joined\": true, \"end\": \"exited\", \"end_code\": 0"

static const char even[] = RANK(JOINED, "6e6", "4e6") "," RANK(JOINED, "8e6", "2e6") "," RANK(
	"\"is_joined\": false, \"end\": \"exited\", \"end_code\": 0", "9e9", "9e9");

static const struct tp_run_values *read_job(const char *joined_by, double step_ns,
					    const char *ranks, struct tp_arena *arena)
{
	struct tp_run_values *out = tp_arena_alloc(arena, sizeof(*out));
	struct tp_json_doc *doc = NULL;
	struct tp_error err = {0};
	const char *text = tp_arena_printf(
		arena,
		"{\"schema\": \"trainprof-job/1.0\", \"version\": \"1\", \"ranks_of_job\": 3,"
		"\"joined_by\": \"%s\", \"steps\": 50, \"step_ns\": %g, \"wait_ratio\": 0.2,"
		"\"late\": {\"place\": {\"file\": \"/x/train.py\", \"function\": \"load\","
		"\"line\": 7, \"part\": \"dataloader\", \"step_ns\": 3e6}},"
		"\"advice\": [{\"rule\": \"a/b\", \"headline\": \"H\", \"because\": \"B\","
		"\"speedup\": {\"kind\": \"estimate\", \"value\": 1.5, \"ci95\": [1.2, 2]}},"
		"{\"rule\": \"b/c\", \"speedup\": {\"value\": 1.5, \"ci95\": [-1, 2]}},"
		"{\"rule\": \"b/d\", \"speedup\": {\"value\": 1.5, \"ci95\": [1.2, \"2\"]}}],"
		"\"ranks\": [%s]}",
		joined_by, step_ns, ranks);
	ck_assert_int_eq(tp_json_parse(&doc, text, strlen(text), "job", &err), TP_OK);
	ck_assert_msg(tp_run_values_read(out, doc, "job", arena, &err) == TP_OK, "%s", err.text);
	tp_json_free(doc);
	return out;
}

START_TEST(parts_are_means_over_the_joined_ranks)
{
	struct tp_arena arena = {0};
	const struct tp_run_values *job = read_job("clock", 1e7, even, &arena);
	ck_assert(job->is_job && job->has_steps && job->has_parts);
	ck_assert_uint_eq(job->n_steps, 50);
	ck_assert_uint_eq(job->n_ranks, 3);
	ck_assert_double_eq_tol(job->facts[TP_FACT_STEP_TIME].value, 1e7, 1);
	ck_assert_double_eq_tol(job->part_ns[TP_PART_COMPUTE], 7e6, 1);
	ck_assert_double_eq_tol(job->part_ns[TP_PART_DATALOADER], 3e6, 1);
	ck_assert_double_eq_tol(job->facts[TP_FACT_STEP_DATALOADER].value, 0.3, 1e-9);
	ck_assert(!job->facts[TP_FACT_LOADER_WORKERS].is_known);
	ck_assert(strstr(job->facts[TP_FACT_LOADER_WORKERS].missing, "report of a job"));
	ck_assert_str_eq(job->places.items[0].text, "train.py:7 (load)");
	ck_assert(job->findings[0].is_advice);
	ck_assert(job->findings[0].has_gain);
	ck_assert_double_eq_tol(job->findings[0].gain_high, 2, 1e-9);
	/* No speed-up at all. */
	ck_assert(!job->findings[1].has_gain && !job->findings[2].has_gain);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(without_joined_steps_no_time_is_known)
{
	static const char *const ways[] = {"shares", "none"};
	for (size_t i = 0; i < 2; i++) {
		struct tp_arena arena = {0};
		const struct tp_run_values *job = read_job(ways[i], 1e9, even, &arena);
		ck_assert(!job->has_steps && !job->has_parts);
		ck_assert(!job->facts[TP_FACT_STEP_TIME].is_known);
		ck_assert(!job->facts[TP_FACT_STEP_DATALOADER].is_known);
		tp_arena_release(&arena);
	}
}
END_TEST

START_TEST(a_failed_rank_is_a_failed_job)
{
	struct tp_arena arena = {0};
	const char *killed =
		tp_arena_printf(&arena, "%s,%s", even,
				RANK("\"is_joined\": true, \"end\": \"signaled\"", "6e6", "4e6"));
	const char *failed =
		tp_arena_printf(&arena, "%s,%s",
				RANK("\"is_joined\": true, \"end\": \"exited\", \"end_code\": 7",
				     "6e6", "4e6"),
				even);
	ck_assert_str_eq(read_job("clock", 1e7, killed, &arena)->end, "signaled");
	ck_assert_uint_eq(read_job("clock", 1e7, failed, &arena)->end_code, 7);
	ck_assert_uint_eq(read_job("clock", 1e7, even, &arena)->end_code, 0);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(a_job_without_some_of_its_ranks_never_passes)
{
	struct tp_arena arena = {0};
	const char *cut = "{\"recording\": \"r\", \"is_cut\": true, \"is_joined\": false}";
	const char *ranks = tp_arena_printf(&arena, "%s,%s", even, cut);
	const struct tp_run_values *now[] = {read_job("clock", 1e7, ranks, &arena)};
	const struct tp_assertion a = {.name = "step.time_ns",
				       .is_error = true,
				       .fact = TP_FACT_STEP_TIME,
				       .has_max = true,
				       .max = 1e9};
	const struct tp_budget budget = {.path = "b", .assertions = &a, .n_assertions = 1};
	struct tp_budget_runs runs = {.now = now, .n_now = 1};
	struct tp_budget_result result;
	ck_assert_int_eq(tp_budget_check(&result, &budget, &runs, &arena, NULL), TP_OK);
	ck_assert_int_eq(result.items[0].answer, TP_GATE_UNDECIDED);
	now[0] = read_job("clock", 1e7, even, &arena);
	ck_assert_int_eq(tp_budget_check(&result, &budget, &runs, &arena, NULL), TP_OK);
	ck_assert_int_eq(result.items[0].answer, TP_GATE_PASS);
	tp_arena_release(&arena);
}
END_TEST

static enum tp_gate_answer count_advice(const char *pattern, double max)
{
	struct tp_arena arena = {0};
	const struct tp_run_values *now[] = {read_job("clock", 1e7, even, &arena)};
	const struct tp_assertion a = {.name = "finding",
				       .is_error = true,
				       .pattern = pattern,
				       .fact = tp_n_facts,
				       .has_count = true,
				       .max_count = max};
	const struct tp_budget budget = {.path = "b", .assertions = &a, .n_assertions = 1};
	const struct tp_budget_runs runs = {.now = now, .n_now = 1};
	struct tp_budget_result result;
	ck_assert_int_eq(tp_budget_check(&result, &budget, &runs, &arena, NULL), TP_OK);
	enum tp_gate_answer answer = result.items[0].answer;
	ck_assert(result.items[0].is_measured == (answer == TP_GATE_FAIL));
	tp_arena_release(&arena);
	return answer;
}

START_TEST(advice_may_exceed_a_limit_and_never_holds_one)
{
	ck_assert_int_eq(count_advice("a/*", 0), TP_GATE_FAIL);
	ck_assert_int_eq(count_advice("a/*", 1), TP_GATE_UNDECIDED);
	ck_assert_int_eq(count_advice("c/*", 0), TP_GATE_UNDECIDED);
}
END_TEST

START_TEST(contradictions_are_refused)
{
	static const char *const texts[] = {
		"{\"schema\": \"trainprof-job/1.0\"}",
		"{\"schema\": \"trainprof-job/2.0\", \"ranks\": []}",
		("{\"schema\": \"trainprof-job/1.0\", \"joined_by\": \"clock\", \"steps\": 5,"
		 "\"step_ns\": -1, \"ranks\": []}"),
	};
	for (size_t i = 0; i < 3; i++) {
		struct tp_arena arena = {0};
		struct tp_run_values out;
		struct tp_json_doc *doc = NULL;
		ck_assert_int_eq(tp_json_parse(&doc, texts[i], strlen(texts[i]), "job", NULL),
				 TP_OK);
		ck_assert_int_ne(tp_run_values_read(&out, doc, "job", &arena, NULL), TP_OK);
		tp_json_free(doc);
		tp_arena_release(&arena);
	}
}
END_TEST

Suite *suite_gate_job_read(void);

Suite *suite_gate_job_read(void)
{
	Suite *s = suite_create("gate_job_read");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, parts_are_means_over_the_joined_ranks);
	tcase_add_test(tc, without_joined_steps_no_time_is_known);
	tcase_add_test(tc, a_failed_rank_is_a_failed_job);
	tcase_add_test(tc, a_job_without_some_of_its_ranks_never_passes);
	tcase_add_test(tc, advice_may_exceed_a_limit_and_never_holds_one);
	tcase_add_test(tc, contradictions_are_refused);
	suite_add_tcase(s, tc);
	return s;
}
