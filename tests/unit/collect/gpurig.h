/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a GPU collector on this machine without a sampler: opens it, samples it, stops it. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_GPURIG_H
#define TRAINPROF_TESTS_UNIT_COLLECT_GPURIG_H

#include "collect/gpu/common/gpu_in_use.h"
#include "collect/process/task_tree.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/collector.h"
#include "trainprof/model/trace.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Contains pointers into itself, so it must not be moved. */
struct rig {
	struct tp_host host;
	struct tp_collect_config config;
	struct tp_collect_context context;
	struct tp_trace_builder builder; /* all records of the collector */
	struct tp_gpu_in_use gpus;
	uint64_t cpu_ns; /* CPU time of helper processes */
	struct tp_collector *collector;
};

/* Opens and starts the collector; its target is the test process itself. */
static inline void rig_begin(struct rig *rig, const struct tp_collector_type *type,
			     const char *root)
{
	*rig = (struct rig){0};
	tp_host_open(&rig->host, root);
	tp_trace_builder_init(&rig->builder);
	rig->context = (struct tp_collect_context){.host = &rig->host,
						   .config = &rig->config,
						   .actual = &rig->config,
						   .sink = &rig->builder.sink,
						   .gpus = &rig->gpus,
						   .helpers_cpu_ns = &rig->cpu_ns};
	rig->context.tree = tp_task_tree_new(&rig->host, &rig->builder.sink);
	tp_task_tree_fork(rig->context.tree, getpid(), getpid(), 0, tp_clock_now_ns());
	ck_assert(!type->open(&rig->collector, &rig->context, NULL));
	rig->collector->type = type;
	if (type->start)
		ck_assert(!type->start(rig->collector, getpid(), NULL));
}

static inline void rig_end(struct rig *rig)
{
	rig->collector->type->close(rig->collector);
	tp_task_tree_free(rig->context.tree);
	tp_trace_builder_release(&rig->builder);
	tp_host_close(&rig->host);
}

static inline void rig_sample_for(struct rig *rig, double seconds)
{
	uint64_t until_ns = tp_clock_now_ns() + (uint64_t)(seconds * 1e9);
	while (tp_clock_now_ns() < until_ns) {
		nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
		ck_assert(!rig->collector->type->sample(rig->collector, tp_clock_now_ns(), NULL));
	}
}

/* Stops the collector and returns the source record that it emitted; its memory is the rig's. */
static inline const struct tp_source *rig_stop(struct rig *rig)
{
	ck_assert(!rig->collector->type->stop(rig->collector, tp_clock_now_ns(), NULL));
	const struct tp_record *last = &rig->builder.records[rig->builder.n_records - 1];
	ck_assert_int_eq(last->kind, TP_RECORD_SOURCE);
	return &last->of.source;
}

static inline const char *text_of(const struct rig *rig, uint32_t id)
{
	return tp_strtab_text(&rig->builder.sink.strings, id);
}

/* Counts the gauges of one metric on one track and stores the last value in `last`, which stays
 * unchanged if there is none. */
static inline size_t count_gauges(const struct rig *rig, enum tp_metric metric, uint32_t track,
				  double *last)
{
	size_t n = 0;
	for (size_t i = 0; i < rig->builder.n_records; i++) {
		const struct tp_record *record = &rig->builder.records[i];
		if (record->kind != TP_RECORD_GAUGE || record->of.gauge.metric != metric ||
		    record->of.gauge.task != track)
			continue;
		*last = record->of.gauge.value;
		n++;
	}
	return n;
}

#endif
