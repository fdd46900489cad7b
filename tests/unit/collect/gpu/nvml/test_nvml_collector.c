/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the collector "nvml": which records it emits and how it describes itself. */
#include "collect/gpurig.h"
#include "collect/nvmldouble.h"
#include "collect/registry.h"

START_TEST(a_machine_without_a_driver_has_no_such_device)
{
	struct tp_host host;
	struct tp_availability found;
	tp_host_open(&host, "tests/data/hosts/pod-v2");
	tp_nvml_collector.probe(&host, &found);
	ck_assert_int_eq(found.presence, TP_PRESENCE_NO_DEVICE);
	ck_assert_str_eq(found.remedy, ""); /* there is no command that helps */
	tp_host_close(&host);
}
END_TEST

START_TEST(the_kill_switch_is_obeyed_before_anything_is_loaded)
{
	struct tp_host host;
	struct tp_availability found;
	tp_host_open(&host, "");
	setenv("TRAINPROF_GPU", "0", 1);
	tp_nvml_collector.probe(&host, &found);
	ck_assert_int_eq(found.presence, TP_PRESENCE_OFF);
	ck_assert_ptr_nonnull(strstr(found.reason, "TRAINPROF_GPU"));
	setenv("TRAINPROF_GPU", "1", 1);
	tp_nvml_collector.probe(&host, &found);
	ck_assert_int_ne(found.presence, TP_PRESENCE_OFF);
	tp_host_close(&host);
}
END_TEST

/* The collector finds its library through the search path, which a process reads when it starts. So
 * the double is loaded first, under its real name, and the loader returns it again. */
static struct tp_nvml_library keeper;

static void rig_open(struct rig *rig, const char *script)
{
	char path[600];
	double_script(script);
	ck_assert(!tp_nvml_library_open(&keeper, double_path(path, sizeof(path), "whole"), NULL));
	rig_begin(rig, &tp_nvml_collector, "");
}

static void rig_close(struct rig *rig)
{
	rig_end(rig);
	tp_nvml_library_close(&keeper);
	double_reset();
}

START_TEST(the_devices_of_the_target_become_tracks_with_gauges)
{
	struct rig rig;
	char script[300];
	double value = NAN;
	snprintf(script, sizeof(script),
		 "devices 3\ngpu 2 name NVIDIA L40S\nawake 5\ngpu 2 awake 55\ngpu 2 process %d 7\n"
		 "gpm 1\ngpm_2 30\n",
		 (int)getpid());
	rig_open(&rig, script);
	/* GPM readings come twice as often, except the first one; on a busy machine it takes longer
	 * until the difference shows. */
	size_t n_gpm = 0;
	for (int i = 0; i < 20 && n_gpm <= count_gauges(&rig, TP_METRIC_GPU_AWAKE, 0, &value);
	     i++) {
		rig_sample_for(&rig, 1);
		n_gpm = count_gauges(&rig, TP_METRIC_GPU_SM_ACTIVE, 0, &value);
	}
	const struct tp_source *source = rig_stop(&rig);
	ck_assert_int_eq(source->presence, TP_PRESENCE_PRESENT);
	ck_assert_str_eq(text_of(&rig, source->reason),
			 "1 of 3 GPUs, found by the processes that NVML lists");
	size_t n_levels = count_gauges(&rig, TP_METRIC_GPU_AWAKE, 0, &value);
	ck_assert_uint_ge(n_levels, 1);
	ck_assert_double_eq_tol(value, 0.55, 1e-12);
	ck_assert_uint_ge(count_gauges(&rig, TP_METRIC_GPU_SM_ACTIVE, 0, &value), n_gpm);
	ck_assert_uint_gt(n_gpm, 1);
	ck_assert_uint_eq(count_gauges(&rig, TP_METRIC_GPU_AWAKE, 1, &value), 0);
	const struct tp_track *track = NULL;
	for (size_t i = 0; i < rig.builder.n_records; i++)
		if (rig.builder.records[i].kind == TP_RECORD_TRACK)
			track = &rig.builder.records[i].of.track;
	ck_assert_ptr_nonnull(track);
	ck_assert_int_eq(track->device, 2);
	ck_assert_int_eq(track->number, TP_TRACK_WHOLE);
	ck_assert_str_eq(text_of(&rig, track->name), "NVIDIA L40S");
	rig_close(&rig);
}
END_TEST

/* Samples until the source's reason contains `part`, for one minute at most; returns the last
 * report. */
