/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what measuring a job took: costs and CPUs of each host are known. */
#include "analyze/job/job_cost.h"

#include <check.h>

#define S UINT64_C(1000000000)

static struct tp_job_rank rank_on(const char *host, uint64_t overhead_ns, double n_cpus)
{
	return (struct tp_job_rank){.host = host,
				    .overhead_ns = overhead_ns,
				    .n_cpus = n_cpus,
				    .started_ns = 5 * S,
				    .ended_ns = 15 * S};
}

static double cost_of(struct tp_job_rank *ranks, size_t n)
{
	struct tp_job job = {.ranks = ranks, .n_ranks = n};
	tp_job_find_cost(&job);
	return job.overhead_ratio;
}

/* It is unknown whether the two share a mask of two CPUs or have two CPUs each. */
START_TEST(ranks_of_a_host_count_as_sharing_the_larger_number_of_cpus)
{
	struct tp_job_rank ranks[] = {rank_on("a", S / 10, 2), rank_on("a", S / 10, 1)};
	ck_assert_double_eq_tol(cost_of(ranks, 2), 0.01, 1e-9);
}
END_TEST

START_TEST(a_quota_may_be_less_than_a_cpu)
{
	struct tp_job_rank ranks[] = {rank_on("a", S / 10, 0.5), rank_on("a", S / 10, 0.5)};
	ck_assert_double_eq_tol(cost_of(ranks, 2), 0.04, 1e-9);
}
END_TEST

START_TEST(the_host_with_the_largest_share_counts)
{
	struct tp_job_rank ranks[] = {rank_on("a", S / 10, 1), rank_on("b", 3 * S / 10, 1),
				      rank_on("a", S / 10, 1)};
	ck_assert_double_eq_tol(cost_of(ranks, 3), 0.03, 1e-9);
}
END_TEST

START_TEST(recordings_that_do_not_count_cost_nothing)
{
	struct tp_job_rank ranks[] = {rank_on("a", 0, 1), rank_on("a", S, 1), rank_on("a", S, 0)};
	ranks[1].is_duplicate = true;
	ranks[2].unreadable = "damaged";
	ck_assert_double_eq(cost_of(ranks, 3), 0);
}
END_TEST

Suite *suite_analyze_job_cost(void);

Suite *suite_analyze_job_cost(void)
{
	Suite *suite = suite_create("analyze_job_cost");
	TCase *tc = tcase_create("cost");
	tcase_add_test(tc, ranks_of_a_host_count_as_sharing_the_larger_number_of_cpus);
	tcase_add_test(tc, a_quota_may_be_less_than_a_cpu);
	tcase_add_test(tc, the_host_with_the_largest_share_counts);
	tcase_add_test(tc, recordings_that_do_not_count_cost_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
