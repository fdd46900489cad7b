/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the guide's entries that a finding contains. */
#include "advise/judge/references.h"
#include "advise/shelfbook.h"

#include "trainprof/model/fact.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct tp_references *found(struct tp_quantity *facts, struct tp_arena *arena,
					 const char *technique)
{
	struct tp_rule_context context = {.book = book, .facts = facts, .arena = arena};
	return tp_references_find(&context, technique);
}

START_TEST(figures_come_with_hardware_baseline_and_source)
{
	struct tp_quantity facts[TP_N_FACTS];
	struct tp_arena arena = {0};
	facts_init(facts);
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{}");
	load_anew();
	const struct tp_references *fast = found(facts, &arena, "fast");
	ck_assert_str_eq(fast->title, "Read faster");
	ck_assert_str_eq(fast->effort, "flag");
	ck_assert_str_eq(fast->effort_text, "a flag or a variable");
	ck_assert_str_eq(fast->risk, "none");
	ck_assert_uint_eq(fast->n_reported, 2);
	ck_assert_str_eq(fast->reported[0].text, "1.5x");
	ck_assert_str_eq(fast->reported[0].hardware, "one A100");
	ck_assert_str_eq(fast->reported[0].baseline, "reading slowly");
	ck_assert_str_eq(fast->reported[0].source.title, "Paper A");
	ck_assert_str_eq(fast->reported[1].source.checked, "2026-11-21");
	ck_assert_ptr_null(found(facts, &arena, "other"));
	tp_arena_release(&arena);
}
END_TEST

START_TEST(fewer_iterations_come_with_what_is_to_be_beaten)
{
	struct tp_quantity facts[TP_N_FACTS];
	struct tp_arena arena = {0};
	facts_init(facts);
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{}");
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
	const struct tp_yardstick *against = found(facts, &arena, "slow")->against;
	ck_assert_ptr_nonnull(against);
	ck_assert_str_eq(against->technique, "fast");
	ck_assert_str_eq(against->title, "Read faster");
	ck_assert_uint_eq(against->n_reported, 2);
	ck_assert_str_eq(against->reported[1].text, "2x");
	ck_assert_str_eq(against->reported[1].source.title, "Paper B");
	ck_assert_ptr_null(found(facts, &arena, "fast")->against);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(conditions_are_held_against_the_run)
{
	struct tp_quantity facts[TP_N_FACTS];
	struct tp_arena arena = {0};
	facts_init(facts);
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{}");
	load_anew();
	const struct tp_references *fast = found(facts, &arena, "fast");
	ck_assert_uint_eq(fast->n_caveats, 3);
	ck_assert(fast->caveats[0].is_need && fast->caveats[1].is_need &&
		  !fast->caveats[2].is_need);
	ck_assert_int_eq(fast->caveats[0].holds, -1);
	ck_assert_int_eq(fast->caveats[1].holds, -1);
	ck_assert_int_eq(fast->caveats[2].holds, -1);
	facts_set(facts, TP_FACT_CPU_IDLE, 0.2);
	fast = found(facts, &arena, "fast");
	ck_assert_int_eq(fast->caveats[0].holds, 0);
	ck_assert_int_eq(fast->caveats[1].holds, -1); /* text without a condition */
	ck_assert_int_eq(fast->caveats[2].holds, 1);
	tp_arena_release(&arena);
}
END_TEST

START_TEST(findings_carry_it_and_outlive_the_book)
{
	struct tp_profile profile;
	struct tp_findings findings;
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{}");
	shelf_put_advice(&shelf, "a", "step.count > 1", "\"technique\": \"fast\"", "");
	load_anew();
	tp_profile_init(&profile, NULL);
	tp_profile_set(&profile, TP_FACT_STEP_COUNT, 9, TP_ORIGIN_MEASURED, 1);
	tp_advise(&findings, book, &profile);
	tp_rulebook_free(book);
	book = NULL;
	ck_assert_uint_eq(findings.n_fired, 1);
	ck_assert_ptr_nonnull(findings.items[0].actions[0].literature);
	ck_assert_str_eq(findings.items[0].actions[0].literature->reported[1].hardware,
			 "not stated");
	tp_findings_release(&findings);
	tp_profile_release(&profile);
}
END_TEST

START_TEST(applied_techniques_are_reported_with_their_evidence)
{
	struct tp_quantity facts[TP_N_FACTS];
	struct tp_arena arena = {0};
	const char *seen = "old";
	facts_init(facts);
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{}");
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
	struct tp_rule_context context = {.book = book, .facts = facts, .arena = &arena};
	ck_assert(!tp_references_is_applied(&context, "fast", &seen)); /* not known */
	facts_set(facts, TP_FACT_LOADER_WORKERS, 0);
	ck_assert(!tp_references_is_applied(&context, "fast", &seen));
	facts_set(facts, TP_FACT_LOADER_WORKERS, 2);
	ck_assert(tp_references_is_applied(&context, "fast", &seen));
	ck_assert_ptr_null(seen);
	facts[TP_FACT_LOADER_WORKERS].seen = "thread loader";
	ck_assert(tp_references_is_applied(&context, "fast", &seen));
	ck_assert_str_eq(seen, "thread loader");
	ck_assert(!tp_references_is_applied(&context, "slow", &seen));
	ck_assert(!tp_references_is_applied(&context, "other", &seen));
	tp_arena_release(&arena);
}
END_TEST

/* The facts that show that a shipped technique is in use. */
static const struct {
	const char *technique;
	enum tp_fact fact;
} shipped[] = {
	{"act-checkpoint", TP_FACT_SET_RECOMPUTE},
	{"amp", TP_FACT_SET_AMP},
	{"async-checkpoint", TP_FACT_SET_ASYNC_SAVE},
	{"comm-dtype", TP_FACT_SET_COMM_HALF},
	{"cuda-graphs", TP_FACT_SET_GRAPHS},
	{"ddp-not-dp", TP_FACT_SET_DDP},
	{"expandable-segments", TP_FACT_SET_EXPANDABLE},
	{"ffcv-format", TP_FACT_SET_FFCV},
	{"flash-attention", TP_FACT_SET_FLASH},
	{"fp8", TP_FACT_SET_FP8},
	{"fsdp", TP_FACT_SET_FSDP},
	{"fused-kernels", TP_FACT_SET_FUSED_KERNELS},
	{"fused-optimizer", TP_FACT_SET_FUSED_OPTIMIZER},
	{"gpu-decode", TP_FACT_SET_GPU_DECODE},
	{"huge-pages", TP_FACT_SET_HUGE},
	{"lora", TP_FACT_SET_LORA},
	{"numa-bind", TP_FACT_SET_BOUND},
	{"optim-8bit", TP_FACT_SET_OPTIM_8BIT},
	{"optim-offload", TP_FACT_SET_OPTIM_HOST},
	{"pin-memory", TP_FACT_SET_PINNED},
	{"powersgd", TP_FACT_SET_POWERSGD},
	{"stream-shards", TP_FACT_SET_SHARDS},
	{"tar-shards", TP_FACT_SET_SHARDS},
	{"tc-jemalloc", TP_FACT_ENV_MALLOC},
	{"tf32", TP_FACT_SET_TF32},
	{"torch-compile", TP_FACT_SET_COMPILED},
	{"xla-jit", TP_FACT_SET_XLA},
	{"zero12", TP_FACT_SET_ZERO},
	{"zero12", TP_FACT_SET_FSDP},
};

START_TEST(each_setting_is_the_technique_it_shows)
{
	const char *directory = "rules";
	struct tp_quantity facts[TP_N_FACTS];
	struct tp_arena arena = {0};
	const char *seen;
	ck_assert_msg(!tp_rulebook_load(&book, &directory, 1, &err), "%s", err.text);
	for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++) {
		const char *technique = shipped[i].technique;
		facts_init(facts);
		struct tp_rule_context context = {.book = book, .facts = facts, .arena = &arena};
		ck_assert_msg(!tp_references_is_applied(&context, technique, &seen), "%s",
			      technique);
		facts_set(facts, shipped[i].fact, 0);
		ck_assert_msg(!tp_references_is_applied(&context, technique, &seen), "%s",
			      technique);
		facts_set(facts, shipped[i].fact, 1);
		facts[shipped[i].fact].seen = "x";
		ck_assert_msg(tp_references_is_applied(&context, technique, &seen), "%s",
			      technique);
		ck_assert_str_eq(seen, "x");
	}
	tp_arena_release(&arena);
}
END_TEST

