/* SPDX-License-Identifier: Apache-2.0 */
/* A hand-made run for the tests of writers: 984 steps of 50.4 ms, mostly waiting for data. */
#ifndef TRAINPROF_TESTS_UNIT_REPORT_SAMPLE_H
#define TRAINPROF_TESTS_UNIT_REPORT_SAMPLE_H

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"
#include "trainprof/report/report.h"

#include <string.h>

struct sample {
	struct tp_trace_builder builder;
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_findings findings;
	struct tp_report report;
};

enum { SAMPLE_STEPS = 984, SAMPLE_WARMUP = 40 };

static void sample_trace(struct sample *s)
{
	static const char *command[] = {"./train", "--epochs", "1"};
	static const struct tp_env_var environment[] = {{"OMP_NUM_THREADS", "16"}};
	tp_trace_builder_init(&s->builder);
	struct tp_sink *sink = &s->builder.sink;
	uint32_t strings[3] = {tp_sink_string(sink, "train"), tp_sink_string(sink, "loader"),
			       tp_sink_string(sink, "./train --epochs 1")};
	for (uint32_t i = 0; i < 29; i++)
		tp_sink_task(sink, &(struct tp_task){.id = i,
						     .tid = 4242 + (pid_t)i,
						     .pid = 4242 + (pid_t)i,
						     .parent = i ? 0 : TP_NO_TASK,
						     .start_ns = 1000000000U,
						     .comm = strings[i ? 1 : 0],
						     .cmdline = strings[2]});
	uint32_t frames[3];
	const char *names[] = {"decode_jpeg", "load_batch", "main"};
	for (int i = 0; i < 3; i++)
		frames[i] = tp_sink_frame(
			sink, &(struct tp_frame){.kind = TP_FRAME_NATIVE,
						 .module = tp_sink_string(sink, "/opt/bin/train"),
						 .symbol = tp_sink_string(sink, names[i]),
						 .address = 0x1000U + (uint64_t)i});
	tp_sink_stack(sink, frames, 3, 0);
	tp_sink_stack(sink, &frames[1], 2, 0);
	tp_sink_source(sink, "perf", "CPU stacks and context switches",
		       &(struct tp_availability){.presence = TP_PRESENCE_PRESENT}, 61022, 0);
	tp_sink_source(sink, "pmu", "CPU counters",
		       &(struct tp_availability){.presence = TP_PRESENCE_NO_DEVICE,
						 .reason = "none in this virtual machine"},
		       0, 0);
	struct tp_run_info run = {
		.id = "r-5f0c9a1d2b3e4f60",
		.label = "resnet50",
		.command = command,
		.n_command = 3,
		.directory = "/home/me",
		.pid = 4242,
		.started_wall_ns = UINT64_C(1763647391) * 1000000000U,
		.started_ns = 1000000000U,
		.ended_ns = UINT64_C(62200000000),
		.measure_from_ns = 1000000000U,
		.measure_until_ns = UINT64_C(62200000000),
		.end = TP_END_EXITED,
		.sample_rate_hz = 99,
		.host = {.name = "gpu-07",
			 .kernel = "Linux 6.18.44",
			 .cpu_model = "AMD EPYC 9554",
			 .n_cpus = 64,
			 .n_allowed = 64,
			 .n_numa_nodes = 2,
			 .memory_bytes = UINT64_C(549755813888)},
		.environment = environment,
		.n_environment = 1,
		.written_by = "trainprof 0.1.0 (0000000)",
	};
	tp_trace_build(&s->trace, &s->builder, &run);
}

/* Per steady step, ns; the sum is 50.4 ms. */
static const uint64_t sample_parts[TP_N_PARTS] = {
	[TP_PART_COMPUTE] = 21000000, [TP_PART_COMMUNICATION] = 4200000,
	[TP_PART_MEMORY] = 2100000,   [TP_PART_DATALOADER] = 19800000,
	[TP_PART_HOST] = 2800000,     [TP_PART_IDLE] = 500000,
};

