/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of pools of processes: whether their workers compute the steps or prepare data. */
#include "analyze/pyscene.h"

#include "trainprof/base/memory.h"

#include <stdio.h>

#define OWNER "evolve.py><module>:30 "
#define WORKER                                                                                     \
	PY_STD "multiprocessing/process.py>BaseProcess._bootstrap:314 " PY_STD                     \
	       "multiprocessing/pool.py>worker:125 "
#define WAIT                                                                                       \
	OWNER "evolve.py>main:20 " PY_STD "threading.py>Condition.wait:320 libc.so.6!futex_wait:1"
#define MATH   "libblas.so.3!sgemm_:1"
#define SCRIPT "python3.11!_PyEval_EvalFrameDefault:1"

/* Two workers are busy for 80 of 100 ms while the owner waits, and wait while it works. */
static const struct scene_row {
	const char *claim;
	const char *owner;   /* what the owner does */
	const char *worker;  /* what the workers do */
	unsigned owner_ms;   /* of 100 */
	enum tp_role role;   /* of the workers */
	enum tp_label label; /* of the owner's wait */
} rows[] = {
	{"workers that compute what the owner only collects do the steps",
	 OWNER "evolve.py>select:22 " SCRIPT, WORKER "evolve.py>fitness:9 " MATH, 5, TP_ROLE_WORKER,
	 TP_LABEL_COMPUTE_MATH},
	{"whether they do it in Python", OWNER "evolve.py>select:22 " SCRIPT,
	 WORKER "evolve.py>trial:9 " SCRIPT, 5, TP_ROLE_WORKER, TP_LABEL_HOST_INTERPRETER},
	{"an owner that trains is fed by its pool", OWNER "train.py>step:22 " MATH,
	 WORKER "train.py>crop:9 libcrop.so.1!crop:1", 40, TP_ROLE_LOADER,
	 TP_LABEL_DATALOADER_PREP},
	{"an owner that does math is fed by workers that do none", OWNER "train.py>step:22 " MATH,
	 WORKER "train.py>parse:9 " SCRIPT, 15, TP_ROLE_LOADER, TP_LABEL_DATALOADER_PREP},
	{"workers that decode load, however little the owner does",
	 OWNER "train.py>step:22 " SCRIPT, WORKER "train.py>picture:9 libjpeg.so.62!decode:1", 5,
	 TP_ROLE_LOADER, TP_LABEL_DATALOADER_PREP},
};

START_TEST(a_pool_computes_or_loads)
{
	const struct scene_row *row = &rows[_i];
	struct pyscene scene;
	pyscene_open(&scene);
	for (uint32_t task = 0; task < 3; task++)
		pyscene_task(&scene, task, 100 + (pid_t)(100 * task), 0.001 * task);
	double works = row->owner_ms * 1e-3;
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i + 0.01;
		pyscene_runs(&scene, 0, at, at + works, row->owner);
		pyscene_waits(&scene, 0, at + works, at + 0.1, TP_CAUSE_FUTEX, WAIT);
		for (uint32_t task = 1; task < 3; task++) {
			pyscene_waits(&scene, task, at, at + works, TP_CAUSE_PIPE,
				      WORKER PY_STD "multiprocessing/queues.py>SimpleQueue.get:367 "
						    "libc.so.6!read:1");
			pyscene_runs(&scene, task, at + works, at + 0.095, row->worker);
		}
	}
	pyscene_judge(&scene, 4, TP_STEPS_OFF);
	const struct tp_profile *profile = &scene.sim.profile;
	for (size_t i = 0; i < profile->n_processes; i++)
		ck_assert_msg(profile->processes[i].task == 0 ||
				      profile->processes[i].role == row->role,
			      "%s: a worker is a %s", row->claim,
			      tp_role_name(profile->processes[i].role));
	double wait_s = 40 * (0.1 - works);
	double found_s = (double)profile->label_ns[row->label] * 1e-9;
	ck_assert_msg(found_s > 0.85 * wait_s, "%s: %s takes %.2f s of %.2f", row->claim,
		      tp_label_name(row->label), found_s, wait_s);
	pyscene_close(&scene);
}
END_TEST

