/* SPDX-License-Identifier: Apache-2.0 */
/* A hand-made run for the tests of the viewer: a Python trainer that waits for two workers, with
 * stays on CPUs, stacks, samples and a GPU stream, all with known times. */
#ifndef TRAINPROF_TESTS_UNIT_REPORT_VIEW_SCENE_H
#define TRAINPROF_TESTS_UNIT_REPORT_VIEW_SCENE_H

#include "trainprof/base/memory.h"
#include "trainprof/report/view.h"

#include <string.h>

#define SCENE_MS UINT64_C(1000000)

enum { SCENE_STEPS = 20, SCENE_STEP_MS = 40, SCENE_SLOW = 7 };

struct scene_names {
	const char *program;
	const char *file;
	const char *decode;
	const char *resize;
	const char *kernel;
	const char *pipe;
};

static const struct scene_names scene_plain = {"python3", "/nowhere/train.py", "decode",
					       "resize",  "gemm_128x64",       "pipe:[77]"};

struct scene {
	struct tp_trace_builder builder;
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_findings findings;
	struct tp_report report;
};

static uint32_t scene_frame(struct tp_sink *sink, const struct scene_names *names,
			    const char *function, uint32_t first, uint32_t line)
{
	struct tp_frame frame = {.kind = line ? TP_FRAME_PYTHON : TP_FRAME_NATIVE,
				 .symbol = tp_sink_string(sink, function)};
	if (line) {
		frame.file = tp_sink_string(sink, names->file);
		frame.line = line;
		frame.function_start = (uint64_t)first << 32;
		frame.address = frame.function_start + line;
	} else {
		frame.module = tp_sink_string(sink, "/usr/lib/libc.so.6");
		frame.address = 0x1000;
	}
	return tp_sink_frame(sink, &frame);
}

/* Stacks 1 to 5: the main thread waits in read, computes; workers decode, resize, recurse. */
static void scene_stacks(struct tp_sink *sink, const struct scene_names *names)
{
	uint32_t module = scene_frame(sink, names, "<module>", 1, 60);
	uint32_t waits = scene_frame(sink, names, "main", 30, 32);
	uint32_t computes = scene_frame(sink, names, "main", 30, 33);
	uint32_t load = scene_frame(sink, names, "load", 20, 22);
	uint32_t decode = scene_frame(sink, names, names->decode, 3, 6);
	uint32_t decode_loop = scene_frame(sink, names, names->decode, 3, 5);
	uint32_t resize = scene_frame(sink, names, names->resize, 10, 11);
	uint32_t native = scene_frame(sink, names, "read", 0, 0);
	const uint32_t stacks[5][4] = {{native, waits, module},
				       {computes, module},
				       {decode, load, module},
				       {resize, load, module},
				       {decode_loop, decode, load, module}};
	static const size_t lengths[5] = {3, 2, 3, 3, 4};
	for (size_t i = 0; i < 5; i++)
		tp_sink_stack(sink, stacks[i], lengths[i], 0);
}

static uint64_t scene_begin(size_t step)
{
	return (100 + step * SCENE_STEP_MS + (step > SCENE_SLOW ? SCENE_STEP_MS : 0)) * SCENE_MS;
}

static uint64_t scene_length(size_t step)
{
	return (step == SCENE_SLOW ? 2 : 1) * SCENE_STEP_MS * SCENE_MS;
}

/* The main thread waits for the first 30 ms of a step and computes for the other 10; the GPU works
 * in the last 5. Worker 1 always works, worker 2 in the second half. */
static void scene_records(struct tp_sink *sink, const struct scene_names *names)
{
	uint32_t pipe = tp_sink_string(sink, names->pipe);
	uint32_t kernel = tp_sink_string(sink, names->kernel);
	tp_sink_track(sink, &(struct tp_track){.device = 0, .number = 7});
	for (size_t i = 0; i < SCENE_STEPS; i++) {
		uint64_t at = SCENE_MS * 1000 + scene_begin(i);
		uint64_t end = at + scene_length(i);
		tp_sink_run(sink, &(struct tp_run){0, 0, end - 10 * SCENE_MS, end, TP_RUN_BLOCKED});
		tp_sink_run(sink, &(struct tp_run){1, 1, at, end, TP_RUN_PREEMPTED});
		tp_sink_run(sink, &(struct tp_run){2, 2, at + (end - at) / 2, end, TP_RUN_BLOCKED});
		tp_sink_span(sink, &(struct tp_span){.start_ns = end - 5 * SCENE_MS,
						     .end_ns = end,
						     .name = kernel,
						     .kind = TP_SPAN_KERNEL});
		for (uint32_t task = 0; task < 2; task++)
			tp_sink_sample(sink, &(struct tp_sample){.task = task,
								 .state = TP_STATE_BLOCKED,
								 .cause = TP_CAUSE_PIPE,
								 .flags = TP_SAMPLE_POLLED,
								 .stack = 1,
								 .target = pipe,
								 .syscall = -1,
								 .time_ns = at + 5 * SCENE_MS});
	}
}

