/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the savings by changes of the loader, in scenes whose results are known. */
#include "analyze/pyscene.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#define FETCH  " " PY_TORCH "utils/data/_utils/fetch.py>fetch:49 train.py>Pictures.__getitem__:30"
#define LOADS  FETCH " /usr/lib/python3/dist-packages/PIL/ImageFile.py>ImageFile.load:253"
#define NEXT   PY_MAIN " " PY_DATA "_BaseDataLoaderIter.__next__:628"
#define TRAINS PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1"

enum { N_STEPS = 60 };

static void open_scene(struct pyscene *scene)
{
	pyscene_open(scene);
	scene->sim.run.host.n_cpus = 4;
	pyscene_task(scene, 0, 100, 0);
}

static void mark(struct pyscene *scene, double at_s)
{
	struct tp_mark step = {.kind = TP_MARK_STEP, .time_ns = (uint64_t)(at_s * 1e9)};
	tp_sink_mark(&scene->sim.builder.sink, &step);
}

static double fact(const struct pyscene *scene, enum tp_fact id)
{
	const struct tp_quantity *value = &scene->sim.profile.facts[id];
	ck_assert_msg(value->is_known, "%s: %s", tp_fact_desc(id)->name, value->missing);
	return value->value;
}

/* A batch takes 60 ms to decode, of which 50 asleep; the trainer computes 20 and waits 40. */
static void one_worker(struct pyscene *scene)
{
	pyscene_task(scene, 1, 200, 0);
	for (int i = 0; i < N_STEPS; i++) {
		double at = 0.06 * i;
		mark(scene, at);
		pyscene_waits(scene, 0, at, at + 0.04, TP_CAUSE_POLL,
			      NEXT " " PY_STD "multiprocessing/connection.py>wait:936");
		pyscene_runs(scene, 0, at + 0.04, at + 0.06, TRAINS);
		pyscene_runs(scene, 1, at, at + 0.01, PY_WORKER LOADS " libjpeg.so.62!f:1");
		pyscene_waits(scene, 1, at + 0.01, at + 0.06, TP_CAUSE_SLEEP, PY_WORKER LOADS);
	}
	mark(scene, 0.06 * N_STEPS);
	pyscene_judge(scene, 0.06 * N_STEPS, TP_STEPS_AUTO);
}

START_TEST(workers_are_as_many_as_the_trainer_can_use)
{
	struct pyscene scene;
	open_scene(&scene);
	one_worker(&scene);
	ck_assert_double_eq_tol(fact(&scene, TP_FACT_REPLAY_ERROR), 0, 0.03);
	double n = fact(&scene, TP_FACT_REPLAY_WORKERS);
	ck_assert_double_ge(n, 3); /* three make a batch in exactly 20 ms, four are faster */
	ck_assert_double_le(n, 4);
	double most = fact(&scene, TP_FACT_REPLAY_WORKERS_SAVED);
	double least = fact(&scene, TP_FACT_REPLAY_WORKERS_LEAST);
	ck_assert_double_le(least, 1 - 20.0 / 60);
	ck_assert_double_ge(most, 1 - 20.0 / 60);
	ck_assert_double_ge(least, 0.6);
	ck_assert_double_le(most, 0.7);
	ck_assert_double_eq_tol(fact(&scene, TP_FACT_REPLAY_AHEAD_SAVED), 0, 0.02);
	pyscene_close(&scene);
}
END_TEST

static void count(struct pyscene *scene, enum tp_metric metric, uint32_t task, double at_s,
		  double ns_per_s)
{
	tp_sink_gauge(&scene->sim.builder.sink, metric, task, 1 + (uint64_t)(at_s * 1e9),
		      ns_per_s * at_s);
}

static void run_until_preempted(struct pyscene *scene, double from_s, double to_s)
{
	struct tp_run run = {.task = 1,
			     .start_ns = (uint64_t)(from_s * 1e9),
			     .end_ns = (uint64_t)(to_s * 1e9),
			     .how = TP_RUN_PREEMPTED};
	tp_sink_run(&scene->sim.builder.sink, &run);
	pyscene_sample(scene, 1, (from_s + to_s) / 2, TP_STATE_ON_CPU, TP_CAUSE_NONE,
		       PY_WORKER LOADS " libjpeg.so.62!f:1");
}

/* A batch takes a worker 58 ms of a CPU, and 2 ms until it gets one. Of two CPUs other programs
 * have half of one: six workers would take some of that. */
