/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of comparing the driver's GPU readings with windows in which the GPU was traced. */
#include "analyze/windowscene.h"

#include "trainprof/model/fact.h"

static struct windows scene;
static uint32_t gpu;

/* Windows of two seconds, one every ten; the device works half of the time. */
static void setup(void)
{
	scene = (struct windows){.n_steps = 500,
				 .first = 50,
				 .each = 100,
				 .length = 20,
				 .step_ms = 100,
				 .traced_ms = 100,
				 .busy_ms = 50};
	windows_fill(&scene);
	gpu = scene_track(&scene.live.scene, 0, 0);
	tp_sink_track(&scene.live.scene.builder.sink,
		      &(struct tp_track){.id = gpu, .number = TP_TRACK_WHOLE});
}

static void teardown(void)
{
	scene_release(&scene.live.scene);
}

/* Returns true if the whole span of a reading is in a window. */
static bool is_in_window(uint64_t end_ns, uint64_t span_ns)
{
	return windows_is_traced(&scene, (unsigned)((end_ns - span_ns - BEGIN) / (100 * MS))) &&
	       windows_is_traced(&scene, (unsigned)((end_ns - 1 - BEGIN) / (100 * MS)));
}

static void read_gpu(enum tp_metric metric, uint64_t each_ns, double inside, double outside)
{
	for (uint64_t at_ns = BEGIN + each_ns; at_ns < scene.end_ns; at_ns += each_ns)
		tp_sink_gauge(&scene.live.scene.builder.sink, metric, gpu, at_ns,
			      is_in_window(at_ns, each_ns) ? inside : outside);
}

static double known(enum tp_fact fact)
{
	return windows_known(&scene, fact);
}

START_TEST(witnesses_that_agree_say_nothing)
{
	read_gpu(TP_METRIC_GPU_AWAKE, 1000 * MS, 0.52, 0.51);
	read_gpu(TP_METRIC_GPU_SM_ACTIVE, 500 * MS, 0.40, 0.41);
	windows_judge(&scene);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_AWAKE), 0.52, 1e-6);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_KERNELS), 0.5, 0.01);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_SM_ACTIVE), 0.40, 1e-6);
	ck_assert_ptr_null(windows_warning(&scene, "windows-unlike-run"));
	ck_assert_ptr_null(windows_warning(&scene, "witness-disagrees"));
}
END_TEST

START_TEST(windows_that_are_unlike_the_run_are_named)
{
	read_gpu(TP_METRIC_GPU_AWAKE, 1000 * MS, 0.5, 0.9);
	windows_judge(&scene);
	const char *text = windows_warning(&scene, "windows-unlike-run");
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(
		strstr(text, "the GPU's time awake was 50 % while the GPU was traced,"));
	ck_assert_ptr_null(windows_warning(&scene, "witness-disagrees"));
}
END_TEST

START_TEST(the_activity_of_multiprocessors_shows_it_too)
{
	read_gpu(TP_METRIC_GPU_SM_ACTIVE, 500 * MS, 0.3, 0.5);
	windows_judge(&scene);
	const char *text = windows_warning(&scene, "windows-unlike-run");
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(strstr(text, "the activity of its multiprocessors was 30 %"));
	ck_assert(!windows_fact(&scene, TP_FACT_WINDOWS_AWAKE)->is_known);
}
END_TEST

/* According to its driver the GPU is awake all the time, according to the trace it works half of
 * it. */
START_TEST(missing_work_is_detected)
{
	read_gpu(TP_METRIC_GPU_AWAKE, 1000 * MS, 0.98, 0.97);
	windows_judge(&scene);
	ck_assert_ptr_null(windows_warning(&scene, "windows-unlike-run"));
	const char *text = windows_warning(&scene, "witness-disagrees");
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(
		strstr(text, "awake for 98 % of what was traced, kernels were recorded for 5"));
}
END_TEST

