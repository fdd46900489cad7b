/* SPDX-License-Identifier: Apache-2.0 */
/* Emits a made-up run, compares traces, and creates directories for tests. */
#include "story.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *story_command[] = {"./train", "--name=a \"quoted\"\n", ""};
static const struct tp_env_var story_environment[] = {{"OMP_NUM_THREADS", "4"},
						      {"WITH_EQUALS", "a=b"}};

static const struct tp_device_info story_devices[] = {{.number = 1,
						       .name = "NVIDIA H100",
						       .n_processors = 132,
						       .memory_bytes = 1,
						       .capability = 90}};
static const struct tp_rank_info story_ranks[] = {{.path = "ranks.tar.gz",
						   .member = "rank0.json",
						   .sha256 = "e3b0c442",
						   .format = "kineto",
						   .host = "node-7",
						   .number = 3,
						   .n_ranks = 8,
						   .pid = 4243,
						   .n_events = 11,
						   .n_kept = 7,
						   .n_skipped = 2,
						   .skipped_because = "a negative duration",
						   .is_cut = true,
						   .devices = story_devices,
						   .n_devices = 1},
						  {.number = -1}};

const struct tp_run_info *story_run(void)
{
	static const struct tp_run_info run = {
		.id = "r-5f0c9a1d2b3e4f60",
		.label = "train",
		.command = story_command,
		.n_command = 3,
		.directory = "/home/someone/überfahrt",
		.mode = TP_MODE_ATTACH,
		.attached_after_ns = 754000000000,
		.tier = TP_TIER_REDUCED,
		.pid = 4242,
		.started_wall_ns = UINT64_C(1795183391123456789),
		.started_ns = STORY_STARTED_NS,
		.ended_ns = STORY_STARTED_NS + UINT64_C(61200000001),
		.measure_from_ns = STORY_STARTED_NS + 7,
		.measure_until_ns = STORY_STARTED_NS + UINT64_C(61200000001),
		.end = TP_END_SIGNALED,
		.end_code = 9,
		.sample_rate_hz = 99,
		.asked_rate_hz = 199,
		.poll_rate_hz = 20.5,
		.host = {.name = "box",
			 .kernel = "Linux 6.18.44",
			 .cpu_model = "A CPU @ 2.5GHz",
			 .n_cpus = 64,
			 .n_allowed = 16,
			 .n_numa_nodes = 2,
			 .memory_bytes = UINT64_C(540431896576),
			 .quota_cpus = 7.5,
			 .memory_limit_bytes = UINT64_C(34359738368)},
		.environment = story_environment,
		.n_environment = 2,
		.written_by = "trainprof 0.1.0 (0f3c2e1)",
		.ranks = story_ranks,
		.n_ranks = 2,
	};
	return &run;
}

enum { N_TASKS = 8, N_TRACKS = 4 };

static uint64_t story_time(uint64_t part)
{
	return STORY_STARTED_NS + part * 10000 + tp_hash_mix(part, 1) % 9000;
}

static void emit_task(struct tp_sink *sink, uint32_t id, uint64_t time_ns)
{
	char name[32];
	snprintf(name, sizeof(name), "worker/%u", id);
	struct tp_task task = {
		.id = id,
		.tid = 1000 + (pid_t)id,
		.pid = 1000,
		.parent = id ? id - 1 : TP_NO_TASK,
		.start_ns = STORY_STARTED_NS + id,
		.end_ns = time_ns % 3 ? 0 : time_ns,
		.exec_ns = id ? 0 : STORY_STARTED_NS + 5,
		.comm = tp_sink_string(sink, name),
		.exe = id ? 0 : tp_sink_string(sink, "/usr/bin/train"),
		.cmdline = id ? 0 : tp_sink_string(sink, "./train --epochs 1"),
		.utime_ns = time_ns / 2,
		.stime_ns = time_ns / 5,
	};
	tp_sink_task(sink, &task);
}

static uint32_t emit_stack(struct tp_sink *sink, uint64_t random)
{
	uint32_t frames[12];
	size_t n = 1 + random % 12;
	for (size_t i = 0; i < n; i++) {
		uint64_t place = tp_hash_mix(random % 5, i) % 40;
		char symbol[40];
		snprintf(symbol, sizeof(symbol), "function_%llu", (unsigned long long)place);
		struct tp_frame frame = {
			.kind = (enum tp_frame_kind)(place % TP_N_FRAME_KINDS),
			.flags = place % 7 ? 0 : TP_FRAME_GUESSED,
			.module =
				tp_sink_string(sink, place % 2 ? "/usr/lib/libm.so.6" : "[kernel]"),
			.symbol = place % 3 ? tp_sink_string(sink, symbol) : 0,
			.line = (uint32_t)place * 3,
			.address =
				place % 2 ? 0x1000 + place : UINT64_C(0xffffffff81000000) + place,
			.function_start = place % 3 ? 0x1000 : 0,
		};
		frames[i] = tp_sink_frame(sink, &frame);
	}
	return tp_sink_stack(sink, frames, n, random % 11 ? 0 : TP_STACK_TRUNCATED);
}

