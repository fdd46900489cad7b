/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a real program completely, into a trace. For tests. */
#ifndef TRAINPROF_TESTS_COLLECT_MEASURED_H
#define TRAINPROF_TESTS_COLLECT_MEASURED_H

#include "cputruth.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/collect/env.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/collect/plan.h"
#include "trainprof/collect/sampler.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct measured {
	struct tp_host host;
	struct tp_collect_config config;
	struct tp_selection selection;
	struct tp_sampler_config sampler;
	struct tp_trace_builder builder;
	struct tp_plan *plan;
	struct tp_target *target;
	struct tp_sampler_result result;
	struct tp_trace trace;
	struct tp_error err;
	enum tp_status status;
	bool counts_cpu;  /* set before the run, if perf events are not refused */
	double counted_s; /* CPU time from the target's exec to each process's end, by an
			     independent counter */
};

static inline void measured_init(struct measured *m)
{
	memset(m, 0, sizeof(*m));
	tp_host_open(&m->host, "");
	m->config = (struct tp_collect_config){
		.sample_rate_hz = 99,
		.poll_rate_hz = 50,
		.stack_bytes = 32768,
		.max_overhead_ratio =
			1, /* the machine is busy: detail must not be reduced for that */
		.max_switch_rate_hz = 1e6,
	};
}

static inline void measured_run(struct measured *m, char *const *argv)
{
	struct tp_inherited inheritance;
	struct tp_env env = {0};
	tp_inherited_save(&inheritance);
	tp_trace_builder_init(&m->builder);
	ck_assert_msg(!tp_plan_make(&m->plan, &m->host, &m->config, &m->selection, &m->err), "%s",
		      m->err.text);
	ck_assert_msg(!tp_plan_open(m->plan, &m->builder.sink, &m->err), "%s", m->err.text);
	tp_plan_child_env(m->plan, &env);
	ck_assert(!tp_target_start(&m->target, &inheritance, argv, &env, &m->err));
	int truth_fd = m->counts_cpu
			       ? cputruth_open(tp_target_pid(m->target), PERF_COUNT_SW_TASK_CLOCK)
			       : -1;
	m->status = tp_sampler_run(m->plan, m->target, &m->sampler, &m->result, &m->err);
	m->counted_s = m->counts_cpu ? cputruth_take(truth_fd) * 1e-9 : 0;
	struct tp_run_info run = {.started_ns = m->result.started_ns,
				  .ended_ns = m->result.end.time_ns};
	tp_trace_build(&m->trace, &m->builder, &run);
	tp_env_release(&env);
}

/* Attaches to a running process; m->sampler.duration_ns limits the time. */
static inline void measured_attach(struct measured *m, pid_t pid)
{
	m->config.is_attaching = true;
	tp_trace_builder_init(&m->builder);
	ck_assert_msg(!tp_target_attach(&m->target, pid, &m->err), "%s", m->err.text);
	ck_assert_msg(!tp_plan_make(&m->plan, &m->host, &m->config, &m->selection, &m->err), "%s",
		      m->err.text);
	ck_assert_msg(!tp_plan_open(m->plan, &m->builder.sink, &m->err), "%s", m->err.text);
	m->status = tp_sampler_run(m->plan, m->target, &m->sampler, &m->result, &m->err);
	struct tp_run_info run = {.started_ns = m->result.started_ns,
				  .ended_ns = m->result.end.time_ns,
				  .mode = TP_MODE_ATTACH};
	tp_trace_build(&m->trace, &m->builder, &run);
}

/* Starts a command, for example one of tests/programs, that is not measured yet. `time_fd` (may be
 * NULL) receives a counter of its CPU time. */
