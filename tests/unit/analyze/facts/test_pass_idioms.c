/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of idioms and functions: their share of the loop and of loader workers. */
#include "analyze/pyscene.h"

#include "analyze/classify/stack_idiom.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <string.h>
#include <unistd.h>

static void open_scene(struct pyscene *scene)
{
	struct tp_error err;
	pyscene_open(scene);
	ck_assert_msg(!tp_patterns_load_idioms(scene->sim.patterns, "rules/idioms", &err), "%s",
		      err.text);
}

static const struct tp_idiom_result *find(const struct pyscene *scene, const char *id)
{
	for (size_t i = 0; i < scene->sim.profile.n_idioms; i++)
		if (strcmp(scene->sim.profile.idioms[i].id, id) == 0)
			return &scene->sim.profile.idioms[i];
	return NULL;
}

/* Seconds in a function, summed over all lines. */
static double seconds_of(const struct pyscene *scene, enum tp_work_of of, const char *name)
{
	double sum = 0;
	const struct tp_profile *profile = &scene->sim.profile;
	for (size_t i = 0; i < profile->n_works; i++)
		if (profile->works[i].of == of && strcmp(profile->works[i].name, name) == 0)
			sum += (double)profile->works[i].time_ns * 1e-9;
	return sum;
}

#define MAIN "train.py><module>:90 train.py>main:"

START_TEST(time_of_the_main_thread_counts_for_the_loop)
{
	struct pyscene scene;
	open_scene(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i;
		pyscene_runs(&scene, 0, at, at + 0.06,
			     MAIN "71 libtorch_python.so!_ZN5torch5utils11tensor_ctorEv:1 "
				  "python3.11!PyFloat_AsDouble:1");
		pyscene_runs(&scene, 0, at + 0.06, at + 0.1,
			     MAIN "72 " PY_MODULE " libtorch_cpu.so!addmm:1");
	}
	pyscene_judge(&scene, 4, TP_STEPS_OFF);
	const struct tp_idiom_result *idiom = find(&scene, "idiom/tensor-of-arrays");
	ck_assert_ptr_nonnull(idiom);
	ck_assert_double_eq_tol(idiom->main_ratio, 0.6, 0.02);
	ck_assert_double_eq_tol(idiom->held_ratio, 0.6, 0.02);
	ck_assert_double_eq_tol((double)idiom->late_ns / (double)idiom->main_ns, 0.5, 0.02);
	ck_assert_uint_eq(idiom->line, 71);
	ck_assert_uint_eq(idiom->n_samples, 240);
	ck_assert_uint_eq(idiom->loading_ns, 0);
	ck_assert_double_eq_tol(idiom->part_ratio[TP_PART_HOST], 0.6, 0.02);
	ck_assert_uint_eq(scene.sim.profile.n_idioms, 1);
	pyscene_close(&scene);
}
END_TEST

START_TEST(waiting_for_a_cpu_is_no_time_of_an_idiom)
{
	struct pyscene scene;
	open_scene(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i;
		struct tp_run run = {.task = 0,
				     .start_ns = (uint64_t)(at * 1e9),
				     .end_ns = (uint64_t)((at + 0.03) * 1e9),
				     .how = TP_RUN_PREEMPTED};
		tp_sink_run(&scene.sim.builder.sink, &run);
		for (int k = 0; k < 3; k++)
			pyscene_sample(&scene, 0, at + 0.005 + 0.01 * k, TP_STATE_ON_CPU,
				       TP_CAUSE_NONE,
				       MAIN
				       "71 libtorch_python.so!_ZN5torch5utils11tensor_ctorEv:1 "
				       "python3.11!PyFloat_AsDouble:1");
		pyscene_runs(&scene, 0, at + 0.06, at + 0.1,
			     MAIN "72 " PY_MODULE " libtorch_cpu.so!addmm:1");
	}
	pyscene_judge(&scene, 4, TP_STEPS_OFF);
	const struct tp_idiom_result *idiom = find(&scene, "idiom/tensor-of-arrays");
	ck_assert_ptr_nonnull(idiom);
	ck_assert_double_eq_tol(idiom->time_ratio, 0.3, 0.02);
	ck_assert_double_eq_tol(idiom->held_ratio, 0.6, 0.02);
	pyscene_close(&scene);
}
END_TEST

START_TEST(waiting_for_other_ranks_is_no_time_of_an_idiom)
{
	struct pyscene scene;
	open_scene(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i;
		pyscene_runs(&scene, 0, at, at + 0.02,
			     MAIN
			     "71 MPI.cpython-311.so!allreduce:1 _pickle.cpython-311.so!save:1");
		pyscene_runs(&scene, 0, at + 0.02, at + 0.08,
			     MAIN "71 MPI.cpython-311.so!PyMPI_allreduce_pickled:1 "
				  "libmpi.so.40!MPI_Allreduce:1 libopen-pal.so.40!opal_progress:1");
		pyscene_runs(&scene, 0, at + 0.08, at + 0.1,
			     MAIN "72 " PY_MODULE " libtorch_cpu.so!addmm:1");
	}
	pyscene_judge(&scene, 4, TP_STEPS_OFF);
	const struct tp_idiom_result *idiom = find(&scene, "idiom/pickled-mpi");
	ck_assert_ptr_nonnull(idiom);
	ck_assert_double_eq_tol(idiom->held_ratio, 0.2, 0.02);
	pyscene_close(&scene);
}
END_TEST

