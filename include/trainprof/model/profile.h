/* SPDX-License-Identifier: Apache-2.0 */
/* The results of analysis: exact parts, steps, processes and facts. Rules, reports and gates read
 * nothing else. */
#ifndef TRAINPROF_MODEL_PROFILE_H
#define TRAINPROF_MODEL_PROFILE_H

#include "trainprof/base/arena.h"
#include "trainprof/model/device.h"
#include "trainprof/model/fact_id.h"
#include "trainprof/model/gpu.h"
#include "trainprof/model/part.h"
#include "trainprof/model/quantity.h"
#include "trainprof/model/run_info.h"
#include "trainprof/model/source.h"
#include "trainprof/model/task.h"
#include "trainprof/model/timeline.h"
#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_role {
	TP_ROLE_OTHER,
	TP_ROLE_TRAINER,  /* the process whose main loop is the training */
	TP_ROLE_LOADER,   /* produces batches for a trainer */
	TP_ROLE_LAUNCHER, /* starts trainers and waits for them */
	TP_ROLE_WORKER,   /* computes tasks that a trainer hands out and collects */
	TP_N_ROLES
};

const char *tp_role_name(enum tp_role role);

/* Distribution of a per-step quantity, ns. */
struct tp_stat {
	uint64_t n;
	double mean, median, p05, p95, p99, min, max, mad;
	double median_low, median_high; /* 95 % */
};

struct tp_part_result {
	uint64_t time_ns;   /* exclusive; the six sum to profile.total_ns, always */
	uint64_t hidden_ns; /* happened while the instant was assigned to another part */
	uint64_t solo_ns;   /* nothing else was active: limits what removing it can gain */
	struct tp_quantity share;
	struct tp_stat per_step; /* n = 0 without steps */
	/* Bounds of the mean step (or window) if this part cost nothing:
	 * docs/design/waits.md#brackets. */
	double without_low_ns;
	double without_high_ns;
	/* Its whole work per step, hidden or not and without waits, if it is sequential: no step
	 * can be shorter. 0 = unknown. */
	double work_ns;
};

enum tp_steps_found_by {
	TP_STEPS_NONE,
	TP_STEPS_MARKER,  /* the program's own marks */
	TP_STEPS_PERIOD,  /* a repeating pattern in call stacks, or in the order of launches */
	TP_STEPS_COUNTER, /* a counting variable that is read at samples */
	TP_STEPS_WATCH,   /* hardware breakpoints: most borders are exact */
	TP_N_STEPS_FOUND_BY
};

/* "none", "marker", "period", "counter", "watch", as in report.json. */
const char *tp_steps_found_by_name(enum tp_steps_found_by way);

enum tp_step_kind {
	TP_STEP_STEADY,
	TP_STEP_WARMUP,
	TP_STEP_CHECKPOINT,
	TP_STEP_EVALUATION,
	TP_STEP_SLOW,
	TP_STEP_CUT,     /* incomplete at an end of the recording */
	TP_STEP_COUNTED, /* while hardware counters were read, which locks the clocks of GPUs */
	TP_STEP_OTHER,   /* before or after the step time changed for good, faster or slower */
	TP_N_STEP_KINDS
};

const char *tp_step_kind_name(enum tp_step_kind kind);
const char *tp_step_kind_text(enum tp_step_kind kind); /* on screens: "warm-up" */

struct tp_profile;

/* Number of steps that were found, traced or not. */
size_t tp_profile_all_steps(const struct tp_profile *profile);

/* One step of one trainer: [start_ns, end_ns), parts sum to its length exactly. */
struct tp_step {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_step_kind kind;
	uint64_t part_ns[TP_N_PARTS];
	/* Time in communication with other ranks, and waiting for a CPU in the middle of it. */
	uint64_t peer_ns;
};

/* The main thread's time at one place of the program's own code, in the same steps or window as the
 * parts; without communication with other ranks. Strings are ids of the trace. */
struct tp_place_result {
	uint32_t file; /* 0 = unknown, as for compiled programs */
	uint32_t symbol;
	uint32_t line;       /* 0 = unknown */
	enum tp_label label; /* its largest label */
	uint64_t time_ns;
	uint64_t queue_ns; /* of it: waited for a CPU */
};

enum tp_phase_kind {
	TP_RUN_PHASE_STARTUP,
	TP_RUN_PHASE_WARMUP,
	TP_RUN_PHASE_TRAIN,
	TP_RUN_PHASE_EVAL,
	TP_RUN_PHASE_CHECKPOINT,
	TP_RUN_PHASE_SLOW,
	TP_RUN_PHASE_SHUTDOWN,
	TP_N_RUN_PHASES
};