#define POOL_THREAD                                                                                \
	PY_STD "threading.py>Thread._bootstrap:1030 " PY_STD                                       \
	       "multiprocessing/pool.py>Pool._handle_results:579 "
#define FITNESS WORKER "evolve.py>fitness:9 " MATH

static enum tp_role role_of(const struct tp_profile *profile, uint32_t task)
{
	for (size_t i = 0; i < profile->n_processes; i++)
		if (profile->processes[i].task == task)
			return profile->processes[i].role;
	return TP_ROLE_OTHER;
}

/* A fork server, task 1, starts the workers, and waits for requests for the rest of its life. */
START_TEST(a_fork_server_is_no_owner)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	pyscene_task(&scene, 1, 200, 0.001);
	pyscene_task_of(&scene, 2, 300, 1, 0.002, 0);
	pyscene_task(&scene, 3, 100, 0.002); /* the owner's thread */
	pyscene_waits(&scene, 1, 0.01, 3.95, TP_CAUSE_POLL,
		      "<string>><module>:1 " PY_STD
		      "multiprocessing/forkserver.py>main:215 libc.so.6!epoll_wait:1");
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i + 0.01;
		pyscene_runs(&scene, 0, at, at + 0.005, OWNER "evolve.py>select:22 " SCRIPT);
		pyscene_waits(&scene, 0, at + 0.005, at + 0.1, TP_CAUSE_FUTEX, WAIT);
		pyscene_runs(&scene, 2, at + 0.005, at + 0.095, FITNESS);
		pyscene_waits(&scene, 2, at + 0.095, at + 0.1, TP_CAUSE_PIPE,
			      WORKER "libc.so.6!read:1");
		pyscene_waits(&scene, 3, at, at + 0.095, TP_CAUSE_PIPE,
			      POOL_THREAD "libc.so.6!read:1");
	}
	pyscene_judge(&scene, 4, TP_STEPS_OFF);
	const struct tp_profile *profile = &scene.sim.profile;
	ck_assert_uint_eq(profile->trainer, 0);
	ck_assert_uint_eq(profile->n_task_workers, 1);
	ck_assert_int_eq(role_of(profile, 2), TP_ROLE_WORKER);
	ck_assert_double_gt((double)profile->label_ns[TP_LABEL_COMPUTE_MATH] * 1e-9, 3);
	pyscene_close(&scene);
}
END_TEST

/* The pool works for 3.3 s, and its owner for 0.9 s after that, which is less than a fifth of the
 * run: it trains on what the pool made. */
START_TEST(a_pool_that_ended_before_the_training_prepared_it)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	pyscene_task_until(&scene, 1, 200, 0.001, 3.3);
	for (int i = 0; i < 33; i++) {
		double at = 0.1 * i + 0.01;
		pyscene_waits(&scene, 0, at, at + 0.09, TP_CAUSE_FUTEX, WAIT);
		pyscene_runs(&scene, 1, at, at + 0.085, FITNESS);
	}
	for (int i = 33; i < 42; i++)
		pyscene_runs(&scene, 0, 0.1 * i + 0.02, 0.1 * i + 0.11,
			     OWNER "train.py>step:40 " SCRIPT);
	pyscene_judge(&scene, 4.3, TP_STEPS_OFF);
	ck_assert_uint_eq(scene.sim.profile.n_task_workers, 0);
	ck_assert_int_ne(role_of(&scene.sim.profile, 1), TP_ROLE_WORKER);
	pyscene_close(&scene);
}
END_TEST

/* A search fits in its pool for 5 s, and then once more in the owner for 1.25 s: nothing is loaded.
 */
static const char *const fits[] = {"search.py>fit:9 " MATH, "search.py>fit:9 " SCRIPT};