static void emit_sample(struct tp_sink *sink, uint64_t random, uint64_t time_ns)
{
	struct tp_sample sample = {
		.task = (uint32_t)(random % N_TASKS),
		.state = (enum tp_state)(random / 8 % TP_N_STATES),
		.cause = TP_CAUSE_NONE,
		.flags = (uint32_t)(random / 32 % 4),
		.stack = random % 4 ? emit_stack(sink, random / 64) : 0,
		.cpu = (uint32_t)(random / 128 % 64),
		.syscall = -1,
		.time_ns = time_ns,
	};
	if (sample.state == TP_STATE_BLOCKED) {
		sample.cause = (enum tp_cause)(random / 256 % TP_N_CAUSES);
		sample.syscall = (int32_t)(random / 512 % 400);
		sample.address = random % 3 ? 0 : random;
		sample.target = tp_sink_string(sink, random % 5 ? "" : "pipe:[123]");
	}
	tp_sink_sample(sink, &sample);
}

static void emit_gauge(struct tp_sink *sink, uint64_t random, uint64_t time_ns)
{
	static const double values[] = {0, -0.0, 1, 0.1, -3, 1e300, 9007199254740992.0, 123456789};
	enum tp_metric metric = (enum tp_metric)(random % TP_N_METRICS);
	uint32_t task = random % 3 ? TP_NO_TASK : (uint32_t)(random / 3 % N_TASKS);
	if (tp_metric_desc(metric)->subject == TP_METRIC_OF_DEVICE)
		task = (uint32_t)(random / 3 % N_TRACKS);
	tp_sink_gauge(sink, metric, task, time_ns, values[random / 7 % TP_ARRAY_LEN(values)]);
}

static void emit_track(struct tp_sink *sink, uint32_t id, uint64_t random)
{
	tp_sink_track(sink, &(struct tp_track){
				    .id = id,
				    .rank = id / 3,
				    .device = id % 2 ? TP_TRACK_THREAD : (int32_t)id,
				    .name = random % 2 ? tp_sink_string(sink, "stream 7") : 0,
				    .number = id == 3 ? -1029147072 : (int64_t)id,
				    .task_plus_1 = id == 1 ? N_TASKS : 0,
			    });
}

static void emit_span(struct tp_sink *sink, uint64_t random, uint64_t time_ns)
{
	struct tp_detail detail = {.bytes = random / 256 % 3 * 4096};
	if (random % 5 == 0) {
		detail.blocks = random % 1000;
		detail.threads = 256;
		detail.op = tp_sink_string(sink, "allreduce");
		detail.type = tp_sink_string(sink, "bfloat16");
		detail.group = tp_sink_string(sink, "0");
		detail.n_ranks = 8;
		detail.sequence = (uint32_t)(random % 77);
	}
	uint16_t track = (uint16_t)(random % N_TRACKS);
	tp_sink_span(sink,
		     &(struct tp_span){
			     .start_ns = time_ns - random / 8 % 30000,
			     .end_ns = time_ns + random / 16 % 2000,
			     .name = tp_sink_string(sink, random % 3 ? "gemm" : "void copy<4>"),
			     .link = random % 7 ? (uint32_t)random : 0,
			     .detail = tp_sink_detail(sink, &detail),
			     .track = track,
			     .kind = (uint8_t)(track % 2 ? 3 + random / 64 % 5 : random / 64 % 3),
		     });
}

