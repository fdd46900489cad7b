/*
 * Claims about the collector "pmu". The machine "software-pmu" names software events as if they
 * were hardware ones, so that the whole collector runs anywhere and getrusage() knows the answer.
 */
#include "collect/registry.h"

#include "skip.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct rig {
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_collect_config config;
	struct tp_collect_context context;
	struct tp_collector *collector;
	pid_t pid;
	int release_fd;
};

/* A shell with children, held before its exec as the launcher does. Few, and each does much: its
 * end, 0.15 ms, is not counted. */
static void hold_child(struct rig *rig)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	rig->pid = fork();
	if (rig->pid == 0) {
		char go;
		close(ends[1]);
		if (read(ends[0], &go, 1) != 1)
			_exit(1);
		execl("/bin/sh", "sh", "-c",
		      "i=0; while [ $i -lt 2 ]; do head -c 24000000 /dev/zero | cksum >/dev/null; "
		      "i=$((i+1)); done",
		      (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	rig->release_fd = ends[1];
}

static bool rig_open(struct rig *rig)
{
	struct tp_error err = {0};
	memset(rig, 0, sizeof(*rig));
	tp_host_open(&rig->host, "tests/data/hosts/software-pmu");
	tp_trace_builder_init(&rig->builder);
	rig->context = (struct tp_collect_context){.host = &rig->host,
						   .config = &rig->config,
						   .sink = &rig->builder.sink};
	hold_child(rig);
	ck_assert_int_eq(tp_pmu_collector.open(&rig->collector, &rig->context, &err), TP_OK);
	enum tp_status status = tp_pmu_collector.start(rig->collector, rig->pid, &err);
	ck_assert_msg(status == TP_OK || status == TP_DENIED, "%s", err.text);
	return status == TP_OK;
}

static void rig_close(struct rig *rig)
{
	tp_pmu_collector.close(rig->collector);
	tp_trace_builder_release(&rig->builder);
	tp_host_close(&rig->host);
}

static double last_gauge(const struct rig *rig, enum tp_metric metric)
{
	for (size_t i = rig->builder.n_records; i-- > 0;) {
		const struct tp_record *record = &rig->builder.records[i];
		if (record->kind == TP_RECORD_GAUGE && record->of.gauge.metric == metric)
			return record->of.gauge.value;
	}
	return NAN;
}

/* What the child does before its exec is not counted, nor what a process does when its events are
 * gone: its memory goes back. A fork under ASan takes milliseconds. */
#ifdef __SANITIZE_ADDRESS__
#define BEFORE_EXEC_NS 20e6
#else
#define BEFORE_EXEC_NS 5e6
#endif

/* Cycles are CPU nanoseconds there, instructions page faults. */
START_TEST(counts_are_those_of_the_whole_tree)
{
	struct rig rig;
	struct rusage usage;
	int status;
	if (!rig_open(&rig)) {
		test_skip("counters are refused here");
		close(rig.release_fd);
		rig_close(&rig);
		return;
	}
	ck_assert_int_eq(write(rig.release_fd, "", 1), 1);
	close(rig.release_fd);
	for (int i = 0; i < 5; i++) {
		usleep(20000);
		tp_pmu_collector.sample(rig.collector, tp_clock_now_ns(), NULL);
	}
	ck_assert_int_eq(wait4(rig.pid, &status, 0, &usage), rig.pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(tp_pmu_collector.stop(rig.collector, tp_clock_now_ns(), NULL), TP_OK);
	double cpu_ns = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
	double faults = (double)(usage.ru_minflt + usage.ru_majflt);
	double cycles = last_gauge(&rig, TP_METRIC_PMU_CYCLES);
	ck_assert_double_eq_tol(cycles, cpu_ns, 0.05 * cpu_ns + BEFORE_EXEC_NS);
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_INSTRUCTIONS), faults,
				0.1 * faults + 150); /* those before the exec are ours */
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_SLOTS), 2 * cycles, 0.02 * cycles);
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_BACKEND), cycles, 0.02 * cycles);
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_MEMORY),
				last_gauge(&rig, TP_METRIC_PMU_BACKEND), 0.01 * cycles);
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_RUNNING), 1, 0.01);
	rig_close(&rig);
}
END_TEST

START_TEST(nothing_is_counted_before_the_exec)
{
	struct rig rig;
	bool started = rig_open(&rig);
	if (started) {
		usleep(20000);
		tp_pmu_collector.sample(rig.collector, tp_clock_now_ns(), NULL);
		ck_assert_double_eq(last_gauge(&rig, TP_METRIC_PMU_CYCLES), 0);
		ck_assert_double_nan(last_gauge(&rig, TP_METRIC_PMU_RUNNING));
	} else {
		test_skip("counters are refused here");
	}
	close(rig.release_fd);
	waitpid(rig.pid, NULL, 0);
	rig_close(&rig);
}
END_TEST

START_TEST(a_machine_without_counters_is_refused)
{
	struct tp_host host;
	struct tp_error err = {0};
	struct tp_collector *collector = NULL;
	struct tp_collect_context context = {.host = &host};
	tp_host_open(&host, "tests/data/hosts/firecracker-vm");
	ck_assert_int_eq(tp_pmu_collector.open(&collector, &context, &err), TP_ABSENT);
	ck_assert_ptr_null(collector);
	tp_host_close(&host);
}
END_TEST

Suite *suite_collect_pmu(void);
Suite *suite_collect_pmu(void)
{
	Suite *suite = suite_create("collect/pmu");
	TCase *tc = tcase_create("pmu");
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, counts_are_those_of_the_whole_tree);
	tcase_add_test(tc, nothing_is_counted_before_the_exec);
	tcase_add_test(tc, a_machine_without_counters_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
