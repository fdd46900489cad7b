/* SPDX-License-Identifier: Apache-2.0 */
/* What the workers of a loader do with their time, and what a batch costs them. */
#ifndef TRAINPROF_SRC_ANALYZE_FACTS_LOADER_WORK_H
#define TRAINPROF_SRC_ANALYZE_FACTS_LOADER_WORK_H

#include "analyze/analysis.h"

/* What a worker does in a piece of its timeline. */
enum tp_worker_time tp_loader_work_time_of(const struct tp_analysis *analysis,
					   const struct tp_segment *piece);

/* Adds what of the worker's timeline lies in the window; its times sum to lived_ns. */
void tp_loader_work_add(struct tp_worker_result *worker, const struct tp_analysis *analysis,
			uint32_t task);

/* Whether the main thread does the loader's work itself in a piece of its own, labelled timeline,
 * and does not wait for others to do it. */
bool tp_loader_work_is_inline(const struct tp_analysis *analysis, const struct tp_segment *piece);

/*
 * Sets the facts on a loader's time and on batches, of profile->workers; where there are none of
 * the trainer's own loading. `n_workers` live at a time, 0 = the trainer loads itself. Needs
 * labels, steps, the window; says why where something is missing.
 */
void tp_loader_work_facts(struct tp_analysis *analysis, double n_workers);

#endif