static inline pid_t measured_start(const char *command, int *time_fd)
{
	char path[4200];
	char go = 0;
	int gate[2];
	ssize_t len = readlink("/proc/self/exe", path, 4000);
	ck_assert_int_gt(len, 0);
	path[len] = '\0';
	strcpy(strrchr(path, '/'), "/programs");
	ck_assert_int_eq(pipe2(gate, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char script[4400];
		snprintf(script, sizeof(script), "PATH=%s:$PATH; exec %s >/dev/null", path,
			 command);
		if (read(gate[0], &go, 1) == 1)
			execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_gt(pid, 0);
	if (time_fd)
		*time_fd = cputruth_open(pid, PERF_COUNT_SW_TASK_CLOCK);
	ck_assert_int_eq(write(gate[1], &go, 1), 1);
	close(gate[0]);
	close(gate[1]);
	return pid;
}

/* Measures a script for sh; the text is copied. */
static inline void measured_script(struct measured *m, const char *script)
{
	char text[4400];
	char sh[] = "/bin/sh";
	char option[] = "-c";
	snprintf(text, sizeof(text), "%s", script);
	char *argv[] = {sh, option, text, NULL};
	measured_run(m, argv);
}

/* Measures one of tests/programs, built next to this binary; its output is dropped. */
static inline void measured_program(struct measured *m, const char *name, const char *arguments)
{
	char path[4200];
	char script[4400];
	ssize_t len = readlink("/proc/self/exe", path, 4000);
	ck_assert_int_gt(len, 0);
	path[len] = '\0';
	strcpy(strrchr(path, '/'), "/programs/");
	strcat(path, name);
	ck_assert_msg(access(path, X_OK) == 0, "%s is not built", path);
	snprintf(script, sizeof(script), "exec %s %s >/dev/null", path, arguments);
	measured_script(m, script);
}

static inline void measured_release(struct measured *m)
{
	tp_trace_release(&m->trace);
	tp_target_close(m->target);
	tp_plan_free(m->plan);
	tp_trace_builder_release(&m->builder);
	tp_host_close(&m->host);
}

/* CPU time of the target and its children as accounted by the kernel (rusage). */
static inline double measured_cpu_s(const struct measured *m)
{
	const struct rusage *usage = &m->result.end.usage;
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_utime.tv_usec * 1e-6 +
	       (double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec * 1e-6;
}

static inline double measured_runs_s(const struct measured *m)
{
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < m->trace.n_runs; i++)
		sum_ns += m->trace.runs[i].end_ns - m->trace.runs[i].start_ns;
	return (double)sum_ns / (double)TP_NS_PER_S;
}

/* Number of samples of running threads. */
static inline size_t measured_samples(const struct measured *m)
{
	size_t n = 0;
	for (size_t i = 0; i < m->trace.n_samples; i++)
		n += m->trace.samples[i].state == TP_STATE_ON_CPU &&
		     !(m->trace.samples[i].flags & TP_SAMPLE_POLLED);
	return n;
}

static inline const char *measured_text(const struct measured *m, uint32_t id)
{
	return tp_trace_string(&m->trace, id);
}

/* Returns the first gap of a source whose reason contains `part`, or NULL if there is none. */
static inline const struct tp_gap *measured_gap(const struct measured *m, const char *source,
						const char *part)
{
	for (size_t i = 0; i < m->trace.n_gaps; i++) {
		const struct tp_gap *gap = &m->trace.gaps[i];
		if (strcmp(measured_text(m, gap->source), source) == 0 &&
		    strstr(measured_text(m, gap->reason), part))
			return gap;
	}
	return NULL;
}

/* Time in which records were lost and which is reported as lost: what ran then is not known. */
static inline double measured_lost_s(const struct measured *m)
{
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < m->trace.n_gaps; i++)
		if (strstr(measured_text(m, m->trace.gaps[i].reason), "lost"))
			sum_ns += m->trace.gaps[i].end_ns - m->trace.gaps[i].start_ns;
	return (double)sum_ns * 1e-9;
}

static inline const struct tp_plan_row *measured_row(const struct measured *m, const char *name)
{
	for (size_t i = 0; i < tp_plan_count(m->plan); i++)
		if (strcmp(tp_plan_row(m->plan, i)->type->name, name) == 0)
			return tp_plan_row(m->plan, i);
	ck_abort_msg("no source %s", name);
	return NULL;
}

#endif
