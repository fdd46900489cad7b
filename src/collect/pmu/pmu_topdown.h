/* SPDX-License-Identifier: Apache-2.0 */
/* The events of this CPU for slots, back-end bound and memory-bound slots (top-down analysis:
 * Yasin, ISPASS 2014), and the computation from their counts. */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_TOPDOWN_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_TOPDOWN_H

#include "pmu_event_alias.h"
#include "pmu_group.h"

#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_PMU_TOPDOWN_NONE = -1 };

/* Events of one group. Slots and back end are weighted sums: slots = sum of slots[i] * count i. */
struct tp_pmu_topdown {
	const char *name; /* "Intel top-down metrics" */
	struct tp_pmu_event events[TP_PMU_GROUP_MAX];
	size_t n;
	double slots[TP_PMU_GROUP_MAX];
	double backend[TP_PMU_GROUP_MAX];
	/* Memory-bound slots: also a sum, or backend * count / count; TP_PMU_TOPDOWN_NONE =
	 * unknown. */
	int memory_count;     /* counts memory-bound slots directly */
	int memory_numerator; /* of the ratio */
	int memory_denominator;
	/* The four parts of level 1, which must add up to the slots; [0] < 0 = not counted. */
	int parts[4];
};

/* In this order: cycles, instructions, references to and misses of the last-level cache. Returns
 * how many: 4, or 2 if the last level cannot be counted for a task. */
enum { TP_BASIC_CYCLES, TP_BASIC_INSTRUCTIONS, TP_BASIC_LLC_REFS, TP_BASIC_LLC_MISSES, TP_N_BASIC };
size_t tp_pmu_topdown_basic(struct tp_pmu_event *out, const struct tp_host *host,
			    const struct tp_core_pmu *pmu);

/* Result of a group. */
struct tp_pmu_topdown_slots {
	double slots;
	double backend;
	double memory; /* NAN if not available on this CPU */
};

/* Returns false if no formula is known for this CPU: `why` (size bytes) gets the reason in one
 * line. */
bool tp_pmu_topdown_find(struct tp_pmu_topdown *out, const struct tp_host *host,
			 const struct tp_core_pmu *pmu, char *why, size_t size);

/* Returns false if the counts are contradictory: nothing counted, parts that do not add up to 1 +-
 * 0.05, more back-end bound slots than slots. */
bool tp_pmu_topdown_compute(struct tp_pmu_topdown_slots *out, const struct tp_pmu_topdown *recipe,
			    const double *counts);

#endif