static void emit_rare(struct tp_sink *sink, uint64_t random, uint64_t time_ns)
{
	struct tp_availability state = {.presence = (enum tp_presence)(random % TP_N_PRESENCES)};
	snprintf(state.reason, sizeof(state.reason), "reason %llu",
		 (unsigned long long)(random % 9));
	switch (random / 16 % 5) {
	case 0:
		tp_sink_source(sink, random % 2 ? "perf" : "proc", "stacks", &state, random,
			       random % 100);
		break;
	case 1:
		tp_sink_gap(sink, "perf", state.reason, time_ns - random % 10000, time_ns,
			    random % 77);
		break;
	case 2:
		emit_task(sink, (uint32_t)(random % N_TASKS), time_ns);
		break;
	case 3:
		emit_track(sink, (uint32_t)(random % N_TRACKS), random / 512);
		break;
	default:
		tp_sink_mark(sink, &(struct tp_mark){.task = random % 3 ? 0 : TP_NO_TASK,
						     .kind = (enum tp_mark_kind)(random % 4),
						     .name = tp_sink_string(sink, "forward"),
						     .time_ns = time_ns,
						     .value = random});
		break;
	}
}

static void emit_run(struct tp_sink *sink, uint64_t random, uint64_t time_ns)
{
	tp_sink_run(sink, &(struct tp_run){.task = (uint32_t)(random % N_TASKS),
					   .cpu = (uint32_t)(random / 16 % 64),
					   .start_ns = time_ns - random / 8 % 5000000,
					   .end_ns = time_ns,
					   .how = (enum tp_run_end)(random / 32 % TP_N_RUN_ENDS)});
}

void story_emit(struct tp_sink *sink, uint64_t from, uint64_t to)
{
	for (uint64_t part = from; part < to; part++) {
		uint64_t random = tp_hash_mix(part, 2);
		uint64_t time_ns = story_time(part);
		if (part < N_TASKS)
			emit_task(sink, (uint32_t)part, time_ns);
		else if (part < N_TASKS + N_TRACKS)
			emit_track(sink, (uint32_t)(part - N_TASKS), 0);
		else if (random % 16 < 6)
			emit_run(sink, random / 16, time_ns);
		else if (random % 16 < 9)
			emit_span(sink, random / 16, time_ns);
		else if (random % 16 < 12)
			emit_sample(sink, random / 16, time_ns);
		else if (random % 16 < 15)
			emit_gauge(sink, random / 16, time_ns);
		else
			emit_rare(sink, random / 16, time_ns);
	}
}

void story_trace(struct tp_trace *out, uint64_t to)
{
	struct tp_trace_builder builder;
	tp_trace_builder_init(&builder);
	story_emit(&builder.sink, 0, to);
	tp_trace_build(out, &builder, story_run());
	tp_trace_builder_release(&builder);
}

/* ---- comparing --------------------------------------------------------------------------- */

/* Check's own assertions cost one write each; there are millions of these. */
static bool same_number(const char *member, uint64_t a, uint64_t b)
{
	if (a != b)
		fprintf(stderr, "%s: %llu and %llu\n", member, (unsigned long long)a,
			(unsigned long long)b);
	return a == b;
}

#define SAME(member) same_number(#member, (uint64_t)(a->member), (uint64_t)(b->member))

static bool same_definitions(const struct tp_trace *a, const struct tp_trace *b)
{
	bool good = true;
	good &= SAME(n_strings);
	for (size_t i = 0; good && i < a->n_strings; i++)
		good &= strcmp(a->strings[i], b->strings[i]) == 0;
	good &= SAME(n_frames);
	for (size_t i = 1; good && i < a->n_frames; i++) {
		good &= SAME(frames[i].kind);
		good &= SAME(frames[i].flags);
		good &= SAME(frames[i].module);
		good &= SAME(frames[i].symbol);
		good &= SAME(frames[i].file);
		good &= SAME(frames[i].line);
		good &= SAME(frames[i].address);
		good &= SAME(frames[i].function_start);
	}
	good &= SAME(n_stacks);
	for (size_t i = 1; good && i < a->n_stacks; i++) {
		good &= SAME(stacks[i].n_frames);
		good &= SAME(stacks[i].flags);
		good = good && memcmp(a->stacks[i].frames, b->stacks[i].frames,
				      a->stacks[i].n_frames * sizeof(uint32_t)) == 0;
	}
	return good;
}

static bool same_tasks(const struct tp_trace *a, const struct tp_trace *b)
{
	bool good = true;
	good &= SAME(n_tasks);
	for (size_t i = 0; good && i < a->n_tasks; i++) {
		good &= SAME(tasks[i].id);
		good &= SAME(tasks[i].tid);
		good &= SAME(tasks[i].pid);
		good &= SAME(tasks[i].parent);
		good &= SAME(tasks[i].start_ns);
		good &= SAME(tasks[i].end_ns);
		good &= SAME(tasks[i].exec_ns);
		good &= SAME(tasks[i].comm);
		good &= SAME(tasks[i].exe);
		good &= SAME(tasks[i].cmdline);
		good &= SAME(tasks[i].utime_ns);
		good &= SAME(tasks[i].stime_ns);
	}
	return good;
}