static void sample_steps(struct sample *s)
{
	struct tp_profile *p = &s->profile;
	uint64_t at = UINT64_C(7300000000);
	p->n_steps = SAMPLE_STEPS + SAMPLE_WARMUP;
	p->n_steady = SAMPLE_STEPS;
	p->steps = tp_arena_array(&p->arena, p->n_steps, sizeof(*p->steps));
	for (size_t i = 0; i < p->n_steps; i++) {
		struct tp_step *step = &p->steps[i];
		step->start_ns = at;
		for (int k = 0; k < TP_N_PARTS; k++) {
			step->part_ns[k] = sample_parts[k];
			at += sample_parts[k];
		}
		step->end_ns = at;
		step->kind = i < SAMPLE_WARMUP ? TP_STEP_WARMUP : TP_STEP_STEADY;
	}
	p->step_time = (struct tp_stat){.n = SAMPLE_STEPS,
					.mean = 50400000,
					.median = 48900000,
					.median_low = 48700000,
					.median_high = 49200000,
					.p05 = 46100000,
					.p95 = 71900000,
					.p99 = 90000000,
					.min = 45000000,
					.max = 131000000,
					.mad = 1400000};
}

static void sample_profile(struct sample *s)
{
	struct tp_profile *p = &s->profile;
	static const double lows[TP_N_PARTS] = {0.41, 0.08, 0.04, 0.37, 0.05, 0.01};
	static const double highs[TP_N_PARTS] = {0.43, 0.09, 0.04, 0.41, 0.07, 0.01};
	static const uint64_t hidden[TP_N_PARTS] = {0, 600000, 900000, 2400000, 17100000, 0};
	tp_profile_init(p, &s->trace);
	sample_steps(s);
	p->trainer = 0;
	p->is_of_steps = true;
	p->window_start_ns = UINT64_C(9316000000);
	p->window_end_ns = UINT64_C(60900000000);
	p->window_reason = "warm-up of 40 steps excluded";
	p->steps_found_by = TP_STEPS_PERIOD;
	p->steps_confidence = 0.99;
	p->steps_reason = "the stacks repeat every 50.4 ms";
	p->limiter = TP_PART_COMPUTE;
	for (int k = 0; k < TP_N_PARTS; k++) {
		uint64_t ns = sample_parts[k] * SAMPLE_STEPS;
		p->parts[k] = (struct tp_part_result){
			.time_ns = ns,
			.hidden_ns = hidden[k] * SAMPLE_STEPS,
			.solo_ns = ns / 2,
			.without_low_ns = 50400000.0 - (double)sample_parts[k],
			.without_high_ns = 50400000.0 - (double)sample_parts[k] / 2,
		};
		p->total_ns += ns;
	}
	for (int k = 0; k < TP_N_PARTS; k++)
		p->parts[k].share = (struct tp_quantity){
			.is_known = true,
			.has_interval = true,
			.origin = TP_ORIGIN_SAMPLED,
			.value = (double)p->parts[k].time_ns / (double)p->total_ns,
			.low = lows[k],
			.high = highs[k],
			.coverage = 1,
			.n = SAMPLE_STEPS,
		};
	static const enum tp_label whole[TP_N_PARTS] = {
		TP_LABEL_COMPUTE_MATH,    TP_LABEL_COMMUNICATION_TRANSFER, TP_LABEL_MEMORY_COPY,
		TP_LABEL_DATALOADER_PREP, TP_LABEL_HOST_INTERPRETER,       TP_LABEL_IDLE_RUNNABLE};
	for (int k = 0; k < TP_N_PARTS; k++)
		p->label_ns[whole[k]] = p->parts[k].time_ns;
	p->run_phase_ns[TP_RUN_PHASE_STARTUP] = UINT64_C(7300000000);
	p->run_phase_ns[TP_RUN_PHASE_WARMUP] = UINT64_C(2016000000);
	p->run_phase_count[TP_RUN_PHASE_WARMUP] = SAMPLE_WARMUP;
	p->run_phase_ns[TP_RUN_PHASE_TRAIN] = UINT64_C(49593600000);
	p->run_phase_count[TP_RUN_PHASE_TRAIN] = SAMPLE_STEPS;
	p->run_phase_ns[TP_RUN_PHASE_SHUTDOWN] = UINT64_C(300000000);
}

