/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events of this CPU tell slots, back-end bound and memory-bound slots (top-down analysis:
 * Yasin, ISPASS 2014), and how to compute them from the counts.
 */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_TOPDOWN_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_TOPDOWN_H

#include "pmu_event_alias.h"
#include "pmu_group.h"

#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_PMU_TOPDOWN_NONE = -1 };

/* Events of one group. Sums are over counts: slots = sum of slots[i] * count i. */
struct tp_pmu_topdown {
	const char *name; /* "Intel top-down metrics" */
	struct tp_pmu_event events[TP_PMU_GROUP_MAX];
	size_t n;
	double slots[TP_PMU_GROUP_MAX];
	double backend[TP_PMU_GROUP_MAX];
	/* Memory-bound slots: a sum too, or backend * count / count; TP_PMU_TOPDOWN_NONE: unknown.
	 */
	int memory_count;     /* counts memory-bound slots directly */
	int memory_numerator; /* of the ratio */
	int memory_denominator;
	/* The four parts of level 1, which must add up to the slots; [0] < 0: not counted. */
	int parts[4];
};

/* In this order: cycles, instructions, references to and misses of the last cache level. Returns
 * how many: 4, or 2 where the last level cannot be counted for a task. */
enum { TP_BASIC_CYCLES, TP_BASIC_INSTRUCTIONS, TP_BASIC_LLC_REFS, TP_BASIC_LLC_MISSES, TP_N_BASIC };
size_t tp_pmu_topdown_basic(struct tp_pmu_event *out, const struct tp_host *host,
			    const struct tp_core_pmu *pmu);

/* What a group said. */
struct tp_pmu_topdown_slots {
	double slots;
	double backend;
	double memory; /* NAN when this CPU does not tell */
};

/* False when this CPU has none that is known: `why` (size bytes) says it in one line. */
bool tp_pmu_topdown_find(struct tp_pmu_topdown *out, const struct tp_host *host,
			 const struct tp_core_pmu *pmu, char *why, size_t size);

/* False when the counts contradict themselves: nothing counted, parts that do not add up to 1 +-
 * 0.05, more back-end bound slots than slots. */
bool tp_pmu_topdown_compute(struct tp_pmu_topdown_slots *out, const struct tp_pmu_topdown *recipe,
			    const double *counts);

#endif
