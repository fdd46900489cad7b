/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which phase the main thread was when it lost its CPU.
 *
 * Where threads were sampled as they left a CPU, such a sample tells. Of a thread that runs Python
 * looks tell: while it wants a CPU it stands still, and is where it was. The others are like the
 * nearest of those whose CPU went to the same kind of thread (to one that was woken just then, say
 * by handing it room for a batch, or to one that had waited for its turn), who had run as long, and
 * who wanted a CPU as long (preemption_model.h).
 *
 * Without both: samples lie anywhere in a stay; a stay that ends by losing the CPU ends where the
 * thread runs long at a stretch, such as spinning at a barrier, and not anywhere. So where phases
 * are shorter than the time between samples, only what was sampled shortly before it lost the CPU,
 * or shortly after it had it again, tells.
 */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PREEMPTION_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PREEMPTION_H

#include "analyze/analysis.h"
#include "preemption_model.h"

#include <stdbool.h>
#include <stddef.h>

/* What was at the end of a stay of the main thread, on the CPU that it lost. */
struct tp_preemption_event {
	uint64_t time_ns;
	uint32_t cpu;
	enum tp_thread_role taker; /* OTHER: none of the threads that were recorded, too */
	bool is_taker_woken;       /* it was blocked before, not waiting for a CPU */
};

/* What tells where it was. */
enum tp_preemption_source {
	TP_PREEMPTION_BY_SAMPLES,      /* samples just before and after */
	TP_PREEMPTION_BY_PYTHON_READS, /* at Python, while it wanted a CPU */
	TP_PREEMPTION_BY_SWITCHES      /* samples as it left */
};

struct tp_preemption {
	const struct tp_analysis *analysis;
	const struct tp_timeline *timeline;
	bool needs_python; /* samples without Python frames tell nothing */
	enum tp_preemption_source way;
	struct tp_preemption_event *losses; /* heap, in order of time */
	size_t n_losses;
	struct tp_preemption_model known;
};

/* `timeline` is the main thread's, before it has labels. */
void tp_preemption_build(struct tp_preemption *self, const struct tp_analysis *analysis,
			 const struct tp_timeline *timeline, bool needs_python);
void tp_preemption_release(struct tp_preemption *self);

/* Of a runnable piece; `before` is the phase of the piece before it, and the answer where the
 * samples around agree or nothing tells better. */
enum tp_phase tp_preemption_phase(const struct tp_preemption *self, size_t at,
				  enum tp_phase before);

#endif
