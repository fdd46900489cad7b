/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of judging a run by the shipped rules: unknown facts, names of times, and one of their
 * formulas. Whole runs and their reports are in tests/cases/scenes. */
#include "advise/shelf.h"
#include "trainprof/advise/advise.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct tp_rulebook *book;
static struct tp_profile profile;
static struct tp_findings findings;

static void setup(void)
{
	const char *directory = "rules";
	struct tp_error err = {0};
	ck_assert_msg(!tp_rulebook_load(&book, &directory, 1, &err), "%s", err.text);
	tp_profile_init(&profile, NULL);
}

static void teardown(void)
{
	tp_findings_release(&findings);
	tp_profile_release(&profile);
	tp_rulebook_free(book);
}

static void know(enum tp_fact fact, double value)
{
	tp_profile_set(&profile, fact, value, TP_ORIGIN_MEASURED, 1);
}

START_TEST(a_run_without_facts_has_no_verdict)
{
	tp_advise(&findings, book, &profile);
	ck_assert_uint_eq(findings.n_fired, 0);
	ck_assert(!findings.has_combined);
	ck_assert_uint_gt(findings.n_not_judged, 30);
	tp_findings_release(&findings);
	know(TP_FACT_RUN_DURATION, 9e9);
	tp_advise(&findings, book, &profile);
	ck_assert_str_eq(findings.verdict, "cannot_tell");
}
END_TEST

START_TEST(without_steps_sentences_speak_of_the_measured_time)
{
	for (int part = 0; part < TP_N_PARTS; part++)
		know((enum tp_fact)tp_part_facts[part], 0);
	know(TP_FACT_STEP_COMPUTE, 0.3);
	know(TP_FACT_STEP_DATALOADER, 0.7);
	know(TP_FACT_RUN_DURATION, 60e9);
	know(TP_FACT_RUN_WINDOW, 50e9);
	know(TP_FACT_STEP_COUNT, 1000);
	profile.is_of_steps = true;
	tp_advise(&findings, book, &profile);
	ck_assert_str_eq(findings.verdict_sentence, "70 % of each step; compute 30 %.");
	profile.is_of_steps = false;
	tp_findings_release(&findings);
	tp_advise(&findings, book, &profile);
	ck_assert_str_eq(findings.verdict_sentence, "70 % of the measured time; compute 30 %.");
}
END_TEST

/* A training thread that waits for preprocessing while all CPUs are busy; the rest of a step is
 * Python. */
static void know_a_slow_loader(void)
{
	static const double shares[TP_N_PARTS] = {
		[TP_PART_COMPUTE] = 0.1, [TP_PART_DATALOADER] = 0.6, [TP_PART_HOST] = 0.3};
	for (int part = 0; part < TP_N_PARTS; part++) {
		struct tp_part_result *result = &profile.parts[part];
		know((enum tp_fact)tp_part_facts[part], shares[part]);
		result->time_ns = result->solo_ns = (uint64_t)(shares[part] * 1e9);
		result->without_low_ns = result->without_high_ns = (1 - shares[part]) * 1e7;
	}
	know(TP_FACT_STEP_PREP, 0.6);
	know(TP_FACT_LOADER_DECODE, 0.9);
	know(TP_FACT_STEP_INTERPRETER, 0.3);
	know(TP_FACT_CPU_BUSY_RATIO, 0.99);
	know(TP_FACT_RUN_DURATION, 60e9);
	know(TP_FACT_RUN_WINDOW, 50e9);
	know(TP_FACT_STEP_COUNT, 1000);
	profile.total_ns = 1000000000;
	profile.is_of_steps = true;
	profile.n_steady = 100;
	profile.step_time = (struct tp_stat){.n = 100, .mean = 1e7, .median = 1e7};
}

START_TEST(chosen_advice_gains_what_it_gains_alone_and_all_what_all_gains)
{
	double low = 0, value = 0, high = 0;
	know_a_slow_loader();
	tp_advise(&findings, book, &profile);
	ck_assert_uint_ge(findings.n_fired, 2);
	bool *is_chosen = tp_alloc(findings.n_fired);
	ck_assert(!tp_advise_combine(book, &profile, &findings, is_chosen, &low, &value, &high));
	size_t n_known = 0;
	for (size_t i = 0; i < findings.n_fired; i++) {
		const struct tp_finding *one = &findings.items[i];
		is_chosen[i] = true;
		bool is_known = tp_advise_combine(book, &profile, &findings, is_chosen, &low,
						  &value, &high);
		ck_assert(is_known == one->has_gain);
		if (is_known) {
			ck_assert_double_eq_tol(low, one->gain_low, 1e-9);
			ck_assert_double_eq_tol(value, one->gain_value, 1e-9);
			ck_assert_double_eq_tol(high, one->gain_high, 1e-9);
			n_known++;
		}
		is_chosen[i] = false;
	}
	ck_assert_uint_ge(n_known, 1);
	memset(is_chosen, true, findings.n_fired);
	ck_assert(tp_advise_combine(book, &profile, &findings, is_chosen, &low, &value, &high) ==
		  findings.has_combined);
	ck_assert_double_eq(low, findings.combined_low);
	ck_assert_double_eq(value, findings.combined_value);
	ck_assert_double_eq(high, findings.combined_high);
	free(is_chosen);
}
END_TEST

