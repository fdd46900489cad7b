/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what loader workers do, in scenes whose results are known. */
#include "analyze/pyscene.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#define GET                                                                                        \
	" " PY_STD "multiprocessing/queues.py>Queue.get:113 " PY_STD                               \
	"multiprocessing/connection.py>wait:936 " PY_STD "selectors.py>select:415"
#define SENDS                                                                                      \
	" " PY_STD "multiprocessing/queues.py>Queue.put:93 " PY_STD                                \
	"multiprocessing/connection.py>Connection._send:368"
#define FETCH   " " PY_TORCH "utils/data/_utils/fetch.py>fetch:49 train.py>Pictures.__getitem__:30"
#define LOADS   FETCH " /usr/lib/python3/dist-packages/PIL/ImageFile.py>ImageFile.load:253"
#define RESIZES FETCH " /usr/lib/python3/dist-packages/PIL/Image.py>Image.resize:2082"
#define STARTS                                                                                     \
	PY_DATA "DataLoader.__iter__:435 " PY_DATA                                                 \
		"_MultiProcessingDataLoaderIter.__init__:1042 " PY_STD                             \
		"multiprocessing/process.py>BaseProcess.start:121"
#define NEXT PY_MAIN " " PY_DATA "_BaseDataLoaderIter.__next__:628"

enum { N_STEPS = 40 };

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

struct fact_expected {
	enum tp_fact fact;
	double value;
	double within;
};

static void expect_facts(const struct pyscene *scene, const struct fact_expected *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double found = fact(scene, rows[i].fact);
		ck_assert_msg(found > rows[i].value - rows[i].within &&
				      found < rows[i].value + rows[i].within,
			      "%s is %g, expected %g", tp_fact_desc(rows[i].fact)->name, found,
			      rows[i].value);
	}
}

/* Each step is 100 ms, of which the trainer computes 60 and waits 40 in the loader's next. */
static void trainer_step(struct pyscene *scene, double at)
{
	mark(scene, at);
	pyscene_waits(scene, 0, at, at + 0.04, TP_CAUSE_POLL,
		      NEXT " " PY_STD "multiprocessing/connection.py>wait:936");
	pyscene_runs(scene, 0, at + 0.04, at + 0.1,
		     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
}

/* Reads 10 ms of which 5 on a CPU, decodes 30, resizes 20, makes the batch 10, pickles 5; then it
 * waits 25 for the next indices. */
static void busy_worker(struct pyscene *scene, uint32_t task, double at)
{
	pyscene_runs(scene, task, at, at + 0.005, PY_WORKER LOADS " libc.so.6!read:1");
	pyscene_waits(scene, task, at + 0.005, at + 0.01, TP_CAUSE_FILE, PY_WORKER LOADS);
	pyscene_runs(scene, task, at + 0.01, at + 0.04, PY_WORKER LOADS " libjpeg.so.62!f:1");
	pyscene_runs(scene, task, at + 0.04, at + 0.06,
		     PY_WORKER RESIZES " _imaging.cpython-311.so!resample:1");
	pyscene_runs(scene, task, at + 0.06, at + 0.07,
		     PY_WORKER
		     " " PY_TORCH
		     "utils/data/_utils/collate.py>default_collate:5 libtorch_cpu.so!cat:1");
	pyscene_runs(scene, task, at + 0.07, at + 0.075,
		     PY_WORKER
		     " " PY_STD
		     "multiprocessing/reduction.py>ForkingPickler.dumps:51 libc.so.6!memcpy:1");
	pyscene_waits(scene, task, at + 0.075, at + 0.1, TP_CAUSE_POLL, PY_WORKER GET);
}

/* Decodes 20 ms and waits 80 for room in the queue. */
static void idle_worker(struct pyscene *scene, uint32_t task, double at)
{
	pyscene_runs(scene, task, at, at + 0.02, PY_WORKER LOADS " libjpeg.so.62!f:1");
	pyscene_waits(scene, task, at + 0.02, at + 0.1, TP_CAUSE_PIPE, PY_WORKER SENDS);
}

START_TEST(a_workers_time_is_split_by_stacks_and_causes)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	pyscene_task(&scene, 1, 200, 0);
	pyscene_task(&scene, 2, 300, 0);
	for (int i = 0; i < N_STEPS; i++) {
		trainer_step(&scene, 0.1 * i);
		busy_worker(&scene, 1, 0.1 * i);
		idle_worker(&scene, 2, 0.1 * i);
	}
	mark(&scene, 0.1 * N_STEPS);
	pyscene_judge(&scene, 0.1 * N_STEPS, TP_STEPS_AUTO);
	const struct tp_profile *profile = &scene.sim.profile;
	ck_assert_uint_eq(profile->n_workers, 2);
	static const double shares[2][TP_N_WORKER_TIMES] = {
		{[TP_WORKER_READ] = 0.1,
		 [TP_WORKER_DECODE] = 0.3,
		 [TP_WORKER_TRANSFORM] = 0.3,
		 [TP_WORKER_HANDOVER] = 0.05,
		 [TP_WORKER_INDEX_WAIT] = 0.25},
		{[TP_WORKER_DECODE] = 0.2, [TP_WORKER_QUEUE_FULL] = 0.8},
	};
	for (size_t i = 0; i < 2; i++) {
		const struct tp_worker_result *worker = &profile->workers[i];
		uint64_t sum = 0;
		for (int what = 0; what < TP_N_WORKER_TIMES; what++) {
			double share = (double)worker->time_ns[what] / (double)worker->lived_ns;
			ck_assert_msg(share > shares[i][what] - 0.01 &&
					      share < shares[i][what] + 0.01,
				      "worker %zu: %s %.3f", i,
				      tp_worker_time_name((enum tp_worker_time)what), share);
			sum += worker->time_ns[what];
		}
		ck_assert_uint_eq(sum, worker->lived_ns);
	}
	/* 75 and 20 ms per batch, one batch of each worker per step; the two workers could make 21
	 * batches per second, and the trainer would use 16.7 if it never waited. */
	static const struct fact_expected expected[] = {
		{TP_FACT_LOADER_WORKERS, 2, 0.01},       {TP_FACT_LOADER_DECODE, 0.25, 0.01},
		{TP_FACT_LOADER_TRANSFORM, 0.15, 0.01},  {TP_FACT_LOADER_HANDOVER, 0.025, 0.005},
		{TP_FACT_LOADER_FULL, 0.4, 0.01},        {TP_FACT_LOADER_INDEX, 0.125, 0.01},
		{TP_FACT_LOADER_BATCH, 95e6, 2e6},       {TP_FACT_LOADER_PASSING, 5e6, 1e6},
		{TP_FACT_LOADER_SUPPLY, 2 / 0.095, 0.5}, {TP_FACT_LOADER_DEMAND, 1 / 0.06, 0.5},
		{TP_FACT_LOADER_STARTUP, 0, 1e-9},       {TP_FACT_LOADER_STARTS, 0, 1e-9},
	};
	expect_facts(&scene, expected, TP_ARRAY_LEN(expected));
	pyscene_close(&scene);
}
END_TEST