static bool same_instants(const struct tp_trace *a, const struct tp_trace *b)
{
	bool good = true;
	good &= SAME(n_samples);
	for (size_t i = 0; good && i < a->n_samples; i++) {
		good &= SAME(samples[i].task);
		good &= SAME(samples[i].state);
		good &= SAME(samples[i].cause);
		good &= SAME(samples[i].flags);
		good &= SAME(samples[i].stack);
		good &= SAME(samples[i].target);
		good &= SAME(samples[i].cpu);
		good &= SAME(samples[i].syscall);
		good &= SAME(samples[i].time_ns);
		good &= SAME(samples[i].address);
	}
	good &= SAME(n_gauges);
	for (size_t i = 0; good && i < a->n_gauges; i++) {
		good &= SAME(gauges[i].metric);
		good &= SAME(gauges[i].task);
		good &= SAME(gauges[i].time_ns);
		good &= memcmp(&a->gauges[i].value, &b->gauges[i].value, sizeof(double)) == 0;
	}
	return good;
}

static bool same_spans(const struct tp_trace *a, const struct tp_trace *b)
{
	bool good = true;
	good &= SAME(n_details);
	for (size_t i = 1; good && i < a->n_details; i++)
		good = memcmp(&a->details[i], &b->details[i], sizeof(a->details[i])) == 0;
	good &= SAME(n_tracks);
	for (size_t i = 0; good && i < a->n_tracks; i++) {
		good &= SAME(tracks[i].id);
		good &= SAME(tracks[i].rank);
		good &= SAME(tracks[i].device);
		good &= SAME(tracks[i].name);
		good &= SAME(tracks[i].number);
		good &= SAME(tracks[i].task_plus_1);
		good &= SAME(spans[i].n);
		for (size_t k = 0; good && k < a->spans[i].n; k++)
			good = memcmp(&a->spans[i].items[k], &b->spans[i].items[k],
				      sizeof(a->spans[i].items[k])) == 0;
	}
	return good;
}

static bool same_rest(const struct tp_trace *a, const struct tp_trace *b)
{
	bool good = true;
	good &= SAME(n_runs);
	for (size_t i = 0; good && i < a->n_runs; i++) {
		good &= SAME(runs[i].task);
		good &= SAME(runs[i].cpu);
		good &= SAME(runs[i].start_ns);
		good &= SAME(runs[i].end_ns);
		good &= SAME(runs[i].how);
	}
	good &= SAME(n_marks);
	for (size_t i = 0; good && i < a->n_marks; i++) {
		good &= SAME(marks[i].task);
		good &= SAME(marks[i].kind);
		good &= SAME(marks[i].name);
		good &= SAME(marks[i].time_ns);
		good &= SAME(marks[i].value);
	}
	good &= SAME(n_gaps);
	for (size_t i = 0; good && i < a->n_gaps; i++) {
		good &= SAME(gaps[i].source);
		good &= SAME(gaps[i].reason);
		good &= SAME(gaps[i].start_ns);
		good &= SAME(gaps[i].end_ns);
		good &= SAME(gaps[i].n_lost);
	}
	good &= SAME(n_sources);
	for (size_t i = 0; good && i < a->n_sources; i++) {
		good &= SAME(sources[i].name);
		good &= SAME(sources[i].presence);
		good &= SAME(sources[i].reason);
		good &= SAME(sources[i].n_records);
		good &= SAME(sources[i].n_lost);
	}
	return good;
}

void story_assert_equal(const struct tp_trace *a, const struct tp_trace *b)
{
	ck_assert(same_definitions(a, b));
	ck_assert(same_tasks(a, b));
	ck_assert(same_instants(a, b));
	ck_assert(same_rest(a, b));
	ck_assert(same_spans(a, b));
	ck_assert(SAME(n_dropped));
	ck_assert(SAME(end_ns));
}

/* ---- directories ------------------------------------------------------------------------- */

char *story_directory(void)
{
	/* In memory if possible: truncating a file again and again waits for a disk. */
	char *path = tp_strdup("/dev/shm/trainprof-test-XXXXXX");
	if (mkdtemp(path))
		return path;
	free(path);
	path = tp_strdup("/tmp/trainprof-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

void story_remove(char *directory)
{
	char *command = tp_asprintf("rm -rf '%s'", directory);
	ck_assert_int_eq(system(command), 0); /* NOLINT: a test's own path */
	free(command);
	free(directory);
}
