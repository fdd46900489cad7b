/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recording of the largest usual size, for measurements of readers: ten minutes, 500
 * threads on 64 CPUs, stacks at 99 Hz, a thousand steps. The same arguments give the same bytes.
 * large_recording DIRECTORY [SECONDS [THREADS]] */
#include "trainprof/base/map.h"
#include "trainprof/store/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

enum { STACKS = 3000, DEPTH = 24, FRAMES = 6000, STEP_MS = 600, WORK_MS = 250, WORKERS = 16 };

struct shape {
	uint64_t seconds;
	uint32_t n_threads;
};

static void emit_frames(struct tp_sink *sink)
{
	char text[64];
	for (uint32_t i = 0; i < FRAMES; i++) {
		snprintf(text, sizeof(text), "function_%u", i / 3);
		struct tp_frame frame = {.kind = TP_FRAME_PYTHON,
					 .symbol = tp_sink_string(sink, text)};
		snprintf(text, sizeof(text), "/nowhere/module_%u.py", i / 60);
		frame.file = tp_sink_string(sink, text);
		frame.line = i % 3 + 10 * (i / 3 % 20) + 1;
		frame.function_start = (uint64_t)(10 * (i / 3 % 20) + 1) << 32;
		frame.address = frame.function_start + frame.line;
		(void)tp_sink_frame(sink, &frame);
	}
}

/* The innermost frame of the main thread's stacks 1 and 2 are its wait and its computation. */
static void emit_stacks(struct tp_sink *sink)
{
	emit_frames(sink);
	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t frames[DEPTH];
		for (uint32_t k = 0; k < DEPTH; k++)
			frames[k] = 1 + (uint32_t)(tp_hash_mix(k < 8 ? i : i / 64, k) % FRAMES);
		(void)tp_sink_stack(sink, frames, DEPTH, 0);
	}
}

static void emit_tasks(struct tp_sink *sink, const struct shape *shape)
{
	for (uint32_t i = 0; i < shape->n_threads; i++) {
		bool is_leader = i <= WORKERS;
		tp_sink_task(sink, &(struct tp_task){.id = i,
						     .tid = (pid_t)(1000 + i),
						     .pid = (pid_t)(is_leader ? 1000 + i : 1000),
						     .parent = i ? 0 : TP_NO_TASK,
						     .start_ns = MS,
						     .comm = tp_sink_string(sink, "python3"),
						     .cmdline = tp_sink_string(sink, "train.py")});
	}
}

static void emit_run(struct tp_sink *sink, uint32_t task, uint64_t start_ns, uint64_t end_ns)
{
	tp_sink_run(sink, &(struct tp_run){.task = task,
					   .cpu = task % 64,
					   .start_ns = start_ns,
					   .end_ns = end_ns,
					   .how = TP_RUN_BLOCKED});
}

static void emit_sample(struct tp_sink *sink, uint32_t task, uint64_t time_ns, bool is_running)
{
	uint32_t random = (uint32_t)tp_hash_mix(time_ns, task);
	tp_sink_sample(sink,
		       &(struct tp_sample){.task = task,
					   .state = is_running ? TP_STATE_ON_CPU : TP_STATE_BLOCKED,
					   .cause = is_running ? TP_CAUSE_NONE : TP_CAUSE_PIPE,
					   .flags = is_running ? 0 : TP_SAMPLE_POLLED,
					   .stack = 1 + (task ? random % STACKS : random % 8),
					   .cpu = task % 64,
					   .syscall = -1,
					   .time_ns = time_ns});
}

/* One step: the main thread waits, then computes; workers always work; each of the other threads
 * runs for a moment. */
static void emit_step(struct tp_sink *sink, const struct shape *shape, uint64_t begin_ns,
		      uint64_t number)
{
	uint64_t end_ns = begin_ns + STEP_MS * MS;
	uint64_t works_ns = end_ns - WORK_MS * MS;
	tp_sink_mark(sink,
		     &(struct tp_mark){.kind = TP_MARK_STEP, .time_ns = begin_ns, .value = number});
	for (uint64_t at = begin_ns + 5 * MS; at < end_ns; at += 10 * MS) {
		emit_sample(sink, 0, at, at >= works_ns);
		for (uint32_t i = 1; i <= WORKERS && i < shape->n_threads; i++)
			emit_sample(sink, i, at + i, true);
	}
	emit_run(sink, 0, works_ns, end_ns);
	for (uint32_t i = 1; i < shape->n_threads; i++) {
		uint64_t from_ns = begin_ns + i * 1000;
		for (int part = 0; part < 4 && i <= WORKERS; part++, from_ns += 150 * MS)
			emit_run(sink, i, from_ns, from_ns + 140 * MS);
		if (i > WORKERS)
			emit_run(sink, i, from_ns, from_ns + MS);
	}
}

int main(int argc, char **argv)
{
	static const char *command[] = {"python3", "train.py"};
	struct shape shape = {600, 500};
	struct tp_store *store;
	struct tp_error err = {0};
	if (argc < 2) {
		fprintf(stderr, "usage: large_recording DIRECTORY [SECONDS [THREADS]]\n");
		return 2;
	}
	if (argc > 2)
		shape.seconds = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		shape.n_threads = (uint32_t)strtoul(argv[3], NULL, 10);
	uint64_t n_steps = shape.seconds * 1000 / STEP_MS;
	struct tp_run_info run = {.id = "r-0000000000000001",
				  .label = "large",
				  .command = command,
				  .n_command = 2,
				  .pid = 1000,
				  .sample_rate_hz = 99,
				  .started_wall_ns = UINT64_C(1763647391) * 1000000000U,
				  .started_ns = MS,
				  .ended_ns = (1 + n_steps * STEP_MS) * MS,
				  .end = TP_END_EXITED,
				  .host = {.n_cpus = 64, .n_allowed = 64}};
	if (tp_store_create(&store, argv[1], &run, UINT64_MAX, &err) != TP_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	struct tp_sink *sink = tp_store_sink(store);
	emit_tasks(sink, &shape);
	emit_stacks(sink);
	for (uint64_t i = 0; i < n_steps; i++)
		emit_step(sink, &shape, MS + i * STEP_MS * MS, i + 1);
	if (tp_store_finish(store, &run, &err) != TP_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
