/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of captures that cannot be judged, each the smallest of its kind. */
#include "analyze/spanscene.h"

#include "trainprof/model/fact.h"

#define MS UINT64_C(1000000)

static struct scene s;

static void setup(void)
{
	scene_init(&s, 1);
}

static void teardown(void)
{
	scene_release(&s);
}

static double fact(enum tp_fact fact)
{
	ck_assert_msg(s.profile.facts[fact].is_known, "%s: %s", tp_fact_desc(fact)->name,
		      s.profile.facts[fact].missing);
	return s.profile.facts[fact].value;
}

static const char *warning(const char *id)
{
	for (size_t i = 0; i < s.profile.n_warnings; i++)
		if (strcmp(s.profile.warnings[i].id, id) == 0)
			return s.profile.warnings[i].text;
	return NULL;
}

static uint16_t launch_without_kernel(unsigned n)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	for (unsigned i = 0; i < n; i++)
		scene_span(&s, thread, TP_SPAN_CALL, "cudaLaunchKernel", 1000 + 100 * i,
			   1010 + 100 * i);
	return thread;
}

START_TEST(launches_without_kernels_have_lost_the_device)
{
	launch_without_kernel(3);
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_TRACE_DEVICE_LOST), 1);
	ck_assert_ptr_nonnull(warning("device-side-lost"));
}
END_TEST

/* A file that ends early contains the calls, but only the first kernels. */
START_TEST(kernels_for_a_few_launches_are_too_few)
{
	uint16_t thread = launch_without_kernel(30);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 5; i++)
		scene_op(&s, thread, 5000 + 100 * i, stream, TP_SPAN_KERNEL, SCENE_GEMM,
			 5010 + 100 * i, 5050 + 100 * i);
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_TRACE_DEVICE_LOST), 1);
	ck_assert_str_eq(warning("device-side-lost"), "35 kernels were launched, and 5 are in it");
}
END_TEST

START_TEST(listed_devices_without_work_are_silent)
{
	static const struct tp_device_info device = {.name = "Test device"};
	s.ranks[0].devices = &device;
	s.ranks[0].n_devices = 1;
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	scene_span(&s, thread, TP_SPAN_OPERATOR, "aten::mm", 1000, 2000);
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_TRACE_DEVICE_LOST), 1);
}
END_TEST

/* Only Kineto and XProf say before the events whether there are devices. */
START_TEST(a_file_that_ends_before_its_devices_has_lost_them)
{
	static const char *const formats[] = {"ascend", "kineto"};
	s.ranks[0].is_cut = true;
	s.ranks[0].format = formats[_i];
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	scene_span(&s, thread, TP_SPAN_OPERATOR, "aten::mm", 1000, 2000);
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_TRACE_DEVICE_LOST), _i ? 0 : 1);
}
END_TEST

START_TEST(training_on_cpus_has_lost_nothing)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	for (unsigned i = 0; i < 40; i++) {
		scene_span(&s, thread, TP_SPAN_OPERATOR, "aten::mm", 1000 + 100 * i,
			   1090 + 100 * i);
		scene_span(&s, thread, TP_SPAN_ANNOTATION, "gloo:all_reduce", 1090 + 100 * i,
			   1100 + 100 * i);
	}
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_TRACE_DEVICE_LOST), 0);
	ck_assert_double_eq(fact(TP_FACT_TRACE_ONLY_RANGES), 0);
	ck_assert_double_eq(fact(TP_FACT_TRACE_JUDGED_OPS), 80);
	ck_assert_double_eq(fact(TP_FACT_TRACE_RECOGNISED), 1);
	ck_assert_ptr_null(warning("device-side-lost"));
}
END_TEST

START_TEST(ranges_alone_compute_nothing)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	for (unsigned i = 0; i < 40; i++)
		scene_span(&s, thread, TP_SPAN_ANNOTATION, "forward", 1000 + 100 * i,
			   1090 + 100 * i);
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_TRACE_ONLY_RANGES), 1);
}
END_TEST

START_TEST(a_file_of_an_unknown_tool_has_no_parts)
{
	s.ranks[0].format = "unknown";
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "x", 1000, 2000);
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_TRACE_RECOGNISED), 0);
	ck_assert_uint_eq(s.profile.total_ns, 0);
	ck_assert_uint_eq(s.profile.n_devices, 0);
	ck_assert_ptr_nonnull(strstr(warning("unknown-maker"), "1 lane: "));
}
END_TEST