const char *tp_run_phase_name(enum tp_phase_kind phase);

struct tp_process_result {
	uint32_t task; /* task id of the leader */
	enum tp_role role;
	uint64_t cpu_ns;    /* by the kernel's accounting */
	uint64_t on_cpu_ns; /* of its threads, in the window */
	uint64_t runnable_ns;
	uint64_t blocked_ns[TP_N_CAUSES];
	uint64_t lived_ns; /* sum over threads, in the window */
	uint64_t rss_peak_bytes;
	uint32_t n_threads;
};

enum tp_thread_role {
	TP_THREAD_OTHER,
	TP_THREAD_MAIN,   /* carries the training loop */
	TP_THREAD_TEAM,   /* computes for it */
	TP_THREAD_LOADER, /* makes batches: a thread of a trainer or of a loader process */
	TP_THREAD_COMM,
	TP_N_THREAD_ROLES
};

const char *tp_thread_role_name(enum tp_thread_role role);

/* One thread in the window; times sum to lived_ns. */
struct tp_thread_result {
	uint32_t task;
	enum tp_thread_role role;
	enum tp_role process_role;
	uint64_t lived_ns;
	uint64_t on_cpu_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns[TP_N_CAUSES];
};

/* Activities of a loader's worker. Name in code, name in data. */
#define TP_WORKER_TIME_MAP(X)                                                                      \
	X(DECODE, "decode")                                                                        \
	X(TRANSFORM, "transform")   /* augments, collates: all other CPU work */                   \
	X(READ, "read")             /* reads from storage, on a CPU or waiting for it */           \
	X(HANDOVER, "handover")     /* serialises, shares memory, writes to a queue */             \
	X(QUEUE_FULL, "queue_full") /* waits until a batch is taken */                             \
	X(INDEX_WAIT, "index_wait") /* waits for something to do */                                \
	X(SLEEP, "sleep")                                                                          \
	X(CPU_QUEUE, "cpu_queue") /* ready to run, but without a CPU */                            \
	X(OTHER, "other")         /* waits for something unknown */

enum tp_worker_time {
#define X(id, name) TP_WORKER_##id,
	TP_WORKER_TIME_MAP(X)
#undef X
		TP_N_WORKER_TIMES
};

const char *tp_worker_time_name(enum tp_worker_time what);

/* One worker of a loader in the window; times sum to lived_ns. */
struct tp_worker_result {
	uint32_t task;
	uint64_t lived_ns;
	uint64_t time_ns[TP_N_WORKER_TIMES];
};

/* Where time goes: one row per distinct (role, state, stack), largest first. */
struct tp_hot_stack {
	uint32_t stack; /* id in the trace */
	uint32_t task;  /* leader of the process */
	enum tp_state state;
	enum tp_part part; /* part of the trainer's time; TP_N_PARTS if it has none */
	uint64_t time_ns;
};

/* A loop in the source of a Python program. Strings are ids of the trace. */
struct tp_source_loop {
	bool is_known;
	bool is_library; /* not in the user's own files */
	uint32_t file;
	uint32_t symbol;     /* the function that contains the loop */
	uint32_t first_line; /* first and last line from which it calls something in each round; 0 =
				not seen */
	uint32_t last_line;
};

/* A line of a Python program, and the part of the main thread's time that it spent there or below.
 * Of the loop: the line at which the looping function was. Own: the innermost line of the user's
 * own files, where that is another one. Sums of either kind are at most the part's time: time
 * without a stack belongs to no line. */
struct tp_line_result {
	enum tp_part part;
	bool is_own;
	uint32_t file; /* string ids of the trace */
	uint32_t symbol;
	uint32_t line;
	uint64_t time_ns;    /* of the same steps or window as the part's */
	enum tp_label label; /* its largest label */
};

/* An idiom of rules/idioms/ that stacks of the run match, and the user's line in which most of its
 * time was spent. Strings are ids of the trace. */