START_TEST(a_trainer_that_loads_itself_is_its_own_worker)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < N_STEPS; i++) {
		double at = 0.1 * i;
		mark(&scene, at);
		pyscene_runs(&scene, 0, at, at + 0.03, NEXT LOADS " libjpeg.so.62!f:1");
		pyscene_runs(&scene, 0, at + 0.03, at + 0.04,
			     NEXT RESIZES " _imaging.cpython-311.so!resample:1");
		pyscene_runs(&scene, 0, at + 0.04, at + 0.1,
			     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
	}
	mark(&scene, 0.1 * N_STEPS);
	pyscene_judge(&scene, 0.1 * N_STEPS, TP_STEPS_AUTO);
	static const struct fact_expected expected[] = {
		{TP_FACT_LOADER_WORKERS, 0, 0.01},      {TP_FACT_STEP_INLINE, 0.4, 0.01},
		{TP_FACT_LOADER_DECODE, 0.75, 0.01},    {TP_FACT_LOADER_TRANSFORM, 0.25, 0.01},
		{TP_FACT_LOADER_BATCH, 40e6, 1e6},      {TP_FACT_LOADER_SUPPLY, 25, 0.5},
		{TP_FACT_LOADER_DEMAND, 1 / 0.06, 0.5},
	};
	expect_facts(&scene, expected, TP_ARRAY_LEN(expected));
	pyscene_close(&scene);
}
END_TEST

/* Epochs of ten steps, each with its own two workers: 100 ms to start them, 100 until the first
 * batch is there. */
