/*
 * What can be measured as a number over time. One row each; a recording stores the number, the
 * name is in the file too, so that another version can read it.
 */
#ifndef TRAINPROF_MODEL_METRIC_H
#define TRAINPROF_MODEL_METRIC_H

#include <stdint.h>

/*
 * name in code, name in data, unit, kind, subject.
 * COUNTER only grows; GAUGE is a level. Subject: TASK = one thread, PROCESS = its leader's id,
 * HOST = TP_NO_TASK.
 */
#define TP_METRIC_MAP(X)                                                                           \
	X(TASK_RUN, "task.run_ns", "ns", COUNTER, TASK)           /* schedstat field 1 */          \
	X(TASK_DELAY, "task.run_delay_ns", "ns", COUNTER, TASK)   /* schedstat field 2 */          \
	X(TASK_MINFLT, "task.minor_faults", "1", COUNTER, TASK)   /* stat field 10 */              \
	X(TASK_MAJFLT, "task.major_faults", "1", COUNTER, TASK)   /* stat field 12 */              \
	X(TASK_UTIME, "task.utime_ns", "ns", COUNTER, TASK)       /* stat field 14 */              \
	X(TASK_STIME, "task.stime_ns", "ns", COUNTER, TASK)       /* stat field 15 */              \
	X(PROC_UTIME, "process.utime_ns", "ns", COUNTER, PROCESS) /* dead threads included */      \
	X(PROC_STIME, "process.stime_ns", "ns", COUNTER, PROCESS)                                  \
	X(PROC_MINFLT, "process.minor_faults", "1", COUNTER, PROCESS)                              \
	X(PROC_MAJFLT, "process.major_faults", "1", COUNTER, PROCESS)                              \
	X(PROC_RSS, "process.rss_bytes", "bytes", GAUGE, PROCESS)                                  \
	X(PROC_SWAP, "process.swap_bytes", "bytes", GAUGE, PROCESS)                                \
	X(PROC_THREADS, "process.threads", "1", GAUGE, PROCESS)                                    \
	X(IO_RCHAR, "io.read_call_bytes", "bytes", COUNTER, PROCESS)    /* io: rchar */            \
	X(IO_WCHAR, "io.write_call_bytes", "bytes", COUNTER, PROCESS)   /* io: wchar */            \
	X(IO_SYSCR, "io.read_calls", "1", COUNTER, PROCESS)             /* io: syscr */            \
	X(IO_SYSCW, "io.write_calls", "1", COUNTER, PROCESS)            /* io: syscw */            \
	X(IO_READ, "io.device_read_bytes", "bytes", COUNTER, PROCESS)   /* io: read_bytes */       \
	X(IO_WRITE, "io.device_write_bytes", "bytes", COUNTER, PROCESS) /* io: write_bytes */      \
	X(CPU_BUSY, "host.cpu_busy_ns", "ns", COUNTER, HOST)            /* all CPUs allowed us */  \
	X(CPU_IDLE, "host.cpu_idle_ns", "ns", COUNTER, HOST)            /* idle and iowait */      \
	X(CPU_STEAL, "host.cpu_steal_ns", "ns", COUNTER, HOST)                                     \
	X(PSI_CPU, "psi.cpu_some_ns", "ns", COUNTER, HOST)                                         \
	X(PSI_MEM_SOME, "psi.memory_some_ns", "ns", COUNTER, HOST)                                 \
	X(PSI_MEM_FULL, "psi.memory_full_ns", "ns", COUNTER, HOST)                                 \
	X(PSI_IO_SOME, "psi.io_some_ns", "ns", COUNTER, HOST)                                      \
	X(PSI_IO_FULL, "psi.io_full_ns", "ns", COUNTER, HOST)                                      \
	X(MEM_AVAILABLE, "host.memory_available_bytes", "bytes", GAUGE, HOST)                      \
	X(SWAP_IN, "host.swap_in_bytes", "bytes", COUNTER, HOST)                                   \
	X(SWAP_OUT, "host.swap_out_bytes", "bytes", COUNTER, HOST)                                 \
	X(CG_QUOTA, "cgroup.quota_cpus", "cpus", GAUGE, HOST) /* absent = no quota */              \
	X(CG_PERIODS, "cgroup.periods", "1", COUNTER, HOST)                                        \
	X(CG_THROTTLES, "cgroup.throttled_periods", "1", COUNTER, HOST)                            \
	X(CG_THROTTLED, "cgroup.throttled_ns", "ns", COUNTER, HOST)                                \
	X(DISK_READ, "disk.read_bytes", "bytes", COUNTER, HOST) /* sum over whole devices */       \
	X(DISK_WRITE, "disk.write_bytes", "bytes", COUNTER, HOST)                                  \
	X(DISK_READS, "disk.reads", "1", COUNTER, HOST)                                            \
	X(DISK_BUSY, "disk.busy_ns", "ns", COUNTER, HOST) /* of the busiest device */              \
	X(NET_BYTES, "net.bytes", "bytes", COUNTER, HOST) /* received and sent, without lo */      \
	X(NUMA_NODES, "host.numa_nodes", "1", GAUGE, HOST)                                         \
	X(PMU_CYCLES, "pmu.cycles", "1", COUNTER, HOST) /* of the whole target tree, scaled */     \
	X(PMU_INSTRUCTIONS, "pmu.instructions", "1", COUNTER, HOST)                                \
	X(PMU_LLC_REFS, "pmu.llc_references", "1", COUNTER, HOST)                                  \
	X(PMU_LLC_MISSES, "pmu.llc_misses", "1", COUNTER, HOST)                                    \
	X(PMU_SLOTS, "pmu.slots", "1", COUNTER, HOST) /* top-down level 1 */                       \
	X(PMU_BACKEND, "pmu.backend_bound_slots", "1", COUNTER, HOST)                              \
	X(PMU_MEMORY, "pmu.memory_bound_slots", "1", COUNTER, HOST)                                \
	X(PMU_RUNNING, "pmu.running_ratio", "ratio", GAUGE, HOST) /* least of the groups */        \
	X(SELF_CPU, "self.cpu_ns", "ns", COUNTER, HOST)       /* CPU time of trainprof itself */   \
	X(SELF_RSS, "self.rss_bytes", "bytes", GAUGE, HOST)   /* memory of trainprof itself */     \
	X(SELF_SAMPLES, "self.samples", "1", COUNTER, HOST)   /* interrupts put into the target */ \
	X(SELF_SWITCHES, "self.switches", "1", COUNTER, HOST) /* switch records written */         \
	X(SELF_SAMPLE_COST, "self.sample_cost_ns", "ns", GAUGE, HOST) /* calibrated, one sample */ \
	X(SELF_SWITCH_COST, "self.switch_cost_ns", "ns", GAUGE, HOST) /* calibrated, one switch */ \
	X(SELF_FAULT_COST, "self.fault_cost_ns", "ns", GAUGE, HOST)   /* calibrated, a minor fault \
								       */

enum tp_metric {
#define X(id, name, unit, kind, subject) TP_METRIC_##id,
	TP_METRIC_MAP(X)
#undef X
		TP_N_METRICS
};

enum tp_metric_kind { TP_METRIC_KIND_COUNTER, TP_METRIC_KIND_GAUGE };
enum tp_metric_subject { TP_METRIC_OF_TASK, TP_METRIC_OF_PROCESS, TP_METRIC_OF_HOST };

struct tp_metric_desc {
	const char *name;
	const char *unit;
	enum tp_metric_kind kind;
	enum tp_metric_subject subject;
};

/* The row of a metric; never NULL for a valid id. */
const struct tp_metric_desc *tp_metric_desc(enum tp_metric metric);
/* The id of a name, TP_N_METRICS when unknown. */
enum tp_metric tp_metric_find(const char *name);

#endif