static void sample_lists(struct sample *s)
{
	struct tp_profile *p = &s->profile;
	p->n_processes = s->trace.n_tasks;
	p->processes = tp_arena_array(&p->arena, p->n_processes, sizeof(*p->processes));
	for (size_t i = 0; i < p->n_processes; i++) {
		struct tp_process_result *r = &p->processes[i];
		r->task = (uint32_t)i;
		r->role = i ? TP_ROLE_LOADER : TP_ROLE_TRAINER;
		r->cpu_ns = UINT64_C(58100000000);
		r->lived_ns = UINT64_C(50000000000);
		r->on_cpu_ns = i ? UINT64_C(48500000000) : UINT64_C(26000000000);
		r->blocked_ns[TP_CAUSE_FUTEX] = r->lived_ns - r->on_cpu_ns;
		r->rss_peak_bytes = UINT64_C(6442450944);
		r->n_threads = 3;
	}
	p->n_hot = 2;
	p->hot = tp_arena_array(&p->arena, 2, sizeof(*p->hot));
	p->hot[0] = (struct tp_hot_stack){.stack = 1,
					  .task = 1,
					  .state = TP_STATE_ON_CPU,
					  .part = TP_N_PARTS,
					  .time_ns = UINT64_C(41200000000)};
	p->hot[1] = (struct tp_hot_stack){.stack = 2,
					  .task = 0,
					  .state = TP_STATE_BLOCKED,
					  .part = TP_PART_DATALOADER,
					  .time_ns = UINT64_C(19400000000)};
	tp_profile_set(p, TP_FACT_STEP_DATALOADER, 0.3929, TP_ORIGIN_MEASURED, 1);
	p->facts[TP_FACT_STEP_DATALOADER].has_interval = true;
	p->facts[TP_FACT_STEP_DATALOADER].low = 0.37;
	p->facts[TP_FACT_STEP_DATALOADER].high = 0.41;
	tp_profile_set(p, TP_FACT_RUN_OVERHEAD_RATIO, 0.008, TP_ORIGIN_MEASURED, 1);
	p->facts[TP_FACT_RUN_OVERHEAD_RATIO].has_interval = true;
	p->facts[TP_FACT_RUN_OVERHEAD_RATIO].low = 0.004;
	p->facts[TP_FACT_RUN_OVERHEAD_RATIO].high = 0.013;
	tp_profile_set_missing(p, TP_FACT_PMU_IPC, "no hardware counters in this virtual machine");
	tp_profile_warn(p, "pmu-absent", "Hardware counters are not available here.",
			"4 rules could not be judged", "trainprof doctor");
}

static const struct tp_evidence sample_evidence[] = {
	{.fact = TP_FACT_STEP_DATALOADER,
	 .value = {.is_known = true,
		   .has_interval = true,
		   .value = 0.3929,
		   .low = 0.37,
		   .high = 0.41,
		   .coverage = 1,
		   .n = SAMPLE_STEPS},
	 .op = ">",
	 .threshold = 0.05,
	 .has_threshold = true,
	 .holds = 1},
	{.fact = TP_FACT_LOADER_BUSY,
	 .value = {.is_known = true, .origin = TP_ORIGIN_SAMPLED, .value = 0.97, .coverage = 1},
	 .op = ">",
	 .threshold = 0.9,
	 .has_threshold = true,
	 .holds = 1},
};

