/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the cause of a late rank: what it does that the others do not, and of what kind that is.
 */
#include "trainprof/analyze/job_join.h"

#include "job_scene.h"

#include <check.h>

START_TEST(the_function_that_others_do_not_have_is_the_cause)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	struct tp_job_code work = {.file = "/a/train.py",
				   .function = "forward",
				   .line = 10,
				   .label = TP_LABEL_COMPUTE_MATH,
				   .step_ns = 20e6};
	struct tp_job_code decode = {.file = "/a/train.py",
				     .function = "decode",
				     .line = 30,
				     .label = TP_LABEL_DATALOADER_PREP,
				     .step_ns = 16e6};
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			job_scene_add(&scene, i, "host",
				      i == 0 ? 36 * JOB_SCENE_MS : 20 * JOB_SCENE_MS, 0, 0);
		rank->codes[rank->n_codes++] = work;
		if (i == 0)
			rank->codes[rank->n_codes++] = decode;
	}
	tp_job_join(&scene.job);
	ck_assert_ptr_nonnull(scene.job.late_code);
	ck_assert_str_eq(scene.job.late_code->function, "decode");
	ck_assert_int_eq(scene.job.late_label, TP_LABEL_DATALOADER_PREP);
	ck_assert_double_eq(scene.job.others_code_ns, 0);
	tp_job_release(&scene.job);
}
END_TEST

/* Adds three ranks with a place of 20 ms each; the late one has two more. */
static void add_places(struct job_scene *scene, struct tp_job_code work, struct tp_job_code longer,
		       struct tp_job_code decode)
{
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			job_scene_add(scene, i, "host",
				      i == 0 ? 36 * JOB_SCENE_MS : 20 * JOB_SCENE_MS, 0, 0);
		rank->codes[rank->n_codes++] = i == 0 ? longer : work;
		if (i == 0)
			rank->codes[rank->n_codes++] = decode;
		rank->n_places = (uint32_t)rank->n_codes;
	}
}

START_TEST(waits_for_a_cpu_in_common_work_do_not_hide_the_cause)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	struct tp_job_code work = {.function = "forward",
				   .label = TP_LABEL_COMPUTE_MATH,
				   .step_ns = 20e6,
				   .queue_ns = 10e6};
	struct tp_job_code longer = work;
	longer.step_ns = 31e6;
	longer.queue_ns = 20.5e6;
	struct tp_job_code decode = {.function = "decode",
				     .label = TP_LABEL_DATALOADER_PREP,
				     .step_ns = 6e6};
	add_places(&scene, work, longer, decode);
	tp_job_join(&scene.job);
	ck_assert_ptr_nonnull(scene.job.late_code);
	ck_assert_str_eq(scene.job.late_code->function, "decode");
	ck_assert_int_eq(scene.job.late_kind, TP_JOB_LATE_OTHER_WORK);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(work_of_the_late_rank_alone_comes_before_more_of_the_same)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	struct tp_job_code work = {.function = "forward",
				   .label = TP_LABEL_COMPUTE_MATH,
				   .step_ns = 20e6};
	struct tp_job_code longer = work;
	longer.step_ns = 28e6;
	struct tp_job_code decode = {.function = "decode",
				     .label = TP_LABEL_DATALOADER_PREP,
				     .step_ns = 7e6};
	add_places(&scene, work, longer, decode);
	tp_job_join(&scene.job);
	ck_assert_ptr_nonnull(scene.job.late_code);
	ck_assert_str_eq(scene.job.late_code->function, "decode");
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(places_that_were_left_out_of_a_list_are_not_zero)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	struct tp_job_code work = {.function = "forward",
				   .label = TP_LABEL_COMPUTE_MATH,
				   .step_ns = 8e6};
	struct tp_job_code longer = work;
	longer.step_ns = 18e6;
	struct tp_job_code other = {.function = "backward",
				    .label = TP_LABEL_COMPUTE_MATH,
				    .step_ns = 11e6};
	add_places(&scene, work, longer, other);
	for (size_t i = 1; i < 3; i++)
		scene.job.ranks[i].n_places = 2; /* backward() of at most 8 ms is not listed */
	tp_job_join(&scene.job);
	ck_assert_ptr_nonnull(scene.job.late_code);
	ck_assert_str_eq(scene.job.late_code->function, "forward");
	ck_assert(!scene.job.others_code_is_bound);
	tp_job_release(&scene.job);
}
END_TEST

START_TEST(a_bound_is_called_one)
{
	struct job_scene scene;
	job_scene_init(&scene, false);
	struct tp_job_code work = {.function = "forward",
				   .label = TP_LABEL_COMPUTE_MATH,
				   .step_ns = 2e6};
	struct tp_job_code decode = {.function = "decode",
				     .label = TP_LABEL_DATALOADER_PREP,
				     .step_ns = 16e6};
	add_places(&scene, work, work, decode);
	for (size_t i = 1; i < 3; i++)
		scene.job.ranks[i].n_places = 2;
	tp_job_join(&scene.job);
	ck_assert_ptr_nonnull(scene.job.late_code);
	ck_assert_str_eq(scene.job.late_code->function, "decode");
	ck_assert(scene.job.others_code_is_bound);
	ck_assert_double_eq(scene.job.others_code_ns, 2e6);
	tp_job_release(&scene.job);
}
END_TEST

