/* SPDX-License-Identifier: Apache-2.0 */
/* Time of a loader's workers by activity, and the cost of a batch. */
#ifndef TRAINPROF_SRC_ANALYZE_FACTS_LOADER_WORK_H
#define TRAINPROF_SRC_ANALYZE_FACTS_LOADER_WORK_H

#include "analyze/analysis.h"

/* Returns the activity of a worker in a segment of its timeline. */
enum tp_worker_time tp_loader_work_time_of(const struct tp_analysis *analysis,
					   const struct tp_segment *segment);

/* Adds the part of the worker's timeline inside the window; its times sum to lived_ns. */
void tp_loader_work_add(struct tp_worker_result *worker, const struct tp_analysis *analysis,
			uint32_t task);

/* Returns true if the main thread does the loader's work itself in a segment of its own, labelled
 * timeline, and does not wait for other threads to do it. */
bool tp_loader_work_is_inline(const struct tp_analysis *analysis, const struct tp_segment *segment);

/* Sets the facts about a loader's time and about batches, from profile->workers; without workers
 * from the trainer's own loading. `n_workers` is how many workers exist at the same time; 0 = the
 * trainer loads the data itself.
 * Needs labels, steps, the window; sets the reason for each missing fact. */
void tp_loader_work_facts(struct tp_analysis *analysis, double n_workers);

#endif
