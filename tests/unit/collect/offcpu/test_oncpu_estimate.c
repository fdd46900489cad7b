/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of dividing polls between running and waiting for a CPU. */
#include "collect/offcpu/oncpu_estimate.h"

#include <check.h>
#include <stddef.h>

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

/* Alternating runs and waits for a CPU, and how the kernel accounts them: CPU time in ticks of
 * `tick_ns`, waits when they end. With `blocked_ns`, the thread also blocks, too briefly for a poll
 * to see it. */
static const struct {
	uint64_t on_ns;
	uint64_t off_ns;
	uint64_t blocked_ns;
	uint64_t tick_ns;
	uint64_t poll_ns;
} rhythms[] = {
	{4000000, 4000000, 0, 4000000, 20000000},
	{3000000, 57000000, 0, 1000000, 20000000},   /* long waits, short runs */
	{100000000, 20000000, 0, 10000000, 7000000}, /* the opposite, with frequent polls */
	{20000000, 20000000, 0, 10000000, 20000000}, /* in step with the polls */
	{50000, 150000, 0, 1000000, 20000000},
	{100000, 0, 90000, 1000000, 20000000}, /* reads a fast disk */
	{100000, 50000, 90000, 1000000, 20000000},
};

static void account_at(struct tp_procfs_schedstat *out, uint64_t now_ns, size_t rhythm)
{
	uint64_t on_ns = rhythms[rhythm].on_ns;
	uint64_t period_ns = on_ns + rhythms[rhythm].off_ns + rhythms[rhythm].blocked_ns;
	uint64_t n = now_ns / period_ns;
	uint64_t in_turn = now_ns % period_ns;
	uint64_t ran_ns = n * on_ns + (in_turn < on_ns ? in_turn : on_ns);
	*out = (struct tp_procfs_schedstat){.run_ns = ran_ns - ran_ns % rhythms[rhythm].tick_ns,
					    .delay_ns = n * rhythms[rhythm].off_ns,
					    .n_runs = n + 1};
}

START_TEST(looks_add_up_to_the_kernels_account)
{
	struct tp_oncpu_estimate share = {.run_ns = 0};
	uint64_t period_ns = rhythms[_i].on_ns + rhythms[_i].off_ns + rhythms[_i].blocked_ns;
	double sums_ns[TP_N_STATES] = {0};
	double all_ns = 0;
	uint64_t seed = 7;
	uint64_t last_ns = 1000000000;
	for (int i = 0; i < 5000; i++) {
		struct tp_procfs_schedstat account;
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		uint64_t now_ns =
			last_ns + rhythms[_i].poll_ns / 2 + (seed >> 33) % rhythms[_i].poll_ns;
		double elapsed_ns = (double)(now_ns - last_ns);
		account_at(&account, now_ns, (size_t)_i);
		sums_ns[tp_oncpu_estimate_state(&share, &account, elapsed_ns)] += elapsed_ns;
		all_ns += elapsed_ns;
		last_ns = now_ns;
	}
	double on = (double)rhythms[_i].on_ns / (double)period_ns;
	double off = (double)rhythms[_i].off_ns / (double)period_ns;
	ck_assert_double_eq_tol(sums_ns[TP_STATE_ON_CPU] / all_ns, on, 0.01);
	ck_assert_double_eq_tol(sums_ns[TP_STATE_RUNNABLE] / all_ns, off, 0.01);
}
END_TEST

START_TEST(a_thread_that_never_waits_is_always_on_a_cpu)
{
	struct tp_oncpu_estimate share = {.run_ns = 0};
	struct tp_procfs_schedstat account = {1000, 0, 1};
	tp_oncpu_estimate_state(&share, &account, 0);
	for (uint64_t i = 1; i < 100; i++) {
		account.run_ns += 20000000;
		ck_assert_int_eq(tp_oncpu_estimate_state(&share, &account, 20000000),
				 TP_STATE_ON_CPU);
	}
}
END_TEST

START_TEST(a_thread_that_gets_no_cpu_is_runnable)
{
	struct tp_oncpu_estimate share = {.run_ns = 0};
	struct tp_procfs_schedstat account = {1000, 0, 1};
	tp_oncpu_estimate_state(&share, &account, 0);
	for (int i = 1; i < 100; i++)
		ck_assert_int_eq(tp_oncpu_estimate_state(&share, &account, 20000000),
				 TP_STATE_RUNNABLE);
}
END_TEST

Suite *suite_collect_oncpu_estimate(void);
Suite *suite_collect_oncpu_estimate(void)
{
	Suite *suite = suite_create("collect/runshare");
	TCase *tc = tcase_create("runshare");
	tcase_add_loop_test(tc, looks_add_up_to_the_kernels_account, 0, LEN(rhythms));
	tcase_add_test(tc, a_thread_that_never_waits_is_always_on_a_cpu);
	tcase_add_test(tc, a_thread_that_gets_no_cpu_is_runnable);
	suite_add_tcase(suite, tc);
	return suite;
}