static void scene_trace(struct scene *s, const struct scene_names *names)
{
	static const char *command[2];
	command[0] = names->program;
	command[1] = "train.py";
	tp_trace_builder_init(&s->builder);
	struct tp_sink *sink = &s->builder.sink;
	for (uint32_t i = 0; i < 3; i++)
		tp_sink_task(sink,
			     &(struct tp_task){.id = i,
					       .tid = 100 + (pid_t)i,
					       .pid = 100 + (pid_t)i,
					       .parent = i ? 0 : TP_NO_TASK,
					       .start_ns = SCENE_MS * 1000,
					       .comm = tp_sink_string(sink, names->program),
					       .cmdline = tp_sink_string(sink, names->program)});
	scene_stacks(sink, names);
	scene_records(sink, names);
	const struct tp_run_info run = {.id = "r-0000000000000000",
					.label = names->program,
					.command = command,
					.n_command = 2,
					.directory = "/nowhere",
					.pid = 100,
					.started_wall_ns = UINT64_C(1763647391) * 1000000000U,
					.started_ns = SCENE_MS * 1000,
					.ended_ns = SCENE_MS * 2200,
					.end = TP_END_EXITED,
					.host = {.n_cpus = 4, .n_allowed = 4},
					.written_by = "trainprof 0.1.0 (0000000)"};
	tp_trace_build(&s->trace, &s->builder, &run);
}

static void scene_steps(struct tp_profile *p)
{
	p->n_steps = SCENE_STEPS;
	p->n_steady = SCENE_STEPS - 1;
	p->steps = tp_arena_array(&p->arena, p->n_steps, sizeof(*p->steps));
	for (size_t i = 0; i < SCENE_STEPS; i++) {
		struct tp_step *step = &p->steps[i];
		step->start_ns = scene_begin(i);
		step->end_ns = step->start_ns + scene_length(i);
		step->kind = i == SCENE_SLOW ? TP_STEP_SLOW : TP_STEP_STEADY;
		step->part_ns[TP_PART_DATALOADER] = scene_length(i) - 10 * SCENE_MS;
		step->part_ns[TP_PART_COMPUTE] = 10 * SCENE_MS;
	}
	p->is_of_steps = true;
	p->steps_found_by = TP_STEPS_MARKER;
	p->steps_confidence = 1;
	p->step_time = (struct tp_stat){.n = p->n_steady,
					.mean = 40e6,
					.median = 40e6,
					.p95 = 40e6,
					.min = 40e6,
					.max = 80e6};
	p->parts[TP_PART_DATALOADER].time_ns = p->n_steady * 30 * SCENE_MS;
	p->parts[TP_PART_COMPUTE].time_ns = p->n_steady * 10 * SCENE_MS;
	p->total_ns = p->n_steady * 40 * SCENE_MS;
	p->label_ns[TP_LABEL_DATALOADER_PREP] = p->parts[TP_PART_DATALOADER].time_ns;
	p->label_ns[TP_LABEL_COMPUTE_MATH] = p->parts[TP_PART_COMPUTE].time_ns;
	p->limiter = TP_PART_DATALOADER;
}

