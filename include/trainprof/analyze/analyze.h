/* SPDX-License-Identifier: Apache-2.0 */
/* Derives a profile from a trace: roles, timelines, exact parts, steps, steady state, facts,
 * brackets. */
#ifndef TRAINPROF_ANALYZE_ANALYZE_H
#define TRAINPROF_ANALYZE_ANALYZE_H

#include "trainprof/base/status.h"
#include "trainprof/model/profile.h"
#include "trainprof/model/trace.h"

struct tp_patterns;

enum tp_steps_choice { TP_STEPS_AUTO, TP_STEPS_ONLY_MARKER, TP_STEPS_OFF };

/* One rank of a job whose ranks were recorded together: only its processes are analysed, and those
 * of other ranks are its peers. Tasks are leaders of the first process of each rank. */
struct tp_rank_scope {
	uint32_t root;
	const uint32_t *all;
	size_t n_all;
};

struct tp_analyze_options {
	enum tp_steps_choice steps;
	uint64_t skip_steps;              /* exclude at least this many first steps */
	const struct tp_rank_scope *rank; /* NULL = the whole recording is one program */
};

/* Loads the rules/patterns/<name>.json files of a directory: the meaning of symbols, libraries,
 * files, programs, threads, marks, device kernels and spans. Format: rules/patterns/README.md.
 * Errors  TP_ABSENT, TP_PARSE with file and line. Freed with tp_patterns_free(). */
TP_MUST_CHECK enum tp_status tp_patterns_load(struct tp_patterns **out, const char *directory,
					      struct tp_error *err);
/* Adds the stack patterns of a folder rules/idioms/; an idiom with the same id replaces an earlier
 * one. A missing folder adds nothing. Errors  TP_ABSENT, TP_PARSE with file and line. */
TP_MUST_CHECK enum tp_status tp_patterns_load_idioms(struct tp_patterns *patterns,
						     const char *directory, struct tp_error *err);
void tp_patterns_free(struct tp_patterns *patterns);

/* Checks that every example in a row is matched by that row and not by an earlier row of another
 * file. Errors  TP_PARSE with file and line of the first row with a wrong example. */
TP_MUST_CHECK enum tp_status tp_patterns_check(const struct tp_patterns *patterns,
					       struct tp_error *err);

/* Runs all passes. The profile borrows the trace. Does not fail on strange data: an unknown value
 * is a missing fact with its reason and a warning. */
TP_MUST_CHECK enum tp_status tp_analyze(struct tp_profile *out, const struct tp_trace *trace,
					const struct tp_patterns *patterns,
					const struct tp_analyze_options *options,
					struct tp_error *err);

#endif