START_TEST(workers_that_are_started_again_are_counted)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	uint32_t task = 1;
	double at = 0;
	for (int epoch = 0; epoch < 5; epoch++) {
		double begin = at;
		pyscene_task_until(&scene, task, 200 + (pid_t)task, at + 0.05, at + 1.2);
		pyscene_runs(&scene, 0, at, at + 0.1, PY_MAIN " " STARTS);
		pyscene_waits(&scene, 0, at + 0.1, at + 0.2, TP_CAUSE_POLL,
			      NEXT " " PY_STD "multiprocessing/connection.py>wait:936");
		for (int i = 0; i < 10; i++) {
			mark(&scene, at + 0.2 + 0.1 * i);
			pyscene_runs(&scene, 0, at + 0.2 + 0.1 * i, at + 0.3 + 0.1 * i,
				     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
		}
		at += 1.2;
		pyscene_runs(&scene, task, begin + 0.06, at, PY_WORKER LOADS " libjpeg.so.62!f:1");
		task++;
	}
	mark(&scene, at);
	pyscene_judge(&scene, at, TP_STEPS_AUTO);
	static const struct fact_expected expected[] = {
		{TP_FACT_LOADER_STARTS, 4, 0.01},
		{TP_FACT_LOADER_STARTUP, 4 * 0.2 / 5.8, 0.01}, /* from the first step on */
	};
	expect_facts(&scene, expected, TP_ARRAY_LEN(expected));
	pyscene_close(&scene);
}
END_TEST

/* Two workers: 50 ms until the old ones have ended, 100 to start new ones, of which 5 look like
 * computing, 100 until the first batch is there, and 80 in the next step for that of the other. Or
 * batches come in bursts: each second step waits 80 ms, and only the rest is that of a restart. */
static const struct {
	int every; /* steps that wait */
	double startup;
} bursts[] = {{10, 4 * (0.05 + 0.095 + 0.1 + 0.08) / 6.4}, {2, 4 * (0.05 + 0.095 + 0.1) / 8.0}};

START_TEST(a_restart_is_all_that_makes_its_steps_longer)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	uint32_t task = 1;
	double at = 0;
	for (int epoch = 0; epoch < 5; epoch++) {
		double first = at + 0.25;
		pyscene_waits(&scene, 0, at, at + 0.05, TP_CAUSE_FUTEX, PY_MAIN);
		pyscene_runs(&scene, 0, at + 0.05, at + 0.08, PY_MAIN " " STARTS);
		pyscene_runs(&scene, 0, at + 0.08, at + 0.085,
			     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
		pyscene_runs(&scene, 0, at + 0.085, at + 0.15, PY_MAIN " " STARTS);
		pyscene_waits(&scene, 0, at + 0.15, first, TP_CAUSE_POLL,
			      NEXT " " PY_STD "multiprocessing/connection.py>wait:936");
		double end = first + 0.08 * (10 / bursts[_i].every) + 10 * 0.1;
		for (int worker = 0; worker < 2; worker++) {
			pyscene_task_until(&scene, task, 200 + (pid_t)task, at + 0.06, end);
			pyscene_runs(&scene, task++, at + 0.07, end,
				     PY_WORKER LOADS " libjpeg.so.62!f:1");
		}
		at = first;
		for (int i = 0; i < 10; i++) {
			mark(&scene, at);
			pyscene_runs(&scene, 0, at, at + 0.1,
				     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
			at += 0.1;
			if (i % bursts[_i].every == 0) {
				pyscene_waits(&scene, 0, at, at + 0.08, TP_CAUSE_POLL,
					      NEXT " " PY_STD
						   "multiprocessing/connection.py>wait:936");
				at += 0.08;
			}
		}
	}
	mark(&scene, at);
	pyscene_judge(&scene, at, TP_STEPS_AUTO);
	const struct fact_expected expected[] = {
		{TP_FACT_LOADER_STARTS, 4, 0.01},
		{TP_FACT_LOADER_STARTUP, bursts[_i].startup, 0.005},
	};
	expect_facts(&scene, expected, TP_ARRAY_LEN(expected));
	pyscene_close(&scene);
}
END_TEST

/* One worker for each epoch of ten steps: the last step waits 50 ms for its end, the first one 200
 * for the start and the first batch of another. Memory shared with a new process makes computing
 * slower by 50 ms, too, which could as well have another reason. */
START_TEST(a_restart_begins_in_the_step_in_which_workers_end)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	double at = 0;
	for (uint32_t task = 1; task <= 5; task++) {
		double end = at + 1.3;
		pyscene_task_until(&scene, task, 200 + (pid_t)task, at + 0.05, end - 0.01);
		pyscene_runs(&scene, task, at + 0.06, end - 0.01,
			     PY_WORKER LOADS " libjpeg.so.62!f:1");
		for (int i = 0; i < 10; i++) {
			mark(&scene, at);
			if (i == 0) {
				pyscene_runs(&scene, 0, at, at + 0.1, PY_MAIN " " STARTS);
				pyscene_waits(&scene, 0, at + 0.1, at + 0.2, TP_CAUSE_POLL,
					      NEXT " " PY_STD
						   "multiprocessing/connection.py>wait:936");
				at += 0.2;
			}
			double computed = at + (i == 0 ? 0.15 : 0.1);
			pyscene_runs(&scene, 0, at, computed,
				     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
			at = computed;
		}
		pyscene_waits(&scene, 0, at, end, TP_CAUSE_FUTEX, PY_MAIN);
		at = end;
	}
	mark(&scene, at);
	pyscene_judge(&scene, at, TP_STEPS_AUTO);
	static const struct fact_expected expected[] = {
		{TP_FACT_LOADER_STARTS, 4, 0.01},
		{TP_FACT_LOADER_STARTUP, 4 * (0.2 + 0.05) / 6.5, 0.005},
		{TP_FACT_LOADER_RESTART_STEPS, 4 * (0.2 + 0.05 + 0.05) / 6.5, 0.005},
	};
	expect_facts(&scene, expected, TP_ARRAY_LEN(expected));
	pyscene_close(&scene);
}
END_TEST

START_TEST(unknown_facts_have_a_reason)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < N_STEPS; i++)
		pyscene_runs(&scene, 0, 0.1 * i, 0.1 * i + 0.09,
			     PY_MAIN " " PY_MODULE " libtorch_cpu.so!addmm:1");
	pyscene_judge(&scene, 0.1 * N_STEPS, TP_STEPS_OFF);
	static const enum tp_fact facts[] = {TP_FACT_LOADER_DECODE, TP_FACT_LOADER_BATCH,
					     TP_FACT_LOADER_SUPPLY, TP_FACT_LOADER_DEMAND};
	for (size_t i = 0; i < TP_ARRAY_LEN(facts); i++) {
		ck_assert(!scene.sim.profile.facts[facts[i]].is_known);
		ck_assert_ptr_nonnull(scene.sim.profile.facts[facts[i]].missing);
	}
	pyscene_close(&scene);
}
END_TEST