START_TEST(a_search_that_fits_once_more_loads_nothing)
{
	struct pyscene scene;
	char in_worker[400];
	char in_owner[400];
	snprintf(in_worker, sizeof(in_worker), WORKER "%s", fits[_i]);
	snprintf(in_owner, sizeof(in_owner), OWNER "%s", fits[_i]);
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (uint32_t task = 1; task < 3; task++)
		pyscene_task_until(&scene, task, 100 + (pid_t)(100 * task), 0.001 * task, 5);
	for (int i = 0; i < 50; i++) {
		double at = 0.1 * i + 0.01;
		pyscene_waits(&scene, 0, at, at + 0.09, TP_CAUSE_FUTEX, WAIT);
		for (uint32_t task = 1; task < 3; task++)
			pyscene_runs(&scene, task, at, at + 0.085, in_worker);
	}
	pyscene_runs(&scene, 0, 5, 6.25, in_owner);
	pyscene_judge(&scene, 6.3, TP_STEPS_OFF);
	const struct tp_profile *profile = &scene.sim.profile;
	for (uint32_t task = 1; task < 3; task++)
		ck_assert_int_eq(role_of(profile, task), TP_ROLE_WORKER);
	ck_assert_uint_eq(profile->parts[TP_PART_DATALOADER].time_ns, 0);
	pyscene_close(&scene);
}
END_TEST

/* Task 0 trains beside a pool of its own. Task 1 has a pool, too, but no thread of it was seen that
 * sends tasks. */
START_TEST(a_pool_belongs_to_the_process_that_started_it)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	pyscene_task(&scene, 1, 200, 0.001);
	pyscene_task_of(&scene, 2, 300, 1, 0.002, 0);
	pyscene_task(&scene, 3, 100, 0.002); /* task 0's thread of its own pool */
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i + 0.01;
		pyscene_runs(&scene, 0, at, at + 0.095, "train.py>step:22 " MATH);
		pyscene_waits(&scene, 3, at, at + 0.095, TP_CAUSE_PIPE,
			      POOL_THREAD "libc.so.6!read:1");
		pyscene_runs(&scene, 1, at, at + 0.005, OWNER "evolve.py>select:22 " MATH);
		pyscene_waits(&scene, 1, at + 0.005, at + 0.1, TP_CAUSE_FUTEX, WAIT);
		pyscene_runs(&scene, 2, at + 0.005, at + 0.095, FITNESS);
	}
	pyscene_judge(&scene, 4, TP_STEPS_OFF);
	ck_assert_int_eq(role_of(&scene.sim.profile, 2), TP_ROLE_WORKER);
	pyscene_close(&scene);
}
END_TEST

/* A wait in the barrier of the owner's own threads is one for them, whatever the pool does. */
START_TEST(a_barrier_of_own_threads_is_no_wait_for_the_pool)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	pyscene_task(&scene, 1, 200, 0.001);
	pyscene_task(&scene, 2, 100, 0.001);
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i + 0.01;
		pyscene_waits(&scene, 0, at, at + 0.085, TP_CAUSE_PIPE, WAIT);
		pyscene_runs(&scene, 1, at, at + 0.085, FITNESS);
		pyscene_runs(&scene, 0, at + 0.085, at + 0.09,
			     OWNER "evolve.py>breed:24 evolve.so!mix:1");
		pyscene_waits(&scene, 0, at + 0.09, at + 0.093, TP_CAUSE_FUTEX,
			      OWNER "evolve.py>breed:24 libgomp.so.1!gomp_team_barrier_wait:1");
		pyscene_runs(&scene, 2, at + 0.085, at + 0.093,
			     "libgomp.so.1!gomp_thread_start:1 evolve.so!mix:1");
		pyscene_runs(&scene, 0, at + 0.093, at + 0.095, OWNER "evolve.py>main:21 " SCRIPT);
		pyscene_waits(&scene, 0, at + 0.095, at + 0.1, TP_CAUSE_PIPE, WAIT);
	}
	pyscene_judge(&scene, 4, TP_STEPS_OFF);
	const struct tp_profile *profile = &scene.sim.profile;
	ck_assert_uint_eq(profile->n_task_workers, 1);
	double spin_s = (double)profile->label_ns[TP_LABEL_COMPUTE_SPIN] * 1e-9;
	ck_assert_double_eq_tol(spin_s, 40 * 0.003, 0.03);
	pyscene_close(&scene);
}
END_TEST