static const struct tp_source *sample_until_said(struct rig *rig, const char *part)
{
	const struct tp_source *source = NULL;
	for (int i = 0; i < 120 && !(source && strstr(text_of(rig, source->reason), part)); i++) {
		rig_sample_for(rig, 0.5);
		source = rig_stop(rig);
	}
	return source;
}

START_TEST(a_target_without_gpu_is_said_so)
{
	struct rig rig;
	rig_open(&rig, "devices 2\nawake 99\nprocess 1 5\n");
	const struct tp_source *source = sample_until_said(&rig, "GPUs");
	ck_assert_int_eq(source->presence, TP_PRESENCE_PRESENT);
	ck_assert_str_eq(text_of(&rig, source->reason), "the program uses none of the 2 GPUs");
	ck_assert_uint_eq(source->n_records, 0);
	rig_close(&rig);
}
END_TEST

START_TEST(what_comes_while_paused_is_not_put)
{
	struct rig rig;
	double value;
	char script[100];
	snprintf(script, sizeof(script), "devices 1\nawake 5\nprocess %d 7\n", (int)getpid());
	rig_open(&rig, script);
	tp_nvml_collector.pause(rig.collector, true, tp_clock_now_ns());
	size_t n_before = count_gauges(&rig, TP_METRIC_GPU_AWAKE, 0, &value);
	rig_sample_for(&rig, 1.5);
	ck_assert_uint_eq(count_gauges(&rig, TP_METRIC_GPU_AWAKE, 0, &value), n_before);
	tp_nvml_collector.pause(rig.collector, false, tp_clock_now_ns());
	for (int i = 0; i < 60 && count_gauges(&rig, TP_METRIC_GPU_AWAKE, 0, &value) == n_before;
	     i++)
		rig_sample_for(&rig, 1);
	(void)rig_stop(&rig);
	ck_assert_uint_gt(count_gauges(&rig, TP_METRIC_GPU_AWAKE, 0, &value), n_before);
	rig_close(&rig);
}
END_TEST

static const struct {
	const char *script;
	enum tp_presence presence;
	const char *reason; /* part of it */
} ends[] = {
	{"devices 1\nfail_nvmlInit_v2 9\n", TP_PRESENCE_NO_DEVICE, "is not loaded (9)"},
	{"devices 1\nfail_nvmlInit_v2 4\n", TP_PRESENCE_NO_PERMISSION, "no permission (4)"},
	{"devices 1\nsleep_nvmlInit_v2 90\n", TP_PRESENCE_DEGRADED, "had not started after"},
	{"devices 0\n", TP_PRESENCE_NO_DEVICE, "no GPU"},
	{"devices 1\nat 1 fail_nvmlDeviceGetComputeRunningProcesses_v3 15\n", TP_PRESENCE_DEGRADED,
	 "1 GPU is lost"},
	{"devices 1\nsleep_nvmlDeviceGetComputeRunningProcesses_v3 90\n", TP_PRESENCE_DEGRADED,
	 "did not answer"},
};

START_TEST(each_end_is_explained_without_waiting)
{
	struct rig rig;
	rig_open(&rig, ends[_i].script);
	const struct tp_source *source = sample_until_said(&rig, ends[_i].reason);
	uint64_t began_ns = tp_clock_now_ns();
	source = rig_stop(&rig);
	ck_assert_int_eq(source->presence, ends[_i].presence);
	ck_assert_msg(strstr(text_of(&rig, source->reason), ends[_i].reason) != NULL, "%s",
		      text_of(&rig, source->reason));
	rig_close(&rig);
	/* Much less than the duration of the call that hangs, also on a busy machine. */
	ck_assert_uint_lt(tp_clock_now_ns() - began_ns, 20 * TP_NS_PER_S);
}
END_TEST

Suite *suite_collect_nvml_collector(void);
Suite *suite_collect_nvml_collector(void)
{
	Suite *suite = suite_create("collect/nvml");
	TCase *tc = tcase_create("nvml");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_machine_without_a_driver_has_no_such_device);
	tcase_add_test(tc, the_kill_switch_is_obeyed_before_anything_is_loaded);
	tcase_add_test(tc, the_devices_of_the_target_become_tracks_with_gauges);
	tcase_add_test(tc, a_target_without_gpu_is_said_so);
	tcase_add_test(tc, what_comes_while_paused_is_not_put);
	tcase_add_loop_test(tc, each_end_is_explained_without_waiting, 0,
			    sizeof(ends) / sizeof(ends[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
