/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes one record of a perf ring from its bytes. The bytes are not trusted: counts and offsets
 * are checked against the record's size, so that a torn ring gives an error, not a crash. */
#ifndef TRAINPROF_SRC_COLLECT_PERF_PERF_DECODE_H
#define TRAINPROF_SRC_COLLECT_PERF_PERF_DECODE_H

#include "trainprof/stack/maps.h"
#include "trainprof/stack/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The options with which the events were opened; all events of a ring share the id fields at a
 * record's end. */
struct tp_perf_layout {
	bool has_chain; /* samples contain the kernel part of the call chain */
	bool has_stack; /* samples contain user registers and stack */
	bool has_event; /* records contain their event's id: if threads were attached one by one */
};

enum { TP_PERF_MAX_RECORD = 1 << 16 }; /* the size is 16 bits wide */

struct tp_perf_sample {
	uint64_t ip;
	bool is_kernel;
	const uint64_t *chain; /* kernel addresses, innermost first; markers included */
	size_t n_chain;
	bool has_regs; /* of 64-bit user code */
	struct tp_unwind_regs regs;
	const void *stack; /* NULL if none was copied */
	size_t stack_bytes;
	size_t stack_asked; /* more than was copied if the stack ends or a page is missing */
};

struct tp_perf_record {
	uint32_t type; /* PERF_RECORD_… */
	uint16_t misc;
	pid_t pid; /* the thread it is about */
	pid_t tid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t cpu;
	uint64_t event_id; /* of the event that we opened, not of its copies; 0 = unknown */
	union {
		struct tp_mapping mapping; /* MMAP2 */
		struct {
			const char *name;
			bool is_exec;
		} comm;
		struct {
			pid_t parent_pid;
			pid_t parent_tid;
		} fork; /* FORK, EXIT */
		struct {
			bool is_out;
			bool is_preempted;
		} change;        /* SWITCH, also for SWITCH_CPU_WIDE */
		uint64_t n_lost; /* LOST, LOST_SAMPLES */
		struct tp_perf_sample sample;
	} of;
};

/* Returns false if the bytes cannot be decoded. Types that are not used here decode to type and id
 * only. Pointers in `out` point into `bytes`, which must be aligned to 8. */
bool tp_perf_record_decode(struct tp_perf_record *out, const void *bytes, size_t size,
			   const struct tp_perf_layout *layout);

/* Returns the offset of the time in a record of this type and size; 0 if it has none. */
size_t tp_perf_record_time_offset(uint32_t type, size_t size, bool has_event);

/* Returns the register numbers of this machine for perf_event_attr.sample_regs_user. */
uint64_t tp_perf_user_regs(void);

#endif
