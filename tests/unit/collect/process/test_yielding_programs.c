/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of who leaves a CPU to the target, on a simulated machine. */
#include "collect/madehost.h"
#include "collect/process/other_programs.h"
#include "collect/process/task_tree.h"
#include "collect/process/yielding_programs.h"

#include "trainprof/collect/host_info.h"
#include "trainprof/model/trace.h"

static char root[32];

/* The target, process 50. */
struct scene {
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_task_tree *tree;
};

static void scene_init(struct scene *scene)
{
	strcpy(root, "/tmp/tp-yielding-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	scene->host = (struct tp_host){.root = root, .info = {.n_cpus = 2}};
	tp_trace_builder_init(&scene->builder);
	scene->tree = tp_task_tree_new(&scene->host, &scene->builder.sink);
	tp_task_tree_fork(scene->tree, 50, 50, 0, 0);
	madehost_lay(root, "/proc/50/stat",
		     "50 (train) R 1 1 1 0 -1 0 0 0 0 0 100 0 0 0 20 0 1 0 5\n");
}

static void scene_release(struct scene *scene)
{
	tp_task_tree_free(scene->tree);
	tp_trace_builder_release(&scene->builder);
	madehost_remove(root);
}

/* The scheduler shares CPUs among groups first. */
static const struct {
	const char *claim;
	const char *enabled;
	const char *autogroups[2]; /* of the target and of the other program */
	const char *cgroups[2];
	bool is_yielding;
} groups[] = {
	{"one session", "1\n", {"/autogroup-7 nice 0\n", "/autogroup-7 nice 0\n"}, {"", ""}, true},
	{"two sessions",
	 "1\n",
	 {"/autogroup-7 nice 0\n", "/autogroup-8 nice 0\n"},
	 {"", ""},
	 false},
	{"two sessions that count for nothing",
	 "0\n",
	 {"/autogroup-7 nice 0\n", "/autogroup-8 nice 0\n"},
	 {"", ""},
	 true},
	{"one group of version 2", "0\n", {"", ""}, {"0::/a\n", "0::/a\n"}, true},
	{"two groups of version 2", "0\n", {"", ""}, {"0::/a\n", "0::/b\n"}, false},
	{"two groups of version 1",
	 "0\n",
	 {"", ""},
	 {"3:cpu,cpuacct:/a\n0::/\n", "3:cpu,cpuacct:/b\n0::/\n"},
	 false},
	{"two groups of other controllers",
	 "0\n",
	 {"", ""},
	 {"4:memory:/a\n3:cpuset:/\n1:cpu:/\n0::/\n", "4:memory:/b\n3:cpuset:/b\n1:cpu:/\n0::/\n"},
	 true},
};

START_TEST(who_is_in_another_group_does_not_yield)
{
	struct scene scene;
	scene_init(&scene);
	madehost_lay(root, "/proc/sys/kernel/sched_autogroup_enabled", groups[_i].enabled);
	madehost_lay(root, "/proc/50/autogroup", groups[_i].autogroups[0]);
	madehost_lay(root, "/proc/60/autogroup", groups[_i].autogroups[1]);
	madehost_lay(root, "/proc/50/cgroup", groups[_i].cgroups[0]);
	madehost_lay(root, "/proc/60/cgroup", groups[_i].cgroups[1]);
	struct tp_other_programs_entry niced = {.pid = 60, .stat = {.state = 'R', .nice = 19}};
	tp_yielding_programs_judge(&niced, 1, &scene.host, scene.tree);
	ck_assert_msg(niced.is_yielding == groups[_i].is_yielding, "%s", groups[_i].claim);
	scene_release(&scene);
}
END_TEST

/* On 2 CPUs: a tenth of the target's weight is 205; nice 19 weighs 14.8, SCHED_IDLE 3.
 * One more process of nice 19 runs beside the crowd. */
static const struct {
	const char *claim;
	struct tp_procfs_stat stat;
	bool has_threads; /* whose files show two that run and others that sleep */
	bool is_yielding;
} crowds[] = {
	{"13 of nice 19", {.nice = 19, .n_threads = 12, .state = 'R'}, false, true},
	{"14 of nice 19", {.nice = 19, .n_threads = 13, .state = 'R'}, false, false},
	{"60 of SCHED_IDLE", {.policy = 5, .n_threads = 60, .state = 'R'}, false, true},
	{"70 of SCHED_IDLE", {.policy = 5, .n_threads = 70, .state = 'R'}, false, false},
	{"two of 64 run", {.nice = 19, .n_threads = 64, .state = 'S'}, true, true},
};

START_TEST(many_that_yield_a_little_do_not_yield)
{
	struct scene scene;
	scene_init(&scene);
	struct tp_other_programs_entry programs[] = {
		{.pid = 60, .stat = crowds[_i].stat, .used_ns = 1},
		{.pid = 61, .stat = {.state = 'R', .nice = 19, .n_threads = 1}},
		{.pid = 62, .stat = {.state = 'R', .nice = 13, .n_threads = 1}},
	};
	for (int i = 0; crowds[_i].has_threads && i < 64; i++) {
		char path[64];
		char text[128];
		snprintf(path, sizeof(path), "/proc/60/task/%d/stat", 60 + i);
		snprintf(text, sizeof(text),
			 "%d (crowd) %c 1 1 1 0 -1 0 0 0 0 0 1 0 0 0 20 19 64 0 5 0\n", 60 + i,
			 i < 2 ? 'R' : 'S');
		madehost_lay(root, path, text);
	}
	tp_yielding_programs_judge(programs, 3, &scene.host, scene.tree);
	for (int i = 0; i < 3; i++)
		ck_assert_msg(programs[i].is_yielding == (i < 2 && crowds[_i].is_yielding),
			      "%s: %d", crowds[_i].claim, i);
	scene_release(&scene);
}
END_TEST

Suite *suite_collect_yielding_programs(void);
Suite *suite_collect_yielding_programs(void)
{
	Suite *suite = suite_create("collect_yielding_programs");
	TCase *tc = tcase_create("yielding_programs");
	tcase_add_loop_test(tc, who_is_in_another_group_does_not_yield, 0,
			    sizeof(groups) / sizeof(groups[0]));
	tcase_add_loop_test(tc, many_that_yield_a_little_do_not_yield, 0,
			    sizeof(crowds) / sizeof(crowds[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