/* Two threads of the trainer: one feeds the workers, one pins the batches in memory. */
START_TEST(threads_that_pass_on_are_no_workers)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	pyscene_task(&scene, 1, 100, 0);
	pyscene_task(&scene, 2, 100, 0);
	pyscene_task(&scene, 3, 300, 0);
	for (int i = 0; i < N_STEPS; i++) {
		double at = 0.1 * i;
		trainer_step(&scene, at);
		pyscene_runs(&scene, 1, at, at + 0.002,
			     PY_STD "threading.py>Thread._bootstrap:995 " PY_STD
				    "multiprocessing/queues.py>Queue._feed:244");
		pyscene_waits(&scene, 1, at + 0.002, at + 0.1, TP_CAUSE_FUTEX,
			      PY_STD "threading.py>Thread._bootstrap:995 " PY_STD
				     "multiprocessing/queues.py>Queue._feed:235");
		pyscene_runs(&scene, 2, at + 0.01, at + 0.018,
			     PY_STD "threading.py>Thread._bootstrap:995 " PY_TORCH
				    "utils/data/_utils/pin_memory.py>_pin_memory_loop:49 "
				    "libtorch_cpu.so!copy:1");
		busy_worker(&scene, 3, at);
	}
	mark(&scene, 0.1 * N_STEPS);
	pyscene_judge(&scene, 0.1 * N_STEPS, TP_STEPS_AUTO);
	ck_assert_uint_eq(scene.sim.profile.n_workers, 1);
	static const struct fact_expected expected[] = {
		{TP_FACT_LOADER_WORKERS, 1, 0.01},
		{TP_FACT_LOADER_PASSING, 15e6, 1e6}, /* 5 in the worker, 2 and 8 in these threads */
		{TP_FACT_LOADER_BATCH, 75e6, 2e6},
	};
	expect_facts(&scene, expected, TP_ARRAY_LEN(expected));
	pyscene_close(&scene);
}
END_TEST

Suite *suite_analyze_loader_work(void);
Suite *suite_analyze_loader_work(void)
{
	Suite *suite = suite_create("analyze/loaderwork");
	TCase *tc = tcase_create("loaderwork");
	tcase_add_test(tc, a_workers_time_is_split_by_stacks_and_causes);
	tcase_add_test(tc, a_trainer_that_loads_itself_is_its_own_worker);
	tcase_add_test(tc, workers_that_are_started_again_are_counted);
	tcase_add_loop_test(tc, a_restart_is_all_that_makes_its_steps_longer, 0, 2);
	tcase_add_test(tc, a_restart_begins_in_the_step_in_which_workers_end);
	tcase_add_test(tc, unknown_facts_have_a_reason);
	tcase_add_test(tc, threads_that_pass_on_are_no_workers);
	suite_add_tcase(suite, tc);
	return suite;
}
