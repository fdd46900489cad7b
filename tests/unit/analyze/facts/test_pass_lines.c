/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of lines: which one has the time of each part. */
#include "analyze/pyscene.h"

#include "trainprof/model/fact.h"

#include <string.h>

#define PY_EVAL "python3.11!_PyEval_EvalFrameDefault:1"

/* Returns the n-th line of a part and kind, or NULL if there are fewer. */
static const struct tp_line_result *line_of(const struct tp_profile *profile, enum tp_part part,
					    bool is_own, size_t n)
{
	for (size_t i = 0; i < profile->n_lines; i++)
		if (profile->lines[i].part == part && profile->lines[i].is_own == is_own && !n--)
			return &profile->lines[i];
	return NULL;
}

static void expect_line(const struct pyscene *scene, const struct tp_line_result *line,
			const char *symbol, unsigned number, double seconds)
{
	ck_assert_ptr_nonnull(line);
	ck_assert_str_eq(tp_trace_string(&scene->sim.trace, line->symbol), symbol);
	ck_assert_uint_eq(line->line, number);
	ck_assert_double_eq_tol((double)line->time_ns * 1e-9, seconds, 0.011);
}

#define LOADS " " PY_DATA "_BaseDataLoaderIter.__next__:628 train.py>Pictures.__getitem__:31"

/* Three seconds: 30 ms of decoding in the trainer, 50 of math at two lines, 20 of a print. */
static void inline_trainer(struct pyscene *scene)
{
	pyscene_task(scene, 0, 100, 0);
	for (int i = 0; i < 30; i++) {
		double at = 0.1 * i;
		pyscene_runs(scene, 0, at, at + 0.03,
			     "train.py><module>:90 train.py>main:70" LOADS " libjpeg.so.62!f:1");
		pyscene_runs(scene, 0, at + 0.03, at + 0.05,
			     "train.py><module>:90 train.py>main:71 " PY_MODULE
			     " net.py>Net.forward:14 " PY_MODULE " libtorch_cpu.so!addmm:1");
		pyscene_runs(scene, 0, at + 0.05, at + 0.08,
			     "train.py><module>:90 train.py>main:72 " PY_TORCH
			     "_tensor.py>Tensor.backward:488 libtorch_cpu.so!mm:1");
		pyscene_runs(scene, 0, at + 0.08, at + 0.1,
			     "train.py><module>:90 train.py>main:75 libc.so.6!write:1");
	}
}

START_TEST(each_part_has_its_lines)
{
	struct pyscene scene;
	pyscene_open(&scene);
	inline_trainer(&scene);
	pyscene_judge(&scene, 3, TP_STEPS_OFF);
	const struct tp_profile *profile = &scene.sim.profile;
	ck_assert(profile->loop.is_known);
	ck_assert_uint_eq(profile->loop.first_line, 70);
	ck_assert_uint_eq(profile->loop.last_line, 75);
	const struct tp_line_result *loads = line_of(profile, TP_PART_DATALOADER, false, 0);
	expect_line(&scene, loads, "main", 70, 0.9);
	ck_assert_int_eq(loads->label, TP_LABEL_DATALOADER_PREP);
	expect_line(&scene, line_of(profile, TP_PART_DATALOADER, true, 0), "Pictures.__getitem__",
		    31, 0.9);
	expect_line(&scene, line_of(profile, TP_PART_COMPUTE, false, 0), "main", 72, 0.9);
	expect_line(&scene, line_of(profile, TP_PART_COMPUTE, false, 1), "main", 71, 0.6);
	/* the only user's line of the backward pass is the loop's */
	expect_line(&scene, line_of(profile, TP_PART_COMPUTE, true, 0), "Net.forward", 14, 0.6);
	ck_assert_ptr_null(line_of(profile, TP_PART_COMPUTE, true, 1));
	expect_line(&scene, line_of(profile, TP_PART_HOST, false, 0), "main", 75, 0.6);
	ck_assert_ptr_null(line_of(profile, TP_PART_COMMUNICATION, false, 0));
	pyscene_close(&scene);
}
END_TEST

