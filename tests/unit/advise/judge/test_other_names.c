/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how other programs are named. */
#include "advise/judge/other_names.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <check.h>

static struct tp_arena arena;
static struct tp_profile profile;

static void fill(struct tp_other_program *others, size_t n, double all)
{
	profile.others = others;
	profile.n_others = n;
	profile.facts[TP_FACT_CPU_OTHERS] = (struct tp_quantity){.is_known = true, .value = all};
}

START_TEST(processes_of_one_name_are_one)
{
	struct tp_other_program others[] = {
		{.pid = 7, .comm = "python3", .cpus = 0.8},
		{.pid = 9, .comm = "cc1", .cpus = 0.3},
		{.pid = 10, .comm = "cc1", .cpus = 0.3},
		{.pid = 11, .comm = "cron", .cpus = 0.02},
	};
	fill(others, TP_ARRAY_LEN(others), 1.5);
	ck_assert_str_eq(tp_other_programs_names(&profile, &arena),
			 "python3 (pid 7) and cc1 (2 processes)");
	ck_assert_str_eq(tp_other_programs_cpus(&profile, &arena), ": python3 0.8, cc1 0.6");
	ck_assert_str_eq(tp_other_programs_pids(&profile, &arena), "7 9 10");
	tp_arena_release(&arena);
}
END_TEST

START_TEST(small_or_unknown_ones_have_no_name)
{
	struct tp_other_program others[] = {{.pid = 7, .comm = "python3", .cpus = 0.1}};
	fill(others, 1, 1.5);
	ck_assert_str_eq(tp_other_programs_names(&profile, &arena), TP_OTHER_PROGRAMS_UNKNOWN);
	ck_assert_str_eq(tp_other_programs_cpus(&profile, &arena), "");
	ck_assert_ptr_null(tp_other_programs_pids(&profile, &arena));
	fill(NULL, 0, 0);
	ck_assert_str_eq(tp_other_programs_names(&profile, &arena), TP_OTHER_PROGRAMS_UNKNOWN);
	tp_arena_release(&arena);
}
END_TEST

Suite *suite_advise_other_names(void);
Suite *suite_advise_other_names(void)
{
	Suite *suite = suite_create("advise_other_names");
	TCase *tc = tcase_create("other_names");
	tcase_add_test(tc, processes_of_one_name_are_one);
	tcase_add_test(tc, small_or_unknown_ones_have_no_name);
	suite_add_tcase(suite, tc);
	return suite;
}
