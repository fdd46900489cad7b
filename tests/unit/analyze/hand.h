/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-made traces for passes that read counters: all numbers in them are chosen by the test. */
#ifndef TRAINPROF_TESTS_UNIT_ANALYZE_HAND_H
#define TRAINPROF_TESTS_UNIT_ANALYZE_HAND_H

#include "analyze/analysis.h"

#include "trainprof/model/fact_id.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

struct hand {
	struct tp_trace_builder builder;
	struct tp_run_info run;
	struct tp_trace trace;
	struct tp_profile profile;
	struct tp_analysis analysis;
	struct tp_analyze_options options;
	struct tp_patterns *patterns;
};

/* Starts a trace of ten seconds on two CPUs. */
static inline void hand_init(struct hand *hand)
{
	*hand = (struct hand){0};
	hand->run.started_ns = 1;
	hand->run.ended_ns = 1 + 10 * SECOND;
	hand->run.sample_rate_hz = 100;
	hand->run.host.n_cpus = 2;
	hand->run.host.n_allowed = 2;
	tp_trace_builder_init(&hand->builder);
}

/* Ids must be in order; the first thread of a process has tid == pid. */
static inline void hand_task(struct hand *hand, uint32_t id, int pid, int tid, const char *exe)
{
	struct tp_task task = {.id = id, .pid = pid, .tid = tid, .start_ns = 1};
	task.parent = id ? 0 : TP_NO_TASK;
	task.exe = tp_sink_string(&hand->builder.sink, exe);
	tp_sink_task(&hand->builder.sink, &task);
}

/* A counter that grows evenly from 0 and is read every second. */
static inline void hand_counter(struct hand *hand, enum tp_metric metric, uint32_t task,
				double per_s)
{
	for (uint64_t s = 0; s <= 10; s++)
		tp_sink_gauge(&hand->builder.sink, metric, task, 1 + s * SECOND, per_s * (double)s);
}

static inline void hand_gauge(struct hand *hand, enum tp_metric metric, uint32_t task, double at_s,
			      double value)
{
	tp_sink_gauge(&hand->builder.sink, metric, task, 1 + (uint64_t)(at_s * 1e9), value);
}

static inline void hand_source(struct hand *hand, const char *name, enum tp_presence presence,
			       const char *reason, uint64_t n_records, uint64_t n_lost)
{
	struct tp_availability availability = {.presence = presence};
	strncpy(availability.reason, reason, sizeof(availability.reason) - 1);
	tp_sink_source(&hand->builder.sink, name, "", &availability, n_records, n_lost);
}

static inline void hand_run(struct hand *hand, uint32_t task, double from_s, double to_s,
			    enum tp_run_end how)
{
	struct tp_run run = {.task = task,
			     .start_ns = 1 + (uint64_t)(from_s * 1e9),
			     .end_ns = 1 + (uint64_t)(to_s * 1e9),
			     .how = how};
	tp_sink_run(&hand->builder.sink, &run);
}

static inline uint32_t hand_frame(struct hand *hand, const char *module, const char *symbol)
{
	struct tp_sink *sink = &hand->builder.sink;
	struct tp_frame frame = {.module = tp_sink_string(sink, module),
				 .symbol = tp_sink_string(sink, symbol)};
	frame.function_start = 64 * (uint64_t)frame.symbol;
	frame.address = frame.function_start + 4;
	return tp_sink_frame(sink, &frame);
}

/* A stack of two frames: the outer one and the leaf. */
static inline uint32_t hand_stack(struct hand *hand, const char *module, const char *outer,
				  const char *leaf_module, const char *leaf, uint32_t flags)
{
	uint32_t frames[] = {hand_frame(hand, leaf_module, leaf), hand_frame(hand, module, outer)};
	return tp_sink_stack(&hand->builder.sink, frames, 2, flags);
}

static inline void hand_sample(struct hand *hand, const struct tp_sample *like, double at_s)
{
	struct tp_sample sample = *like;
	sample.time_ns = 1 + (uint64_t)(at_s * 1e9);
	tp_sink_sample(&hand->builder.sink, &sample);
}

/* Builds the trace, with seconds 2 to 8 as the window. Task 0 is the trainer and its main
 * thread. */
static inline void hand_finish(struct hand *hand)
{
	struct tp_error err;
	tp_trace_build(&hand->trace, &hand->builder, &hand->run);
	ck_assert_int_eq(tp_patterns_load(&hand->patterns, "rules/patterns", &err), TP_OK);
	tp_profile_init(&hand->profile, &hand->trace);
	hand->analysis = (struct tp_analysis){.trace = &hand->trace,
					      .patterns = hand->patterns,
					      .options = &hand->options,
					      .profile = &hand->profile,
					      .arena = &hand->profile.arena,
					      .main_task = hand->trace.n_tasks ? 0 : TP_NO_TASK};
	ck_assert_int_eq(tp_pass_timelines(&hand->analysis, &err), TP_OK);
	hand->analysis.roles =
		tp_arena_array(&hand->profile.arena, hand->trace.n_tasks + 1, sizeof(enum tp_role));
	hand->profile.trainer = hand->analysis.main_task;
	hand->profile.window_start_ns = 2 * SECOND;
	hand->profile.window_end_ns = 8 * SECOND;
}

static inline void hand_pass(struct hand *hand,
			     enum tp_status (*pass)(struct tp_analysis *, struct tp_error *))
{
	struct tp_error err;
	ck_assert_int_eq(pass(&hand->analysis, &err), TP_OK);
}

static inline void hand_release(struct hand *hand)
{
	tp_profile_release(&hand->profile);
	tp_trace_release(&hand->trace);
	tp_patterns_free(hand->patterns);
	tp_trace_builder_release(&hand->builder);
}

static inline double hand_fact(const struct hand *hand, tp_fact_id fact)
{
	const struct tp_quantity *value = &hand->profile.facts[fact];
	ck_assert_msg(value->is_known, "%s: %s", tp_fact_desc(fact)->name, value->missing);
	return value->value;
}

static inline const char *hand_missing(const struct hand *hand, tp_fact_id fact)
{
	const struct tp_quantity *value = &hand->profile.facts[fact];
	ck_assert_msg(!value->is_known, "%s is %g", tp_fact_desc(fact)->name, value->value);
	ck_assert_ptr_nonnull(value->missing);
	return value->missing;
}

#endif
