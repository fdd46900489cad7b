/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the selection and the order of findings. */
#include "advise/judge/finding_order.h"
#include "advise/shelf.h"

#include <check.h>
#include <string.h>

static struct shelf shelf;
static struct tp_rulebook *book;
static struct tp_arena arena;
static struct tp_candidate candidates[8];

static void setup(void)
{
	shelf_open(&shelf);
	book = NULL;
	tp_arena_init(&arena);
	shelf_put(&shelf, "thresholds.json",
		  "{\"thresholds\": [\n"
		  "{\"name\": \"gain.smallest\", \"value\": \"3%\", \"why\": \"w\"},\n"
		  "{\"name\": \"gain.smallest_bound\", \"value\": \"6%\", \"why\": \"w\"},\n"
		  "{\"name\": \"idiom.covers\", \"value\": \"50%\", \"why\": \"w\"}]}");
}

static void teardown(void)
{
	tp_arena_release(&arena);
	tp_rulebook_free(book);
	shelf_close(&shelf);
}

static void load(void)
{
	struct tp_error err = {0};
	ck_assert_msg(!shelf_load(&shelf, &book, &err), "%s", err.text);
}

/* Fires the i-th rule with this gain; 0: the gain is not known. */
static void fire(size_t i, double gain, enum tp_confidence confidence)
{
	candidates[i] = (struct tp_candidate){.rule = &book->rules[i]};
	candidates[i].finding = (struct tp_finding){.state = TP_FINDING_FIRED,
						    .rule = book->rules[i].id,
						    .kind = book->rules[i].kind,
						    .n_actions = 1,
						    .has_gain = gain > 0,
						    .gain_low = gain,
						    .gain_value = gain,
						    .gain_high = gain,
						    .confidence = confidence};
}

static const char *order(size_t n)
{
	struct tp_buf out = {0};
	for (size_t i = 0; i < n; i++)
		tp_buf_puts(&out, strchr(candidates[i].rule->id, '/') + 1);
	const char *text = tp_arena_strdup(&arena, tp_buf_text(&out));
	tp_buf_release(&out);
	return text;
}

START_TEST(advice_is_sorted_by_gain)
{
	for (const char *name = "abcde"; *name; name++)
		shelf_put_rule(&shelf, (char[]){*name, '\0'}, "true", "");
	load();
	fire(0, 1.2, TP_CONFIDENCE_HIGH);
	fire(1, 1.5, TP_CONFIDENCE_HIGH);
	fire(2, 1.6, TP_CONFIDENCE_LOW);
	fire(3, 0, TP_CONFIDENCE_HIGH);
	fire(4, 1.2, TP_CONFIDENCE_HIGH);
	tp_finding_order_suppress(candidates, 5, book, &arena);
	ck_assert_uint_eq(tp_finding_order_sort(candidates, 5), 5);
	ck_assert_str_eq(order(5), "cbaed");
}
END_TEST

START_TEST(sure_advice_comes_before_larger_uncertain_advice)
{
	for (const char *name = "abcd"; *name; name++)
		shelf_put_rule(&shelf, (char[]){*name, '\0'}, "true", "");
	load();
	fire(0, 4.0, TP_CONFIDENCE_HIGH);
	fire(1, 1.1, TP_CONFIDENCE_HIGH);
	fire(2, 2.0, TP_CONFIDENCE_HIGH);
	fire(3, 1.2, TP_CONFIDENCE_HIGH);
	candidates[0].finding.sureness = TP_WORTH_A_TRY;
	candidates[2].finding.sureness = TP_LIKELY;
	ck_assert_uint_eq(tp_finding_order_sort(candidates, 4), 4);
	ck_assert_str_eq(order(4), "dbca");
}
END_TEST

/* An estimate by its value, a floor by its begin; bounds behind them, by their end. */
START_TEST(advice_is_sorted_by_the_printed_gain)
{
	for (const char *name = "abcde"; *name; name++)
		shelf_put_rule(&shelf, (char[]){*name, '\0'}, "true", "");
	load();
	fire(0, 1.3, TP_CONFIDENCE_HIGH);
	fire(1, 1.24, TP_CONFIDENCE_HIGH); /* the middle of "up to 1.54x" */
	candidates[1].finding.gain_low = 1;
	candidates[1].finding.gain_high = 1.54;
	fire(2, 1.4, TP_CONFIDENCE_HIGH); /* "at least 1.40x" */
	candidates[2].finding.gain_high = 100;
	fire(3, 4, TP_CONFIDENCE_HIGH); /* "not known": up to 16 times is no plausible step */
	candidates[3].finding.gain_low = 1;
	candidates[3].finding.gain_high = 16;
	fire(4, 1.3049, TP_CONFIDENCE_HIGH); /* printed as 1.30x: equal to the first one */
	ck_assert_uint_eq(tp_finding_order_sort(candidates, 5), 5);
	ck_assert_str_eq(order(5), "caebd");
}
END_TEST

