/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated thread: a test describes its activity piece by piece, and the result is a trace as
 * the collectors would have recorded it: exact on-CPU runs, one stack at a random place of each
 * slot of CPU time, polls at a fixed rate while it is blocked. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_SIM_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_SIM_H

#include "analyze/analysis.h"

#include "trainprof/base/map.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim {
	struct tp_trace_builder builder;
	struct tp_run_info run;
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_analysis analysis;
	struct tp_analyze_options options;
	struct tp_patterns *patterns;
	uint64_t random;
	uint64_t now_ns;
	uint64_t cpu_ns;         /* CPU time so far */
	uint64_t next_sample_ns; /* in CPU time */
	uint64_t next_poll_ns;   /* in wall time */
	uint64_t run_start_ns;
	int is_running;
	unsigned shift;       /* offset of the instruction on a line of Python */
	struct tp_map stacks; /* known stacks, by path and shift */
};

static inline double sim_uniform(struct sim *sim)
{
	uint64_t z = (sim->random += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Returns a length around `ms`, uniformly distributed over +-spread of it. */
static inline uint64_t sim_ms(struct sim *sim, double ms, double spread)
{
	return (uint64_t)(ms * 1e6 * (1 + spread * (2 * sim_uniform(sim) - 1)));
}

static inline void sim_init_as(struct sim *sim, double rate_hz, double poll_hz, uint64_t seed,
			       const char *exe)
{
	*sim = (struct sim){.random = seed};
	sim->run.sample_rate_hz = rate_hz;
	sim->run.poll_rate_hz = poll_hz;
	sim->run.started_ns = 1;
	tp_trace_builder_init(&sim->builder);
	struct tp_task task = {
		.id = 0, .tid = 100, .pid = 100, .parent = TP_NO_TASK, .start_ns = 1};
	task.comm = tp_sink_string(&sim->builder.sink, "train");
	task.exe = tp_sink_string(&sim->builder.sink, exe);
	tp_sink_task(&sim->builder.sink, &task);
	sim->next_sample_ns = (uint64_t)(sim_uniform(sim) * 1e9 / rate_hz);
	sim->next_poll_ns = (uint64_t)(sim_uniform(sim) * 1e9 / poll_hz);
}

static inline void sim_init(struct sim *sim, double rate_hz, double poll_hz, uint64_t seed)
{
	sim_init_as(sim, rate_hz, poll_hz, seed, "");
}

/* "main:3 train:7 gemm:1": root first, each with its line number. "train.py>main:3" is a Python
 * function, "train.py>*batches:3" a generator; "libjpeg.so!decode:3" is a function of a library. */
static inline struct tp_frame sim_frame(struct sim *sim, const char *name, int line)
{
	struct tp_sink *sink = &sim->builder.sink;
	const char *function = strpbrk(name, ">!");
	char file[160] = "/home/me/train";
	struct tp_frame frame = {.kind = TP_FRAME_NATIVE};
	if (function) {
		snprintf(file, sizeof(file), "%.*s", (int)(function - name), name);
		frame.kind = *function == '>' ? TP_FRAME_PYTHON : TP_FRAME_NATIVE;
		name = function + 1;
	}
	if (frame.kind == TP_FRAME_PYTHON && *name == '*') {
		frame.flags = TP_FRAME_GENERATOR;
		name++;
	}
	frame.module = tp_sink_string(sink, file);
	frame.symbol = tp_sink_string(sink, name);
	if (frame.kind == TP_FRAME_PYTHON) {
		frame.file = frame.module;
		frame.line = (uint32_t)line;
		frame.function_start = (uint64_t)frame.symbol << 32;
	} else {
		frame.function_start = 4096 * (uint64_t)frame.symbol;
	}
	frame.address = frame.function_start + (uint64_t)line;
	if (frame.kind == TP_FRAME_PYTHON)
		frame.address = frame.function_start + 16 * (uint64_t)line + sim->shift;
	return frame;
}

static inline uint32_t sim_new_stack(struct sim *sim, const char *path)
{
	struct tp_sink *sink = &sim->builder.sink;
	uint32_t ids[64];
	uint32_t leaf_first[64];
	size_t n = 0;
	for (const char *at = path; *at && n < 64;) {
		char name[1024];
		int line = 0;
		int used = 0;
		ck_assert_int_eq(sscanf(at, "%1023[^:]:%d%n", name, &line, &used), 2);
		struct tp_frame frame = sim_frame(sim, name, line);
		ids[n++] = tp_sink_frame(sink, &frame);
		at += used;
		while (*at == ' ')
			at++;
	}
	for (size_t i = 0; i < n; i++)
		leaf_first[i] = ids[n - 1 - i];
	return tp_sink_stack(sink, leaf_first, n, 0);
}

/* Caches stacks, because most occur often and parsing the path again would take most of a
 * simulation's time. */
static inline uint32_t sim_stack(struct sim *sim, const char *path)
{
	uint64_t key = tp_hash_mix(tp_hash_bytes(path, strlen(path)), sim->shift);
	uint64_t stack;
	if (!tp_map_get(&sim->stacks, key, &stack)) {
		stack = sim_new_stack(sim, path);
		tp_map_set(&sim->stacks, key, stack);
	}
	return (uint32_t)stack;
}

static inline void sim_put_sample(struct sim *sim, uint64_t time_ns, enum tp_state state,
				  enum tp_cause cause, uint32_t stack)
{
	struct tp_sample sample = {.time_ns = 1 + time_ns,
				   .state = state,
				   .cause = cause,
				   .stack = stack,
				   .syscall = -1,
				   .flags = state == TP_STATE_ON_CPU ? 0 : TP_SAMPLE_POLLED};
	tp_sink_sample(&sim->builder.sink, &sample);
}

static inline void sim_stop_running(struct sim *sim, enum tp_run_end how)
{
	if (!sim->is_running)
		return;
	struct tp_run run = {.start_ns = 1 + sim->run_start_ns,
			     .end_ns = 1 + sim->now_ns,
			     .how = how};
	tp_sink_run(&sim->builder.sink, &run);
	sim->is_running = 0;
}

/* Runs on a CPU in this stack. */
static inline void sim_work(struct sim *sim, const char *path, uint64_t length_ns)
{
	uint32_t stack = sim_stack(sim, path);
	if (!sim->is_running)
		sim->run_start_ns = sim->now_ns;
	sim->is_running = 1;
	double slot = 1e9 / sim->run.sample_rate_hz;
	while (sim->next_sample_ns < sim->cpu_ns + length_ns) {
		sim_put_sample(sim, sim->now_ns + sim->next_sample_ns - sim->cpu_ns,
			       TP_STATE_ON_CPU, TP_CAUSE_NONE, stack);
		double next = ((double)(uint64_t)((double)sim->next_sample_ns / slot) + 1 +
			       sim_uniform(sim)) *
			      slot;
		sim->next_sample_ns = (uint64_t)next;
	}
	sim->cpu_ns += length_ns;
	sim->now_ns += length_ns;
}

/* Waits off CPU in this stack. */
static inline void sim_block(struct sim *sim, const char *path, enum tp_cause cause,
			     uint64_t length_ns)
{
	sim_stop_running(sim, TP_RUN_BLOCKED);
	uint32_t stack = sim_stack(sim, path);
	uint64_t period = (uint64_t)(1e9 / sim->run.poll_rate_hz);
	while (sim->next_poll_ns < sim->now_ns)
		sim->next_poll_ns += period;
	while (sim->next_poll_ns < sim->now_ns + length_ns) {
		sim_put_sample(sim, sim->next_poll_ns, TP_STATE_BLOCKED, cause, stack);
		sim->next_poll_ns += period;
	}
	sim->now_ns += length_ns;
}

static inline void sim_preempt(struct sim *sim, uint64_t length_ns)
{
	sim_stop_running(sim, TP_RUN_PREEMPTED);
	sim->now_ns += length_ns;
}

static inline void sim_mark(struct sim *sim, uint32_t task, enum tp_mark_kind kind)
{
	struct tp_mark mark = {.task = task, .kind = kind, .time_ns = 1 + sim->now_ns};
	tp_sink_mark(&sim->builder.sink, &mark);
}

/* Builds the trace, classes and timelines. */
static inline void sim_finish(struct sim *sim)
{
	struct tp_error err;
	sim_stop_running(sim, TP_RUN_EXITED);
	sim->run.ended_ns = 1 + sim->now_ns;
	tp_trace_build(&sim->trace, &sim->builder, &sim->run);
	ck_assert_int_eq(tp_patterns_load(&sim->patterns, "rules/patterns", &err), TP_OK);
	tp_profile_init(&sim->profile, &sim->trace);
	sim->analysis = (struct tp_analysis){.trace = &sim->trace,
					     .patterns = sim->patterns,
					     .options = &sim->options,
					     .profile = &sim->profile,
					     .arena = &sim->profile.arena};
	ck_assert_int_eq(tp_pass_timelines(&sim->analysis, &err), TP_OK);
	ck_assert_int_eq(tp_pass_roles(&sim->analysis, &err), TP_OK);
	sim->analysis.main_task = 0;
	sim->profile.trainer = 0;
	ck_assert_int_eq(tp_pass_main_thread(&sim->analysis, &err), TP_OK);
}

/* Counts the steps of a kind; call it after tp_pass_steady(). */
static inline size_t sim_count_steps(const struct sim *sim, enum tp_step_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < sim->profile.n_steps; i++)
		n += sim->profile.steps[i].kind == kind;
	return n;
}

static inline void sim_release(struct sim *sim)
{
	tp_profile_release(&sim->profile);
	tp_trace_release(&sim->trace);
	tp_patterns_free(sim->patterns);
	tp_map_release(&sim->stacks);
	tp_trace_builder_release(&sim->builder);
}

#endif
