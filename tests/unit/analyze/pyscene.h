/* SPDX-License-Identifier: Apache-2.0 */
/* Complete hand-made traces of Python trainers: processes, threads, and each one's activity piece
 * by piece. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_PYSCENE_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_PYSCENE_H

#include "sim.h"

#include "trainprof/base/clock.h"

#define PY_TORCH  "/usr/lib/python3/dist-packages/torch/"
#define PY_STD    "/usr/lib/python3.11/"
#define PY_DATA   PY_TORCH "utils/data/dataloader.py>"
#define PY_MODULE PY_TORCH "nn/modules/module.py>Module._call_impl:1190"
/* PY_WORKER: a forked worker has the trainer's frames first, then its own. */
#define PY_MAIN "train.py><module>:90 train.py>main:70"
#define PY_BOOT                                                                                    \
	PY_STD "multiprocessing/process.py>BaseProcess._bootstrap:314 " PY_TORCH                   \
	       "utils/data/_utils/worker.py>_worker_loop:302"
#define PY_WORKER PY_MAIN " " PY_DATA "_MultiProcessingDataLoaderIter.__init__:1042 " PY_BOOT

struct pyscene {
	struct sim sim; /* builder, patterns and trace */
};

static inline void pyscene_open(struct pyscene *scene)
{
	struct tp_error err;
	scene->sim = (struct sim){0};
	scene->sim.run.sample_rate_hz = 100;
	scene->sim.run.poll_rate_hz = 50;
	tp_trace_builder_init(&scene->sim.builder);
	ck_assert_msg(tp_patterns_load(&scene->sim.patterns, "rules/patterns", &err) == TP_OK, "%s",
		      err.text);
}

static inline void pyscene_task_of(struct pyscene *scene, uint32_t id, pid_t pid, uint32_t parent,
				   double start_s, double end_s)
{
	struct tp_task task = {.id = id,
			       .tid = id ? (pid_t)(1000 + id) : pid,
			       .pid = pid,
			       .parent = parent,
			       .start_ns = (uint64_t)(start_s * 1e9),
			       .end_ns = (uint64_t)(end_s * 1e9)};
	if (id && pid != 100)
		task.tid = pid;
	task.exec_ns = id ? 0 : 1;
	task.exe = tp_sink_string(&scene->sim.builder.sink, "/usr/bin/python3.11");
	tp_sink_task(&scene->sim.builder.sink, &task);
}

/* Ids must be in order. Task 0 is the trainer; tasks with its pid are its threads, others are
 * forked from it. */
static inline void pyscene_task_until(struct pyscene *scene, uint32_t id, pid_t pid, double start_s,
				      double end_s)
{
	pyscene_task_of(scene, id, pid, id ? 0 : TP_NO_TASK, start_s, end_s);
}

static inline void pyscene_task(struct pyscene *scene, uint32_t id, pid_t pid, double start_s)
{
	pyscene_task_until(scene, id, pid, start_s, 0);
}

static inline void pyscene_sample(struct pyscene *scene, uint32_t task, double at_s,
				  enum tp_state state, enum tp_cause cause, const char *path)
{
	struct tp_sample sample = {.task = task,
				   .time_ns = (uint64_t)(at_s * 1e9),
				   .state = state,
				   .cause = cause,
				   .stack = sim_stack(&scene->sim, path),
				   .syscall = -1,
				   .flags = state == TP_STATE_ON_CPU ? 0 : TP_SAMPLE_POLLED};
	tp_sink_sample(&scene->sim.builder.sink, &sample);
}

/* Runs on a CPU, sampled in the middle of each 10 ms, and at least once. */
static inline void pyscene_runs(struct pyscene *scene, uint32_t task, double from_s, double to_s,
				const char *path)
{
	struct tp_run run = {.task = task,
			     .start_ns = (uint64_t)(from_s * 1e9),
			     .end_ns = (uint64_t)(to_s * 1e9),
			     .how = TP_RUN_BLOCKED};
	tp_sink_run(&scene->sim.builder.sink, &run);
	int n = (int)((to_s - from_s) * 100 + 0.5);
	for (int i = 0; i < n || i < 1; i++)
		pyscene_sample(scene, task, from_s + (to_s - from_s) * (i + 0.5) / (n ? n : 1),
			       TP_STATE_ON_CPU, TP_CAUSE_NONE, path);
}

/* Waits off CPU for `cause`, sampled in the middle. The task's next activity must begin at
 * `to_s`. */
static inline void pyscene_waits(struct pyscene *scene, uint32_t task, double from_s, double to_s,
				 enum tp_cause cause, const char *path)
{
	pyscene_sample(scene, task, (from_s + to_s) / 2, TP_STATE_BLOCKED, cause, path);
}

static inline void pyscene_judge(struct pyscene *scene, double end_s, enum tp_steps_choice steps)
{
	struct tp_error err;
	struct sim *sim = &scene->sim;
	struct tp_analyze_options options = {.steps = steps};
	sim->run.ended_ns = (uint64_t)(end_s * 1e9);
	tp_trace_build(&sim->trace, &sim->builder, &sim->run);
	ck_assert_int_eq(tp_analyze(&sim->profile, &sim->trace, sim->patterns, &options, &err),
			 TP_OK);
	ck_assert(tp_profile_is_exact(&sim->profile));
	ck_assert_uint_eq(sim->profile.trainer, 0);
}

static inline void pyscene_close(struct pyscene *scene)
{
	sim_release(&scene->sim);
}

/* Expects this many seconds of a label in total. */
static inline void pyscene_expect(const struct pyscene *scene, enum tp_label label, double s,
				  double within_s)
{
	double found = (double)scene->sim.profile.label_ns[label] * 1e-9;
	ck_assert_msg(found > s - within_s && found < s + within_s, "%s.%s: %.3f s, expected %.3f",
		      tp_part_name(tp_label_part(label)), tp_label_name(label), found, s);
}

#endif