/* "at least 1.14x" stands below "at least 1.41x", whatever is thought to be likely. */
START_TEST(floors_are_sorted_by_what_is_printed)
{
	shelf_put_rule(&shelf, "a", "true", "");
	shelf_put_rule(&shelf, "b", "true", "");
	load();
	for (size_t i = 0; i < 2; i++) {
		fire(i, i ? 1.41 : 1.14, TP_CONFIDENCE_HIGH);
		candidates[i].finding.gain_high = 100;
		candidates[i].gain =
			(struct tp_gain){.is_known = true, .is_floor = true, .value = i ? 1.5 : 9};
	}
	ck_assert_uint_eq(tp_finding_order_sort(candidates, 2), 2);
	ck_assert_str_eq(order(2), "ba");
}
END_TEST

START_TEST(a_bound_is_shown_when_half_of_it_would_be)
{
	shelf_put_rule(&shelf, "a", "true", "");
	shelf_put_rule(&shelf, "b", "true", "");
	load();
	fire(0, 1.05, TP_CONFIDENCE_HIGH);
	fire(1, 1.07, TP_CONFIDENCE_HIGH);
	candidates[0].finding.gain_low = candidates[1].finding.gain_low = 1;
	tp_finding_order_suppress(candidates, 2, book, &arena);
	ck_assert_str_eq(candidates[0].finding.suppressed,
			 "it gains at most 5.0 %, below the 6 % limit");
	ck_assert_ptr_null(candidates[1].finding.suppressed);
}
END_TEST

START_TEST(equal_advice_without_cost_comes_first)
{
	shelf_put_rule(&shelf, "a", "true", "");
	shelf_put_rule(&shelf, "b", "true", "");
	shelf_put_rule(&shelf, "c", "true", "");
	shelf_put_rule(&shelf, "d", "true", "");
	load();
	fire(0, 1.5, TP_CONFIDENCE_HIGH);
	fire(1, 1.5, TP_CONFIDENCE_HIGH);
	fire(2, 0, TP_CONFIDENCE_HIGH);
	fire(3, 0, TP_CONFIDENCE_HIGH);
	candidates[0].finding.kind = TP_ADVICE_SEMANTIC;
	candidates[2].finding.kind = TP_ADVICE_SEMANTIC;
	tp_finding_order_sort(candidates, 4);
	ck_assert_str_eq(order(4), "badc");
}
END_TEST

START_TEST(small_gains_and_finished_actions_are_not_shown)
{
	shelf_put_rule(&shelf, "a", "true", "");
	shelf_put_rule(&shelf, "b", "true", "");
	shelf_put_rule(&shelf, "c", "true", "");
	load();
	fire(0, 1.02, TP_CONFIDENCE_HIGH);
	fire(1, 1.03, TP_CONFIDENCE_HIGH);
	fire(2, 2, TP_CONFIDENCE_HIGH);
	candidates[2].finding.n_actions = 0;
	tp_finding_order_suppress(candidates, 3, book, &arena);
	ck_assert_str_eq(candidates[0].finding.suppressed, "it gains 2.0 %, below the 3 % limit");
	ck_assert_ptr_null(candidates[1].finding.suppressed);
	ck_assert_str_eq(candidates[2].finding.suppressed, "what it advises is done already");
	candidates[2].finding.done = "amp (kernel x)";
	tp_finding_order_suppress(candidates, 3, book, &arena);
	ck_assert_str_eq(candidates[2].finding.suppressed,
			 "what it advises is done already: amp (kernel x)");
	ck_assert_uint_eq(tp_finding_order_sort(candidates, 3), 1);
}
END_TEST

START_TEST(the_more_precise_rule_takes_the_place_whatever_the_order)
{
	shelf_put_rule(&shelf, "a", "true", ", \"parent\": \"test/b\"");
	shelf_put_rule(&shelf, "b", "true", ", \"yields_to\": [\"test/c\"]");
	shelf_put_rule(&shelf, "c", "true", ", \"yields_to\": [\"test/a\"]");
	load();
	for (size_t i = 0; i < 3; i++)
		fire(i, 1.5, TP_CONFIDENCE_HIGH);
	tp_finding_order_suppress(candidates, 3, book, &arena);
	ck_assert_ptr_null(candidates[0].finding.suppressed);
	ck_assert_str_eq(candidates[1].finding.suppressed, "test/a is more specific");
	ck_assert_str_eq(candidates[2].finding.suppressed, "test/a is more specific");
}
END_TEST

START_TEST(hidden_findings_hide_no_others)
{
	shelf_put_rule(&shelf, "a", "true", ", \"parent\": \"test/b\"");
	shelf_put_rule(&shelf, "b", "true", "");
	load();
	fire(0, 1.01, TP_CONFIDENCE_HIGH);
	fire(1, 1.5, TP_CONFIDENCE_HIGH);
	tp_finding_order_suppress(candidates, 2, book, &arena);
	ck_assert_ptr_nonnull(candidates[0].finding.suppressed);
	ck_assert_ptr_null(candidates[1].finding.suppressed);
}
END_TEST