/* Two functions of each rank, and its wait for a CPU; the third rank is late. */
static const struct {
	const char *what;
	double load_ms, step_ms, cpu_ms;                   /* the late rank */
	double other_load_ms, other_step_ms, other_cpu_ms; /* the other ranks */
	const char *load, *step;                           /* names of the rank's functions */
	double sample_ms;                                  /* per step */
	enum tp_job_late_kind kind;
} kinds[] = {
	{"larger batches", 4, 28, 0, 4, 14, 0, "load", "step", 0.05, TP_JOB_LATE_MORE_WORK},
	{"a slow loader", 18, 14, 0, 2, 14, 0, "load", "step", 0.05, TP_JOB_LATE_OTHER_WORK},
	{"a throttled clock", 16, 16, 0, 9, 9, 0, "load", "step", 0.05, TP_JOB_LATE_SLOWER_CPU},
	{"much slower", 15, 17, 0, 2, 3, 0, "load", "step", 0.05, TP_JOB_LATE_SLOWER_CPU},
	{"one function above all", 27, 7, 0, 1, 5, 0, "load", "step", 0.05, TP_JOB_LATE_OTHER_WORK},
	{"factors that differ", 14, 18, 0, 8, 6, 0, "load", "step", 0.05, TP_JOB_LATE_MORE_WORK},
	{"a limit of CPU time", 9, 9, 14, 9, 9, 0, "load", "step", 0.05, TP_JOB_LATE_WITHOUT_CPU},
	{"too few CPUs for all", 4, 28, 18, 4, 14, 9.5, "load", "step", 0.05,
	 TP_JOB_LATE_MORE_WORK},
	{"a stage of a pipeline", 16, 16, 0, 9, 9, 0, "head", "loss", 0.05,
	 TP_JOB_LATE_OTHER_STAGE},
	{"that differ by chance", 14, 18, 0, 8, 6, 0, "load", "step", 0.4, TP_JOB_LATE_SLOWER_CPU},
	{"of hardly any samples", 14, 18, 0, 8, 6, 0, "load", "step", 2, TP_JOB_LATE_MORE_WORK},
	{"an unknown rate", 14, 18, 0, 8, 6, 0, "load", "step", 0, TP_JOB_LATE_MORE_WORK},
	{"most in one", 30, 4, 0, 3.6, 1.33, 0, "load", "step", 0.05, TP_JOB_LATE_OTHER_WORK},
};

static void set_code(struct tp_job_rank *rank, const char *function, double ms)
{
	rank->codes[rank->n_codes++] = (struct tp_job_code){.file = "a.py",
							    .function = function,
							    .line = 3,
							    .step_ns = ms * 1e6};
}

START_TEST(kinds_of_late_ranks_are_distinguished)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 4; i++) {
		bool is_late = i == 2;
		struct tp_job_rank *rank =
			job_scene_add(&scene, i, "host", (is_late ? 34 : 19) * JOB_SCENE_MS, 0, 0);
		set_code(rank, is_late ? kinds[_i].load : "load",
			 is_late ? kinds[_i].load_ms : kinds[_i].other_load_ms);
		set_code(rank, is_late ? kinds[_i].step : "step",
			 is_late ? kinds[_i].step_ms : kinds[_i].other_step_ms);
		rank->sample_ns = kinds[_i].sample_ms * 1e6;
		rank->label_ns[TP_LABEL_IDLE_RUNNABLE] =
			(is_late ? kinds[_i].cpu_ms : kinds[_i].other_cpu_ms) * 1e6;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(job_scene_late(&scene), 2);
	ck_assert_msg(scene.job.late_kind == kinds[_i].kind, "%s: %s", kinds[_i].what,
		      tp_job_late_kind_name(scene.job.late_kind));
	tp_job_release(&scene.job);
}
END_TEST

/* On a machine with too few CPUs a rank with more work also waits longer for them, in whichever
 * function it loses its CPU. */
START_TEST(waits_for_a_cpu_do_not_hide_what_a_rank_does)
{
	struct job_scene scene;
	job_scene_init(&scene, true);
	for (int64_t i = 0; i < 3; i++) {
		struct tp_job_rank *rank =
			job_scene_add(&scene, i, "host", (i == 1 ? 38 : 10) * JOB_SCENE_MS, 0, 0);
		set_code(rank, "step", i == 1 ? 20 : 5);
		rank->codes[0].label = TP_LABEL_IDLE_RUNNABLE;
		if (i == 1)
			set_code(rank, "decode", 18);
		rank->label_ns[TP_LABEL_IDLE_RUNNABLE] = i == 1 ? 20e6 : 5e6;
	}
	tp_job_join(&scene.job);
	ck_assert_int_eq(job_scene_late(&scene), 1);
	ck_assert_ptr_nonnull(scene.job.late_code);
	ck_assert_str_eq(scene.job.late_code->function, "decode");
	ck_assert_int_eq(scene.job.late_kind, TP_JOB_LATE_OTHER_WORK);
	tp_job_release(&scene.job);
}
END_TEST

/* The link of one rank is slow: it sends for longer, and the others wait for its data. */
Suite *suite_analyze_job_cause(void);

Suite *suite_analyze_job_cause(void)
{
	Suite *suite = suite_create("analyze_job_cause");
	TCase *tc = tcase_create("cause");
	tcase_add_test(tc, the_function_that_others_do_not_have_is_the_cause);
	tcase_add_test(tc, waits_for_a_cpu_in_common_work_do_not_hide_the_cause);
	tcase_add_test(tc, work_of_the_late_rank_alone_comes_before_more_of_the_same);
	tcase_add_test(tc, places_that_were_left_out_of_a_list_are_not_zero);
	tcase_add_test(tc, a_bound_is_called_one);
	tcase_add_loop_test(tc, kinds_of_late_ranks_are_distinguished, 0,
			    sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_test(tc, waits_for_a_cpu_do_not_hide_what_a_rank_does);
	suite_add_tcase(suite, tc);
	return suite;
}
