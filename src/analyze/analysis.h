/* SPDX-License-Identifier: Apache-2.0 */
/* The data that the passes of one analysis share. Passes run in the order of the table in
 * analyze.c; each file states there what its pass needs and produces. */
#ifndef TRAINPROF_SRC_ANALYZE_ANALYSIS_H
#define TRAINPROF_SRC_ANALYZE_ANALYSIS_H

#include "trainprof/analyze/analyze.h"
#include "trainprof/model/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Phase of a stack by the names of its frames alone: the patterns of rules/patterns/. */
enum tp_phase {
	TP_PHASE_NONE,
	TP_PHASE_COMPUTE, /* forward, backward, optimizer: does not outrank a leaf */
	TP_PHASE_DATALOADER,
	TP_PHASE_COMMUNICATION,
	TP_PHASE_CHECKPOINT,
	TP_PHASE_LOGGING,
	TP_PHASE_HOST, /* bookkeeping between steps: metrics, shuffling */
	TP_PHASE_EVALUATION,
	TP_PHASE_COMPILE, /* compilation of the model during training: tracing, code generation */
	TP_PHASE_GC,
	TP_PHASE_IMPORT, /* import of modules: only if no inner frame has a phase */
	TP_N_PHASES
};

/* Returns true if all time in the phase belongs to it, whatever the thread does: a page fault
 * inside the loader counts for the loader. Compute and evaluation do not own their time. */
static inline bool tp_phase_owns_time(enum tp_phase phase)
{
	return phase != TP_PHASE_NONE && phase != TP_PHASE_COMPUTE && phase != TP_PHASE_EVALUATION;
}

/* Activity of the innermost known frame. */
enum tp_leaf {
	TP_LEAF_NONE,
	TP_LEAF_MATH,
	TP_LEAF_SPIN, /* busy waiting: barriers, spin locks, yields */
	TP_LEAF_COPY, /* memcpy, memset */
	TP_LEAF_ALLOC,
	TP_LEAF_FAULT, /* page fault handling in the kernel */
	TP_LEAF_READ,  /* file read path, on CPU */
	TP_LEAF_OPEN,  /* a file is opened or closed, for reading or for writing */
	TP_LEAF_WRITE, /* file write path, formatted output */
	TP_LEAF_NET,
	TP_LEAF_DECODE, /* images, audio, compression, parsing of data */
	TP_LEAF_PICKLE, /* serialising a batch, queues */
	TP_LEAF_INTERPRETER,
	TP_LEAF_LOCK,   /* inside a lock operation, on CPU */
	TP_LEAF_KERNEL, /* other kernel code */
	TP_N_LEAVES
};

/* Purpose of a Python function, if that is more specific than its innermost frame. */
enum tp_function_kind {
	TP_FUNCTION_NONE,
	TP_FUNCTION_DECODE,
	TP_FUNCTION_AUGMENT,    /* makes one sample from another */
	TP_FUNCTION_COLLATE,    /* makes a batch of samples */
	TP_FUNCTION_WAIT_ROOM,  /* waits until a consumer takes what was made */
	TP_FUNCTION_WAIT_WORK,  /* waits for the next item to make */
	TP_FUNCTION_START,      /* starts processes */
	TP_FUNCTION_WAIT_CHILD, /* waits for processes to end */
	TP_FUNCTION_WAIT_TASK,  /* takes its work itself, and does it further in: in rows of
				   patterns only, of a stack it is WAIT_WORK or nothing */
	TP_FUNCTION_TRAIN,      /* backward pass: the frames that call it contain the training */
	TP_FUNCTION_UPDATE,     /* the optimizer changes the weights: the same, once per step */
	TP_N_FUNCTION_KINDS
};

struct tp_stack_class {
	enum tp_phase phase; /* outermost known phase; evaluation only if nothing else is known */
	enum tp_leaf leaf;   /* leaf of the innermost frame */
	enum tp_leaf owner;  /* innermost of math and interpreter among all frames; else NONE */
	uint64_t function;   /* innermost function outside the C library; 0 = unknown */
	bool in_evaluation;  /* an evaluation frame is on the stack */
	bool is_loader_root; /* a frame that only loader workers have (worker main loop) */
	bool is_team_root;   /* a frame that only compute team members have */
	bool is_comm_root;   /* a frame that only communication threads have */
	bool is_task_root;   /* the main loop of a worker of a general pool, which loads or computes
			      */
	bool is_fork_server; /* the main loop of a process that only starts workers for others */
	bool is_helper_root; /* a frame that only threads have which pass on the output of others */
	bool is_fetch_root;  /* a frame that fetches a batch for a graph that waits for it */
	bool has_python;     /* at least one Python frame */
	enum tp_function_kind doing; /* of the innermost Python frame that has a kind */
};

