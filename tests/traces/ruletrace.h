/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces written for a rule: the events of each step, and the expected result. One file per
 * rule, tests/traces/rules/<id>.trace; README.md next to them describes the language. */
#ifndef TRAINPROF_TESTS_TRACES_RULETRACE_H
#define TRAINPROF_TESTS_TRACES_RULETRACE_H

#include "trainprof/base/arena.h"
#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum ruletrace_kind {
	RULETRACE_OP,
	RULETRACE_CALL,
	RULETRACE_RANGE,
	RULETRACE_PYTHON,
	RULETRACE_KERNEL,
	RULETRACE_COPY,
	RULETRACE_N_KINDS
};

/* An event of every step; times are us since the begin of the step. */
struct ruletrace_event {
	enum ruletrace_kind kind;
	const char *name;
	long from_us;
	long length_us;
	bool is_linked; /* a call launched it: */
	long by_us;
	long by_length_us;
	long device;
	long stream;
	long times; /* at least 1 */
	long every_us;
	long bytes;       /* 0 = unknown */
	const char *args; /* further members of a Kineto event's args, or NULL */
};

struct ruletrace_rank {
	struct ruletrace_event *events; /* heap */
	size_t n_events;
	size_t capacity;
};

struct ruletrace_fact {
	const char *name;
	double value;
};

/* Traces that are imported together. */
struct ruletrace_scene {
	unsigned line; /* first line */
	bool fires;
	const char *level;   /* if it fires */
	const char *because; /* the rule's sentence, or why it is quiet; NULL = not checked */
	long steps;
	long step_us;
	bool is_marked;
	bool is_cut;
	bool is_foreign;              /* nothing in the file identifies its writer */
	bool is_nsys_too;             /* an nsys export of it gives the same result */
	long malformed;               /* malformed events */
	long capability;              /* of the devices; 0 = unknown */
	long n_ranks;                 /* of the job */
	struct ruletrace_rank *ranks; /* heap */
	size_t n_seen;
	size_t capacity;
	struct ruletrace_fact *facts; /* heap */
	size_t n_facts;
	size_t facts_capacity;
};

struct ruletrace {
	struct tp_arena arena;
	const char *path;
	struct ruletrace_scene *scenes; /* heap */
	size_t n_scenes;
	size_t capacity;
};

/* Errors  TP_PARSE with file and line, and those of tp_file_read(). Released in any case. */
TP_MUST_CHECK enum tp_status ruletrace_load(struct ruletrace *out, const char *path,
					    struct tp_error *err);
void ruletrace_release(struct ruletrace *trace);

/* Writes one rank's trace as Kineto's JSON. */
void ruletrace_kineto(struct tp_buf *out, const struct ruletrace_scene *scene, size_t rank);
/* Writes the same as statements that create an export of nsys. */
void ruletrace_nsys(struct tp_buf *out, const struct ruletrace_scene *scene, size_t rank);

#endif
