/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of one rule applied to one run. */
#include "advise/judge/judge.h"
#include "advise/shelf.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <string.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static struct tp_arena arena;
static struct tp_quantity facts[TP_N_FACTS];

static void setup(void)
{
	shelf_open(&shelf);
	book = NULL;
	tp_arena_init(&arena);
	facts_init(facts);
	facts_set(facts, TP_FACT_STEP_COUNT, 100);
}

static void teardown(void)
{
	tp_arena_release(&arena);
	tp_rulebook_free(book);
	shelf_close(&shelf);
}

static struct tp_finding judged(const char *id)
{
	struct tp_error err = {0};
	struct tp_gain gain;
	if (!book)
		ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
	struct tp_rule_context context = {.book = book,
					  .facts = facts,
					  .terms.whole = "each step",
					  .basis = tp_gain_input_of_facts(facts),
					  .arena = &arena};
	return tp_judge_rule(&context, tp_rulebook_find(book, id), &gain);
}

START_TEST(a_rule_fires_stays_quiet_or_cannot_be_judged)
{
	shelf_put_rule(&shelf, "a", "step.compute_ratio > 50%", "");
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_NOT_JUDGED);
	ck_assert_str_eq(judged("test/a").not_judged_because,
			 "step.compute_ratio is not known: not measured");
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.4);
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_QUIET);
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.6);
	struct tp_finding finding = judged("test/a");
	ck_assert_int_eq(finding.state, TP_FINDING_FIRED);
	ck_assert_str_eq(finding.because, "100 steps.");
	ck_assert_str_eq(finding.headline, "Do a");
	ck_assert_uint_eq(finding.n_actions, 1);
	ck_assert_uint_eq(finding.n_evidence, 1);
	ck_assert_str_eq(finding.sources[0].checked, "2026-11-20");
}
END_TEST

START_TEST(a_rule_fires_only_if_its_facts_are_known)
{
	shelf_put_rule(&shelf, "a", "step.compute_ratio > 50%", "");
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.6);
	facts[TP_FACT_STEP_COUNT] = (struct tp_quantity){.missing = "steps were not resolved"};
	ck_assert_str_eq(judged("test/a").not_judged_because,
			 "step.count is not known: steps were not resolved");
	/* If the condition is false, no other fact is needed. */
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.4);
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_QUIET);
}
END_TEST

START_TEST(a_rule_about_another_kind_of_recording_is_quiet)
{
	shelf_put_rule(&shelf, "a", "device.busy_ratio < 50% and step.compute_ratio > 50%", "");
	facts[TP_FACT_DEVICE_BUSY] =
		(struct tp_quantity){.missing = "only imported traces tell", .is_foreign = true};
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_QUIET);
	ck_assert_str_eq(judged("test/a").quiet_because, "it is about another kind of recording");
	/* A rule about this kind of recording with a missing fact stays unjudged. */
	facts_set(facts, TP_FACT_DEVICE_BUSY, 0.4);
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_NOT_JUDGED);
}
END_TEST

START_TEST(a_rule_on_facts_entered_by_hand_says_how_to_enter_them)
{
	shelf_put_rule(&shelf, "a",
		       "device.busy_ratio > 50% and data.size_bytes > 1GB and job.nodes > 1", "");
	facts[TP_FACT_DEVICE_BUSY] = (struct tp_quantity){.missing = "m", .is_foreign = true};
	facts[TP_FACT_DATA_SIZE] = (struct tp_quantity){.missing = "m", .is_foreign = true};
	facts[TP_FACT_JOB_NODES] = facts[TP_FACT_DATA_SIZE];
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_QUIET);
	ck_assert_str_eq(judged("test/a").quiet_because,
			 "only a file of facts has data.size_bytes (trainprof advise)");
	facts_set(facts, TP_FACT_DATA_SIZE, 2e9);
	facts_set(facts, TP_FACT_JOB_NODES, 2);
	ck_assert_str_eq(judged("test/a").quiet_because, "it is about another kind of recording");
	facts_set(facts, TP_FACT_DEVICE_BUSY, 0.9);
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_FIRED);
}
END_TEST

START_TEST(a_look_alike_keeps_a_rule_quiet_and_says_so)
{
	shelf_put_rule(
		&shelf, "a", "step.compute_ratio > 50%",
		", \"unless\": [{\"when\": \"cpu.steal_ratio > 10%\", \"because\": \"stolen\"}]");
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.6);
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_NOT_JUDGED);
	facts_set(facts, TP_FACT_CPU_STEAL, 0.5);
	ck_assert_int_eq(judged("test/a").state, TP_FINDING_QUIET);
	ck_assert_str_eq(judged("test/a").quiet_because, "stolen");
	facts_set(facts, TP_FACT_CPU_STEAL, 0.01);
	struct tp_finding finding = judged("test/a");
	ck_assert_int_eq(finding.state, TP_FINDING_FIRED);
	ck_assert_str_eq(finding.evidence[1].op, "<=");
	ck_assert_int_eq(finding.evidence[1].holds, 1);
}
END_TEST

