/* SPDX-License-Identifier: Apache-2.0 */
/* Time in which nothing could be observed, because the program or trainprof was stopped, or in
 * which nothing could be kept. A
 * recording stores each such time as a gap of the source TP_STOP_SOURCE with the cause in its
 * reason; a trace leaves it out. */
#ifndef TRAINPROF_MODEL_STOP_H
#define TRAINPROF_MODEL_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TP_STOP_SOURCE "stops"

/* Kind, and the text with which a gap's reason begins. */
#define TP_STOP_MAP(X)                                                                             \
	X(SIGNAL, "stopped by a signal")            /* state T: Ctrl-Z, SIGSTOP */                 \
	X(DEBUGGER, "held by a debugger")           /* state t */                                  \
	X(FROZEN, "frozen by its control group")    /* the freezer of cgroup v1 or v2 */           \
	X(SUSPENDED, "the machine was suspended")   /* the clock of the records did not advance */ \
	X(MEASURER, "trainprof itself stood still") /* stopped, or without a CPU */                \
	X(DISK_FULL, "the disk was full")           /* the program went on; nothing was kept */

enum tp_stop_kind {
#define X(id, text) TP_STOP_##id,
	TP_STOP_MAP(X)
#undef X
		TP_N_STOP_KINDS
};

struct tp_stopped_time {
	enum tp_stop_kind kind;
	bool is_left_out; /* removed from the times of the trace; if false, only a small part of the
			     program was stopped */
	pid_t pid;        /* the process that was stopped; 0 = all of them */
	uint64_t start_ns;  /* in a trace: where it was removed */
	uint64_t length_ns; /* its duration */
	uint64_t n_lost;    /* records that were lost in it */
};

const char *tp_stop_kind_text(enum tp_stop_kind kind);
/* True if the program was stopped, too; false if it may have run on. */
bool tp_stop_is_of_program(enum tp_stop_kind kind);

/* Formats the reason of a gap. `asleep_ns`: time that the clock of the records did not count, else
 * 0. */
enum { TP_STOP_REASON_SIZE = 96 };
void tp_stop_format(char out[TP_STOP_REASON_SIZE], enum tp_stop_kind kind, pid_t pid,
		    uint64_t asleep_ns);
/* Parses it, except the time of the gap itself. Returns false if it is the reason of another
 * gap. */
bool tp_stop_parse(struct tp_stopped_time *out, const char *reason);

#endif