/* A pool computes the step, and a loader with its own helper makes the batches. */
START_TEST(a_loader_beside_a_pool_stays_a_loader)
{
	struct pyscene scene;
	pyscene_open(&scene);
	for (uint32_t task = 0; task < 3; task++)
		pyscene_task(&scene, task, 100 + (pid_t)(100 * task), 0.001 * task);
	pyscene_task(&scene, 3, 100, 0.003);
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i + 0.01;
		pyscene_runs(&scene, 0, at, at + 0.002, OWNER "evolve.py>select:22 " SCRIPT);
		pyscene_waits(&scene, 0, at + 0.002, at + 0.058, TP_CAUSE_FUTEX, WAIT);
		pyscene_runs(&scene, 0, at + 0.058, at + 0.06, OWNER "evolve.py>main:21 " SCRIPT);
		pyscene_runs(&scene, 1, at, at + 0.06, FITNESS);
		pyscene_waits(&scene, 0, at + 0.06, at + 0.1, TP_CAUSE_FUTEX,
			      OWNER PY_TORCH
			      "utils/data/dataloader.py>_BaseDataLoaderIter.__next__:630 "
			      "libc.so.6!futex_wait:1");
		pyscene_runs(&scene, 2, at, at + 0.09,
			     PY_WORKER " train.py>Data.__getitem__:31 libjpeg.so.62!decode:1");
		pyscene_runs(&scene, 3, at + 0.09, at + 0.1,
			     PY_TORCH "utils/data/_utils/pin_memory.py>_pin_memory_loop:30 "
				      "libc.so.6!memcpy:1");
	}
	pyscene_judge(&scene, 4, TP_STEPS_OFF);
	const struct tp_profile *profile = &scene.sim.profile;
	ck_assert_uint_eq(profile->n_task_workers, 1);
	ck_assert_int_eq(role_of(profile, 1), TP_ROLE_WORKER);
	ck_assert_int_eq(role_of(profile, 2), TP_ROLE_LOADER);
	double pool_s = (double)profile->label_ns[TP_LABEL_COMPUTE_MATH] * 1e-9;
	ck_assert_double_eq_tol(pool_s, 40 * 0.056, 0.1);
	ck_assert_double_gt((double)profile->parts[TP_PART_DATALOADER].time_ns,
			    0.3 * (double)profile->total_ns);
	ck_assert_uint_gt(profile->work_ns[TP_WORK_OF_LOADING], 0);
	ck_assert_double_eq_tol((double)profile->work_ns[TP_WORK_OF_TASKS] * 1e-9, 40 * 0.06, 0.1);
	pyscene_close(&scene);
}
END_TEST

Suite *suite_analyze_task_pool(void);
Suite *suite_analyze_task_pool(void)
{
	Suite *suite = suite_create("analyze_task_pool");
	TCase *tc = tcase_create("task_pool");
	tcase_add_loop_test(tc, a_pool_computes_or_loads, 0, TP_ARRAY_LEN(rows));
	tcase_add_test(tc, a_fork_server_is_no_owner);
	tcase_add_test(tc, a_pool_that_ended_before_the_training_prepared_it);
	tcase_add_loop_test(tc, a_search_that_fits_once_more_loads_nothing, 0, TP_ARRAY_LEN(fits));
	tcase_add_test(tc, a_pool_belongs_to_the_process_that_started_it);
	tcase_add_test(tc, a_barrier_of_own_threads_is_no_wait_for_the_pool);
	tcase_add_test(tc, a_loader_beside_a_pool_stays_a_loader);
	suite_add_tcase(suite, tc);
	return suite;
}
