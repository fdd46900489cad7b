/* Claims about what a finding carries of the guide. */
#include "advise/literature.h"
#include "advise/shelfbook.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct tp_literature *found(struct tp_quantity *facts, struct tp_arena *arena,
					 const char *technique)
{
	struct tp_matter matter = {.book = book, .facts = facts, .arena = arena};
	return tp_literature_find(&matter, technique);
}

START_TEST(figures_come_with_hardware_baseline_and_source)
{
	struct tp_quantity facts[TP_N_FACTS];
	struct tp_arena arena = {0};
	facts_init(facts);
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{}");
	load_anew();
	const struct tp_literature *fast = found(facts, &arena, "fast");
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
	const struct tp_literature *fast = found(facts, &arena, "fast");
	ck_assert_uint_eq(fast->n_caveats, 3);
	ck_assert(fast->caveats[0].is_need && fast->caveats[1].is_need &&
		  !fast->caveats[2].is_need);
	ck_assert_int_eq(fast->caveats[0].holds, -1);
	ck_assert_int_eq(fast->caveats[1].holds, -1);
	ck_assert_int_eq(fast->caveats[2].holds, -1);
	facts_set(facts, TP_FACT_CPU_IDLE, 0.2);
	fast = found(facts, &arena, "fast");
	ck_assert_int_eq(fast->caveats[0].holds, 0);
	ck_assert_int_eq(fast->caveats[1].holds, -1); /* words alone */
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

START_TEST(what_is_applied_is_told_with_what_showed_it)
{
	struct tp_quantity facts[TP_N_FACTS];
	struct tp_arena arena = {0};
	const char *seen = "old";
	facts_init(facts);
	shelf_put_guide(&shelf);
	shelf_put(&shelf, "thresholds.json", "{}");
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
	struct tp_matter matter = {.book = book, .facts = facts, .arena = &arena};
	ck_assert(!tp_literature_is_done(&matter, "fast", &seen)); /* nobody knows */
	facts_set(facts, TP_FACT_LOADER_WORKERS, 0);
	ck_assert(!tp_literature_is_done(&matter, "fast", &seen));
	facts_set(facts, TP_FACT_LOADER_WORKERS, 2);
	ck_assert(tp_literature_is_done(&matter, "fast", &seen));
	ck_assert_ptr_null(seen);
	facts[TP_FACT_LOADER_WORKERS].seen = "thread loader";
	ck_assert(tp_literature_is_done(&matter, "fast", &seen));
	ck_assert_str_eq(seen, "thread loader");
	ck_assert(!tp_literature_is_done(&matter, "slow", &seen));
	ck_assert(!tp_literature_is_done(&matter, "other", &seen));
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_advise_literature(void);
Suite *suite_advise_literature(void)
{
	Suite *suite = suite_create("advise_literature");
	TCase *tcase = tcase_create("literature");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, figures_come_with_hardware_baseline_and_source);
	tcase_add_test(tcase, conditions_are_held_against_the_run);
	tcase_add_test(tcase, fewer_iterations_come_with_what_is_to_be_beaten);
	tcase_add_test(tcase, findings_carry_it_and_outlive_the_book);
	tcase_add_test(tcase, what_is_applied_is_told_with_what_showed_it);
	suite_add_tcase(suite, tcase);
	return suite;
}