/* The trainer waits 70 of 100 ms for a worker that decodes 40, resizes 20, parses JSON 30 and
 * collates 10. */
static void with_worker(struct pyscene *scene)
{
	open_scene(scene);
	pyscene_task(scene, 0, 100, 0);
	pyscene_task(scene, 1, 201, 0.01);
	for (int i = 0; i < 40; i++) {
		double at = 0.1 * i;
		pyscene_waits(scene, 0, at, at + 0.07, TP_CAUSE_PIPE,
			      MAIN "70 " PY_DATA "_BaseDataLoaderIter.__next__:628");
		pyscene_runs(scene, 0, at + 0.07, at + 0.1,
			     MAIN "71 " PY_MODULE " libtorch_cpu.so!addmm:1");
		double from = at < 0.01 ? 0.02 : at;
		pyscene_runs(scene, 1, from, at + 0.04,
			     PY_WORKER " train.py>Data.__getitem__:31 libjpeg.so.62!decode:1");
		pyscene_runs(scene, 1, at + 0.04, at + 0.06,
			     PY_WORKER " train.py>Data.__getitem__:32 "
				       "_imaging.cpython-311.so!ImagingResample:1");
		pyscene_runs(scene, 1, at + 0.06, at + 0.09,
			     PY_WORKER " train.py>Data.__getitem__:33 " PY_STD
				       "json/__init__.py>loads:346 _json.so!scan_once:1");
		pyscene_runs(scene, 1, at + 0.09, at + 0.095,
			     PY_WORKER " train.py>make.<locals>.collate:40 x.so!y:1");
		pyscene_runs(scene, 1, at + 0.095, at + 0.1,
			     PY_WORKER
			     " train.py>make.<locals>.collate.<locals>.<genexpr>:41 x.so!y:1");
	}
	pyscene_judge(scene, 4, TP_STEPS_OFF);
}

START_TEST(time_of_workers_is_reported_by_function)
{
	struct pyscene scene;
	with_worker(&scene);
	const struct tp_profile *profile = &scene.sim.profile;
	ck_assert_uint_eq(profile->n_workers, 1);
	double all = (double)profile->work_ns[TP_WORK_OF_LOADING] * 1e-9;
	ck_assert_double_eq_tol(seconds_of(&scene, TP_WORK_OF_LOADING, "JPEG decode") / all, 0.4,
				0.02);
	ck_assert_double_eq_tol(seconds_of(&scene, TP_WORK_OF_LOADING, "resize") / all, 0.2, 0.02);
	ck_assert_double_eq_tol(seconds_of(&scene, TP_WORK_OF_LOADING, "JSON") / all, 0.3, 0.02);
	ck_assert_double_eq_tol(seconds_of(&scene, TP_WORK_OF_LOADING, "collate") / all, 0.1, 0.02);
	ck_assert_double_eq_tol(profile->facts[TP_FACT_LOADER_AUGMENT].value, 0.2, 0.02);
	const struct tp_work_result *first = &profile->works[0];
	ck_assert_str_eq(first->name, "JPEG decode");
	ck_assert_uint_eq(first->line, 31);
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < profile->n_works; i++)
		sum_ns += profile->works[i].time_ns;
	ck_assert_uint_eq(sum_ns,
			  profile->work_ns[TP_WORK_OF_MAIN] + profile->work_ns[TP_WORK_OF_LOADING]);
	pyscene_close(&scene);
}
END_TEST

START_TEST(time_of_workers_holds_up_what_the_trainer_waits)
{
	struct pyscene scene;
	with_worker(&scene);
	const struct tp_idiom_result *idiom = find(&scene, "idiom/json-per-sample");
	ck_assert_ptr_nonnull(idiom);
	ck_assert_double_eq_tol(idiom->loading_ratio, 0.3, 0.02);
	ck_assert_double_eq_tol(idiom->held_ratio, 0.3, 0.02);
	ck_assert_double_eq_tol(idiom->part_ratio[TP_PART_DATALOADER], 0.3, 0.02);
	ck_assert_uint_eq(idiom->main_ns, 0);
	ck_assert_uint_eq(idiom->line, 33);
	pyscene_close(&scene);
}
END_TEST

