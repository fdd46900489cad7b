/* SPDX-License-Identifier: Apache-2.0 */
/* Declares all sources; each is defined in the file of its name. */
#ifndef TRAINPROF_SRC_COLLECT_REGISTRY_H
#define TRAINPROF_SRC_COLLECT_REGISTRY_H

struct tp_collector_type;

extern const struct tp_collector_type tp_perf_collector;
extern const struct tp_collector_type tp_marks_collector;
extern const struct tp_collector_type tp_self_collector;
extern const struct tp_collector_type tp_host_collector;   /* host_collector.c */
extern const struct tp_collector_type tp_offcpu_collector; /* offcpu_collector.c */
extern const struct tp_collector_type tp_pmu_collector;
extern const struct tp_collector_type tp_python_collector; /* python_collector.c */
extern const struct tp_collector_type tp_watch_collector;
extern const struct tp_collector_type tp_nvml_collector;
extern const struct tp_collector_type tp_cupti_collector;
extern const struct tp_collector_type tp_gpu_counters_collector;

#endif