START_TEST(a_trace_without_the_host_says_so)
{
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 40; i++)
		scene_span(&s, stream, TP_SPAN_KERNEL, "gemm", 1000 + 100 * i, 1050 + 100 * i);
	if (_i) {
		uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
		scene_span(&s, thread, TP_SPAN_CALL, "cudaLaunchKernel", 900, 950);
	}
	scene_judge(&s);
	ck_assert_int_eq(warning("host-not-recorded") != NULL, !_i);
	ck_assert_int_eq(s.profile.is_idle_unknown, !_i);
	/* The device idles half of the time, and nobody knows why: no verdict or advice is of it.
	 */
	ck_assert_int_eq(s.profile.facts[TP_FACT_STEP_IDLE].is_known, _i);
	ck_assert_int_eq(s.profile.facts[TP_FACT_STEP_LAUNCH].is_known, _i);
	ck_assert_str_eq(tp_profile_part_name(&s.profile, TP_PART_IDLE), _i ? "idle" : "unknown");
	ck_assert_uint_gt(s.profile.parts[TP_PART_IDLE].time_ns, 0);
	ck_assert_int_eq(s.profile.largest_loss == TP_PART_IDLE, _i);
}
END_TEST

/* TensorFlow 1 records operations of the CPU, and neither threads nor Python. */
START_TEST(gaps_of_a_timeline_are_unknown)
{
	s.ranks[0].format = "timeline";
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	for (unsigned i = 0; i < 40; i++)
		scene_span(&s, stream, TP_SPAN_KERNEL, "gemm", 1000 + 100 * i, 1050 + 100 * i);
	scene_span(&s, thread, TP_SPAN_OPERATOR, "MatMul", 900, 950);
	scene_judge(&s);
	ck_assert(s.profile.is_idle_unknown);
	ck_assert_ptr_nonnull(strstr(warning("host-not-recorded"), "operations only"));
}
END_TEST

/* Lanes overlap: the time that other ranks waited for a rank is their union. */
START_TEST(transfers_alone_have_no_parts)
{
	s.ranks[0].format = "horovod";
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "NEGOTIATE_ALLREDUCE", 0, 2000000000);
	scene_span(&s, thread, TP_SPAN_ANNOTATION, "NEGOTIATE_ALLREDUCE", 1000000000, 3000000000);
	scene_judge(&s);
	ck_assert_double_eq(fact(TP_FACT_TRACE_RECOGNISED), 1);
	ck_assert_double_eq(fact(TP_FACT_TRACE_ONLY_RANGES), 1);
	ck_assert_uint_eq(s.profile.total_ns, 0);
	ck_assert_ptr_nonnull(strstr(warning("transfers-only"), "2 events 3.000 s"));
}
END_TEST

/* A lane for each rank that was last, one for ranks that came together, one for transfers. The
 * verdict is about the larger of waits and transfers, if it is a tenth of the time. */
static const struct {
	uint64_t wait_ns, transfer_ns;
	const char *cause; /* NULL = none */
} transfers[] = {
	{30, 5, "waiting_for_ranks"},
	{10, 25, "communicating"},
	{5, 9, NULL},
};

static uint16_t lane_of(int64_t number)
{
	struct tp_track track = {.id = s.n_tracks++, .device = TP_TRACK_THREAD, .number = number};
	tp_sink_track(&s.builder.sink, &track);
	return (uint16_t)track.id;
}