START_TEST(a_function_without_a_name_is_named_by_its_user_function)
{
	struct pyscene scene;
	open_scene(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 30; i++)
		pyscene_runs(&scene, 0, 0.1 * i, 0.1 * i + 0.1,
			     MAIN "70 train.py>Outer.<locals>.inner:12 mine.so!f:1");
	pyscene_judge(&scene, 3, TP_STEPS_OFF);
	ck_assert_double_eq_tol(seconds_of(&scene, TP_WORK_OF_MAIN, "inner()"), 3, 0.1);
	pyscene_close(&scene);
}
END_TEST

struct line_case {
	const char *id;   /* the idiom that is looked for */
	const char *line; /* second line of a function of the user's own */
	bool is_newer;    /* the file was written after the run began */
};

struct line_result {
	bool is_found;
	double shared_ratio;
};

/* The main thread spends three seconds in one line of a file. */
static struct line_result judge_line(const struct line_case *line)
{
	char path[] = "/tmp/trainprof-idiom-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(dprintf(fd, "def train():\n    %s\n", line->line), 0);
	close(fd);
	struct pyscene scene;
	open_scene(&scene);
	scene.sim.run.started_wall_ns =
		line->is_newer ? 1 : tp_clock_wall_ns() + UINT64_C(1000000000);
	pyscene_task(&scene, 0, 100, 0);
	char stack[128];
	snprintf(stack, sizeof(stack), "%s><module>:9 %s>train:2 python3.11!visit:1", path, path);
	for (int i = 0; i < 30; i++)
		pyscene_runs(&scene, 0, 0.1 * i, 0.1 * i + 0.1, stack);
	pyscene_judge(&scene, 3, TP_STEPS_OFF);
	const struct tp_idiom_result *idiom = find(&scene, line->id);
	struct line_result result = {.is_found = idiom != NULL};
	if (idiom)
		result.shared_ratio =
			(double)idiom->shared_ns / (double)(idiom->main_ns + idiom->loading_ns);
	pyscene_close(&scene);
	unlink(path);
	return result;
}

START_TEST(a_source_that_is_newer_than_the_run_is_ignored)
{
	struct line_case line = {"idiom/gc-collect", "gc.collect()", false};
	ck_assert(judge_line(&line).is_found);
	line.is_newer = true;
	ck_assert(!judge_line(&line).is_found);
}
END_TEST

START_TEST(a_line_with_other_calls_shares_its_time)
{
	struct line_case line = {"idiom/unpickle-per-sample", "x = pickle.loads(raw)", false};
	struct line_result alone = judge_line(&line);
	ck_assert(alone.is_found);
	ck_assert_double_eq_tol(alone.shared_ratio, 0, 0.01);
	line.line = "x = np.sort(pickle.loads(raw))";
	struct line_result shared = judge_line(&line);
	ck_assert(shared.is_found);
	ck_assert_double_eq_tol(shared.shared_ratio, 1, 0.01);
}
END_TEST

/* float() and int() are both of the idiom, and append() costs nothing beside them. */
START_TEST(calls_of_the_idiom_and_cheap_ones_share_nothing)
{
	struct line_case line = {"idiom/text-parse-per-sample",
				 "xs.append([float(v) for v in row[:-1]]); ys.append(int(row[-1]))",
				 false};
	struct line_result parsed = judge_line(&line);
	ck_assert(parsed.is_found);
	ck_assert_double_eq_tol(parsed.shared_ratio, 0, 0.01);
	line.line = "xs.append(scale([float(v) for v in row[:-1]]))";
	ck_assert_double_eq_tol(judge_line(&line).shared_ratio, 1, 0.01);
}
END_TEST

START_TEST(capitals_of_a_line_count_where_the_idiom_says_so)
{
	struct line_case line = {"idiom/pickled-mpi", "total = comm.allreduce(grad)  # from mpi4py",
				 false};
	ck_assert(judge_line(&line).is_found);
	line.line = "comm.Allreduce(grad, total)  # from mpi4py";
	ck_assert(!judge_line(&line).is_found);
}
END_TEST

Suite *suite_analyze_pass_idioms(void);
Suite *suite_analyze_pass_idioms(void)
{
	Suite *suite = suite_create("analyze_pass_idioms");
	TCase *tc = tcase_create("pass_idioms");
	tcase_add_test(tc, time_of_the_main_thread_counts_for_the_loop);
	tcase_add_test(tc, waiting_for_a_cpu_is_no_time_of_an_idiom);
	tcase_add_test(tc, waiting_for_other_ranks_is_no_time_of_an_idiom);
	tcase_add_test(tc, time_of_workers_is_reported_by_function);
	tcase_add_test(tc, time_of_workers_holds_up_what_the_trainer_waits);
	tcase_add_test(tc, a_function_without_a_name_is_named_by_its_user_function);
	tcase_add_test(tc, a_source_that_is_newer_than_the_run_is_ignored);
	tcase_add_test(tc, a_line_with_other_calls_shares_its_time);
	tcase_add_test(tc, calls_of_the_idiom_and_cheap_ones_share_nothing);
	tcase_add_test(tc, capitals_of_a_line_count_where_the_idiom_says_so);
	suite_add_tcase(suite, tc);
	return suite;
}
