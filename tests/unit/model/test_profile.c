/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of profiles: values that were not measured are unknown, and the parts are exact. */
#include "trainprof/model/fact.h"
#include "trainprof/model/profile.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

static struct tp_profile profile;

static void setup(void)
{
	tp_profile_init(&profile, NULL);
}

static void teardown(void)
{
	tp_profile_release(&profile);
}

START_TEST(a_fact_is_unknown_with_a_reason_until_it_is_set)
{
	const struct tp_quantity *fact = &profile.facts[TP_FACT_STEP_TIME];
	ck_assert(!fact->is_known);
	ck_assert_str_eq(fact->missing, "not measured");
	tp_profile_set(&profile, TP_FACT_STEP_TIME, 5e6, TP_ORIGIN_SAMPLED, 0.9);
	ck_assert(fact->is_known);
	ck_assert_double_eq(fact->value, 5e6);
	ck_assert_double_eq(fact->coverage, 0.9);
	ck_assert_int_eq(fact->origin, TP_ORIGIN_SAMPLED);
	ck_assert_ptr_null(fact->missing);
	tp_profile_set_missing(&profile, TP_FACT_STEP_TIME, "no steps were found");
	ck_assert(!fact->is_known);
	ck_assert_str_eq(fact->missing, "no steps were found");
}
END_TEST

/* So rules that use such a fact are quiet for recordings instead of not judged. */
START_TEST(facts_entered_by_hand_are_false_until_set)
{
	const struct tp_quantity *fact = &profile.facts[TP_FACT_DATA_SIZE];
	ck_assert(!fact->is_known && fact->is_foreign);
	ck_assert_str_eq(fact->missing, "only a file of facts has it");
	ck_assert(profile.facts[TP_FACT_FORECAST_SPREAD].is_foreign);
	ck_assert(!profile.facts[TP_FACT_ENV_PYTHON].is_foreign);
	ck_assert(!profile.facts[TP_FACT_ADVICE_SHOWN].is_foreign);
	tp_profile_set(&profile, TP_FACT_DATA_SIZE, 5e9, TP_ORIGIN_ESTIMATED, 1);
	ck_assert(fact->is_known && !fact->is_foreign);
}
END_TEST

START_TEST(non_finite_values_are_unknown)
{
	static const double values[] = {NAN, INFINITY, -INFINITY};
	for (int i = 0; i < 3; i++) {
		tp_profile_set(&profile, TP_FACT_STEP_CV, values[i], TP_ORIGIN_DERIVED, 1);
		ck_assert(!profile.facts[TP_FACT_STEP_CV].is_known);
		ck_assert_str_eq(profile.facts[TP_FACT_STEP_CV].missing,
				 "its value is not a finite number");
	}
}
END_TEST

START_TEST(warnings_keep_their_order_and_texts)
{
	for (int i = 0; i < 100; i++) {
		char text[32];
		snprintf(text, sizeof(text), "warning %d", i);
		tp_profile_warn(&profile, "id", text, NULL, i % 2 ? "do this" : NULL);
	}
	ck_assert_uint_eq(profile.n_warnings, 100);
	ck_assert_str_eq(profile.warnings[0].text, "warning 0");
	ck_assert_str_eq(profile.warnings[99].text, "warning 99");
	ck_assert_ptr_null(profile.warnings[98].remedy);
	ck_assert_str_eq(profile.warnings[99].remedy, "do this");
	ck_assert_ptr_null(profile.warnings[99].effect);
}
END_TEST

/* An exact profile, in which each case changes one number. */
static struct tp_step steps[2];

static void make_exact(void)
{
	profile.total_ns = 300;
	profile.parts[TP_PART_COMPUTE].time_ns = 200;
	profile.parts[TP_PART_MEMORY].time_ns = 100;
	profile.label_ns[TP_LABEL_COMPUTE_MATH] = 150;
	profile.label_ns[TP_LABEL_COMPUTE_SPIN] = 50;
	profile.label_ns[TP_LABEL_MEMORY_COPY] = 100;
	steps[0] = (struct tp_step){.start_ns = 10, .end_ns = 210};
	steps[0].part_ns[TP_PART_COMPUTE] = 200;
	steps[1] = (struct tp_step){.start_ns = 210, .end_ns = 310};
	steps[1].part_ns[TP_PART_MEMORY] = 60;
	steps[1].part_ns[TP_PART_IDLE] = 40;
	profile.steps = steps;
	profile.n_steps = 2;
}

START_TEST(one_nanosecond_too_few_or_many_is_not_exact)
{
	make_exact();
	ck_assert(tp_profile_is_exact(&profile));
	uint64_t *numbers[] = {
		&profile.total_ns,
		&profile.parts[TP_PART_COMPUTE].time_ns,
		&profile.label_ns[TP_LABEL_MEMORY_COPY],
		&profile.label_ns[TP_LABEL_IDLE_LOCK],
		&steps[0].end_ns,
		&steps[1].part_ns[TP_PART_HOST],
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		(*numbers[i])++;
		ck_assert_msg(!tp_profile_is_exact(&profile), "number %zu", i);
		(*numbers[i])--;
	}
	ck_assert(tp_profile_is_exact(&profile));
}
END_TEST

START_TEST(kinds_have_the_names_of_the_report)
{
	ck_assert_str_eq(tp_role_name(TP_ROLE_TRAINER), "trainer");
	ck_assert_str_eq(tp_role_name(TP_ROLE_LAUNCHER), "launcher");
	ck_assert_str_eq(tp_role_name(TP_N_ROLES), "other");
	ck_assert_str_eq(tp_step_kind_name(TP_STEP_STEADY), "steady");
	ck_assert_str_eq(tp_step_kind_name(TP_STEP_CUT), "cut");
	ck_assert_str_eq(tp_step_kind_name(TP_N_STEP_KINDS), "slow");
	ck_assert_str_eq(tp_run_phase_name(TP_RUN_PHASE_STARTUP), "startup");
	ck_assert_str_eq(tp_run_phase_name(TP_RUN_PHASE_SHUTDOWN), "shutdown");
}
END_TEST

Suite *suite_model_profile(void);
Suite *suite_model_profile(void)
{
	Suite *suite = suite_create("model/profile");
	TCase *tc = tcase_create("profile");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_fact_is_unknown_with_a_reason_until_it_is_set);
	tcase_add_test(tc, facts_entered_by_hand_are_false_until_set);
	tcase_add_test(tc, non_finite_values_are_unknown);
	tcase_add_test(tc, warnings_keep_their_order_and_texts);
	tcase_add_test(tc, one_nanosecond_too_few_or_many_is_not_exact);
	tcase_add_test(tc, kinds_have_the_names_of_the_report);
	suite_add_tcase(suite, tc);
	return suite;
}
