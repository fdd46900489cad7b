/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the kinds of imported steps: which ones are left out, and what is said about the others.
 */
#include "analyze/spanscene.h"

#include "trainprof/model/fact.h"

#define US   UINT64_C(1000)
#define SAVE "torch/serialization.py(900): save"

static struct scene s;
static uint16_t thread[2];
static uint16_t stream[2];
static uint64_t at_ns[2];

static void setup(void)
{
	scene_init(&s, 2);
	for (uint32_t i = 0; i < 2; i++) {
		thread[i] = scene_track(&s, i, TP_TRACK_THREAD);
		stream[i] = scene_track(&s, i, 0);
		at_ns[i] = 1000 * US;
	}
}

static void teardown(void)
{
	scene_release(&s);
}

/* A step of which the device computes half of the first 1000 us; `more_ns` follow, in which the
 * thread is in `name`. A mark that ends early leaves that to the time between two marks. */
static void step_until(uint32_t rank, uint64_t more_ns, const char *name, bool is_marked)
{
	uint64_t at = at_ns[rank];
	uint64_t end_ns = at + 1000 * US + more_ns;
	scene_step(&s, thread[rank], (unsigned)(at / US), at, is_marked ? end_ns : at + 1000 * US);
	for (uint64_t i = 0; i < 5; i++)
		scene_op(&s, thread[rank], at + 10 * US + 200 * US * i, stream[rank],
			 TP_SPAN_KERNEL, SCENE_GEMM, at + 20 * US + 200 * US * i,
			 at + 120 * US + 200 * US * i);
	if (name)
		scene_span(&s, thread[rank],
			   strchr(name, '/') ? TP_SPAN_PYTHON : TP_SPAN_ANNOTATION, name,
			   at + 1000 * US, end_ns);
	at_ns[rank] = end_ns;
}

static void usual_steps(uint32_t rank, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		step_until(rank, 0, NULL, true);
}

static const struct tp_quantity *fact(enum tp_fact id)
{
	return &s.profile.facts[id];
}

static size_t count(enum tp_step_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < s.profile.n_steps; i++)
		n += s.profile.steps[i].kind == kind;
	return n;
}

static bool is_warned(const char *id)
{
	for (size_t i = 0; i < s.profile.n_warnings; i++)
		if (strcmp(s.profile.warnings[i].id, id) == 0)
			return true;
	return false;
}

/* The judged steps are the usual ones, whatever else was captured. */
static void ck_usual(size_t n_ranks, size_t n_steady)
{
	ck_assert_uint_eq(count(TP_STEP_STEADY), n_steady);
	ck_assert_uint_eq(s.profile.n_steady, n_steady);
	ck_assert_uint_eq(s.profile.total_ns, n_ranks * n_steady * 1000 * US);
	ck_assert_uint_eq(scene_part(&s, TP_PART_COMPUTE), n_ranks * n_steady * 500 * US);
	ck_assert_double_eq_tol(fact(TP_FACT_STEP_CHECKPOINT)->value, 0, 1e-12);
	ck_assert_double_eq_tol(fact(TP_FACT_STEP_TIME)->value, 1e6, 1);
	ck_assert_double_eq_tol(fact(TP_FACT_STEP_COUNT)->value, (double)n_steady, 1e-12);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_OPS)->value, 5, 1e-12);
	ck_assert_double_eq_tol(fact(TP_FACT_DEVICE_BUSY)->value, 0.5, 1e-12);
	ck_assert_ptr_nonnull(strstr(s.profile.window_reason, "excluded"));
}

static const struct special {
	unsigned before, after;
	uint64_t more_ns;
	const char *name;
	bool is_marked;
	enum tp_step_kind kind;
	bool is_single;
} specials[] = {
	{4, 5, 20000 * US, SAVE, true, TP_STEP_CHECKPOINT, true},
	{4, 5, 20000 * US, SAVE, false, TP_STEP_CHECKPOINT, true},
	{4, 5, 700 * US, "save_checkpoint", true, TP_STEP_CHECKPOINT, true},
	{40, 9, 20000 * US, "validation", true, TP_STEP_EVALUATION, true},
	{40, 9, 20000 * US, "validation", false, TP_STEP_EVALUATION, true},
	{4, 5, 20000 * US, NULL, true, TP_STEP_SLOW, true},
	{2, 2, 20000 * US, "GC", true, TP_STEP_SLOW, true},
	{0, 2, 20000 * US, NULL, true, TP_STEP_WARMUP, false},
	{0, 4, 90000 * US, NULL, true, TP_STEP_WARMUP, false},
	/* Few steps: only what has a name is left out. */
	{1, 0, 20000 * US, SAVE, true, TP_STEP_CHECKPOINT, true},
	{0, 1, 20000 * US, SAVE, true, TP_STEP_CHECKPOINT, true},
	{1, 1, 20000 * US, "validation", true, TP_STEP_EVALUATION, true},
};