START_TEST(a_child_speaks_only_where_its_parent_fired)
{
	shelf_put_rule(&shelf, "parent", "step.compute_ratio > 50%", "");
	shelf_put_rule(&shelf, "child", "step.host_ratio > 10%", ", \"parent\": \"test/parent\"");
	facts_set(facts, TP_FACT_STEP_HOST, 0.2);
	ck_assert_int_eq(judged("test/child").state, TP_FINDING_NOT_JUDGED);
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.1);
	ck_assert_str_eq(judged("test/child").quiet_because, "test/parent does not hold");
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.7);
	ck_assert_int_eq(judged("test/child").state, TP_FINDING_FIRED);
	facts_set(facts, TP_FACT_STEP_HOST, 0.01);
	ck_assert_int_eq(judged("test/child").state, TP_FINDING_QUIET);
}
END_TEST

START_TEST(each_doubt_lowers_confidence_and_is_named)
{
	shelf_put(&shelf, "thresholds.json",
		  "{\"thresholds\": [{\"name\": \"confidence.coverage\", \"value\": \"50%\", "
		  "\"why\": \"w\"}],\n"
		  "\"doubts\": [{\"when\": \"run.records_lost_ratio > 1%\", \"because\": "
		  "\"lost\"}]}");
	shelf_put_rule(&shelf, "a", "step.compute_ratio > 50%", "");
	facts_set_range(facts, TP_FACT_STEP_COMPUTE, 0.8, 0.7, 0.9);
	ck_assert_int_eq(judged("test/a").confidence, TP_CONFIDENCE_HIGH);
	ck_assert_ptr_null(judged("test/a").doubts);
	facts_set_range(facts, TP_FACT_STEP_COMPUTE, 0.6, 0.4, 0.8);
	ck_assert_int_eq(judged("test/a").confidence, TP_CONFIDENCE_MEDIUM);
	ck_assert_str_eq(judged("test/a").doubts, "the interval of a value includes its limit");
	facts[TP_FACT_STEP_COMPUTE].coverage = 0.3;
	ck_assert_int_eq(judged("test/a").confidence, TP_CONFIDENCE_LOW);
	facts_set(facts, TP_FACT_RUN_RECORDS_LOST_RATIO, 0.2);
	ck_assert_int_eq(judged("test/a").confidence, TP_CONFIDENCE_LOW);
	ck_assert_str_eq(judged("test/a").doubts, "the interval of a value includes its limit; "
						  "only 30 % of the values were recorded; "
						  "lost");
}
END_TEST

START_TEST(levels_come_from_the_rule)
{
	shelf_put_rule(&shelf, "a", "step.compute_ratio > 5%",
		       ", \"level\": {\"high\": \"sure(step.compute_ratio > 50%)\", "
		       "\"medium\": \"step.compute_ratio > 20%\"}");
	facts_set_range(facts, TP_FACT_STEP_COMPUTE, 0.6, 0.55, 0.65);
	ck_assert_int_eq(judged("test/a").level, TP_LEVEL_HIGH);
	facts_set_range(facts, TP_FACT_STEP_COMPUTE, 0.6, 0.45, 0.75);
	ck_assert_int_eq(judged("test/a").level, TP_LEVEL_MEDIUM);
	facts_set(facts, TP_FACT_STEP_COMPUTE, 0.1);
	ck_assert_int_eq(judged("test/a").level, TP_LEVEL_LOW);
}
END_TEST

START_TEST(actions_that_are_or_may_be_done_are_not_advised)
{
	shelf_put(&shelf, "bottlenecks/test/a.json",
		  "{\"id\": \"test/a\", \"title\": \"T\", \"needs\": [\"step.count\"],\n"
		  "\"when\": [\"step.count > 1\"], \"because\": \"b\",\n"
		  "\"do\": [{\"headline\": \"One\", \"text\": \"One.\", \"technique\": \"one\",\n"
		  "          \"when\": \"not env.malloc_tuned\"},\n"
		  "         {\"headline\": \"Two\", \"text\": \"Two.\", \"technique\": \"two\"}],\n"
		  "\"price\": \"p\", \"verify\": \"v\",\n"
		  "\"sources\": [{\"title\": \"T\", \"where\": \"W\", \"checked\": "
		  "\"2026-11-20\"}]}");
	ck_assert_str_eq(judged("test/a").headline, "Two"); /* not known if it is done already */
	facts_set(facts, TP_FACT_ENV_MALLOC, 1);
	ck_assert_str_eq(judged("test/a").headline, "Two");
	ck_assert_uint_eq(judged("test/a").n_actions, 1);
	facts_set(facts, TP_FACT_ENV_MALLOC, 0);
	ck_assert_str_eq(judged("test/a").headline, "One");
	ck_assert_uint_eq(judged("test/a").n_actions, 2);
}
END_TEST

