/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of pools of processes: whether their workers compute the steps or prepare data. */
#include "analyze/pyscene.h"

#include "trainprof/base/memory.h"

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

Suite *suite_analyze_task_pool(void);
Suite *suite_analyze_task_pool(void)
{
	Suite *suite = suite_create("analyze_task_pool");
	TCase *tc = tcase_create("task_pool");
	tcase_add_loop_test(tc, a_pool_computes_or_loads, 0, TP_ARRAY_LEN(rows));
	suite_add_tcase(suite, tc);
	return suite;
}
