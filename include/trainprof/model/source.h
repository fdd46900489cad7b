/* SPDX-License-Identifier: Apache-2.0 */
/* Availability of a source of measurements on this machine, and if it is missing, the reason and
 * the remedy. */
#ifndef TRAINPROF_MODEL_SOURCE_H
#define TRAINPROF_MODEL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#define TP_PRESENCE_MAP(X)                                                                         \
	X(PRESENT, "present")                                                                      \
	X(DEGRADED, "present with less detail")                                                    \
	X(NOT_BUILT, "not built in")                                                               \
	X(NO_LIBRARY, "library missing")                                                           \
	X(NO_DEVICE, "no such device")                                                             \
	X(NO_PERMISSION, "not permitted")                                                          \
	X(IN_USE, "used by another tool")                                                          \
	X(OFF, "switched off")

enum tp_presence {
#define X(name, text) TP_PRESENCE_##name,
	TP_PRESENCE_MAP(X)
#undef X
		TP_N_PRESENCES
};

/* The states in words. Static storage. */
const char *tp_source_state_text(enum tp_presence presence);

struct tp_availability {
	enum tp_presence presence;
	char reason[240];         /* "perf_event_paranoid is 4"; empty if available */
	char remedy[120];         /* command to type; empty if nothing helps */
	bool is_granted_at_start; /* lacks CAP_PERFMON or CAP_SYS_PTRACE, which the start of a
				   * container can grant */
};

/* One source and how it worked in a recording. Strings are ids in the sink's or trace's table. */
struct tp_source {
	uint32_t name;    /* "perf", "proc", "pmu" … */
	uint32_t summary; /* "CPU stacks and context switches" */
	enum tp_presence presence;
	uint32_t reason;
	uint32_t remedy;
	uint64_t n_records;
	uint64_t n_lost;
};

#endif
