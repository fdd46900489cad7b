/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of counter groups: software counters here, hardware ones in proof-qemu. */
#include "collect/pmu/pmu_group.h"

#include "skip.h"

#include <check.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

static const struct tp_pmu_event software[] = {
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 0},
	{PERF_TYPE_SOFTWARE, 9999, 0}, /* does not exist */
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 0},
};

/* Returns true if opening a group was not permitted; the test counts as skipped and must return. */
static bool lacks_rights(int error)
{
	if (error != EACCES && error != EPERM)
		return false;
	test_skip("counters are refused here");
	return true;
}

static void touch_pages(int n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, (size_t)n * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)(unsigned long)memory, (size_t)n * page, MADV_NOHUGEPAGE);
	for (int i = 0; i < n; i++)
		memory[(size_t)i * page] = 1;
}

START_TEST(children_that_start_later_are_counted)
{
	struct tp_pmu_group group;
	struct tp_pmu_counts counts;
	struct tp_pmu_group_options options = {.inherit = true, .n_required = 2};
	int error = tp_pmu_group_open(&group, software, 2, &options);
	if (lacks_rights(error))
		return;
	ck_assert_int_eq(error, 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			touch_pages(700);
			_exit(0);
		}
		touch_pages(2000);
		wait(NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert(tp_pmu_group_read(&group, &counts));
	ck_assert_uint_ge(counts.values[1], 2700);
	ck_assert_uint_le(counts.values[1], 2700 + 600); /* page faults of fork itself */
	ck_assert_uint_gt(counts.values[0], 0);
	ck_assert_uint_ge(counts.enabled_ns, counts.running_ns);
	tp_pmu_group_close(&group);
}
END_TEST

START_TEST(a_missing_member_leaves_the_others_in_place)
{
	struct tp_pmu_group group;
	struct tp_pmu_counts counts;
	struct tp_pmu_group_options options = {.n_required = 2};
	int error = tp_pmu_group_open(&group, software, 4, &options);
	if (lacks_rights(error))
		return;
	ck_assert_int_eq(error, 0);
	ck_assert(tp_pmu_group_has(&group, 1));
	ck_assert(!tp_pmu_group_has(&group, 2));
	ck_assert(tp_pmu_group_has(&group, 3));
	touch_pages(100);
	ck_assert(tp_pmu_group_read(&group, &counts));
	ck_assert_uint_ge(counts.values[1], 100);
	ck_assert_uint_eq(counts.values[2], 0);
	ck_assert_uint_eq(counts.values[3], 0); /* not the value of another member */
	tp_pmu_group_close(&group);
	ck_assert(!tp_pmu_group_has(&group, 0));
}
END_TEST

START_TEST(a_missing_required_member_leaves_nothing_open)
{
	struct tp_pmu_group group = {.n = 77};
	struct tp_pmu_group_options options = {.n_required = 3};
	int before = dup(0);
	int error = tp_pmu_group_open(&group, software, 4, &options);
	int after = dup(0);
	ck_assert_int_ne(error, 0);
	ck_assert_uint_eq(group.n, 77); /* untouched */
	ck_assert_int_eq(after, before + 1);
	close(before);
	close(after);
}
END_TEST

/* Two readings of one group, and the expected estimate. */
static const struct {
	struct tp_pmu_counts first;
	struct tp_pmu_counts second;
	double want;
	double ratio;
} scalings[] = {
	/* counted all the time */
	{{{100}, 1000, 1000}, {{300}, 3000, 3000}, 300, 1},
	/* counted half of the time: everything twice */
	{{{100}, 1000, 500}, {{300}, 3000, 1500}, 600, 0.5},
	/* first alone, then shared: only the second part is scaled up */
	{{{100}, 1000, 1000}, {{200}, 3000, 1500}, 100 + 100 * 4, 0.5},
	/* did not run in the second part: waits for a reading that shows more */
	{{{100}, 1000, 1000}, {{100}, 3000, 1000}, 100, 1.0 / 3},
	/* never ran */
	{{{0}, 1000, 0}, {{0}, 3000, 0}, 0, 0},
	/* slightly different clocks do not reduce a count */
	{{{100}, 1000, 1001}, {{200}, 2000, 2003}, 200, 1},
};

START_TEST(counts_are_stretched_over_the_time_they_did_not_run)
{
	struct tp_pmu_counts_sum sum = {.values = {0}};
	tp_pmu_counts_add(&sum, &scalings[_i].first, 1, 1);
	tp_pmu_counts_add(&sum, &scalings[_i].second, 1, 1);
	ck_assert_double_eq_tol(sum.values[0], scalings[_i].want, 1e-9);
	ck_assert_double_eq_tol(tp_pmu_counts_running_ratio(&scalings[_i].second, 1),
				scalings[_i].ratio, 1e-3);
}
END_TEST

START_TEST(time_without_running_is_made_up_by_the_next_reading)
{
	static const struct tp_pmu_counts readings[] = {{{100}, 1000, 1000},
							{{100}, 2000, 1000},
							{{200}, 3000, 2000}};
	struct tp_pmu_counts_sum sum = {.values = {0}};
	for (size_t i = 0; i < LEN(readings); i++)
		tp_pmu_counts_add(&sum, &readings[i], 1, 1);
	/* 100 in the 1000 ns that ran of the last 2000 */
	ck_assert_double_eq_tol(sum.values[0], 300, 1e-9);
	ck_assert_double_eq_tol(tp_pmu_counts_running_ratio(&readings[2], 1), 2.0 / 3, 1e-9);
}
END_TEST

START_TEST(kinds_of_core_add_up_and_are_not_stretched_over_each_other)
{
	/* 700 of 1000 ns on one kind of core, 300 on the other: nothing was missed. */
	static const struct tp_pmu_counts kinds[2] = {{{700}, 1000, 700}, {{60}, 1000, 300}};
	struct tp_pmu_counts_sum sum = {.values = {0}};
	tp_pmu_counts_add(&sum, kinds, 2, 1);
	ck_assert_double_eq_tol(sum.values[0], 760, 1e-9);
	ck_assert_double_eq_tol(tp_pmu_counts_running_ratio(kinds, 2), 1, 1e-9);
}
END_TEST

START_TEST(estimates_never_shrink)
{
	struct tp_pmu_counts_sum sum = {.values = {0}};
	uint64_t seed = 12345;
	struct tp_pmu_counts counts = {.enabled_ns = 0};
	double before = 0;
	for (int i = 0; i < 10000; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		uint64_t enabled = seed >> 40;
		uint64_t running = enabled * ((seed >> 20) % 101) / 100;
		counts.enabled_ns += enabled;
		counts.running_ns += running;
		counts.values[0] += running / 3;
		tp_pmu_counts_add(&sum, &counts, 1, 1);
		ck_assert_double_ge(sum.values[0], before);
		before = sum.values[0];
	}
	/* The rate is a steady third: the estimate must reproduce it. */
	ck_assert_double_eq_tol(before / (double)counts.enabled_ns, 1.0 / 3, 0.003);
}
END_TEST

Suite *suite_collect_pmu_group(void);
Suite *suite_collect_pmu_group(void)
{
	Suite *suite = suite_create("collect/counters");
	TCase *tc = tcase_create("counters");
	tcase_add_test(tc, children_that_start_later_are_counted);
	tcase_add_test(tc, a_missing_member_leaves_the_others_in_place);
	tcase_add_test(tc, a_missing_required_member_leaves_nothing_open);
	tcase_add_loop_test(tc, counts_are_stretched_over_the_time_they_did_not_run, 0,
			    LEN(scalings));
	tcase_add_test(tc, time_without_running_is_made_up_by_the_next_reading);
	tcase_add_test(tc, kinds_of_core_add_up_and_are_not_stretched_over_each_other);
	tcase_add_test(tc, estimates_never_shrink);
	suite_add_tcase(suite, tc);
	return suite;
}
