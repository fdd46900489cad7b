/* SPDX-License-Identifier: Apache-2.0 */
/* A source of measurements. The type is a constant row of the registry; the instance embeds struct
 * tp_collector as its first member. All of it runs in one thread, the sampler's loop. */
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

/* When an agent inside the program records the work of the GPU, if at all. */
enum tp_gpu_trace {
	TP_GPU_TRACE_OFF,
	TP_GPU_TRACE_CONTINUOUS,
	TP_GPU_TRACE_WINDOWS, /* from time to time, as max_overhead_ratio allows */
};

/* Settings of a measurement, as requested; the plan lowers values to what works on this machine. */
struct tp_collect_config {
	double sample_rate_hz;     /* stack samples of running threads; default 99 */
	double poll_rate_hz;       /* inspections of blocked threads; default 50 */
	uint32_t stack_bytes;      /* copied per sample; default 49152 */
	double max_overhead_ratio; /* detail is reduced to stay below it; default 0.01 */
	double max_switch_rate_hz; /* switch records are disabled above this rate per CPU; default
				      20000 */
	const char *marks_path;    /* file for the program's marks; NULL = none */
	const char
		*python_path; /* PYTHONPATH of the program including our module; NULL = unchanged */
	bool is_attaching;    /* the target runs already and was not started by us */
	bool keeps_arguments; /* secrets in command lines are not masked (base/secret.h) */
	enum tp_gpu_trace gpu_trace;
	bool wants_counters; /* GPU hardware counters, in windows in which the clocks are locked */
	uint64_t max_gpu_records; /* per run; tracing ends when it is reached. 0 = no limit */
};

/* State shared by the collectors of one measurement. All of them borrow it until close. */
struct tp_collect_context {
	const struct tp_host *host;
	const struct tp_collect_config *config;
	struct tp_collect_config *actual; /* the actual settings: a source lowers its members */
	struct tp_sink *sink;
	struct tp_task_tree *tree;           /* the target's threads and their address spaces */
	struct tp_python_processes *pythons; /* its interpreters; NULL = not requested */
	struct tp_stage_clock *stages;       /* our own CPU time by stage; NULL = not kept */
	uint64_t
		*helpers_cpu_ns; /* CPU time of helper processes of this measurement; NULL = none */
	struct tp_gpu_in_use *gpus; /* GPUs that the target is known to use */
	bool may_sample;            /* perf was not deselected */
	bool has_counters; /* the target's threads have hardware counters, which the kernel swaps at
			      context switches only while their events are identical */
	/* Free memory of the fullest GPU that the target uses, one or two seconds old; NAN =
	 * unknown. Written by the source "nvml". */
	double *gpu_free_bytes;
};

struct tp_collector;

struct tp_collector_type {
	const char *name;    /* "perf" */
	const char *summary; /* "CPU stacks and context switches" */
	const char *gains;   /* what is lost without it, for doctor */

	/* Tests whether it can run here; prints and changes nothing. */
	void (*probe)(const struct tp_host *host, struct tp_availability *out);
	enum tp_status (*open)(struct tp_collector **out, const struct tp_collect_context *context,
			       struct tp_error *err);
	/* Additions to the target's environment; NULL if there are none. */
	enum tp_status (*child_env)(struct tp_collector *self, struct tp_env *env,
				    struct tp_error *err);
	/* The target exists and is held before its exec; or, when attaching, it runs and the tree
	 * knows its threads. */
	enum tp_status (*start)(struct tp_collector *self, pid_t target, struct tp_error *err);
	/* A descriptor that becomes readable when sample() should run early; -1, or NULL, for
	 * none. */
	int (*wait_fd)(const struct tp_collector *self);
	/* Called every period or up to half a period late, when due_ns is reached, and when wait_fd
	 * is readable. */
	enum tp_status (*sample)(struct tp_collector *self, uint64_t now_ns, struct tp_error *err);
	/* For --delay and after --duration: keeps track of threads but records no measurements. The
	 * first call, if any, comes before start(). NULL: sample() is not called while paused. */
	void (*pause)(struct tp_collector *self, bool is_paused, uint64_t now_ns);
	/* Flushes what is buffered, reports losses as gaps, and writes its SOURCE record. */
	enum tp_status (*stop)(struct tp_collector *self, uint64_t now_ns, struct tp_error *err);
	void (*close)(struct tp_collector *self);
	uint64_t period_ns; /* between sample() calls; 0 = none */
	/* It observes which threads run and wait: sampled before other sources, so that those see
	 * the current tree of threads. */
	bool feeds_tree;
	/* The stage that its sample() is accounted to (enum tp_stage). */
	int stage;
	/* Its descriptor reports events that last microseconds: it is sampled even before sources
	 * that feed the tree. */
	bool is_urgent;
};

struct tp_collector {
	const struct tp_collector_type *type;
	/* As probed; open() and start() may reduce it. All zero after open() = as probed. */
	struct tp_availability availability;
	/* When sample() must run next, set by start() and sample() of a type that has pause(), also
	 * if that is before the next period; 0 = never. */
	uint64_t due_ns;
};

/* All known types, NULL-terminated, in the order in which they sample. */
const struct tp_collector_type *const *tp_collector_types(void);

#endif