START_TEST(debugging_is_off_when_nothing_is_left_on)
{
	const char *directory = "rules";
	struct tp_quantity facts[TP_N_FACTS];
	struct tp_arena arena = {0};
	const char *seen;
	ck_assert_msg(!tp_rulebook_load(&book, &directory, 1, &err), "%s", err.text);
	facts_init(facts);
	struct tp_rule_context context = {.book = book, .facts = facts, .arena = &arena};
	ck_assert(!tp_references_is_applied(&context, "debug-off", &seen));
	facts_set(facts, TP_FACT_SET_BLOCKING, 0);
	facts_set(facts, TP_FACT_SET_DEBUG, 0);
	ck_assert(tp_references_is_applied(&context, "debug-off", &seen));
	facts_set(facts, TP_FACT_SET_ANOMALY, 1);
	ck_assert(!tp_references_is_applied(&context, "debug-off", &seen));
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_advise_references(void);
Suite *suite_advise_references(void)
{
	Suite *suite = suite_create("advise_literature");
	TCase *tcase = tcase_create("literature");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, figures_come_with_hardware_baseline_and_source);
	tcase_add_test(tcase, conditions_are_held_against_the_run);
	tcase_add_test(tcase, fewer_iterations_come_with_what_is_to_be_beaten);
	tcase_add_test(tcase, findings_carry_it_and_outlive_the_book);
	tcase_add_test(tcase, applied_techniques_are_reported_with_their_evidence);
	tcase_add_test(tcase, each_setting_is_the_technique_it_shows);
	tcase_add_test(tcase, debugging_is_off_when_nothing_is_left_on);
	suite_add_tcase(suite, tcase);
	return suite;
}
