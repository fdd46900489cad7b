/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the gain without a late rank where ranks compete for CPUs. */
#include "trainprof/analyze/job_join.h"

#include "job_scene.h"

#include <check.h>

/* All ranks wait 5 ms for a CPU: with one that works less, the others may wait less, too. */
START_TEST(ranks_that_compete_for_cpus_get_a_wide_interval)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	for (int64_t i = 0; i < 4; i++) {
		uint64_t own_ns = (i == 2 ? 36 : 20) * JOB_SCENE_MS;
		struct tp_job_rank *rank = job_scene_add(&scene, i, "host", own_ns, 0, 0);
		rank->label_ns[TP_LABEL_IDLE_RUNNABLE] = 5e6;
		rank->label_ns[TP_LABEL_COMPUTE_MATH] -= 5e6;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(job_scene_late(&scene), 2);
	ck_assert(scene.job.lacks_cpus);
	ck_assert(scene.job.is_sure);
	/* 42.5 ms become 26.5, or 10 ms more. They cannot become less than 15 ms of work and 6 of
	 * exchange. */
	ck_assert_double_eq_tol(scene.job.gain, 42.5 / 26.5, 0.03);
	ck_assert_double_eq_tol(scene.job.gain_low, 42.5 / 36.5, 0.03);
	ck_assert_double_eq_tol(scene.job.gain_high, 42.5 / 21.5, 0.05);
	tp_job_release(&scene.job);
}
END_TEST

/* Eight ranks on two CPUs work for 4 ms each and one sleeps for 20: without that sleep they need 16
 * ms for their work, not 4, and wait for each other. Its seven peers cannot lose more than its own
 * work, however long they wait. In the second row ranks are bound to one CPU each, in the third
 * nothing is known about the host: the CPUs that they share are unknown. */
static const struct {
	double n_cpus; /* of a rank */
	uint32_t n_host_cpus;
	double high_ms; /* the longest step without the late rank */
} shares[] = {{2, 2, 29.9}, {1, 8, 20.4}, {2, 0, 20.4}};

START_TEST(ranks_that_share_cpus_cannot_all_work_at_once)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 8; i++) {
		uint64_t own_ns = (i == 2 ? 30 : 8) * JOB_SCENE_MS;
		struct tp_job_rank *rank = job_scene_add(&scene, i, "host", own_ns, 0, 0);
		rank->n_cpus = shares[_i].n_cpus;
		rank->n_host_cpus = shares[_i].n_host_cpus;
		rank->label_ns[TP_LABEL_IDLE_RUNNABLE] = i == 2 ? 0 : 4e6;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(job_scene_late(&scene), 2);
	ck_assert(scene.job.lacks_cpus);
	/* 40 ms become 18 by the next rank. The work of all takes 4.5 x 8 / 2 = 18 ms, the exchange
	 * 9.5, and waits may change by 8.5 / 7 ms, taken twice. */
	ck_assert_double_eq_tol(scene.job.gain, 40 / 18.0, 0.03);
	ck_assert_double_eq_tol(scene.job.gain_low, 40 / shares[_i].high_ms, 0.03);
	ck_assert_double_eq_tol(scene.job.gain_high, 40 / 15.6, 0.05);
	tp_job_release(&scene.job);
}
END_TEST

Suite *suite_analyze_job_gain(void);

Suite *suite_analyze_job_gain(void)
{
	Suite *suite = suite_create("analyze_job_gain");
	TCase *tc = tcase_create("gain");
	tcase_add_test(tc, ranks_that_compete_for_cpus_get_a_wide_interval);
	tcase_add_loop_test(tc, ranks_that_share_cpus_cannot_all_work_at_once, 0,
			    sizeof(shares) / sizeof(shares[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
