/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of measurements: the type is a constant row of the registry, the instance embeds
 * struct tp_collector first. Everything runs in one thread, the sampler's loop.
 */
#ifndef TRAINPROF_COLLECT_COLLECTOR_H
#define TRAINPROF_COLLECT_COLLECTOR_H

#include "trainprof/base/status.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/source.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_task_tree;
struct tp_python_processes;
struct tp_env;
struct tp_gpu_in_use;
struct tp_stage_clock;

/* Whether an agent is put into the program that tells what the GPU does, and when it does. */
enum tp_gpu_trace {
	TP_GPU_TRACE_OFF,
	TP_GPU_TRACE_CONTINUOUS,
	TP_GPU_TRACE_WINDOWS, /* now and then, as max_overhead_ratio allows */
};

/* How to measure, as asked for; the plan lowers it to what works here. */
struct tp_collect_config {
	double sample_rate_hz;     /* stacks of running threads; default 99 */
	double poll_rate_hz;       /* looks at blocked threads; default 50 */
	uint32_t stack_bytes;      /* copied per sample; default 49152 */
	double max_overhead_ratio; /* detail is reduced to stay below; default 0.01 */
	double max_switch_rate_hz; /* switch records go off above this per CPU; default 20000 */
	const char *marks_path;    /* file for the program's own marks; NULL = none */
	const char *python_path;   /* PYTHONPATH of the program, with our module; NULL = as it is */
	bool is_attaching;         /* the target runs already, and not for us */
	bool keeps_arguments;      /* of command lines: secrets are not masked (base/secret.h) */
	enum tp_gpu_trace gpu_trace;
	bool wants_counters;      /* of GPUs, in windows in which their clocks are locked */
	uint64_t max_gpu_records; /* of one run; then tracing ends. 0 = no limit */
};

/* What collectors of one measurement share. Borrowed by all of them until close. */
struct tp_collect_context {
	const struct tp_host *host;
	const struct tp_collect_config *config;
	struct tp_collect_config *actual; /* what is really done: a source lowers its members */
	struct tp_sink *sink;
	struct tp_task_tree *tree;           /* threads of the target, and their address spaces */
	struct tp_python_processes *pythons; /* its interpreters; NULL: they are not asked for */
	struct tp_stage_clock *stages;       /* of our own CPU time; NULL: they are not kept */
	uint64_t *helpers_cpu_ns;   /* of processes that measure beside this one; NULL: none */
	struct tp_gpu_in_use *gpus; /* that the target is known to use */
	bool may_sample;            /* perf was not deselected */
	bool has_counters;          /* the target's threads have hardware counters, which they hand
				     * over at switches only as long as their events are alike */
	/* Free memory of the GPU that has least of it, of those that the target uses, a second or
	 * two ago; NAN: not known. Source "nvml" writes it. */
	double *gpu_free_bytes;
};

struct tp_collector;

struct tp_collector_type {
	const char *name;    /* "perf" */
	const char *summary; /* "CPU stacks and context switches" */
	const char *gains;   /* what doctor says is lost without it */

	/* May it run here? Tries, prints nothing, changes nothing. */
	void (*probe)(const struct tp_host *host, struct tp_availability *out);
	enum tp_status (*open)(struct tp_collector **out, const struct tp_collect_context *context,
			       struct tp_error *err);
	/* Additions to the target's environment; NULL when there are none. */
	enum tp_status (*child_env)(struct tp_collector *self, struct tp_env *env,
				    struct tp_error *err);
	/* The target exists and is held before its exec; or, attaching, it runs, and the tree knows
	 * its threads. */
	enum tp_status (*start)(struct tp_collector *self, pid_t target, struct tp_error *err);
	/* A descriptor that becomes readable when sample() should run early; -1 or NULL for none.
	 */
	int (*wait_fd)(const struct tp_collector *self);
	/* Called every period or up to half of one later, when due_ns is reached, and when wait_fd
	 * is readable. */
	enum tp_status (*sample)(struct tp_collector *self, uint64_t now_ns, struct tp_error *err);
	/* --delay and the end of --duration: keep track of threads, put no measurements. The first
	 * call, if any, comes before start(). NULL: sample() is not called while paused. */
	void (*pause)(struct tp_collector *self, bool is_paused, uint64_t now_ns);
	/* Pour out what is buffered and report losses as gaps; writes its SOURCE record. */
	enum tp_status (*stop)(struct tp_collector *self, uint64_t now_ns, struct tp_error *err);
	void (*close)(struct tp_collector *self);
	uint64_t period_ns; /* between sample() calls; 0 = none */
	/* It knows who runs and who waits: sampled before any other source is, so that those see
	 * the tree of threads as it is now and not as it was a period ago. */
	bool feeds_tree;
	/* What its sample() costs is put down to this (enum tp_stage). */
	int stage;
	/* What its descriptor tells of is over in microseconds: it comes before what feeds the
	 * tree. */
	bool is_urgent;
};

struct tp_collector {
	const struct tp_collector_type *type;
	/* As probed; open() and start() may say less. All zero after open() = as probed. */
	struct tp_availability availability;
	/* When sample() wants to run next, set by start() and sample() of a type that has pause(),
	 * and where it has a period wants that sooner; 0 = at no time. */
	uint64_t due_ns;
};

/* All known types, NULL-terminated, in the order in which they sample. */
const struct tp_collector_type *const *tp_collector_types(void);

#endif
