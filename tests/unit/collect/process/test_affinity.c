/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the affinity masks of processes, with this process's mask. */
#include "collect/process/affinity.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <sched.h>
#include <unistd.h>

START_TEST(a_mask_is_put_once_and_again_when_it_changes)
{
	cpu_set_t all;
	cpu_set_t one;
	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	const struct tp_host host = {.root = "", .is_live = true};
	struct tp_trace_builder builder;
	tp_trace_builder_init(&builder);
	struct tp_task_tree *tree = tp_task_tree_new(&host, &builder.sink);
	tp_task_tree_fork(tree, getpid(), getpid(), 0, 1);
	struct tp_affinity affinity = {0};
	tp_affinity_read(&affinity, tree, &builder.sink, 1 * TP_NS_PER_S);
	tp_affinity_read(&affinity, tree, &builder.sink, 9 * TP_NS_PER_S);
	ck_assert_uint_eq(affinity.n_put, 1);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	tp_affinity_read(&affinity, tree, &builder.sink, 18 * TP_NS_PER_S);
	ck_assert_uint_eq(affinity.n_put, CPU_COUNT(&all) > 1 ? 2 : 1);
	uint64_t n = 0;
	ck_assert(tp_map_get(&affinity.n_cpus, (uint64_t)getpid(), &n));
	ck_assert_uint_eq(n, 1);
	sched_setaffinity(0, sizeof(all), &all);
	tp_affinity_release(&affinity);
	tp_task_tree_free(tree);
	tp_trace_builder_release(&builder);
}
END_TEST

Suite *suite_collect_affinity(void);
Suite *suite_collect_affinity(void)
{
	Suite *suite = suite_create("collect_affinity");
	TCase *tc = tcase_create("affinity");
	tcase_add_test(tc, a_mask_is_put_once_and_again_when_it_changes);
	suite_add_tcase(suite, tc);
	return suite;
}
