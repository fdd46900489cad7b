/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collector or importer says, one record at a time. Times are absolute CLOCK_MONOTONIC ns
 * in a recording; the trace turns them into ns since the start of the run.
 */
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
	TP_RECORD_TASK,   /* a task as known now; a later one with the same id replaces it */
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

/* How a stay on a CPU ended, and so what the time until the next stay is. */
enum tp_run_end {
	TP_RUN_BLOCKED,   /* gave the CPU up: blocked until woken */
	TP_RUN_PREEMPTED, /* the CPU was taken away: runnable */
	TP_RUN_EXITED,
	TP_RUN_OPEN, /* from then on nothing is known until the next stay; of no length: was off */
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
	TP_SAMPLE_KERNEL = 1,     /* the leaf was in the kernel */
	TP_SAMPLE_POLLED = 2,     /* read from /proc, not by an interrupt */
	TP_SAMPLE_LEAF_ONLY = 4,  /* the stack was left out to save time: only the leaf is known */
	TP_SAMPLE_SWITCH_OUT = 8, /* as the task left its CPU: no instant drawn at random, stands
				   * for no time */
};

/*
 * What a task was doing at one instant. On-CPU ones come from interrupts, the others from polling;
 * both are instants drawn at random, so shares of samples estimate shares of time. Not so those
 * that are TP_SAMPLE_SWITCH_OUT.
 */
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
	uint64_t address; /* futex address when blocked in one; 0 otherwise */
};

struct tp_gauge {
	enum tp_metric metric;
	uint32_t task; /* TP_NO_TASK for the host; of a metric of devices the id of a track */
	uint64_t time_ns;
	double value;
};

enum tp_mark_kind {
	TP_MARK_STEP,
	TP_MARK_PHASE_BEGIN,
	TP_MARK_PHASE_END,
	TP_MARK_STEP_END,
	TP_MARK_COUNTER, /* not the program's own: a variable of it that counts, as it was seen */
	TP_MARK_WRITE,   /* nor this: a watchpoint saw a write to such a variable */
	TP_MARK_CALL,    /* nor this: a breakpoint saw a call of a function */
	TP_MARK_SETTING, /* nor this: a data loader of the program is set to this value; the name is
			  * that of a fact, UINT64_MAX = unknown */
	TP_MARK_TOTAL, /* nor this: the loop that has the counter of this name ends at this value */
	TP_MARK_LOOP_END, /* nor this: the loop of this counter, seen with this value, is over */
	TP_N_MARK_KINDS,
};

/* Said by the program itself through <trainprof/mark.h>. A step mark opens a step and ends the one
 * before; a step end opens none. Of counters `name` tells them apart: "train.py:12 main() #3"; a
 * write to one has the same name. A call has the function's name. Writes and calls are numbered
 * from 1 on since their breakpoint was set: where a number is left out, some were lost. */
struct tp_mark {
	uint32_t task; /* TP_NO_TASK when the thread is unknown */
	enum tp_mark_kind kind;
	uint32_t name; /* string */
	uint64_t time_ns;
	uint64_t value; /* step number as the program counts, 0 when it does not; a counter's value;
			 * the number of a write or call */
};

/* How the reason begins where switch records were off because there were too many. */
#define TP_GAP_SWITCHES_OFF "switch records off"

/* The reason where a GPU was not traced on purpose, for that costs. */
#define TP_GAP_BETWEEN_WINDOWS "the GPU was not traced between windows"

/* Something was not recorded. Never silent: gaps weaken findings and are printed. */
struct tp_gap {
	uint32_t source; /* string: name of the source */
	uint32_t reason; /* string: one line */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t n_lost; /* records, 0 = unknown number */
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