static const struct tp_evidence sample_missing[] = {
	{.fact = TP_FACT_PMU_IPC,
	 .value = {.missing = "no hardware counters in this virtual machine"},
	 .op = "<",
	 .threshold = 1,
	 .has_threshold = true,
	 .holds = -1},
};

static const struct tp_reported_result sample_reported[] = {
	{.text = "5.388 s of a slow transform became 0.839 s with 3 workers",
	 .hardware = "one node",
	 .baseline = "0 workers",
	 .source = {.title = "Machine learning engineering",
		    .where = "training/performance",
		    .checked = "2026-11-20"}},
};

static const struct tp_condition_result sample_caveats[] = {
	{.text = "idle CPUs", .is_need = true, .holds = 1},
	{.text = "memory for a copy of the data set object in each worker",
	 .is_need = true,
	 .holds = -1},
	{.text = "the wait is for storage, not for CPUs", .holds = 0},
};

static const struct tp_references sample_literature = {
	.title = "Parallel loader workers",
	.effort = "flag",
	.effort_text = "a flag or a variable",
	.risk = "none",
	.risk_text = "the same samples",
	.reported = sample_reported,
	.n_reported = TP_ARRAY_LEN(sample_reported),
	.caveats = sample_caveats,
	.n_caveats = TP_ARRAY_LEN(sample_caveats),
};

/* The figures of a technique that changes the number of iterations. */
static const struct tp_reported_result sample_rate[] = {
	{.text = "half the schedule: 76.6 % became 75.6 %",
	 .hardware = "8x A100",
	 .baseline = "88 epochs",
	 .source = {.title = "A training recipe", .where = "b.org", .checked = "2026-11-21"}},
};

static const struct tp_yardstick sample_yardstick = {
	.technique = "train-shorter",
	.title = "A shorter schedule",
	.reported = sample_rate,
	.n_reported = TP_ARRAY_LEN(sample_rate),
};

static const struct tp_references sample_echoing = {
	.title = "Each batch used twice",
	.effort = "lines",
	.effort_text = "a few lines",
	.risk = "medium",
	.risk_text = "repeated samples teach less",
	.against = &sample_yardstick,
};

static const struct tp_action sample_echo[] = {
	{.text = "Use each batch twice.",
	 .technique = "data-echoing",
	 .literature = &sample_echoing},
	{.text = "Use it three times.", .technique = "data-echoing", .literature = &sample_echoing},
};

static const struct tp_action sample_actions[] = {
	{.text = "Raise the loader workers per rank from 2 to 4.",
	 .example = "DataLoader(..., num_workers=4)",
	 .technique = "loader-workers",
	 .literature = &sample_literature},
};

static const struct tp_citation sample_sources[] = {
	{.title = "Analyzing and Mitigating Data Stalls in DNN Training",
	 .where = "VLDB 2021, section 4",
	 .checked = "2026-11-20"},
};

static void sample_finding(struct tp_finding *f, const char *rule, enum tp_finding_level level,
			   const char *headline, const char *because, double low, double value,
			   double high)
{
	*f = (struct tp_finding){
		.rule = rule,
		.path = "rules/bottlenecks/input/loader-cpu-bound.json",
		.title = "Loader workers are CPU-bound",
		.state = TP_FINDING_FIRED,
		.level = level,
		.headline = headline,
		.because = because,
		.evidence = sample_evidence,
		.n_evidence = TP_ARRAY_LEN(sample_evidence),
		.actions = sample_actions,
		.n_actions = TP_ARRAY_LEN(sample_actions),
		.has_gain = true,
		.gain_low = low,
		.gain_value = value,
		.gain_high = high,
		.gain_method = "bracket of the dataloader part",
		.price = "none",
		.verify = "step.dataloader_ratio falls below 0.05",
		.refute = "run with synthetic data; if the step stays near 50 ms, the cause is "
			  "elsewhere",
		.sources = sample_sources,
		.n_sources = TP_ARRAY_LEN(sample_sources),
	};
}