static void scene_lists(struct scene *s)
{
	struct tp_profile *p = &s->profile;
	static const struct tp_hot_stack hot[] = {
		{3, 1, TP_STATE_ON_CPU, TP_N_PARTS, 600 * SCENE_MS},
		{1, 0, TP_STATE_BLOCKED, TP_PART_DATALOADER, 570 * SCENE_MS},
		{4, 2, TP_STATE_ON_CPU, TP_N_PARTS, 200 * SCENE_MS},
		{2, 0, TP_STATE_ON_CPU, TP_PART_COMPUTE, 190 * SCENE_MS},
		{5, 1, TP_STATE_ON_CPU, TP_N_PARTS, 100 * SCENE_MS},
	};
	p->hot = tp_arena_copy(&p->arena, hot, sizeof(hot));
	p->n_hot = TP_ARRAY_LEN(hot);
	p->n_processes = p->n_threads = 3;
	p->processes = tp_arena_array(&p->arena, 3, sizeof(*p->processes));
	p->threads = tp_arena_array(&p->arena, 3, sizeof(*p->threads));
	static const uint64_t on_cpu_ms[] = {200, 760, 400};
	for (uint32_t i = 0; i < 3; i++) {
		struct tp_process_result *process = &p->processes[i];
		struct tp_thread_result *thread = &p->threads[i];
		process->task = thread->task = i;
		process->role = thread->process_role = i ? TP_ROLE_LOADER : TP_ROLE_TRAINER;
		thread->role = i ? TP_THREAD_LOADER : TP_THREAD_MAIN;
		process->n_threads = 1;
		process->rss_peak_bytes = (i + 1) * (UINT64_C(64) << 20);
		process->lived_ns = thread->lived_ns = 800 * SCENE_MS;
		process->on_cpu_ns = thread->on_cpu_ns = on_cpu_ms[i] * SCENE_MS;
		process->blocked_ns[TP_CAUSE_PIPE] = thread->blocked_ns[TP_CAUSE_PIPE] =
			(800 - on_cpu_ms[i]) * SCENE_MS;
	}
	/* Strings are in the order of frames. */
	uint32_t file = s->trace.frames[1].file;
	p->n_lines = 1;
	p->lines = tp_arena_array(&p->arena, 1, sizeof(*p->lines));
	p->lines[0] = (struct tp_line_result){.part = TP_PART_DATALOADER,
					      .file = file,
					      .symbol = s->trace.frames[2].symbol,
					      .line = 32,
					      .time_ns = 570 * SCENE_MS,
					      .label = TP_LABEL_DATALOADER_PREP};
}

static inline void scene_init(struct scene *s, const struct scene_names *names)
{
	memset(s, 0, sizeof(*s));
	scene_trace(s, names);
	tp_profile_init(&s->profile, &s->trace);
	s->profile.window_start_ns = scene_begin(0);
	s->profile.window_end_ns = scene_begin(SCENE_STEPS);
	s->profile.trainer = 0;
	scene_steps(&s->profile);
	scene_lists(s);
	s->findings.verdict = "dataloader_bound";
	s->findings.verdict_title = "WAITING FOR DATA";
	s->findings.verdict_sentence = "75 % of each step; compute 25 %.";
	s->report = (struct tp_report){.profile = &s->profile,
				       .findings = &s->findings,
				       .directory = "scene",
				       .is_last = true};
}

static inline void scene_release(struct scene *s)
{
	tp_findings_release(&s->findings);
	tp_profile_release(&s->profile);
	tp_trace_release(&s->trace);
	tp_trace_builder_release(&s->builder);
}

static inline struct tp_view *scene_view(const struct tp_report *report)
{
	const struct tp_view_input input = {.report = report};
	return tp_view_new(&input);
}

/* Types keys given as characters; ^ is Enter, < Esc, v down and > right, because none of these
 * characters is a key itself. */
static inline enum tp_view_answer scene_type(struct tp_view *view, const char *keys)
{
	enum tp_view_answer answer = TP_VIEW_STAY;
	for (; *keys; keys++)
		answer = tp_view_handle_key(view, *keys == '^'   ? TP_KEY_ENTER
						  : *keys == '<' ? TP_KEY_ESCAPE
						  : *keys == 'v' ? TP_KEY_DOWN
						  : *keys == '>' ? TP_KEY_RIGHT
								 : *keys);
	return answer;
}

/* Append the screen as text. */
static inline void scene_draw(struct tp_buf *out, struct tp_view *view, size_t columns,
			      size_t lines, bool is_ascii)
{
	struct tp_grid grid;
	tp_grid_init(&grid, columns, lines, is_ascii);
	tp_view_draw(view, &grid);
	tp_grid_add_text(out, &grid);
	tp_grid_release(&grid);
}

#endif