START_TEST(the_rank_that_was_last_is_known)
{
	s.ranks[0].format = "horovod";
	uint16_t late = lane_of(3);
	uint16_t other = lane_of(5);
	uint16_t together = lane_of(TP_TRACK_TOGETHER);
	uint16_t sent = lane_of(TP_TRACK_TRANSFERS);
	scene_span(&s, late, TP_SPAN_ANNOTATION, "x", 0, transfers[_i].wait_ns - 2);
	scene_span(&s, late, TP_SPAN_ANNOTATION, "x", 1, transfers[_i].wait_ns - 1);
	scene_span(&s, other, TP_SPAN_ANNOTATION, "x", transfers[_i].wait_ns - 2,
		   transfers[_i].wait_ns);
	scene_span(&s, together, TP_SPAN_ANNOTATION, "x", 40, 60);
	scene_span(&s, sent, TP_SPAN_ANNOTATION, "x", 100 - transfers[_i].transfer_ns, 100);
	scene_judge(&s);
	const struct tp_transfers *found = &s.profile.transfers;
	ck_assert_uint_eq(found->span_ns, 100);
	ck_assert_int_eq(found->late_rank, 3);
	ck_assert_uint_eq(found->n_late, 2);
	ck_assert_uint_eq(found->n_waits, 4);
	ck_assert_uint_eq(found->late_ns, transfers[_i].wait_ns - 1);
	ck_assert_uint_eq(found->waited_ns, transfers[_i].wait_ns);
	ck_assert_uint_eq(found->sent_ns, transfers[_i].transfer_ns);
	ck_assert_pstr_eq(found->cause, transfers[_i].cause);
	ck_assert_uint_eq(s.profile.total_ns, 0);
}
END_TEST

/* Four calls of 100 ms, then 50 kernels of 50 us, of which each is a step when `has_steps`. */
static void cold_start(bool has_steps, const char *call)
{
	uint16_t thread = scene_track(&s, 0, TP_TRACK_THREAD);
	uint16_t stream = scene_track(&s, 0, 0);
	uint64_t at = MS;
	scene_op(&s, thread, at, stream, TP_SPAN_KERNEL, SCENE_GEMM, at + 10, at + 20);
	for (unsigned i = 0; i < 4; i++, at += 101 * MS)
		scene_span(&s, thread, TP_SPAN_CALL, call, at + 100, at + 100 + 100 * MS);
	for (unsigned i = 0; i < 50; i++, at += MS / 10) {
		if (has_steps)
			scene_step(&s, thread, i, at, at + MS / 10);
		scene_op(&s, thread, at, stream, TP_SPAN_KERNEL, SCENE_GEMM, at + 10, at + 50000);
	}
	scene_judge(&s);
}

START_TEST(modules_that_are_loaded_hold_a_cold_start)
{
	cold_start(false, "cuModuleLoadData");
	/* 400 ms of 404 ms, up to the start of the kernels and their 5 ms. */
	ck_assert_double_gt(fact(TP_FACT_TRACE_COLD), 0.95);
}
END_TEST

START_TEST(steps_after_the_start_are_not_cold)
{
	cold_start(true, "cuModuleLoadData");
	ck_assert_double_eq(fact(TP_FACT_TRACE_COLD), 0);
}
END_TEST

START_TEST(calls_that_are_alike_are_how_the_program_runs)
{
	cold_start(false, "cudaMemcpyAsync");
	ck_assert_double_eq(fact(TP_FACT_TRACE_COLD), 0);
}
END_TEST

Suite *suite_analyze_capture_facts(void);

Suite *suite_analyze_capture_facts(void)
{
	Suite *suite = suite_create("analyze/capturefacts");
	TCase *tcase = tcase_create("capturefacts");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, launches_without_kernels_have_lost_the_device);
	tcase_add_test(tcase, kernels_for_a_few_launches_are_too_few);
	tcase_add_test(tcase, listed_devices_without_work_are_silent);
	tcase_add_loop_test(tcase, a_file_that_ends_before_its_devices_has_lost_them, 0, 2);
	tcase_add_test(tcase, training_on_cpus_has_lost_nothing);
	tcase_add_test(tcase, ranges_alone_compute_nothing);
	tcase_add_test(tcase, a_file_of_an_unknown_tool_has_no_parts);
	tcase_add_test(tcase, transfers_alone_have_no_parts);
	tcase_add_loop_test(tcase, the_rank_that_was_last_is_known, 0,
			    sizeof(transfers) / sizeof(transfers[0]));
	tcase_add_loop_test(tcase, a_trace_without_the_host_says_so, 0, 2);
	tcase_add_test(tcase, gaps_of_a_timeline_are_unknown);
	tcase_add_test(tcase, modules_that_are_loaded_hold_a_cold_start);
	tcase_add_test(tcase, steps_after_the_start_are_not_cold);
	tcase_add_test(tcase, calls_that_are_alike_are_how_the_program_runs);
	suite_add_tcase(suite, tcase);
	return suite;
}