struct tp_idiom_result {
	const char *id;                /* "idiom/tensor-of-arrays" */
	uint64_t main_ns;              /* of the main thread, in the training loop */
	uint64_t part_ns[TP_N_PARTS];  /* main_ns by part */
	uint64_t queued_ns;            /* part of it spent waiting for a CPU */
	uint64_t loading_ns;           /* time of threads that make batches, in the window */
	uint64_t tasks_ns[TP_N_PARTS]; /* time of task workers in the window, by what they do */
	uint64_t late_ns;              /* both together, in the second half of the window */
	uint64_t shared_ns;            /* of both, in lines that make other calls, too */
	double main_ratio;
	double loading_ratio; /* share of their time without waits for space or work */
	double held_ratio; /* of the loop: the share of both that the training waits for, at most */
	double time_ratio; /* the same without queued_ns */
	double part_ratio[TP_N_PARTS]; /* held_ratio by the part of the step that it lies in */
	uint64_t n_samples;
	uint32_t file; /* 0 = no line of the user's own */
	uint32_t symbol;
	uint32_t line;
};

/* The thread or process that works. */
enum tp_work_of {
	TP_WORK_OF_MAIN,    /* the main thread, except for batches that it makes itself */
	TP_WORK_OF_LOADING, /* threads that make batches */
	TP_WORK_OF_TASKS,   /* processes of a pool that compute for the trainer */
	TP_N_WORK_OF
};

/* Work by its innermost known function, or else by the user's own function. */
struct tp_work_result {
	enum tp_work_of of;
	const char *name;
	uint32_t file; /* innermost line of the user's own files; 0 = none */
	uint32_t symbol;
	uint32_t line;
	uint64_t time_ns; /* working time in the window, without waits for others */
};

/* Another program that used the CPUs in the window. */
struct tp_other_program {
	pid_t pid;
	uint32_t name;    /* string id: "811 python3" */
	const char *comm; /* of the same string: "python3" */
	double cpus;      /* mean over the window */
};

/* A plain sentence the reader must see ("steps were not resolved: …"). */
struct tp_warning {
	const char *id;
	const char *text;
	const char *effect; /* or NULL */
	const char *remedy; /* what to type, or NULL */
};

/* Figures of a trace that has communication alone (Horovod's): times are unions over tensors. */
struct tp_transfers {
	uint64_t span_ns;   /* from the first to the last event; 0 = the trace is none of these */
	int64_t late_rank;  /* the rank that was last for the longest time; -1 = none was */
	uint64_t n_late;    /* operations for which that rank was last */
	uint64_t n_waits;   /* operations with a rank that was last, of any rank, or with none */
	uint64_t late_ns;   /* the others waited for that rank */
	uint64_t waited_ns; /* for any rank */
	uint64_t sent_ns;   /* transfers */
	/* A row of model/verdict_words.h for the larger of the last two, if it is worth a verdict
	 * whatever the rest of a step is; NULL = it is not. Static storage. */
	const char *cause;
};

struct tp_profile {
	struct tp_arena arena;
	const struct tp_trace *trace; /* borrowed; must outlive the profile */

	uint32_t trainer; /* leader task of the judged trainer; TP_NO_TASK if there is none */
	/* States of each thread, by task id; NULL if no thread was sampled. For the main thread,
	 * which carries the training loop, with the labels that the parts consist of. */
	const struct tp_timeline *timelines;
	struct tp_timeline main_timeline; /* empty without main_task */
	uint32_t main_task;               /* TP_NO_TASK if there is none */
	uint64_t window_start_ns;         /* the period that the parts describe */
	uint64_t window_end_ns;
	const char *window_reason; /* "warm-up of 40 steps excluded" */

	/* Parts over total_ns: the steady steps, or the window when there are none. */
	bool is_of_steps;
	uint64_t total_ns;
	/* Where the program hangs and what its main thread waits for; NULL if it does not hang. */
	const char *hang_text;
	struct tp_part_result parts[TP_N_PARTS];
	uint64_t label_ns[TP_N_LABELS]; /* they sum to the part within each part, always */
	/* The step that the brackets refer to, if it is not the mean of step_time: for a job, the
	 * mean over all its devices. 0 = no other. */
	double bracket_ns;
	/* The largest part that a reader would call the limit; TP_N_PARTS if there is none. */
	enum tp_part limiter;
	/* For traces with devices: the largest part except compute if it matters; else
	 * TP_N_PARTS. */
	enum tp_part largest_loss;
	/* The cause of the devices' waits was not recorded: their gaps are in the part idle.
	 * Reports call that part unknown; no verdict or advice rests on it. */
	bool is_idle_unknown;
	struct tp_transfers transfers;

