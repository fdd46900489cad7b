/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of facts from environment variables. */
#include "analyze/hand.h"

#include "trainprof/model/fact.h"

enum { UNKNOWN = -1, UNSET = -2 };

static const struct {
	const char *name; /* one variable; NULL = none is set */
	const char *value;
	double omp;
	double blas;
	double passive;
	double tuned;
} cases[] = {
	{NULL, NULL, UNSET, UNSET, 0, 0},
	{"OMP_NUM_THREADS", "4", 4, UNSET, 0, 0},
	{"OMP_NUM_THREADS", "4,2", 4, UNSET, 0, 0},
	{"OMP_NUM_THREADS", "all", UNSET, UNSET, 0, 0},
	{"OMP_NUM_THREADS", "", UNSET, UNSET, 0, 0},
	{"OPENBLAS_NUM_THREADS", "2", UNSET, 2, 0, 0},
	{"MKL_NUM_THREADS", "8", UNSET, 8, 0, 0},
	{"OMP_WAIT_POLICY", "PASSIVE", UNSET, UNSET, 1, 0},
	{"OMP_WAIT_POLICY", "active", UNSET, UNSET, 0, 0},
	{"GOMP_SPINCOUNT", "0", UNSET, UNSET, 1, 0},
	{"MALLOC_TRIM_THRESHOLD_", "1073741824", UNSET, UNSET, 0, 1},
	{"GLIBC_TUNABLES", "glibc.malloc.trim_threshold=1", UNSET, UNSET, 0, 1},
	{"GLIBC_TUNABLES", "glibc.rtld.nns=4", UNSET, UNSET, 0, 0},
	{"LD_PRELOAD", "/usr/lib/libfoo.so:/usr/lib/libtcmalloc_minimal.so.4", UNSET, UNSET, 0, 1},
	{"LD_PRELOAD", "/usr/lib/libfoo.so", UNSET, UNSET, 0, 0},
};

static void check(const struct hand *hand, enum tp_fact fact, double wanted)
{
	if (wanted < 0)
		(void)hand_missing(hand, fact);
	else
		ck_assert_double_eq(hand_fact(hand, fact), wanted);
}

START_TEST(variables_mean_what_they_say)
{
	struct hand hand;
	struct tp_env_var variable = {cases[_i].name, cases[_i].value};
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand.run.mode = TP_MODE_RUN;
	hand.run.environment = &variable;
	hand.run.n_environment = cases[_i].name ? 1 : 0;
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_environment);
	check(&hand, TP_FACT_ENV_OMP, cases[_i].omp);
	check(&hand, TP_FACT_ENV_BLAS, cases[_i].blas);
	check(&hand, TP_FACT_ENV_PASSIVE, cases[_i].passive);
	check(&hand, TP_FACT_ENV_MALLOC, cases[_i].tuned);
	const char *seen = hand.profile.facts[TP_FACT_ENV_MALLOC].seen;
	ck_assert(cases[_i].tuned > 0 ? strstr(seen, cases[_i].name) != NULL : !seen);
	check(&hand, TP_FACT_ENV_PYTHON, 0);
	hand_release(&hand);
}
END_TEST

START_TEST(an_environment_that_was_not_recorded_is_unknown)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/usr/bin/python3.11");
	hand.run.mode = TP_MODE_IMPORT;
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_environment);
	ck_assert_str_eq(hand_missing(&hand, TP_FACT_ENV_PASSIVE),
			 "the environment was not recorded");
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_ENV_PYTHON), 1);
	hand_release(&hand);
}
END_TEST

START_TEST(an_allocator_in_a_stack_counts)
{
	struct hand hand;
	hand_init(&hand);
	hand_task(&hand, 0, 100, 100, "/bin/train");
	hand_frame(&hand, "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", "arena_malloc");
	hand_finish(&hand);
	hand_pass(&hand, tp_pass_environment);
	ck_assert_double_eq(hand_fact(&hand, TP_FACT_ENV_MALLOC), 1);
	ck_assert_str_eq(hand.profile.facts[TP_FACT_ENV_MALLOC].seen,
			 "stack: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
	hand_release(&hand);
}
END_TEST

Suite *suite_analyze_pass_environment(void);
Suite *suite_analyze_pass_environment(void)
{
	Suite *suite = suite_create("analyze/pass_environment");
	TCase *tc = tcase_create("environment");
	tcase_add_loop_test(tc, variables_mean_what_they_say, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, an_environment_that_was_not_recorded_is_unknown);
	tcase_add_test(tc, an_allocator_in_a_stack_counts);
	suite_add_tcase(suite, tc);
	return suite;
}