/* The second rank waits for the first one, without a name for it. */
START_TEST(a_step_that_is_no_usual_one_is_left_out)
{
	const struct special *special = &specials[_i / 2];
	size_t n_ranks = 1 + (size_t)_i % 2;
	for (uint32_t i = 0; i < n_ranks; i++) {
		usual_steps(i, special->before);
		step_until(i, special->more_ns, i ? NULL : special->name, special->is_marked);
		usual_steps(i, special->after);
	}
	scene_judge(&s);
	ck_assert_uint_eq(count(special->kind), 1);
	/* The work of the step that is left out is known as well. */
	const struct tp_step *step = &s.profile.steps[special->before];
	ck_assert_uint_eq(step->part_ns[TP_PART_COMPUTE], 500 * US);
	ck_assert_uint_eq(step->end_ns - step->start_ns, 1000 * US + special->more_ns);
	ck_assert_uint_eq(s.profile.n_steps, special->before + special->after + 1);
	ck_usual(n_ranks, special->before + special->after);
	ck_assert(is_warned("single-special-step") == special->is_single);
	/* From one of them it is not known how often they come. */
	ck_assert(!fact(TP_FACT_RUN_CHECKPOINT_RATIO)->is_known);
	ck_assert(!fact(TP_FACT_RUN_EVALUATION)->is_known);
	ck_assert(!fact(TP_FACT_RUN_OUTSIDE_RATIO)->is_known);
}
END_TEST

/* Six ms of each ten: the share is of whole rounds, wherever the capture begins and ends. */
START_TEST(two_checkpoints_show_how_often_they_come)
{
	usual_steps(0, (unsigned)_i);
	step_until(0, 6000 * US, SAVE, true);
	usual_steps(0, 3);
	step_until(0, 6000 * US, SAVE, true);
	usual_steps(0, 7 - (unsigned)_i);
	scene_judge(&s);
	ck_assert_uint_eq(count(TP_STEP_CHECKPOINT), 2);
	ck_usual(1, 10);
	ck_assert_double_eq_tol(fact(TP_FACT_RUN_CHECKPOINT_RATIO)->value, 0.6, 1e-12);
	ck_assert_double_eq_tol(fact(TP_FACT_RUN_OUTSIDE_RATIO)->value, 0.6, 1e-12);
	ck_assert(!is_warned("single-special-step"));
}
END_TEST

START_TEST(a_checkpoint_in_every_step_is_part_of_the_step)
{
	for (int i = 0; i < _i; i++)
		step_until(0, 1000 * US, SAVE, true);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_steady, (size_t)_i);
	ck_assert_double_eq_tol(fact(TP_FACT_STEP_CHECKPOINT)->value, 0.5, 1e-12);
	ck_assert(!is_warned("single-special-step"));
}
END_TEST

/* Two of six are how the program runs; without a name none of three or two is known to be rare. */
START_TEST(slow_steps_that_come_back_are_judged)
{
	static const char lengths[][7] = {"lsslls", "ssl", "sl", "ls", "lls", "slslsl"};
	for (const char *step = lengths[_i]; *step; step++)
		step_until(0, *step == 'l' ? 1000 * US : 0, NULL, true);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_steady, strlen(lengths[_i]));
	ck_assert(!is_warned("single-special-step"));
}
END_TEST

/* The device works 1000 us for each of eight steps; the thread launches that 900 us before, or runs
 * ahead and waits in the last step. */
START_TEST(a_device_that_lags_has_no_slow_step)
{
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t at = 1000 * US + (_i ? 100 : 1000) * US * i;
		uint64_t end_ns = _i && i == 7 ? 10000 * US : at + (_i ? 100 : 1000) * US;
		scene_step(&s, thread[0], (unsigned)i, at, end_ns);
		scene_op(&s, thread[0], at + US, stream[0], TP_SPAN_KERNEL, SCENE_GEMM,
			 1900 * US + 1000 * US * i, 2900 * US + 1000 * US * i);
	}
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_steady, 8);
	ck_assert(!is_warned("single-special-step"));
}
END_TEST

START_TEST(what_is_between_all_marks_is_part_of_the_time)
{
	for (int i = 0; i < 10; i++)
		step_until(0, 500 * US, NULL, false);
	scene_judge(&s);
	ck_assert_uint_eq(s.profile.n_steady, 10);
	ck_assert_double_eq_tol(fact(TP_FACT_STEP_MEDIAN)->value, 1.5e6, 1);
}
END_TEST

START_TEST(skipped_steps_are_left_out_but_one)
{
	s.options.skip_steps = (uint64_t)_i;
	usual_steps(0, 6);
	scene_judge(&s);
	size_t n_left = _i < 6 ? 6 - (size_t)_i : 1;
	ck_assert_uint_eq(s.profile.n_steady, n_left);
	ck_assert_uint_eq(s.profile.total_ns, n_left * 1000 * US);
}
END_TEST

Suite *suite_analyze_rank_steady(void);
Suite *suite_analyze_rank_steady(void)
{
	Suite *suite = suite_create("analyze/rank_steady");
	TCase *tc = tcase_create("steady");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_step_that_is_no_usual_one_is_left_out, 0,
			    2 * (int)(sizeof(specials) / sizeof(specials[0])));
	tcase_add_loop_test(tc, two_checkpoints_show_how_often_they_come, 0, 8);
	tcase_add_loop_test(tc, a_checkpoint_in_every_step_is_part_of_the_step, 2, 8);
	tcase_add_loop_test(tc, slow_steps_that_come_back_are_judged, 0, 6);
	tcase_add_loop_test(tc, a_device_that_lags_has_no_slow_step, 0, 2);
	tcase_add_test(tc, what_is_between_all_marks_is_part_of_the_time);
	tcase_add_loop_test(tc, skipped_steps_are_left_out_but_one, 1, 8);
	suite_add_tcase(suite, tc);
	return suite;
}
