/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the perf_event_attr of events. */
#include "collect/perf/perf_attr.h"

#include <check.h>

static const struct tp_perf_setup threads = {.has_kernel = true, .stack_bytes = 49152};
static const struct tp_perf_setup cpus = {.has_kernel = true,
					  .stack_bytes = 49152,
					  .is_wide = true};
static const struct tp_perf_setup attached = {.is_attaching = true};

START_TEST(events_of_threads_are_inherited_and_wait_for_exec)
{
	struct perf_event_attr sampler = tp_perf_attr_sampler(&threads, 1000);
	struct perf_event_attr switches = tp_perf_attr_switches(&threads);
	ck_assert(sampler.inherit && sampler.enable_on_exec && sampler.disabled);
	ck_assert(switches.inherit && switches.enable_on_exec && switches.disabled);
	ck_assert(!tp_perf_attr_sampler(&attached, 1000).enable_on_exec);
}
END_TEST

START_TEST(events_of_cpus_wait_for_nobody_and_leave_idle_cpus_alone)
{
	struct perf_event_attr sampler = tp_perf_attr_sampler(&cpus, 1000);
	struct perf_event_attr switches = tp_perf_attr_switches(&cpus);
	ck_assert(!sampler.inherit && !sampler.enable_on_exec && sampler.disabled);
	ck_assert(!switches.inherit && !switches.enable_on_exec && switches.disabled);
	ck_assert(sampler.exclude_idle);
}
END_TEST

START_TEST(books_are_kept_by_samplers_alone)
{
	struct perf_event_attr sampler = tp_perf_attr_sampler(&threads, 1000);
	struct perf_event_attr switches = tp_perf_attr_switches(&threads);
	struct perf_event_attr leaves = tp_perf_attr_switch_out(&threads);
	ck_assert(sampler.mmap2 && sampler.comm_exec && sampler.task && !sampler.context_switch);
	ck_assert(switches.context_switch && !switches.task);
	ck_assert(!leaves.task && !leaves.context_switch);
	ck_assert_uint_eq(leaves.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
	ck_assert_uint_lt(leaves.sample_stack_user, sampler.sample_stack_user);
}
END_TEST

Suite *suite_collect_perf_attr(void);
Suite *suite_collect_perf_attr(void)
{
	Suite *suite = suite_create("collect/perf_attr");
	TCase *tc = tcase_create("perf_attr");
	tcase_add_test(tc, events_of_threads_are_inherited_and_wait_for_exec);
	tcase_add_test(tc, events_of_cpus_wait_for_nobody_and_leave_idle_cpus_alone);
	tcase_add_test(tc, books_are_kept_by_samplers_alone);
	suite_add_tcase(suite, tc);
	return suite;
}
