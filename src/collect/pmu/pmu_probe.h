/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether hardware counters can be used here, and if not, why. */
#ifndef TRAINPROF_SRC_COLLECT_PMU_PMU_PROBE_H
#define TRAINPROF_SRC_COLLECT_PMU_PMU_PROBE_H

#include "trainprof/collect/host_info.h"
#include "trainprof/model/source.h"

/* PRESENT: everything. DEGRADED: no top-down slots. On a recorded machine only /sys is used. */
void tp_pmu_probe(const struct tp_host *host, struct tp_availability *out);

#endif