START_TEST(lines_are_of_the_steady_steps)
{
	struct pyscene scene;
	pyscene_open(&scene);
	inline_trainer(&scene);
	/* Marked steps that leave out the last 20 ms: the print is between steps, and rare. */
	for (int i = 0; i < 30; i++) {
		struct tp_mark mark = {.task = 0,
				       .kind = TP_MARK_STEP,
				       .time_ns = (uint64_t)(0.1e9 * i)};
		tp_sink_mark(&scene.sim.builder.sink, &mark);
	}
	pyscene_judge(&scene, 3, TP_STEPS_AUTO);
	const struct tp_profile *profile = &scene.sim.profile;
	ck_assert_int_eq(profile->steps_found_by, TP_STEPS_MARKER);
	const struct tp_line_result *loads = line_of(profile, TP_PART_DATALOADER, false, 0);
	ck_assert_double_eq_tol((double)loads->time_ns,
				(double)profile->parts[TP_PART_DATALOADER].time_ns, 1e6);
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < profile->n_lines; i++)
		sum_ns += profile->lines[i].is_own ? 0 : profile->lines[i].time_ns;
	ck_assert_double_eq_tol((double)sum_ns, (double)profile->total_ns, 1e6);
	pyscene_close(&scene);
}
END_TEST

/* Line 71 is a loop over elements, 40 ms of Python and 20 of small calls; line 72 calls a model, 10
 * ms of Python and 30 of math. */
START_TEST(lines_of_python_count_with_what_they_call)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 30; i++) {
		double at = 0.1 * i;
		pyscene_runs(&scene, 0, at, at + 0.04,
			     "train.py><module>:90 train.py>main:71 " PY_EVAL);
		pyscene_runs(&scene, 0, at + 0.04, at + 0.06,
			     "train.py><module>:90 train.py>main:71 libtorch_cpu.so!addmm:1");
		pyscene_runs(&scene, 0, at + 0.06, at + 0.07,
			     "train.py><module>:90 train.py>main:72 " PY_EVAL);
		pyscene_runs(&scene, 0, at + 0.07, at + 0.1,
			     "train.py><module>:90 train.py>main:72 libtorch_cpu.so!mm:1");
	}
	pyscene_judge(&scene, 3, TP_STEPS_OFF);
	const struct tp_quantity *facts = scene.sim.profile.facts;
	ck_assert_double_eq_tol(facts[TP_FACT_STEP_INTERPRETER].value, 0.5, 0.02);
	ck_assert_double_eq_tol(facts[TP_FACT_STEP_PYTHON_LINES].value, 0.6, 0.02);
	pyscene_close(&scene);
}
END_TEST

START_TEST(a_compiled_program_has_no_lines)
{
	struct pyscene scene;
	pyscene_open(&scene);
	pyscene_task(&scene, 0, 100, 0);
	for (int i = 0; i < 30; i++) {
		pyscene_runs(&scene, 0, 0.1 * i, 0.1 * i + 0.06, "main:1 g:2 forward:3");
		pyscene_runs(&scene, 0, 0.1 * i + 0.06, 0.1 * i + 0.1, "main:1 g:3 backward:3");
	}
	pyscene_judge(&scene, 3, TP_STEPS_OFF);
	ck_assert_uint_eq(scene.sim.profile.n_lines, 0);
	ck_assert(!scene.sim.profile.loop.is_known);
	ck_assert(!scene.sim.profile.facts[TP_FACT_STEP_PYTHON_LINES].is_known);
	pyscene_close(&scene);
}
END_TEST

Suite *suite_analyze_pass_lines(void);
Suite *suite_analyze_pass_lines(void)
{
	Suite *suite = suite_create("analyze/pass_lines");
	TCase *tc = tcase_create("pass_lines");
	tcase_add_test(tc, each_part_has_its_lines);
	tcase_add_test(tc, lines_are_of_the_steady_steps);
	tcase_add_test(tc, lines_of_python_count_with_what_they_call);
	tcase_add_test(tc, a_compiled_program_has_no_lines);
	suite_add_tcase(suite, tc);
	return suite;
}
