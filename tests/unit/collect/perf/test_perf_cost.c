/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of calibration. */
#include "collect/perf/perf_cost.h"

#include "collect/slower.h"

#include "proof.h"

#include "trainprof/base/clock.h"

#include <check.h>
#include <errno.h>
#include <sched.h>
#include <sys/wait.h>

static const struct tp_perf_setup setup_of_a_run = {
	.has_switches = true,
	.stack_bytes = 32768,
	.ring_pages = 128,
};

START_TEST(costs_are_plausible_and_quickly_found)
{
	struct tp_perf_cost cost;
	uint64_t least_ns = UINT64_MAX;
	/* CPU time, because the machine may be busy. The lowest of several counts: time that the
	 * host takes from a CPU is accounted as ours, unless the kernel knows better. */
	for (int i = 0; i < 5; i++) {
		uint64_t before_ns = tp_clock_self_cpu_ns();
		tp_perf_cost_measure(&cost, &setup_of_a_run);
		uint64_t took_ns = tp_clock_self_cpu_ns() - before_ns;
		least_ns = took_ns < least_ns ? took_ns : least_ns;
	}
	ck_assert_uint_lt(least_ns, 60 * SLOWER * TP_NS_PER_MS);
	ck_assert_double_ge(cost.sample_ns, 200);
	ck_assert_double_le(cost.sample_ns, 100000);
	ck_assert_double_ge(cost.switch_ns, cost.record_ns);
	ck_assert_double_le(cost.switch_ns, 10000);
}
END_TEST

START_TEST(calibration_leaves_no_trace)
{
	struct tp_perf_cost cost;
	cpu_set_t before;
	cpu_set_t after;
	sched_getaffinity(0, sizeof(before), &before);
	tp_perf_cost_measure(&cost, &setup_of_a_run);
	sched_getaffinity(0, sizeof(after), &after);
	ck_assert(CPU_EQUAL(&before, &after));
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

Suite *suite_collect_perf_cost(void);
Suite *suite_collect_perf_cost(void)
{
	Suite *suite = suite_create("collect/perf_cost");
	TCase *tc = tcase_create("perf_cost");
	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, calibration_leaves_no_trace);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "calibration");
	tcase_set_timeout(proofs, 20);
	tcase_add_test(proofs, costs_are_plausible_and_quickly_found);
	return suite;
}