/* Fewer evaluations are of the loop, faster loading is of its steps: on one page both are of the
 * loop. */
START_TEST(beside_advice_of_the_loop_all_gains_are_of_the_loop)
{
	double of_steps = 0;
	know_a_slow_loader();
	tp_advise(&findings, book, &profile);
	for (size_t i = 0; i < findings.n_fired; i++)
		of_steps = fmax(of_steps, findings.items[i].gain_high);
	tp_findings_release(&findings);
	know(TP_FACT_RUN_EVALUATION, 0.4);
	know(TP_FACT_RUN_OUTSIDE_RATIO, 0.4);
	tp_advise(&findings, book, &profile);
	ck_assert(findings.has_combined);
	bool has_evaluations = false;
	for (size_t i = 0; i < findings.n_fired; i++) {
		const struct tp_finding *one = &findings.items[i];
		has_evaluations |= strcmp(one->rule, "host/evaluations") == 0;
		ck_assert_double_le(one->gain_low, findings.combined_low + 1e-9);
		ck_assert_double_le(one->gain_value, findings.combined_value + 1e-9);
		ck_assert_double_lt(one->gain_high, of_steps);
		ck_assert_double_le(one->gain_high, 1 / 0.4 + 1e-9);
	}
	ck_assert(has_evaluations);
}
END_TEST

static const struct tp_expr *figure_of(const char *rule_id, const char *name)
{
	const struct tp_rule *rule = tp_rulebook_find(book, rule_id);
	for (size_t i = 0; i < rule->n_locals; i++)
		if (strcmp(rule->locals[i].name, name) == 0)
			return rule->locals[i].expr;
	ck_abort_msg("%s has no $%s", rule_id, name);
	return NULL;
}

/* Returns the share of the data that must be in memory, from rates in MB/s. */
static double enough_of(const char *rule, double disk, double all, double waits)
{
	struct tp_quantity facts[TP_N_FACTS];
	facts_init(facts);
	facts_set(facts, TP_FACT_IO_READ, disk * 1e6);
	facts_set(facts, TP_FACT_IO_CALL_READ, all * 1e6);
	facts_set(facts, TP_FACT_STEP_DATALOADER, waits);
	struct tp_number enough = tp_expr_number(figure_of(rule, "enough"), facts);
	ck_assert(enough.is_known);
	return enough.value;
}

/* DS-Analyzer's model inverted: with this share cached, the disk delivers the rest as fast as the
 * step needs it. Memory counts as infinitely fast. */
START_TEST(the_cache_asked_for_makes_reads_as_fast_as_the_step)
{
	static const char *const rules[] = {"input/evicted-cache", "input/cache-size",
					    "input/cache-of-nodes", "input/cache-too-small"};
	for (double disk = 10; disk <= 1000; disk *= 1.7) {
		for (double all = disk; all <= 20 * disk; all *= 1.9) {
			double before = 0;
			for (double waits = 0.05; waits < 1; waits += 0.1) {
				double enough = enough_of(rules[0], disk, all, waits);
				double demand = all / (1 - waits);
				ck_assert(enough >= before && enough >= 0 && enough < 1);
				ck_assert_double_eq_tol(disk / (1 - enough), demand, 1e-6 * demand);
				for (size_t i = 1; i < TP_ARRAY_LEN(rules); i++)
					ck_assert_double_eq(enough_of(rules[i], disk, all, waits),
							    enough);
				/* A faster disk needs no larger cache. */
				ck_assert_double_le(enough_of(rules[0], disk, all, waits),
						    enough_of(rules[0], disk / 2, all, waits));
				before = enough;
			}
		}
	}
	/* By hand: the disk delivers 400 of 500 MB/s, and half of the time is waiting: 1000 MB/s
	 * are needed. */
	ck_assert_double_eq_tol(enough_of(rules[0], 400, 500, 0.5), 0.6, 1e-12);
	/* Reading ahead delivers more from the disk than was requested: no data must be cached. */
	ck_assert_double_eq(enough_of(rules[0], 900, 500, 0.1), 0);
}
END_TEST

Suite *suite_advise_advise(void);
Suite *suite_advise_advise(void)
{
	Suite *suite = suite_create("advise_advise");
	TCase *tcase = tcase_create("advise");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_run_without_facts_has_no_verdict);
	tcase_add_test(tcase, without_steps_sentences_speak_of_the_measured_time);
	tcase_add_test(tcase, chosen_advice_gains_what_it_gains_alone_and_all_what_all_gains);
	tcase_add_test(tcase, beside_advice_of_the_loop_all_gains_are_of_the_loop);
	tcase_add_test(tcase, the_cache_asked_for_makes_reads_as_fast_as_the_step);
	suite_add_tcase(suite, tcase);
	return suite;
}
