/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own event names, in /sys/bus/event_source/devices. */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_EVENT_ALIAS_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_EVENT_ALIAS_H

#include "pmu_group.h"

#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_CORE_PMUS_MAX = 4 };

/* A PMU of CPU cores. CPUs with different kinds of cores have several. */
struct tp_core_pmu {
	char name[32]; /* "cpu", "cpu_core", "armv8_pmuv3_0" */
	uint32_t type;
};

/* Finds the PMUs of the CPU cores; 0 if the machine exposes none. */
size_t tp_core_pmu_find(struct tp_core_pmu *out, size_t max, const struct tp_host *host);

/* Finds an event by the name of its file in events/. Returns false if the PMU does not have it. */
bool tp_pmu_event_alias_find(struct tp_pmu_event *out, const struct tp_host *host,
			     const struct tp_core_pmu *pmu, const char *alias);
/* Reads its .scale file; 1 if there is none. */
double tp_pmu_event_alias_scale(const struct tp_host *host, const struct tp_core_pmu *pmu,
				const char *alias);
/* Reads a number in caps/ ("slots"); false if there is none. */
bool tp_pmu_event_alias_cap(uint64_t *out, const struct tp_host *host,
			    const struct tp_core_pmu *pmu, const char *name);

#endif