static void sample_findings(struct sample *s)
{
	struct tp_findings *f = &s->findings;
	f->items = tp_arena_array(&f->arena, 7, sizeof(*f->items));
	f->n_items = 7;
	f->n_fired = 3;
	f->n_not_judged = 4;
	sample_finding(&f->items[0], "input/loader-cpu-bound", TP_LEVEL_HIGH,
		       "Raise the loader workers per rank from 2 to 4",
		       "8 workers at 97 % CPU while 50 of 64 cores idle", 1.38, 1.52, 1.60);
	sample_finding(&f->items[1], "transfer/pageable-copies", TP_LEVEL_MEDIUM,
		       "Pin the batch and copy on a second stream",
		       "3.0 ms per step from pageable memory, 0.9 of it overlapped", 1.02, 1.04,
		       1.05);
	sample_finding(&f->items[2], "host/launch-bound", TP_LEVEL_LOW,
		       "Capture the step as a CUDA graph",
		       "214 launches per step; the GPU idles 2.8 ms between them", 1.00, 1.03,
		       1.06);
	f->items[2].sureness = TP_LIKELY; /* has only a bound */
	for (size_t i = 3; i < 7; i++)
		f->items[i] = (struct tp_finding){
			.rule = "cpu/low-ipc-preprocessing",
			.path = "rules/bottlenecks/cpu/low-ipc-preprocessing.json",
			.title = "Scalar preprocessing code",
			.state = TP_FINDING_NOT_JUDGED,
			.not_judged_because = "pmu.instructions_per_cycle: no hardware counters in "
					      "this virtual machine",
			.evidence = sample_missing,
			.n_evidence = 1,
		};
	f->has_combined = true;
	f->combined_low = 1.44;
	f->combined_value = 1.63;
	f->combined_high = 1.77;
	f->then_limit = "compute";
	f->verdict = "compute_bound";
	f->verdict_title = "COMPUTING";
	f->verdict_sentence = "42 % of each step; waiting for data 39 %.";
}

static inline void sample_init(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	sample_trace(s);
	sample_profile(s);
	sample_lists(s);
	sample_findings(s);
	s->report = (struct tp_report){.profile = &s->profile,
				       .findings = &s->findings,
				       .directory = ".trainprof/1120-140311",
				       .is_last = true};
}

/* A run measured with less detail than requested: everything that the governor may reduce. */
static inline void sample_reduce(struct sample *s)
{
	enum { OFF = 1, THROTTLED };
	static const char *strings[] = {"perf", "switch records off above 20000/s per CPU",
					"the kernel throttled sampling",
					"user space only: perf_event_paranoid is 2"};
	struct tp_trace *t = &s->trace;
	const char **all =
		tp_arena_array(&t->arena, t->n_strings + TP_ARRAY_LEN(strings), sizeof(*all));
	memcpy(all, t->strings, t->n_strings * sizeof(*all));
	memcpy(all + t->n_strings, strings, sizeof(strings));
	uint32_t first = (uint32_t)t->n_strings;
	t->strings = all;
	t->n_strings += TP_ARRAY_LEN(strings);
	const struct tp_gap gaps[] = {
		{first, first + OFF, UINT64_C(1000000000), UINT64_C(13240000000), 0},
		{first, first + THROTTLED, UINT64_C(2000000000), UINT64_C(2000000000), 0},
		{first, first + OFF, UINT64_C(48960000000), UINT64_MAX, 0},
	};
	t->gaps = tp_arena_copy(&t->arena, gaps, sizeof(gaps));
	t->n_gaps = TP_ARRAY_LEN(gaps);
	t->sources[0].presence = TP_PRESENCE_DEGRADED;
	t->sources[0].reason = first + 3;
	t->run.sample_rate_hz = 49.5;
	t->run.asked_rate_hz = 99;
	tp_profile_set(&s->profile, TP_FACT_RUN_THINNED_RATIO, 0.12, TP_ORIGIN_MEASURED, 1);
	tp_profile_set(&s->profile, TP_FACT_RUN_RATE_RATIO, 0.5, TP_ORIGIN_MEASURED, 1);
}

