/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a collector or importer, one record at a time. Times are absolute CLOCK_MONOTONIC
 * ns in a recording; the trace converts them to ns since the start of the run. */
#ifndef TRAINPROF_MODEL_RECORD_H
#define TRAINPROF_MODEL_RECORD_H

#include "trainprof/model/frame.h"
#include "trainprof/model/metric.h"
#include "trainprof/model/source.h"
#include "trainprof/model/span.h"
#include "trainprof/model/task.h"

#include <stdint.h>

enum tp_record_kind {
	TP_RECORD_STRING, /* defines a string id; written by the sink itself */
	TP_RECORD_FRAME,  /* defines a frame id; written by the sink itself */
	TP_RECORD_STACK,  /* defines a stack id; written by the sink itself */
	TP_RECORD_TASK, /* the current state of a task; a later record with the same id replaces it
			 */
	TP_RECORD_RUN,
	TP_RECORD_SAMPLE,
	TP_RECORD_GAUGE,
	TP_RECORD_MARK,
	TP_RECORD_GAP,
	TP_RECORD_SOURCE, /* a later one with the same name replaces it */
	TP_RECORD_TRACK,  /* a later one with the same id replaces it */
	TP_RECORD_DETAIL, /* defines a detail id; written by the sink itself */
	TP_RECORD_SPAN,
	TP_N_RECORDS
};

/* Reason for the end of a stay on a CPU, which determines the state until the next stay. */
enum tp_run_end {
	TP_RUN_BLOCKED,   /* gave up the CPU: blocked until woken */
	TP_RUN_PREEMPTED, /* lost the CPU: runnable */
	TP_RUN_EXITED,
	TP_RUN_OPEN, /* unknown until the next stay; with length 0: was off the CPU */
	TP_N_RUN_ENDS
};

/* One uninterrupted stay of a task on a CPU, exact (from context-switch records). */
struct tp_run {
	uint32_t task;
	uint32_t cpu;
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_run_end how;
};

enum {
	TP_SAMPLE_KERNEL = 1,    /* the leaf was in the kernel */
	TP_SAMPLE_POLLED = 2,    /* read from /proc, not by an interrupt */
	TP_SAMPLE_LEAF_ONLY = 4, /* the stack was left out to save time: only the leaf is known */
	TP_SAMPLE_SWITCH_OUT =
		8, /* taken as the task left its CPU: not a random instant, represents no time */
};

/* The state of a task at one instant. Samples on a CPU come from interrupts, the others from
 * polling; both are random instants, so shares of samples estimate shares of time.
 * TP_SAMPLE_SWITCH_OUT samples are the exception. */
struct tp_sample {
	uint32_t task;
	enum tp_state state;
	enum tp_cause cause; /* TP_CAUSE_NONE unless blocked */
	uint32_t flags;      /* TP_SAMPLE_… */
	uint32_t stack;      /* 0 = unknown */
	uint32_t target;     /* string: file name, "pipe:[123]", "socket:[9]"; 0 = none */
	uint32_t cpu;
	int32_t syscall; /* number on this machine; -1 = none or unknown */
	uint64_t time_ns;
	uint64_t address; /* futex address if blocked in a futex; 0 otherwise */
};

struct tp_gauge {
	enum tp_metric metric;
	uint32_t task; /* TP_NO_TASK for the host; for metrics of devices the id of a track */
	uint64_t time_ns;
	double value;
};

enum tp_mark_kind {
	TP_MARK_STEP,
	TP_MARK_PHASE_BEGIN,
	TP_MARK_PHASE_END,
	TP_MARK_STEP_END,
	/* trainprof emits the following ones, not the program. */
	TP_MARK_COUNTER,  /* the value of a counting variable that was read */
	TP_MARK_WRITE,    /* a watchpoint recorded a write to such a variable */
	TP_MARK_CALL,     /* a breakpoint recorded a call of a function */
	TP_MARK_SETTING,  /* a data loader of the program has this setting; the name is that of a
			     fact, UINT64_MAX = unknown */
	TP_MARK_TOTAL,    /* the loop that has the counter of this name ends at this value */
	TP_MARK_LOOP_END, /* the loop of this counter, last seen with this value, is over */
	TP_MARK_OTHER,    /* CPU time in ns that another program, "PID NAME", had used by then */
	TP_N_MARK_KINDS,
};

/* Emitted by the program itself through <trainprof/mark.h>. A step mark begins a step and ends the
 * previous one; a step end begins none. `name` distinguishes counters: "train.py:12 main() #3"; a
 * write to one has the same name. A call has the function's name. Writes and calls are numbered
 * from 1 since their breakpoint was set: a missing number means that some were lost. */
struct tp_mark {
	uint32_t task; /* TP_NO_TASK if the thread is unknown */
	enum tp_mark_kind kind;
	uint32_t name; /* string */
	uint64_t time_ns;
	uint64_t value; /* the program's step number, 0 if it gives none; a counter's value; the
			   number of a write or call */
};

/* Prefix of the reason if switch records were off because there were too many. */
#define TP_GAP_SWITCHES_OFF "switch records off"

/* The reason if a GPU was not traced on purpose, because tracing costs time. */
#define TP_GAP_BETWEEN_WINDOWS "the GPU was not traced between windows"

/* Something was not recorded. Never silent: gaps weaken findings and are printed. */
struct tp_gap {
	uint32_t source; /* string: name of the source */
	uint32_t reason; /* string: one line */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t n_lost; /* lost records, 0 = unknown number */
};

struct tp_record {
	enum tp_record_kind kind;
	uint32_t id; /* STRING, FRAME, STACK, DETAIL: the id being defined */
	union {
		const char *string;
		struct tp_frame frame;
		struct tp_stack stack;
		struct tp_task task;
		struct tp_run run;
		struct tp_sample sample;
		struct tp_gauge gauge;
		struct tp_mark mark;
		struct tp_gap gap;
		struct tp_source source;
		struct tp_track track;
		struct tp_detail detail;
		struct tp_span span;
	} of;
};

#endif
