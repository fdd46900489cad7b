/* SPDX-License-Identifier: Apache-2.0 */
/* Phases that the program marks itself on the main thread, and the samples in each. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PHASE_MARKS_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PHASE_MARKS_H

#include "analyze/analysis.h"

struct tp_phase_mark {
	uint64_t start_ns;
	uint64_t end_ns;
	enum tp_phase phase; /* never NONE */
};

struct tp_phase_hits {
	uint32_t *samples; /* on-CPU samples with a complete stack, in time order */
	size_t n;
};

/* Allocated in the analysis' arena. */
struct tp_phase_marks {
	struct tp_phase_mark *items; /* disjoint, in time order */
	size_t n;
	struct tp_phase_hits hits[TP_N_PHASES]; /* NONE = outside of all marked phases */
};

/* The outermost protecting phase of nested ones counts, otherwise the innermost known one. */
void tp_phase_marks_build(struct tp_phase_marks *out, const struct tp_analysis *analysis);
/* Returns the phase at a time; NONE outside of all. */
enum tp_phase tp_phase_marks_at(const struct tp_phase_marks *marked, uint64_t time_ns);
/* Returns the sample nearest in time that was taken in the phase; TP_NO_SAMPLE if there is none. */
uint32_t tp_phase_marks_sample(const struct tp_phase_marks *marked, const struct tp_trace *trace,
			       enum tp_phase phase, uint64_t time_ns);

#endif
