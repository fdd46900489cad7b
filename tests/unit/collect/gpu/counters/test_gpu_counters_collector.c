/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the collector "gpupmu": which records it emits and how it describes itself. */
#include "collect/gpurig.h"
#include "collect/madehost.h"
#include "collect/pmdouble.h"
#include "collect/registry.h"

#include <math.h>

static void rig_open(struct rig *rig, const char *root)
{
	rig_begin(rig, &tp_gpu_counters_collector, root);
}

static void rig_open_script(struct rig *rig, const char *script)
{
	pm_script(script);
	rig_open(rig, "");
}

static void rig_close(struct rig *rig)
{
	rig_end(rig);
	pm_double_reset();
}

/* Samples until a request is done, which the helper reports last; for one minute at most. */
static void sample_until_done(struct rig *rig)
{
	for (int i = 0; i < 120 && !rig->cpu_ns; i++)
		rig_sample_for(rig, 0.5);
}

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

/* Time for which the first window was open. */
static double open_s(const struct rig *rig)
{
	uint64_t opened_ns = 0;
	for (size_t i = 0; i < rig->builder.n_records; i++) {
		const struct tp_record *record = &rig->builder.records[i];
		const struct tp_gauge *gauge = &record->of.gauge;
		if (record->kind != TP_RECORD_GAUGE || gauge->metric != TP_METRIC_GPU_PM_OPEN)
			continue;
		if (gauge->value == 0)
			return (double)(gauge->time_ns - opened_ns) * 1e-9;
		opened_ns = gauge->time_ns;
	}
	return 0;
}

START_TEST(a_window_on_a_gpu_that_is_used_becomes_gauges_of_its_track)
{
	struct rig rig;
	double value = NAN;
	rig_open_script(&rig, "devices 4\n" PM_CORE);
	rig_sample_for(&rig, 0.3);
	tp_gpu_in_use_add(&rig.gpus, 3, 17);
	sample_until_done(&rig);
	const struct tp_source *source = rig_stop(&rig);
	ck_assert_int_eq(source->presence, TP_PRESENCE_PRESENT);
	ck_assert_str_eq(text_of(&rig, source->reason),
			 "4 counters of GH100 in one pass; 1 window");
	/* One second, with a reading every 0.1 s; longer on a busy machine. */
	size_t n = count_gauges(&rig, TP_METRIC_GPU_PM_TENSOR, 17, &value);
	ck_assert_uint_ge(n, 9);
	ck_assert_double_le((double)n, open_s(&rig) / 0.1);
	ck_assert_double_eq_tol(value, 0.3, 1e-9);
	ck_assert_uint_eq(count_gauges(&rig, TP_METRIC_GPU_PM_TENSOR, 0, &value), 0);
	ck_assert_uint_eq(count_gauges(&rig, TP_METRIC_GPU_PM_OPEN, 17, &value), 2);
	ck_assert_double_eq(value, 0);    /* it is closed */
	ck_assert_uint_gt(rig.cpu_ns, 0); /* the helper's CPU time counts as trainprof's */
	rig_close(&rig);
}
END_TEST

START_TEST(without_a_gpu_in_use_nothing_is_asked)
{
	struct rig rig;
	rig_open_script(&rig, "crash_cuptiProfilerInitialize 1\n");
	rig_sample_for(&rig, 2.5);
	const struct tp_source *source = rig_stop(&rig);
	ck_assert_int_eq(source->presence, TP_PRESENCE_PRESENT);
	ck_assert_str_eq(text_of(&rig, source->reason), "NVML knows of no GPU in use");
	rig_close(&rig);
}
END_TEST

START_TEST(nothing_is_asked_while_paused)
{
	struct rig rig;
	rig_open_script(&rig, "crash_cuptiProfilerInitialize 1\n");
	tp_gpu_in_use_add(&rig.gpus, 0, 1);
	tp_gpu_counters_collector.pause(rig.collector, true, tp_clock_now_ns());
	rig_sample_for(&rig, 2.5);
	const struct tp_source *source = rig_stop(&rig);
	ck_assert_int_eq(source->presence, TP_PRESENCE_DEGRADED);
	ck_assert_str_eq(text_of(&rig, source->reason),
			 "the program ended before the first window");
	rig_close(&rig);
}
END_TEST

static const struct {
	const char *script;
	enum tp_presence presence;
	const char *reason; /* part of it */
	const char *remedy;
} ends[] = {
	{"fail_cuptiPmSamplingGetCounterAvailability 35\n" PM_CORE, TP_PRESENCE_NO_PERMISSION,
	 "counters are for administrators", "NVreg_RestrictProfilingToAdminUsers=0"},
	{"fail_cuptiPmSamplingEnable 26\n" PM_CORE, TP_PRESENCE_IN_USE,
	 "another tool has the counters", "ncu"},
	{"fail_cuptiPmSamplingSetConfig 27\n" PM_CORE, TP_PRESENCE_NO_DEVICE, "not supported", ""},
	{"overflow_after 300\n" PM_CORE, TP_PRESENCE_DEGRADED,
	 "1 cut: the hardware's buffer ran over", ""},
	{"crash_cuptiPmSamplingStart 1\n" PM_CORE, TP_PRESENCE_DEGRADED, "CUPTI ended its process",
	 ""},
	{"devices 0\n" PM_CORE, TP_PRESENCE_NO_DEVICE, "no such GPU", ""},
};

