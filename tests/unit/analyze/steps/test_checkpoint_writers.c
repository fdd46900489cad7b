/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of functions without a known name that write and wait for storage. */
#include "analyze/pyscene.h"

#include "trainprof/base/memory.h"

enum { N_STEPS = 90, EVERY = 3 };

static const struct {
	const char *claim;
	double write_s; /* of 60 ms in keep(): time spent writing */
	double wait_s;  /* time waiting for a disk; the rest is in `others` */
	const char *others;
	double saves_s; /* of 60 ms: time that counts as saving */
} keepers[] = {
	{"writes and waits for a disk", 0.02, 0.03, "/usr/bin/python3.11!eval:1", 0.06},
	{"writes what stays in memory", 0.05, 0, "/usr/bin/python3.11!eval:1", 0},
	{"computes what it writes", 0.01, 0.01, "libopenblas.so!gemm:1", 0.01},
	{"trains and writes", 0.02, 0.03, PY_MODULE " libtorch_cpu.so!addmm:1", 0.03},
};

#define KEEP PY_MAIN " train.py>keep:12 "

static void keep(struct pyscene *scene, double at, size_t row)
{
	double write_end = at + keepers[row].write_s;
	double wait_end = write_end + keepers[row].wait_s;
	char others[300];
	snprintf(others, sizeof(others), KEEP "%s", keepers[row].others);
	if (keepers[row].write_s > 0)
		pyscene_runs(scene, 0, at, write_end, KEEP "libc.so.6!__write:1");
	if (keepers[row].wait_s > 0)
		pyscene_waits(scene, 0, write_end, wait_end, TP_CAUSE_DISK,
			      KEEP "libc.so.6!fsync:1");
	pyscene_runs(scene, 0, wait_end, at + 0.06, others);
}

static void judge_rounds(struct pyscene *scene, size_t row, enum tp_steps_choice steps)
{
	double at = 0;
	pyscene_open(scene);
	pyscene_task(scene, 0, 100, 0);
	for (int i = 0; i < N_STEPS; i++, at += 0.1) {
		pyscene_runs(scene, 0, at, at + 0.06,
			     PY_MAIN " train.py>forward:7 libopenblas.so!gemm:1");
		pyscene_runs(scene, 0, at + 0.06, at + 0.1,
			     PY_MAIN " train.py>update:9 libopenblas.so!gemm:1");
		if (i % EVERY != EVERY - 1)
			continue;
		keep(scene, at + 0.1, row);
		at += 0.06;
	}
	pyscene_judge(scene, at, steps);
}

START_TEST(a_function_that_writes_and_waits_for_storage_saves)
{
	struct pyscene scene;
	judge_rounds(&scene, (size_t)_i, TP_STEPS_OFF);
	double s = (double)scene.sim.profile.label_ns[TP_LABEL_HOST_CHECKPOINT] * 1e-9;
	double expected_s = keepers[_i].saves_s * N_STEPS / EVERY;
	ck_assert_msg(s > expected_s - 0.05 && s < expected_s + 0.05, "%s: %.3f s, expected %.3f",
		      keepers[_i].claim, s, expected_s);
	pyscene_close(&scene);
}
END_TEST

/* Regression: the 30 calls that save were taken as the steps, each with three micro-batches. */
START_TEST(saving_every_third_step_does_not_divide_steps)
{
	struct pyscene scene;
	judge_rounds(&scene, 0, TP_STEPS_AUTO);
	ck_assert_uint_ge(scene.sim.profile.n_steps, N_STEPS - 1);
	ck_assert_uint_le(scene.sim.profile.n_steps, N_STEPS + 1);
	pyscene_close(&scene);
}
END_TEST

Suite *suite_analyze_checkpoint_writers(void);
Suite *suite_analyze_checkpoint_writers(void)
{
	Suite *suite = suite_create("analyze/saver");
	TCase *tc = tcase_create("scenes");
	tcase_add_loop_test(tc, a_function_that_writes_and_waits_for_storage_saves, 0,
			    TP_ARRAY_LEN(keepers));
	tcase_add_test(tc, saving_every_third_step_does_not_divide_steps);
	suite_add_tcase(suite, tc);
	return suite;
}
