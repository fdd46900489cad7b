/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that was sampled while it used a device, with steps of 100 ms in a known pattern.
 *
 * 	ms       0        30   35 36  40        60                90 92       100
 * 	thread   loads    host call host works  waits in a call      works
 * 	device                        computes ------------------>
 */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_LIVESCENE_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_LIVESCENE_H

#include "spanscene.h"

#define MS    UINT64_C(1000000)
#define BEGIN (1000 * MS)

enum { LIVE_STEPS = 14, LIVE_STEP_MS = 100, LIVE_TID = 7 };

struct live {
	struct scene scene;
	uint16_t thread;
	uint16_t stream;
	uint32_t loads; /* stack ids */
	uint32_t trains;
};

static inline uint64_t live_at(unsigned step, unsigned ms)
{
	return BEGIN + ((uint64_t)step * LIVE_STEP_MS + ms) * MS;
}

static inline uint32_t live_stack(struct live *live, const char *symbol)
{
	struct tp_sink *sink = &live->scene.builder.sink;
	struct tp_frame frame = {.kind = TP_FRAME_PYTHON,
				 .file = tp_sink_string(sink, "/home/me/train.py"),
				 .symbol = tp_sink_string(sink, symbol),
				 .line = 12};
	frame.module = frame.file;
	frame.function_start = (uint64_t)frame.symbol << 32;
	frame.address = frame.function_start + 8;
	return tp_sink_stack(sink, &(uint32_t){tp_sink_frame(sink, &frame)}, 1, 0);
}

static inline void live_run(struct live *live, uint64_t from_ns, uint64_t to_ns)
{
	tp_sink_run(&live->scene.builder.sink,
		    &(struct tp_run){.start_ns = from_ns, .end_ns = to_ns, .how = TP_RUN_BLOCKED});
}

static inline void live_sample(struct live *live, uint64_t at_ns, uint32_t stack)
{
	tp_sink_sample(&live->scene.builder.sink, &(struct tp_sample){.state = TP_STATE_ON_CPU,
								      .stack = stack,
								      .syscall = -1,
								      .time_ns = at_ns});
}

/* Creates one task, its track and a stream; no steps yet. */
static inline void live_init(struct live *live)
{
	struct scene *scene = &live->scene;
	scene_init(scene, 0);
	struct tp_sink *sink = &scene->builder.sink;
	scene->run = (struct tp_run_info){.mode = TP_MODE_RUN,
					  .pid = LIVE_TID,
					  .started_ns = BEGIN,
					  .ended_ns = live_at(LIVE_STEPS, 0),
					  .sample_rate_hz = 100,
					  .host = {.n_cpus = 2, .n_allowed = 2}};
	tp_sink_task(sink, &(struct tp_task){.tid = LIVE_TID,
					     .pid = LIVE_TID,
					     .parent = TP_NO_TASK,
					     .start_ns = BEGIN,
					     .exe = tp_sink_string(sink, "/usr/bin/python3")});
	live->loads = live_stack(live, "load_batch");
	live->trains = live_stack(live, "main");
	live->thread = scene_track(scene, 0, TP_TRACK_THREAD);
	live->stream = scene_track(scene, 0, 0);
	tp_sink_track(sink, &(struct tp_track){.id = live->thread,
					       .device = TP_TRACK_THREAD,
					       .number = LIVE_TID,
					       .task_plus_1 = 1});
}

/* Adds the thread's activity in a step. */
static inline void live_thread(struct live *live, unsigned step)
{
	static const unsigned loading[] = {5, 15, 25};
	static const unsigned training[] = {35, 45, 55, 95};
	for (size_t i = 0; i < 3; i++)
		live_sample(live, live_at(step, loading[i]), live->loads);
	for (size_t i = 0; i < 4; i++)
		live_sample(live, live_at(step, training[i]), live->trains);
	live_run(live, live_at(step, 92), live_at(step + 1, 60));
}

/* Adds the device's activity in a step, and the calls for it. */
static inline void live_device(struct live *live, unsigned step)
{
	struct scene *scene = &live->scene;
	scene_detailed(scene, live->thread, live_at(step, 35), live_at(step, 36), live->stream,
		       TP_SPAN_KERNEL, SCENE_GEMM, live_at(step, 40), live_at(step, 90), NULL);
	scene_span(scene, live->thread, TP_SPAN_CALL, "cudaStreamSynchronize", live_at(step, 60),
		   live_at(step, 92));
}

static inline void live_mark(struct live *live, unsigned step)
{
	tp_sink_mark(&live->scene.builder.sink,
		     &(struct tp_mark){.kind = TP_MARK_STEP, .time_ns = live_at(step, 0)});
}

/* Adds all steps; marks only if `with_marks`. */
static inline void live_fill(struct live *live, int with_marks)
{
	live_run(live, live_at(0, 0), live_at(0, 60));
	for (unsigned i = 0; i < LIVE_STEPS; i++) {
		if (with_marks)
			live_mark(live, i);
		live_thread(live, i);
		live_device(live, i);
	}
}

#endif