START_TEST(each_end_is_explained_without_waiting)
{
	struct rig rig;
	rig_open_script(&rig, ends[_i].script);
	tp_gpu_in_use_add(&rig.gpus, 0, 5);
	const struct tp_source *source = sample_until_said(&rig, ends[_i].reason);
	uint64_t began_ns = tp_clock_now_ns();
	source = rig_stop(&rig);
	ck_assert_msg(source->presence == ends[_i].presence, "%s", text_of(&rig, source->reason));
	ck_assert_msg(strstr(text_of(&rig, source->reason), ends[_i].reason) != NULL, "%s",
		      text_of(&rig, source->reason));
	ck_assert_ptr_nonnull(strstr(text_of(&rig, source->remedy), ends[_i].remedy));
	rig_close(&rig);
	ck_assert_uint_lt(tp_clock_now_ns() - began_ns, 20 * TP_NS_PER_S);
}
END_TEST

/* Probes a machine whose driver has these parameters, for a process with these capabilities. */
static enum tp_presence probed(const char *params, const char *status)
{
	char root[] = "/tmp/trainprof-pmhost-XXXXXX";
	char nvml[CUDA_DOUBLE_PATH];
	struct tp_availability found;
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_ptr_nonnull(dlopen(beside(nvml, "doubles/whole/libnvidia-ml.so.1"), RTLD_NOW));
	madehost_lay(root, "/proc/driver/nvidia/params", params);
	madehost_lay(root, "/proc/self/status", status);
	const struct tp_host host = {.root = root, .is_live = true};
	tp_gpu_counters_collector.probe(&host, &found);
	madehost_remove(root);
	return found.presence;
}

START_TEST(counters_that_are_for_administrators_are_known_before)
{
	static const char *const nobody = "CapEff:\t0000000000000000\n";
	ck_assert_int_eq(probed("RmProfilingAdminOnly: 1\n", nobody), TP_PRESENCE_NO_PERMISSION);
	ck_assert_int_eq(probed("RestrictProfilingToAdminUsers: 1\n", nobody),
			 TP_PRESENCE_NO_PERMISSION);
	ck_assert_int_eq(probed("RmProfilingAdminOnly: 0\n", nobody), TP_PRESENCE_PRESENT);
	ck_assert_int_eq(probed("Other: 1\n", nobody), TP_PRESENCE_PRESENT);
	ck_assert_int_eq(probed("RmProfilingAdminOnly: 1\n", "CapEff:\t0000004000000000\n"),
			 TP_PRESENCE_PRESENT);
	ck_assert_int_eq(probed("RmProfilingAdminOnly: 1\n", "CapEff:\t0000000000200000\n"),
			 TP_PRESENCE_PRESENT);
}
END_TEST

/* Creates a machine on which our process is the target, runs as these users, and has CUPTI
 * loaded. */
static void lay_target(char *root, uid_t real, uid_t effective)
{
	char path[64];
	char text[CUDA_DOUBLE_PATH + 64];
	char library[CUDA_DOUBLE_PATH];
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(path, sizeof(path), "/proc/%d/status", (int)getpid());
	snprintf(text, sizeof(text), "Uid:\t%u\t%u\t0\t0\n", real, effective);
	madehost_lay(root, path, text);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)getpid());
	snprintf(text, sizeof(text), "7f00-7f01 r-xp 0 00:00 1 %s\n",
		 beside(library, "doubles/whole/libcupti.so.13"));
	madehost_lay(root, path, text);
}

static const struct {
	unsigned real_off; /* offset from our own uid */
	unsigned effective_off;
	const char *reason;
} users[] = {
	{0, 0, "counters of GH100"},
	{1, 0, "libcupti has no "},
	{0, 1, "libcupti has no "},
};

/* Every other search path leads to a library that cannot be used: the reason shows which one was
 * loaded. */
START_TEST(what_another_user_has_loaded_is_not_loaded)
{
	struct rig rig;
	char root[] = "/tmp/trainprof-pmhost-XXXXXX";
	char path[CUDA_DOUBLE_PATH];
	ck_assert_ptr_nonnull(dlopen(beside(path, "doubles/broken/libcupti.so.13"), RTLD_NOW));
	lay_target(root, geteuid() + users[_i].real_off, geteuid() + users[_i].effective_off);
	pm_script(PM_CORE);
	unsetenv("TRAINPROF_CUPTI");
	rig_open(&rig, root);
	tp_gpu_in_use_add(&rig.gpus, 0, 5);
	const char *reason = text_of(&rig, sample_until_said(&rig, users[_i].reason)->reason);
	ck_assert_msg(strstr(reason, users[_i].reason) != NULL, "%s", reason);
	rig_close(&rig);
	madehost_remove(root);
}
END_TEST

START_TEST(the_kill_switch_is_obeyed)
{
	struct tp_host host;
	struct tp_availability found;
	tp_host_open(&host, "");
	setenv("TRAINPROF_GPU", "0", 1);
	tp_gpu_counters_collector.probe(&host, &found);
	ck_assert_int_eq(found.presence, TP_PRESENCE_OFF);
	tp_host_close(&host);
}
END_TEST

Suite *suite_collect_gpu_counters_collector(void);
Suite *suite_collect_gpu_counters_collector(void)
{
	Suite *suite = suite_create("collect/gpupmu");
	TCase *tc = tcase_create("gpupmu");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_window_on_a_gpu_that_is_used_becomes_gauges_of_its_track);
	tcase_add_test(tc, without_a_gpu_in_use_nothing_is_asked);
	tcase_add_test(tc, nothing_is_asked_while_paused);
	tcase_add_loop_test(tc, each_end_is_explained_without_waiting, 0,
			    sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(tc, counters_that_are_for_administrators_are_known_before);
	tcase_add_loop_test(tc, what_another_user_has_loaded_is_not_loaded, 0,
			    sizeof(users) / sizeof(users[0]));
	tcase_add_test(tc, the_kill_switch_is_obeyed);
	suite_add_tcase(suite, tc);
	return suite;
}
