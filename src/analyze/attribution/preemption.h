/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines the phase of the main thread at each preemption.
 *
 * If threads were sampled as they left a CPU, that sample shows the phase. For a thread that runs
 * Python, stack reads show it: a runnable thread does not run and is where it was. The other
 * preemptions are compared with those of known phase: the nearest one in which the CPU went to the
 * same kind of thread (just woken, for example by room for another batch, or already waiting for
 * its turn), after an equally long run and before an equally long wait for a CPU
 * (preemption_model.h).
 *
 * Without both: samples lie anywhere in a stay, but a stay ends by preemption where the thread runs
 * long without a break, such as a spin at a barrier. So if phases are shorter than the time between
 * samples, only samples shortly before the preemption, or shortly after the thread runs again, show
 * the phase.
 */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PREEMPTION_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PREEMPTION_H

#include "analyze/analysis.h"
#include "preemption_model.h"

#include <stdbool.h>
#include <stddef.h>

/* One preemption of the main thread and the CPU on which it happened. */
struct tp_preemption_event {
	uint64_t time_ns;
	uint32_t cpu;
	enum tp_thread_role
		taker;       /* thread that got the CPU; OTHER includes threads without records */
	bool is_taker_woken; /* it was blocked before, not runnable */
};

/* Source of the phase of a preemption. */
enum tp_preemption_source {
	TP_PREEMPTION_BY_SAMPLES,      /* samples just before and after */
	TP_PREEMPTION_BY_PYTHON_READS, /* Python stacks read while the thread was runnable */
	TP_PREEMPTION_BY_SWITCHES      /* samples taken as the thread left the CPU */
};

struct tp_preemption {
	const struct tp_analysis *analysis;
	const struct tp_timeline *timeline;
	bool needs_python; /* samples without Python frames are not used */
	enum tp_preemption_source way;
	struct tp_preemption_event *losses; /* heap, in time order */
	size_t n_losses;
	struct tp_preemption_model known;
};

/* `timeline` is the main thread's, before it has labels. */
void tp_preemption_build(struct tp_preemption *self, const struct tp_analysis *analysis,
			 const struct tp_timeline *timeline, bool needs_python);
void tp_preemption_release(struct tp_preemption *self);

/* Returns the phase of a runnable segment. `before` is the phase of the segment before it; it is
 * also the result if the samples around agree with it or no better source exists. */
enum tp_phase tp_preemption_phase(const struct tp_preemption *self, size_t at,
				  enum tp_phase before);

#endif