START_TEST(workers_that_compute_are_no_more_than_cpus)
{
	struct pyscene scene;
	open_scene(&scene);
	scene.sim.run.host.n_cpus = 2;
	pyscene_task(&scene, 1, 200, 0);
	for (int i = 0; i < N_STEPS; i++) {
		double at = 0.06 * i;
		mark(&scene, at);
		pyscene_waits(&scene, 0, at, at + 0.055, TP_CAUSE_POLL,
			      NEXT " " PY_STD "multiprocessing/connection.py>wait:936");
		pyscene_runs(&scene, 0, at + 0.055, at + 0.06, TRAINS);
		run_until_preempted(&scene, at, at + 0.056);
		pyscene_runs(&scene, 1, at + 0.058, at + 0.0595,
			     PY_WORKER LOADS " libjpeg.so.62!f:1");
		pyscene_waits(&scene, 1, at + 0.0595, at + 0.06, TP_CAUSE_SLEEP, PY_WORKER LOADS);
		count(&scene, TP_METRIC_CPU_BUSY, TP_NO_TASK, at, 1.55e9);
		count(&scene, TP_METRIC_CPU_IDLE, TP_NO_TASK, at, 0.45e9);
		count(&scene, TP_METRIC_CPU_STEAL, TP_NO_TASK, at, 0);
		count(&scene, TP_METRIC_SELF_CPU, TP_NO_TASK, at, 0);
		count(&scene, TP_METRIC_PROC_UTIME, 0, at, 0.08e9);
		count(&scene, TP_METRIC_PROC_STIME, 0, at, 0);
		count(&scene, TP_METRIC_PROC_UTIME, 1, at, 0.97e9);
		count(&scene, TP_METRIC_PROC_STIME, 1, at, 0);
	}
	mark(&scene, 0.06 * N_STEPS);
	pyscene_judge(&scene, 0.06 * N_STEPS, TP_STEPS_AUTO);
	ck_assert_double_eq_tol(fact(&scene, TP_FACT_CPU_OTHERS), 0.5, 0.05);
	ck_assert_double_eq_tol(fact(&scene, TP_FACT_REPLAY_WORKERS), 2, 0.01);
	ck_assert_double_ge(fact(&scene, TP_FACT_REPLAY_WORKERS_SAVED), 0.2);
	pyscene_close(&scene);
}
END_TEST

START_TEST(a_trainer_that_loads_gets_its_first_workers)
{
	struct pyscene scene;
	open_scene(&scene);
	for (int i = 0; i < N_STEPS; i++) {
		double at = 0.1 * i;
		mark(&scene, at);
		pyscene_runs(&scene, 0, at, at + 0.04, NEXT LOADS " libjpeg.so.62!f:1");
		pyscene_runs(&scene, 0, at + 0.04, at + 0.1, TRAINS);
	}
	mark(&scene, 0.1 * N_STEPS);
	pyscene_judge(&scene, 0.1 * N_STEPS, TP_STEPS_AUTO);
	ck_assert_double_eq_tol(fact(&scene, TP_FACT_REPLAY_ERROR), 0, 0.01);
	ck_assert_double_eq_tol(fact(&scene, TP_FACT_REPLAY_WORKERS), 1, 0.01);
	ck_assert_double_eq_tol(fact(&scene, TP_FACT_REPLAY_WORKERS_SAVED), 0.4, 0.03);
	ck_assert_double_le(fact(&scene, TP_FACT_REPLAY_WORKERS_LEAST), 0.4);
	ck_assert(!scene.sim.profile.facts[TP_FACT_REPLAY_AHEAD_SAVED].is_known);
	pyscene_close(&scene);
}
END_TEST

/* The trainer waits for a queue that is filled by a process that was not recorded. */
START_TEST(batches_of_unseen_origin_are_not_replayed)
{
	struct pyscene scene;
	open_scene(&scene);
	for (int i = 0; i < N_STEPS; i++) {
		double at = 0.06 * i;
		mark(&scene, at);
		pyscene_waits(&scene, 0, at, at + 0.04, TP_CAUSE_POLL,
			      NEXT " " PY_STD "multiprocessing/connection.py>wait:936");
		pyscene_runs(&scene, 0, at + 0.04, at + 0.06, TRAINS);
	}
	mark(&scene, 0.06 * N_STEPS);
	pyscene_judge(&scene, 0.06 * N_STEPS, TP_STEPS_AUTO);
	static const enum tp_fact facts[] = {TP_FACT_REPLAY_ERROR, TP_FACT_REPLAY_WORKERS_SAVED};
	for (size_t i = 0; i < TP_ARRAY_LEN(facts); i++) {
		ck_assert(!scene.sim.profile.facts[facts[i]].is_known);
		ck_assert_ptr_nonnull(scene.sim.profile.facts[facts[i]].missing);
	}
	pyscene_close(&scene);
}
END_TEST

Suite *suite_analyze_pass_replay(void);
Suite *suite_analyze_pass_replay(void)
{
	Suite *suite = suite_create("analyze/pass_replay");
	TCase *tc = tcase_create("pass_replay");
	tcase_add_test(tc, workers_are_as_many_as_the_trainer_can_use);
	tcase_add_test(tc, workers_that_compute_are_no_more_than_cpus);
	tcase_add_test(tc, a_trainer_that_loads_gets_its_first_workers);
	tcase_add_test(tc, batches_of_unseen_origin_are_not_replayed);
	suite_add_tcase(suite, tc);
	return suite;
}