/* Copies do not make a GPU awake: copies take 30 ms of each step, in which nothing else runs. */
START_TEST(copies_are_no_kernels)
{
	for (unsigned i = 0; i < scene.n_steps; i++) {
		uint64_t at_ns = BEGIN + i * 100 * MS;
		if (windows_is_traced(&scene, i))
			scene_detailed(&scene.live.scene, scene.live.thread, at_ns + 55 * MS,
				       at_ns + 56 * MS, scene.live.stream, TP_SPAN_COPY, SCENE_H2D,
				       at_ns + 60 * MS, at_ns + 90 * MS, NULL);
	}
	read_gpu(TP_METRIC_GPU_AWAKE, 1000 * MS, 0.51, 0.51);
	windows_judge(&scene);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_KERNELS), 0.5, 0.01);
	ck_assert_ptr_null(windows_warning(&scene, "witness-disagrees"));
}
END_TEST

/* The other GPUs are held open, and were read until NVML listed the program on one. */
START_TEST(gpus_that_the_program_does_not_use_are_no_witness)
{
	for (uint16_t i = 1; i < 8; i++) {
		uint32_t other = scene_track(&scene.live.scene, 0, i);
		tp_sink_track(&scene.live.scene.builder.sink,
			      &(struct tp_track){.id = other,
						 .device = i,
						 .number = TP_TRACK_WHOLE});
		tp_sink_gauge(&scene.live.scene.builder.sink, TP_METRIC_GPU_AWAKE, other,
			      BEGIN - 500 * MS, 0);
	}
	read_gpu(TP_METRIC_GPU_AWAKE, 1000 * MS, 0.51, 0.51);
	windows_judge(&scene);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_AWAKE), 0.51, 1e-6);
	ck_assert_double_eq_tol(known(TP_FACT_WINDOWS_KERNELS), 0.5, 0.01);
}
END_TEST

START_TEST(several_used_gpus_are_not_distinguished)
{
	uint32_t other = scene_track(&scene.live.scene, 0, 1);
	tp_sink_track(&scene.live.scene.builder.sink,
		      &(struct tp_track){.id = other, .device = 1, .number = TP_TRACK_WHOLE});
	for (uint64_t at_ns = BEGIN + 1000 * MS; at_ns < scene.end_ns; at_ns += 1000 * MS)
		tp_sink_gauge(&scene.live.scene.builder.sink, TP_METRIC_GPU_AWAKE, other, at_ns,
			      0.5);
	read_gpu(TP_METRIC_GPU_AWAKE, 1000 * MS, 0.5, 0.5);
	windows_judge(&scene);
	const struct tp_quantity *kernels = windows_fact(&scene, TP_FACT_WINDOWS_KERNELS);
	ck_assert(!kernels->is_known);
	ck_assert_str_eq(kernels->missing, "which of several GPUs was traced is not known");
}
END_TEST

START_TEST(few_readings_prove_nothing)
{
	struct tp_sink *sink = &scene.live.scene.builder.sink;
	tp_sink_gauge(sink, TP_METRIC_GPU_AWAKE, gpu, BEGIN + 6500 * MS, 0.1);
	tp_sink_gauge(sink, TP_METRIC_GPU_AWAKE, gpu, BEGIN + 16500 * MS, 0.1);
	windows_judge(&scene);
	const struct tp_quantity *awake = windows_fact(&scene, TP_FACT_WINDOWS_AWAKE);
	ck_assert(!awake->is_known);
	ck_assert_str_eq(awake->missing, "too few readings of the driver lie in windows");
	ck_assert_ptr_null(windows_warning(&scene, "witness-disagrees"));
}
END_TEST

Suite *suite_analyze_driver_crosscheck(void);
Suite *suite_analyze_driver_crosscheck(void)
{
	Suite *suite = suite_create("analyze/witness");
	TCase *tc = tcase_create("witness");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, witnesses_that_agree_say_nothing);
	tcase_add_test(tc, windows_that_are_unlike_the_run_are_named);
	tcase_add_test(tc, the_activity_of_multiprocessors_shows_it_too);
	tcase_add_test(tc, missing_work_is_detected);
	tcase_add_test(tc, copies_are_no_kernels);
	tcase_add_test(tc, gpus_that_the_program_does_not_use_are_no_witness);
	tcase_add_test(tc, several_used_gpus_are_not_distinguished);
	tcase_add_test(tc, few_readings_prove_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}
