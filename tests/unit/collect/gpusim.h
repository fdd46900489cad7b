/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated program with its own clock: it runs steps, and is slower while it is traced. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_GPUSIM_H
#define TRAINPROF_TESTS_UNIT_COLLECT_GPUSIM_H

#include "collect/gpu/trace/gpu_trace_windows.h"
#include "collect/perf/perf_period.h"

#include "trainprof/base/clock.h"
#include "trainprof/model/trace.h"

#include <math.h>

/* The kind of progress that the program reports; SIM_SILENT = none. */
enum sim_voice { SIM_STEPS, SIM_COUNTER, SIM_TRAFFIC, SIM_SILENT };

struct sim_program {
	enum sim_voice voice;
	double step_ms;
	double noise;    /* standard deviation of a step's length, relative to it */
	double slowdown; /* relative slowdown in windows: 0.05 = steps take 5 % longer */
	double open_ms;  /* pause of the program when a window opens */
	double residue;  /* permanent slowdown after the first window */
	double stall_ms; /* extra length of every hundredth step: a checkpoint */
};

struct sim {
	struct sim_program program;
	struct tp_trace_builder sink;
	struct tp_progress progress;
	struct tp_gpu_trace_windows windows;
	struct tp_gpu_agents_state agents;
	uint64_t seed;
	uint64_t now_ns;
	double stand_ns; /* rest of the current pause */
	double left_ns;  /* rest of the running step, untraced */
	double work_ns;  /* length of all steps so far, untraced */
	uint64_t n_steps;
	bool is_open;
	uint64_t n_opened;
	uint64_t open_ns; /* time in windows */
	uint64_t read_ns; /* time of the last GPM reading */
	double read_work_ns;
};

static inline double sim_random(struct sim *sim)
{
	return (double)(tp_perf_random(&sim->seed) >> 11) * 0x1p-53;
}

/* Nearly normal: the sum of four uniform values has the standard deviation 1 / sqrt(3). */
static inline double sim_normal(struct sim *sim)
{
	double sum = -2;
	for (int i = 0; i < 4; i++)
		sum += sim_random(sim);
	return 1.7320508 * sum;
}

static inline void sim_watch(void *context, const struct tp_record *record)
{
	struct sim *sim = context;
	tp_progress_add_record(&sim->progress, record);
}

static inline void sim_begin(struct sim *sim, const struct sim_program *program, double budget,
			     uint64_t seed)
{
	*sim = (struct sim){.program = *program, .seed = seed, .now_ns = 1000 * TP_NS_PER_S};
	tp_trace_builder_init(&sim->sink);
	tp_sink_watch(&sim->sink.sink, sim_watch, sim);
	tp_gpu_trace_windows_init(&sim->windows, &sim->progress, budget, seed);
	sim->agents.is_there = true;
	sim->read_ns = sim->now_ns;
}

static inline void sim_end(struct sim *sim)
{
	tp_progress_release(&sim->progress);
	tp_trace_builder_release(&sim->sink);
}

static inline void sim_emit_step(struct sim *sim, uint64_t at_ns)
{
	struct tp_mark mark = {.kind = TP_MARK_STEP, .time_ns = at_ns};
	if (sim->program.voice == SIM_COUNTER) {
		mark.kind = TP_MARK_COUNTER;
		mark.name = 1;
		mark.value = sim->n_steps;
		mark.time_ns += (uint64_t)(sim_random(sim) * 10e6); /* it is read a bit later */
	}
	/* Not added to the sink, which would store an hour of marks. */
	const struct tp_record record = {.kind = TP_RECORD_MARK, .of.mark = mark};
	if (sim->program.voice == SIM_STEPS || sim->program.voice == SIM_COUNTER)
		tp_progress_add_record(&sim->progress, &record);
}

/* Each step moves the same number of bytes: activity is a third of the rate of work. */
static inline void sim_emit_traffic(struct sim *sim)
{
	struct tp_gauge gauge = {.metric = TP_METRIC_GPU_DRAM, .time_ns = sim->now_ns};
	double work_ns = sim->work_ns - sim->left_ns;
	gauge.value = (work_ns - sim->read_work_ns) / (double)(sim->now_ns - sim->read_ns) / 3;
	const struct tp_record record = {.kind = TP_RECORD_GAUGE, .of.gauge = gauge};
	sim->read_ns = sim->now_ns;
	sim->read_work_ns = work_ns;
	tp_progress_add_record(&sim->progress, &record);
}

static inline void sim_next_step(struct sim *sim, uint64_t at_ns)
{
	const struct sim_program *program = &sim->program;
	sim_emit_step(sim, at_ns);
	sim->n_steps++;
	double length_ns = program->step_ms * 1e6 * fmax(0.1, 1 + program->noise * sim_normal(sim));
	if (program->stall_ms > 0 && sim->n_steps % 100 == 0)
		length_ns += program->stall_ms * 1e6;
	sim->left_ns += length_ns;
	sim->work_ns += length_ns;
}

/* Runs the program until this time. */
static inline void sim_run_until(struct sim *sim, uint64_t until_ns)
{
	double speed = sim->n_opened ? 1 / (1 + sim->program.residue) : 1;
	double at_ns = (double)sim->now_ns;
	if (sim->is_open)
		speed /= 1 + sim->program.slowdown;
	double stands_ns = fmin(sim->stand_ns, (double)until_ns - at_ns);
	sim->stand_ns -= stands_ns;
	at_ns += stands_ns;
	while (sim->left_ns / speed <= (double)until_ns - at_ns) {
		at_ns += sim->left_ns / speed;
		sim->left_ns = 0;
		sim_next_step(sim, (uint64_t)at_ns);
	}
	sim->left_ns -= ((double)until_ns - at_ns) * speed;
	if (sim->is_open)
		sim->open_ns += until_ns - sim->now_ns;
	sim->now_ns = until_ns;
}

/* One poll of trainprof, 100 to 150 ms after the last one. */
static inline void sim_tick(struct sim *sim)
{
	sim_run_until(sim, sim->now_ns + (uint64_t)((100 + 50 * sim_random(sim)) * 1e6));
	if (sim->program.voice == SIM_TRAFFIC && sim->now_ns - sim->read_ns >= TP_NS_PER_S / 2)
		sim_emit_traffic(sim);
	bool wants = tp_gpu_trace_windows_tick(&sim->windows, &sim->agents, sim->now_ns);
	sim->agents.is_collecting = wants;
	if (wants && !sim->is_open) {
		sim->agents.opened_ns = sim->now_ns;
		sim->stand_ns += sim->program.open_ms * 1e6;
		sim->n_opened++;
	} else if (!wants && sim->is_open) {
		sim->agents.closed_ns = sim->now_ns;
	}
	sim->is_open = wants;
}

static inline void sim_run(struct sim *sim, double seconds)
{
	uint64_t until_ns = sim->now_ns + (uint64_t)(seconds * 1e9);
	while (sim->now_ns < until_ns)
		sim_tick(sim);
}

/* Time that tracing has cost the program so far, in ns: elapsed time minus work. */
static inline double sim_lost_ns(const struct sim *sim)
{
	return (double)(sim->now_ns - 1000 * TP_NS_PER_S) - (sim->work_ns - sim->left_ns);
}

static inline double sim_overhead(const struct sim *sim)
{
	return sim_lost_ns(sim) / (double)(sim->now_ns - 1000 * TP_NS_PER_S);
}

#endif