START_TEST(applied_techniques_are_left_out_and_reported)
{
	shelf_put_guide(&shelf);
	shelf_put(
		&shelf, "bottlenecks/test/a.json",
		"{\"id\": \"test/a\", \"title\": \"T\", \"needs\": [\"step.count\"],\n"
		"\"limits\": [\"wait\"],\n"
		"\"when\": [\"step.count > 1\"], \"because\": \"b\",\n"
		"\"do\": [{\"headline\": \"One\", \"text\": \"One.\", \"technique\": \"fast\"},\n"
		"         {\"headline\": \"Two\", \"text\": \"Two.\", \"technique\": \"slow\"}],\n"
		"\"price\": \"p\", \"verify\": \"v\",\n"
		"\"sources\": [{\"title\": \"T\", \"where\": \"W\", \"checked\": "
		"\"2026-11-20\"}]}");
	struct tp_finding unknown = judged("test/a");
	ck_assert_uint_eq(unknown.n_actions, 2);
	ck_assert_ptr_null(unknown.done);
	facts_set(facts, TP_FACT_LOADER_WORKERS, 4);
	facts[TP_FACT_LOADER_WORKERS].seen = "thread loader";
	struct tp_finding finding = judged("test/a");
	ck_assert_uint_eq(finding.n_actions, 1);
	ck_assert_str_eq(finding.headline, "Two");
	ck_assert_str_eq(finding.done, "fast (thread loader)");
}
END_TEST

static const char *sentence_of_idiom(uint64_t shared_ns)
{
	static const char *strings[] = {"", "/home/a/train.py", "Data.read"};
	static const struct tp_trace trace = {.strings = strings, .n_strings = 3};
	struct tp_idiom_result idiom = {.id = "idiom/a",
					.main_ns = 100,
					.shared_ns = shared_ns,
					.n_samples = 50,
					.file = 1,
					.symbol = 2,
					.line = 31};
	struct tp_profile profile = {.trace = &trace, .idioms = &idiom, .n_idioms = 1};
	struct tp_gain gain;
	struct tp_rule_context context = {.book = book,
					  .profile = &profile,
					  .facts = facts,
					  .terms.whole = "each step",
					  .basis = tp_gain_input_of_facts(facts),
					  .arena = &arena};
	struct tp_finding finding =
		tp_judge_rule(&context, tp_rulebook_find(book, "idiom/a"), &gain);
	ck_assert_str_eq(finding.place, "train.py:31 in read()");
	return finding.because;
}

START_TEST(the_sentence_of_an_idiom_names_the_line_and_its_other_calls)
{
	struct tp_error err = {0};
	shelf_put(&shelf, "thresholds.json",
		  "{\"thresholds\": [{\"name\": \"idiom.shared\", \"value\": \"20%\",\n"
		  "\"why\": \"w\"}]}");
	shelf_put(&shelf, "idioms/a.json",
		  "{\"id\": \"idiom/a\", \"title\": \"T\",\n"
		  "\"match\": [{\"code\": [\"*f(*\"]}], \"needs\": [\"idiom.samples\"],\n"
		  "\"when\": [\"idiom.samples > 5\"], \"because\": \"Parsing takes long.\",\n"
		  "\"do\": [{\"headline\": \"Stop\", \"text\": \"Stop.\", \"id\": \"a\"}],\n"
		  "\"price\": \"p\", \"verify\": \"v\",\n"
		  "\"sources\": [{\"title\": \"T\", \"where\": \"W\", \"checked\": "
		  "\"2026-11-20\"}]}");
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
	ck_assert_str_eq(sentence_of_idiom(20), "Parsing takes long: train.py:31.");
	ck_assert_str_eq(sentence_of_idiom(21),
			 "Parsing takes long, with the other calls of the line: train.py:31.");
}
END_TEST

Suite *suite_advise_judge(void);
Suite *suite_advise_judge(void)
{
	Suite *suite = suite_create("advise_judge");
	TCase *tcase = tcase_create("judge");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_rule_fires_stays_quiet_or_cannot_be_judged);
	tcase_add_test(tcase, a_rule_fires_only_if_its_facts_are_known);
	tcase_add_test(tcase, a_rule_on_facts_entered_by_hand_says_how_to_enter_them);
	tcase_add_test(tcase, a_look_alike_keeps_a_rule_quiet_and_says_so);
	tcase_add_test(tcase, a_rule_about_another_kind_of_recording_is_quiet);
	tcase_add_test(tcase, a_child_speaks_only_where_its_parent_fired);
	tcase_add_test(tcase, each_doubt_lowers_confidence_and_is_named);
	tcase_add_test(tcase, levels_come_from_the_rule);
	tcase_add_test(tcase, actions_that_are_or_may_be_done_are_not_advised);
	tcase_add_test(tcase, applied_techniques_are_left_out_and_reported);
	tcase_add_test(tcase, the_sentence_of_an_idiom_names_the_line_and_its_other_calls);
	suite_add_tcase(suite, tcase);
	return suite;
}
