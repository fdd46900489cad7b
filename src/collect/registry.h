/* The constants of all sources; each is defined in the file of its name. */
#ifndef TRAINPROF_SRC_COLLECT_REGISTRY_H
#define TRAINPROF_SRC_COLLECT_REGISTRY_H

struct tp_collector_type;

extern const struct tp_collector_type tp_perf_collector;
extern const struct tp_collector_type tp_marks_collector;
extern const struct tp_collector_type tp_self_collector;
extern const struct tp_collector_type tp_host_collector; /* hostload.c */
extern const struct tp_collector_type tp_proc_collector; /* poll.c */
extern const struct tp_collector_type tp_pmu_collector;
extern const struct tp_collector_type tp_python_collector; /* pylines.c */
extern const struct tp_collector_type tp_nvml_collector;
extern const struct tp_collector_type tp_cupti_collector;
extern const struct tp_collector_type tp_gpupmu_collector;

#endif