START_TEST(a_change_of_the_training_never_hides_a_free_one)
{
	shelf_put_rule(&shelf, "a", "true", ", \"parent\": \"test/b\"");
	shelf_put_rule(&shelf, "b", "true", "");
	load();
	book->rules[0].kind = TP_ADVICE_SEMANTIC;
	fire(0, 1.6, TP_CONFIDENCE_HIGH);
	fire(1, 1.5, TP_CONFIDENCE_HIGH);
	tp_finding_order_suppress(candidates, 2, book, &arena);
	ck_assert_ptr_null(candidates[1].finding.suppressed);
	tp_finding_order_sort(candidates, 2);
	ck_assert_str_eq(order(2), "ab");
}
END_TEST

/* Fires the i-th rule with a gain that the gains of others are compared with. */
static void fire_bound(size_t i, double gain)
{
	fire(i, gain, TP_CONFIDENCE_HIGH);
	candidates[i].gain = (struct tp_gain){.is_known = true, .low = 1, .high = gain};
}

START_TEST(advice_with_a_cause_comes_first_among_equals)
{
	shelf_put_rule(&shelf, "a", "true", "");
	shelf_put_rule(&shelf, "b", "true", ", \"specific\": true");
	shelf_put_rule(&shelf, "c", "true", ", \"specific\": true");
	load();
	fire(0, 1.2, TP_CONFIDENCE_HIGH);
	fire(1, 1.2, TP_CONFIDENCE_HIGH);
	fire(2, 1.04, TP_CONFIDENCE_HIGH);
	tp_finding_order_sort(candidates, 3);
	ck_assert_str_eq(order(3), "bac");
}
END_TEST

START_TEST(general_advice_yields_to_a_cause_that_explains_most_of_it)
{
	shelf_put_rule(&shelf, "a", "true", ", \"yields_to\": [\"idiom/*\"]");
	shelf_put_rule(&shelf, "b", "true", ", \"specific\": true");
	shelf_put_rule(&shelf, "c", "true", "");
	load();
	fire_bound(0, 2);
	fire_bound(1, 1.5); /* saves a third of the time; rule a at most a half */
	fire_bound(2, 2);
	tp_finding_order_suppress(candidates, 3, book, &arena);
	ck_assert_str_eq(candidates[0].finding.suppressed, "test/b is more specific");
	ck_assert_ptr_null(candidates[1].finding.suppressed);
	ck_assert_ptr_null(candidates[2].finding.suppressed);
	fire_bound(0, 2);
	fire_bound(1, 1.2); /* saves a sixth */
	tp_finding_order_suppress(candidates, 3, book, &arena);
	ck_assert_ptr_null(candidates[0].finding.suppressed);
}
END_TEST

START_TEST(a_cause_in_another_part_explains_nothing)
{
	shelf_put_rule(&shelf, "a", "true", ", \"yields_to\": [\"idiom/*\"]");
	shelf_put_rule(&shelf, "b", "true", ", \"specific\": true");
	load();
	struct tp_idiom_result idiom = {.held_ratio = 0.6};
	for (int is_same = 0; is_same < 2; is_same++) {
		fire_bound(0, 1.5); /* of the time in which data are loaded */
		candidates[0].gain.kind = TP_GAIN_PART;
		candidates[0].gain.part = TP_PART_DATALOADER;
		fire_bound(1, 2);
		idiom.part_ratio[TP_PART_COMPUTE] = is_same ? 0.2 : 0.6;
		idiom.part_ratio[TP_PART_DATALOADER] = is_same ? 0.4 : 0;
		candidates[1].idiom = &idiom;
		tp_finding_order_suppress(candidates, 2, book, &arena);
		ck_assert_int_eq(candidates[0].finding.suppressed != NULL, is_same);
	}
}
END_TEST

Suite *suite_advise_finding_order(void);
Suite *suite_advise_finding_order(void)
{
	Suite *suite = suite_create("advise_rank");
	TCase *tcase = tcase_create("rank");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, advice_is_sorted_by_gain);
	tcase_add_test(tcase, advice_is_sorted_by_the_printed_gain);
	tcase_add_test(tcase, floors_are_sorted_by_what_is_printed);
	tcase_add_test(tcase, sure_advice_comes_before_larger_uncertain_advice);
	tcase_add_test(tcase, a_bound_is_shown_when_half_of_it_would_be);
	tcase_add_test(tcase, equal_advice_without_cost_comes_first);
	tcase_add_test(tcase, small_gains_and_finished_actions_are_not_shown);
	tcase_add_test(tcase, the_more_precise_rule_takes_the_place_whatever_the_order);
	tcase_add_test(tcase, hidden_findings_hide_no_others);
	tcase_add_test(tcase, a_change_of_the_training_never_hides_a_free_one);
	tcase_add_test(tcase, advice_with_a_cause_comes_first_among_equals);
	tcase_add_test(tcase, general_advice_yields_to_a_cause_that_explains_most_of_it);
	tcase_add_test(tcase, a_cause_in_another_part_explains_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
