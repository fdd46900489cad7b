/* Names that the kernel itself gives to events, under /sys/bus/event_source/devices. */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_EVENT_ALIAS_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_EVENT_ALIAS_H

#include "pmu_group.h"

#include "trainprof/collect/host_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_EVENTALIAS_MAX_CORES = 4 };

/* A PMU of CPU cores. Several on CPUs with different kinds of core. */
struct tp_corepmu {
	char name[32]; /* "cpu", "cpu_core", "armv8_pmuv3_0" */
	uint32_t type;
};

/* The PMUs of the CPU cores; 0 when the machine exposes none. */
size_t tp_corepmu_find(struct tp_corepmu *out, size_t max, const struct tp_host *host);

/* An event by the name of its file in events/. False when the PMU does not have it. */
bool tp_eventalias_find(struct tp_counter *out, const struct tp_host *host,
			const struct tp_corepmu *pmu, const char *alias);
/* Its .scale file; 1 when there is none. */
double tp_eventalias_scale(const struct tp_host *host, const struct tp_corepmu *pmu,
			   const char *alias);
/* A number in caps/ ("slots"); false when there is none. */
bool tp_eventalias_cap(uint64_t *out, const struct tp_host *host, const struct tp_corepmu *pmu,
		       const char *name);

#endif