struct tp_thread_info {
	uint32_t leader; /* task id of its process; never greater than the thread's own id */
	uint32_t next;   /* next thread of the same process, in order of ids from the leader;
			    TP_NO_TASK at the end */
	enum tp_thread_role role;
	bool is_helper;     /* helper thread of a loader: passes on what its workers make */
	uint64_t on_cpu_ns; /* over the run */
	uint64_t leaf_ns[TP_N_LEAVES]; /* on_cpu_ns by leaf class of the samples */
	uint64_t phase_ns[TP_N_PHASES];
};

/* Flags of a Python frame in tp_analysis.frame_flags. */
enum {
	TP_FRAME_IS_OWN = 1,   /* in one of the user's own files */
	TP_FRAME_IS_ENTRY = 2, /* entry point of the work; outer frames belong to the code that
				  forked the process */
};

struct tp_stack_reading; /* classify/stack_idiom.h */
struct tp_rank_analysis; /* devices/rank_data.h */
struct tp_intervals;     /* numeric/intervals.h */

struct tp_analysis {
	const struct tp_trace *trace;
	const struct tp_patterns *patterns;
	const struct tp_analyze_options *options;
	struct tp_profile *profile;
	struct tp_arena *arena; /* the profile's */

	struct tp_stack_class *classes; /* by stack id */
	uint8_t *frame_flags;           /* by frame id: TP_FRAME_IS_… */
	struct tp_timeline *timelines;  /* by task id */
	struct tp_thread_info *threads; /* by task id */
	enum tp_role *roles;            /* by task id, of process leaders */
	uint32_t *pool_owners; /* by task id: whose tasks a worker computes, or TP_NO_TASK; NULL =
				  pools were not searched */
	bool has_runs;         /* exact on-CPU intervals exist */

	uint32_t main_task; /* thread that runs the loop; TP_NO_TASK = not known */
	/* Extent of the training loop, from steps or from the loop's frame. */
	uint64_t loop_start_ns;
	uint64_t loop_end_ns;
	uint64_t loop_function; /* function that contains the loop, as tp_call_tree_function(); 0 =
				   not known */

	/* Device work that was recorded during the run. Set by the launches pass, released by the
	 * devices pass; NULL if there is none. */
	struct tp_rank_analysis *ranks;
	/* For a run that was traced in windows: the start of the first device work, and the time
	 * outside of the windows. Set by the launches pass, released by the devices pass; NULL if
	 * all was traced. */
	uint64_t traced_from_ns;
	const struct tp_intervals *untraced;
	/* The main thread's timeline, cut where devices begin and end to hide it; empty without
	 * devices. */
	struct tp_timeline beside_devices;
};

/* Timeline of a task. Empty if there is no such task, as in a recording without tasks. */
static inline const struct tp_timeline *tp_analysis_timeline(const struct tp_analysis *analysis,
							     uint32_t task)
{
	static const struct tp_timeline nothing;
	return task < analysis->trace->n_tasks ? &analysis->timelines[task] : &nothing;
}

/* The main thread's timeline with the labels from which the parts are computed. */
static inline const struct tp_timeline *
tp_analysis_main_timeline(const struct tp_analysis *analysis)
{
	return analysis->beside_devices.n ? &analysis->beside_devices
					  : tp_analysis_timeline(analysis, analysis->main_task);
}

struct tp_analysis_pass {
	const char *name;
	enum tp_status (*run)(struct tp_analysis *analysis, struct tp_error *err);
};

/* One line per pass, in the order of analyze.c. */
enum tp_status tp_pass_timelines(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_roles(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_inferred_phases(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_main_thread(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_steps(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_launches(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_steady(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_partition(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_devices(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_idioms(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_hang(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_lines(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_peer_waits(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_loader(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_loader_settings(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_processes(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_cpu(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_cpu_wait(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_other_programs(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_compute(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_communication(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_memory(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_io(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_counters(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_gpus(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_environment(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_replay(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_settings(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_quality(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_warnings(struct tp_analysis *analysis, struct tp_error *err);
enum tp_status tp_pass_ranks(struct tp_analysis *analysis, struct tp_error *err);

#endif
