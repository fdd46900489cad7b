/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the collector "pmu". The machine "software-pmu" names software events as if they were
 * hardware ones, so that the whole collector runs anywhere and another counter of the kernel gives
 * the expected values. */
#include "collect/registry.h"

#include "collect/cputruth.h"
#include "proof.h"
#include "skip.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct rig {
	struct tp_host host;
	struct tp_trace_builder builder;
	struct tp_collect_config config;
	struct tp_collect_context context;
	struct tp_collector *collector;
	pid_t pid;
	int in_fd;  /* the first byte lets it exec, each further line requests one piece of work;
		       closing it ends it */
	int out_fd; /* one line per piece of work */
};

/* Forks a shell with children that is held before its exec, as the launcher does. */
static void hold_child(struct rig *rig)
{
	int in[2];
	int out[2];
	ck_assert_int_eq(pipe(in) | pipe(out), 0);
	rig->pid = fork();
	if (rig->pid == 0) {
		char go;
		close(in[1]);
		close(out[0]);
		if (read(in[0], &go, 1) != 1 || dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0)
			_exit(1);
		execl("/bin/sh", "sh", "-c",
		      "while read line; do head -c 16000000 /dev/zero | cksum >/dev/null; echo; "
		      "done",
		      (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	rig->in_fd = in[1];
	rig->out_fd = out[0];
}

static void let_work(struct rig *rig)
{
	char line;
	ck_assert_int_eq(write(rig->in_fd, "\n", 1), 1);
	ck_assert_int_eq(read(rig->out_fd, &line, 1), 1);
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

static void wait_for_end(struct rig *rig)
{
	int status;
	close(rig->in_fd);
	ck_assert_int_eq(waitpid(rig->pid, &status, 0), rig->pid);
	close(rig->out_fd);
}

/* On this machine cycles are CPU nanoseconds; instructions are page faults, and so are memory
 * stalls. Readings are between pieces of work, each of which causes some of both. */
START_TEST(counts_are_those_of_the_whole_tree)
{
	struct rig rig;
	if (!rig_open(&rig)) {
		test_skip("counters are refused here");
		wait_for_end(&rig);
		rig_close(&rig);
		return;
	}
	int time_fd = cputruth_open(rig.pid, PERF_COUNT_SW_TASK_CLOCK);
	int faults_fd = cputruth_open(rig.pid, PERF_COUNT_SW_PAGE_FAULTS);
	ck_assert_int_eq(write(rig.in_fd, "", 1), 1);
	for (int i = 0; i < 5; i++) {
		let_work(&rig);
		tp_pmu_collector.sample(rig.collector, tp_clock_now_ns(), NULL);
	}
	double cycles = last_gauge(&rig, TP_METRIC_PMU_CYCLES);
	double backend = last_gauge(&rig, TP_METRIC_PMU_BACKEND);
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_SLOTS), 2 * cycles, 0.02 * cycles);
	ck_assert_double_eq_tol(backend, cycles, 0.02 * cycles);
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_MEMORY), backend, 0.01 * cycles);
	wait_for_end(&rig);
	ck_assert_int_eq(tp_pmu_collector.stop(rig.collector, tp_clock_now_ns(), NULL), TP_OK);
	double cpu_ns = cputruth_take(time_fd);
	double faults = cputruth_take(faults_fd);
	ck_assert_double_gt(cpu_ns, 1e6);
	ck_assert_double_gt(faults, 100);
	cycles = last_gauge(&rig, TP_METRIC_PMU_CYCLES);
	ck_assert_double_eq_tol(cycles, cpu_ns, 0.01 * cpu_ns);
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_INSTRUCTIONS), faults,
				0.01 * faults);
	ck_assert_double_eq_tol(last_gauge(&rig, TP_METRIC_PMU_RUNNING), 1, 0.01);
	rig_close(&rig);
}
END_TEST

START_TEST(nothing_is_counted_before_the_exec)
{
	struct rig rig;
	bool started = rig_open(&rig);
	if (started) {
		tp_pmu_collector.sample(rig.collector, tp_clock_now_ns(), NULL);
		ck_assert_double_eq(last_gauge(&rig, TP_METRIC_PMU_CYCLES), 0);
		ck_assert_double_nan(last_gauge(&rig, TP_METRIC_PMU_RUNNING));
	} else {
		test_skip("counters are refused here");
	}
	wait_for_end(&rig);
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

Suite *suite_collect_pmu_collector(void);
Suite *suite_collect_pmu_collector(void)
{
	Suite *suite = suite_create("collect/pmu");
	TCase *tc = tcase_create("pmu");
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, nothing_is_counted_before_the_exec);
	tcase_add_test(tc, a_machine_without_counters_is_refused);
	suite_add_tcase(suite, tc);
	TCase *proofs = proof_case(suite, "counted programs");
	tcase_set_timeout(proofs, 30);
	tcase_add_test(proofs, counts_are_those_of_the_whole_tree);
	return suite;
}
