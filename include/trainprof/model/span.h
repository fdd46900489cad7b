/* SPDX-License-Identifier: Apache-2.0 */
/* Work that was timed from begin to end: a kernel, a copy, an operator, a call. Traces of other
 * tools consist of spans; the time of a device is known only from its spans. */
#ifndef TRAINPROF_MODEL_SPAN_H
#define TRAINPROF_MODEL_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name in code, name in data. The numbers are those of recordings (docs/format.md). */
#define TP_SPAN_MAP(X)                                                                             \
	X(KERNEL, "kernel")         /* on a device: computes or communicates */                    \
	X(COPY, "copy")             /* on a device: moves memory */                                \
	X(SET, "set")               /* on a device: fills memory */                                \
	X(OPERATOR, "operator")     /* on a thread: one operator of a framework */                 \
	X(CALL, "call")             /* on a thread: a call of the device's runtime or driver */    \
	X(ANNOTATION, "annotation") /* on a thread: a range named by program or framework */       \
	X(PYTHON, "python")         /* on a thread: a Python function */                           \
	X(OS_CALL, "os_call")       /* on a thread: a call of the operating system that may block */

enum tp_span_kind {
#define X(id, name) TP_SPAN_##id,
	TP_SPAN_MAP(X)
#undef X
		TP_N_SPAN_KINDS
};

/* "kernel"; "none" for a number that is no kind. Static storage. */
const char *tp_span_kind_name(enum tp_span_kind kind);

static inline bool tp_span_kind_is_device(unsigned kind)
{
	return kind <= TP_SPAN_SET;
}

/* Device of a track that is a thread. */
enum { TP_TRACK_THREAD = -1 };

/* Number of a track that represents a whole device: it has gauges and no spans, and its name is the
 * device's. */
enum { TP_TRACK_WHOLE = -1 };

/* Numbers of threads' tracks in a trace that has communication only (Horovod's): the rank that was
 * ready last, or one of these. */
enum { TP_TRACK_TRANSFERS = -1, TP_TRACK_DATA_WAITS = -2, TP_TRACK_TOGETHER = -3 };

/* Track ids are below this: a trace with more tracks is damaged or hostile. */
enum { TP_TRACKS_MAX = 1 << 15 };

/* A sequence of spans that do not overlap: a thread, or a queue (stream) of a device. Ids are dense
 * and in order of appearance; a later record of the same track replaces the earlier one. */
struct tp_track {
	uint32_t id;
	uint32_t rank;  /* index into run.ranks */
	int32_t device; /* number of the device, or TP_TRACK_THREAD */
	uint32_t name;  /* string: the thread's name, or "stream 7"; 0 = none */
	int64_t number; /* number of the thread or stream in the trace */
	/* For a thread: one more than the id of the task that has its stays on CPUs and its
	 * samples; 0 = none is known. The task's record comes first. */
	uint32_t task_plus_1;
};

/* Everything known about a span except its times. Interned, because most kernels of a kind share
 * it. */
struct tp_detail {
	uint64_t bytes;    /* copied, filled or communicated; 0 = unknown */
	uint64_t blocks;   /* thread blocks of the kernel's grid; 0 = unknown */
	uint32_t threads;  /* threads per block; 0 = unknown */
	uint32_t op;       /* string: "allreduce" of a communication kernel; 0 = unknown */
	uint32_t type;     /* string: element type, as the trace names it; 0 = unknown */
	uint32_t group;    /* string: name of the communicator; 0 = unknown */
	uint32_t n_ranks;  /* in the communicator; 0 = unknown */
	uint32_t sequence; /* number of the collective in its communicator, plus one; 0 = unknown */
};

/* Half-open [start, end) on the clock of its rank. `link` is the same for a call and for the work
 * that it launched on a device, within one rank; 0 = unknown. Spans of a thread usually nest. */
struct tp_span {
	uint64_t start_ns;
	uint64_t end_ns; /* at least start_ns */
	uint32_t name;   /* string */
	uint32_t link;
	uint32_t detail; /* 0 = none */
	uint16_t track;
	uint8_t kind; /* enum tp_span_kind */
	uint8_t zero;
};

/* Sorts by start, and the longer span first if starts are equal, so that an enclosing span comes
 * before its children; otherwise stable. O(n log r) for r ascending runs, with extra memory for n /
 * 2 spans. */
void tp_spans_sort(struct tp_span *spans, size_t n);

#endif