	enum tp_steps_found_by steps_found_by;
	double steps_confidence;  /* 0..1 */
	bool steps_are_about;     /* some may be missing, or several may be counted as one */
	bool steps_are_part;      /* there were more, of which the number is unknown */
	const char *steps_reason; /* how they were found, or why not */
	const char *steps_next;   /* a command that may find them, or calls to add; NULL: none */
	struct tp_step *steps;    /* in time order, without the untraced ones */
	size_t n_steps;
	size_t n_untraced; /* steady ones outside the windows of GPU tracing: their parts are not
			    * known */
	size_t n_steady;
	struct tp_stat step_time; /* of the steady steps */

	uint64_t run_phase_ns[TP_N_RUN_PHASES];
	uint64_t run_phase_count[TP_N_RUN_PHASES];

	struct tp_process_result *processes;
	size_t n_processes;
	struct tp_thread_result *threads; /* that existed in the window, in order of tasks */
	size_t n_threads;
	struct tp_hot_stack *hot;
	size_t n_hot;
	struct tp_other_program *others; /* by CPUs; none where they are not known */
	size_t n_others;
	struct tp_worker_result *workers; /* of the trainer's loader, in order of tasks */
	size_t n_workers;
	struct tp_source_loop loop;
	size_t n_task_workers; /* processes that compute what the trainer hands out and collects */
	struct tp_idiom_result *idioms; /* largest effect first */
	size_t n_idioms;
	bool has_idioms;              /* stacks were searched for them */
	struct tp_work_result *works; /* the main thread's last, then by time */
	size_t n_works;
	uint64_t work_ns[TP_N_WORK_OF]; /* sums */
	struct tp_line_result *lines;   /* by part, lines of the loop first, then by time */
	size_t n_lines;

	struct tp_place_result *places; /* by time */
	size_t n_places;
	/* As label_ns, but without waits for a CPU in the middle of communication: these count as
	 * waits for other ranks. */
	uint64_t beside_peers_ns[TP_N_LABELS];
	uint64_t
		peer_tail_ns; /* at the end it did nothing but wait for other ranks for this long */
	struct tp_place_result
		last_place; /* the main thread's place at that time; symbol 0 = unknown */

	/* Only for traces with spans. */
	struct tp_device_result *devices; /* in order of ranks, then of numbers */
	size_t n_devices;
	struct tp_kernel_result *kernels;
	size_t n_kernels;
	struct tp_collective_result *collectives;
	size_t n_collectives;
	struct tp_blame_result *blames; /* by time */
	size_t n_blames;
	const char *not_joined; /* why ranks were not joined; NULL if they were, or if there is one
				   rank */
	size_t micro_batches;   /* equal groups of ops in a step: gradient accumulation; 0 = none */

	/* For sampled programs that used GPUs; in order of tracks. */
	struct tp_gpu_result *gpus;
	size_t n_gpus;

	struct tp_quantity facts[TP_MAX_FACTS];

	struct tp_warning *warnings;
	size_t n_warnings;
	size_t warnings_capacity; /* of the array in the arena */
};

void tp_profile_init(struct tp_profile *profile, const struct tp_trace *trace);
void tp_profile_release(struct tp_profile *profile);

/* Set a fact that is known exactly or by sampling. */
void tp_profile_set(struct tp_profile *profile, tp_fact_id fact, double value,
		    enum tp_origin origin, double coverage);
/* Returns the part's name in reports: "unknown" for idle if its cause was not recorded. */
const char *tp_profile_part_name(const struct tp_profile *profile, enum tp_part part);
/* Records why a fact is unknown. `why` is copied. */
void tp_profile_set_missing(struct tp_profile *profile, tp_fact_id fact, const char *why);
/* Records that no recording of this kind has the fact: rules that need it do not apply to this
 * run. */
void tp_profile_rule_out(struct tp_profile *profile, tp_fact_id fact, const char *why);
/* Texts are copied; NULL allowed for effect and remedy. */
void tp_profile_warn(struct tp_profile *profile, const char *id, const char *text,
		     const char *effect, const char *remedy);
/* True for a step of training: neither evaluation nor checkpoint, neither warm-up nor cut. Those of
 * another level count, too: the step time changed for good before or after them. */
bool tp_step_is_training(const struct tp_step *step);
/* True if steps begin at known instants instead of somewhere between two samples. */
bool tp_steps_are_measured(const struct tp_profile *profile);
/* Promise P3: parts sum to the total, labels to their part, steps to their length. */
bool tp_profile_is_exact(const struct tp_profile *profile);

#endif