/* A Python program: its loop, the lines with most time, the work of two workers. */
static inline void sample_python(struct sample *s)
{
	static const char *strings[] = {"/home/me/train.py", "main",
					"/home/me/net.py",   "Net.forward",
					"/home/me/data.py",  "Pictures.__getitem__"};
	static const struct {
		enum tp_label label;
		bool is_own;
		uint32_t file, symbol, line;
		double share;
	} lines[] = {
		{TP_LABEL_COMPUTE_MATH, false, 0, 1, 93, 0.28},
		{TP_LABEL_COMPUTE_MATH, false, 0, 1, 91, 0.13},
		{TP_LABEL_COMPUTE_MATH, true, 2, 3, 14, 0.12},
		{TP_LABEL_DATALOADER_PREP, false, 0, 1, 88, 0.39},
		{TP_LABEL_DATALOADER_PREP, true, 4, 5, 31, 0.3},
		{TP_LABEL_HOST_LOGGING, false, 0, 1, 95, 0.01},
	};
	struct tp_trace *t = &s->trace;
	struct tp_profile *p = &s->profile;
	const char **all =
		tp_arena_array(&t->arena, t->n_strings + TP_ARRAY_LEN(strings), sizeof(*all));
	memcpy(all, t->strings, t->n_strings * sizeof(*all));
	memcpy(all + t->n_strings, strings, sizeof(strings));
	uint32_t first = (uint32_t)t->n_strings;
	t->strings = all;
	t->n_strings += TP_ARRAY_LEN(strings);
	p->n_lines = TP_ARRAY_LEN(lines);
	p->lines = tp_arena_array(&p->arena, p->n_lines, sizeof(*p->lines));
	for (size_t i = 0; i < p->n_lines; i++)
		p->lines[i] = (struct tp_line_result){.part = tp_label_part(lines[i].label),
						      .label = lines[i].label,
						      .is_own = lines[i].is_own,
						      .file = first + lines[i].file,
						      .symbol = first + lines[i].symbol,
						      .line = lines[i].line,
						      .time_ns = (uint64_t)(lines[i].share *
									    (double)p->total_ns)};
	p->loop = (struct tp_source_loop){.is_known = true,
					  .file = first,
					  .symbol = first + 1,
					  .first_line = 88,
					  .last_line = 95};
	static const struct tp_worker_result workers[] = {
		{.task = 1,
		 .lived_ns = 1000,
		 .time_ns = {[TP_WORKER_DECODE] = 610,
			     [TP_WORKER_TRANSFORM] = 250,
			     [TP_WORKER_READ] = 31,
			     [TP_WORKER_HANDOVER] = 40,
			     [TP_WORKER_INDEX_WAIT] = 60,
			     [TP_WORKER_OTHER] = 9}},
		{.task = 2,
		 .lived_ns = 1000,
		 .time_ns = {[TP_WORKER_DECODE] = 100, [TP_WORKER_QUEUE_FULL] = 900}},
	};
	p->workers = tp_arena_copy(&p->arena, workers, sizeof(workers));
	p->n_workers = TP_ARRAY_LEN(workers);
	tp_profile_set(p, TP_FACT_LOADER_BATCH, 47e6, TP_ORIGIN_SAMPLED, 1);
	tp_profile_set(p, TP_FACT_LOADER_SUPPLY, 42.5, TP_ORIGIN_DERIVED, 1);
	tp_profile_set(p, TP_FACT_LOADER_DEMAND, 32.7, TP_ORIGIN_DERIVED, 1);
}

static void sample_release(struct sample *s)
{
	tp_findings_release(&s->findings);
	tp_profile_release(&s->profile);
	tp_trace_release(&s->trace);
	tp_trace_builder_release(&s->builder);
}

#endif
