/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that can be measured as a number over time, one row each. A recording stores the
 * number, and the name too, so that another version can read it. */
#ifndef TRAINPROF_MODEL_METRIC_H
#define TRAINPROF_MODEL_METRIC_H

#include <stdint.h>

/*
 * name in code, name in data, unit, kind, subject.
 * COUNTER only grows; GAUGE is a level. Subject: TASK = one thread, PROCESS = its leader's id,
 * HOST = TP_NO_TASK, DEVICE = the track that stands for a whole device (span.h).
 */
#define TP_METRIC_MAP(X)                                                                           \
	X(TASK_RUN, "task.run_ns", "ns", COUNTER, TASK)           /* schedstat field 1 */          \
	X(TASK_DELAY, "task.run_delay_ns", "ns", COUNTER, TASK)   /* schedstat field 2 */          \
	X(TASK_MINFLT, "task.minor_faults", "1", COUNTER, TASK)   /* stat field 10 */              \
	X(TASK_MAJFLT, "task.major_faults", "1", COUNTER, TASK)   /* stat field 12 */              \
	X(TASK_UTIME, "task.utime_ns", "ns", COUNTER, TASK)       /* stat field 14 */              \
	X(TASK_STIME, "task.stime_ns", "ns", COUNTER, TASK)       /* stat field 15 */              \
	X(PROC_CPUS, "process.allowed_cpus", "1", GAUGE, PROCESS) /* of its affinity mask */       \
	X(PROC_UTIME, "process.utime_ns", "ns", COUNTER, PROCESS) /* dead threads included */      \
	X(PROC_STIME, "process.stime_ns", "ns", COUNTER, PROCESS)                                  \
	X(PROC_MINFLT, "process.minor_faults", "1", COUNTER, PROCESS)                              \
	X(PROC_MAJFLT, "process.major_faults", "1", COUNTER, PROCESS)                              \
	X(PROC_RSS, "process.rss_bytes", "bytes", GAUGE, PROCESS)                                  \
	X(PROC_SWAP, "process.swap_bytes", "bytes", GAUGE, PROCESS)                                \
	X(PROC_THREADS, "process.threads", "1", GAUGE, PROCESS)                                    \
	X(PROC_RANK, "process.job_rank", "1", GAUGE, PROCESS)           /* by its launcher */      \
	X(PROC_RANKS, "process.job_ranks", "1", GAUGE, PROCESS)         /* 0 = unknown */          \
	X(IO_RCHAR, "io.read_call_bytes", "bytes", COUNTER, PROCESS)    /* io: rchar */            \
	X(IO_WCHAR, "io.write_call_bytes", "bytes", COUNTER, PROCESS)   /* io: wchar */            \
	X(IO_SYSCR, "io.read_calls", "1", COUNTER, PROCESS)             /* io: syscr */            \
	X(IO_SYSCW, "io.write_calls", "1", COUNTER, PROCESS)            /* io: syscw */            \
	X(IO_READ, "io.device_read_bytes", "bytes", COUNTER, PROCESS)   /* io: read_bytes */       \
	X(IO_WRITE, "io.device_write_bytes", "bytes", COUNTER, PROCESS) /* io: write_bytes */      \
	X(CPU_BUSY, "host.cpu_busy_ns", "ns", COUNTER, HOST) /* all CPUs that we may use */        \
	X(CPU_IDLE, "host.cpu_idle_ns", "ns", COUNTER, HOST) /* idle and iowait */                 \
	X(CPU_STEAL, "host.cpu_steal_ns", "ns", COUNTER, HOST)                                     \
	X(CPU_YIELDING, "host.cpu_yielding_ns", "ns", COUNTER,                                     \
	  HOST) /* programs that yield to us */                                                    \
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
	X(DISK_BUSY, "disk.busy_ns", "ns", COUNTER, HOST) /* the busiest device */                 \
	X(NET_BYTES, "net.bytes", "bytes", COUNTER, HOST) /* received and sent, without lo */      \
	X(NUMA_NODES, "host.numa_nodes", "1", GAUGE, HOST)                                         \
	X(PMU_CYCLES, "pmu.cycles", "1", COUNTER, HOST) /* of the whole target tree, scaled */     \
	X(PMU_INSTRUCTIONS, "pmu.instructions", "1", COUNTER, HOST)                                \
	X(PMU_LLC_REFS, "pmu.llc_references", "1", COUNTER, HOST)                                  \
	X(PMU_LLC_MISSES, "pmu.llc_misses", "1", COUNTER, HOST)                                    \
	X(PMU_SLOTS, "pmu.slots", "1", COUNTER, HOST) /* top-down level 1 */                       \
	X(PMU_BACKEND, "pmu.backend_bound_slots", "1", COUNTER, HOST)                              \
	X(PMU_MEMORY, "pmu.memory_bound_slots", "1", COUNTER, HOST)                                \
	X(PMU_RUNNING, "pmu.running_ratio", "ratio", GAUGE, HOST) /* lowest of the groups */       \
	X(SELF_CPU, "self.cpu_ns", "ns", COUNTER, HOST)       /* CPU time of trainprof itself */   \
	X(SELF_RINGS, "self.rings_ns", "ns", COUNTER, HOST)   /* part of it: records of perf */    \
	X(SELF_UNWIND, "self.unwind_ns", "ns", COUNTER, HOST) /* native stacks and their tables */ \
	X(SELF_SYMBOLS, "self.symbols_ns", "ns", COUNTER, HOST)   /* names of frames */            \
	X(SELF_PYTHON, "self.python_ns", "ns", COUNTER, HOST)     /* stacks of Python */           \
	X(SELF_COUNTERS, "self.counters_ns", "ns", COUNTER, HOST) /* counters of loops */          \
	X(SELF_PROC, "self.proc_ns", "ns", COUNTER, HOST)         /* accounting in /proc */        \
	X(SELF_OFFCPU, "self.offcpu_ns", "ns", COUNTER, HOST) /* inspection of waiting threads */  \
	X(SELF_STORE, "self.store_ns", "ns", COUNTER, HOST)   /* writing the recording */          \
	X(SELF_RSS, "self.rss_bytes", "bytes", GAUGE, HOST)   /* memory of trainprof itself */     \
	X(SELF_SAMPLES, "self.samples", "1", COUNTER,                                              \
	  HOST) /* sampling interrupts in the target */                                            \
	X(SELF_SWITCHES, "self.switches", "1", COUNTER, HOST)         /* switch records written */ \
	X(SELF_SAMPLE_COST, "self.sample_cost_ns", "ns", GAUGE, HOST) /* calibrated, one sample */ \
	X(SELF_SWITCH_COST, "self.switch_cost_ns", "ns", GAUGE, HOST) /* calibrated, one switch */ \
	X(SELF_FAULT_COST, "self.fault_cost_ns", "ns", GAUGE, HOST)   /* calibrated, a minor fault \
								       */                          \
	X(GPU_AWAKE, "gpu.awake_ratio", "ratio", GAUGE,                                            \
	  DEVICE) /* at least one kernel was resident */                                           \
	X(GPU_MEM_USED, "gpu.memory_used_bytes", "bytes", GAUGE, DEVICE) /* by all programs */     \
	X(GPU_MEM_TOTAL, "gpu.memory_total_bytes", "bytes", GAUGE, DEVICE)                         \
	X(GPU_MEM_OWN, "gpu.memory_own_bytes", "bytes", GAUGE, DEVICE) /* by the target */         \
	X(GPU_POWER, "gpu.power_w", "w", GAUGE, DEVICE)                                            \
	X(GPU_ENERGY, "gpu.energy_j", "j", COUNTER, DEVICE)                                        \
	X(GPU_CLOCK, "gpu.sm_clock_hz", "hz", GAUGE, DEVICE)                                       \
	X(GPU_CLOCK_MAX, "gpu.sm_clock_max_hz", "hz", GAUGE, DEVICE)                               \
	X(GPU_POWER_CAPPED, "gpu.power_capped_ns", "ns", COUNTER, DEVICE)   /* field 74 */         \
	X(GPU_HEAT_CAPPED, "gpu.heat_capped_ns", "ns", COUNTER, DEVICE)     /* field 75 */         \
	X(GPU_IS_CAPPED, "gpu.is_power_capped", "bool", GAUGE, DEVICE)      /* reason mask */      \
	X(GPU_IS_HOT, "gpu.is_heat_slowed", "bool", GAUGE, DEVICE)          /* reason mask */      \
	X(GPU_IS_SLOWED, "gpu.is_hardware_slowed", "bool", GAUGE, DEVICE)   /* reason mask */      \
	X(GPU_PCIE_TX, "gpu.pcie_sent_bytes", "bytes", COUNTER, DEVICE)     /* field 197 */        \
	X(GPU_PCIE_RX, "gpu.pcie_received_bytes", "bytes", COUNTER, DEVICE) /* field 198 */        \
	X(GPU_OTHERS, "gpu.other_processes", "1", GAUGE, DEVICE)                                   \
	X(GPU_MEM_OTHERS, "gpu.other_memory_bytes", "bytes", GAUGE, DEVICE)                        \
	X(GPU_IS_LISTED, "gpu.is_listed", "bool", GAUGE, DEVICE) /* NVML lists the target */       \
	X(GPU_POWER_LIMIT, "gpu.power_limit_w", "w", GAUGE, DEVICE)                                \
	X(GPU_POWER_DEFAULT, "gpu.power_limit_default_w", "w", GAUGE, DEVICE)                      \
	X(GPU_PCIE_LINK, "gpu.pcie_link_bytes_per_s", "bytes_per_s", GAUGE,                        \
	  DEVICE) /* per direction */                                                              \
	X(GPU_PCIE_LINK_MAX, "gpu.pcie_link_max_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)        \
	X(GPU_CAPABILITY, "gpu.compute_capability", "1", GAUGE, DEVICE) /* 10 x major + minor */   \
	X(GPU_SM_ACTIVE, "gpu.sm_active_ratio", "ratio", GAUGE, DEVICE) /* GPM, from here on */    \
	X(GPU_OCCUPANCY, "gpu.sm_occupancy_ratio", "ratio", GAUGE, DEVICE)                         \
	X(GPU_TENSOR, "gpu.tensor_active_ratio", "ratio", GAUGE, DEVICE)                           \
	X(GPU_DRAM, "gpu.dram_active_ratio", "ratio", GAUGE, DEVICE)                               \
	X(GPU_PCIE_TX_RATE, "gpu.pcie_sent_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)             \
	X(GPU_PCIE_RX_RATE, "gpu.pcie_received_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)         \
	X(GPU_NVLINK_RX, "gpu.nvlink_received_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)          \
	X(GPU_NVLINK_TX, "gpu.nvlink_sent_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)              \
	X(GPU_PM_SM_ACTIVE, "gpu.counters.sm_active_ratio", "ratio", GAUGE,                        \
	  DEVICE) /* hardware counters, in windows, from here on */                                \
	X(GPU_PM_OCCUPANCY, "gpu.counters.sm_occupancy_ratio", "ratio", GAUGE, DEVICE)             \
	X(GPU_PM_TENSOR, "gpu.counters.tensor_active_ratio", "ratio", GAUGE, DEVICE)               \
	X(GPU_PM_DRAM, "gpu.counters.dram_active_ratio", "ratio", GAUGE, DEVICE)                   \
	X(GPU_PM_DRAM_READ, "gpu.counters.dram_read_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)    \
	X(GPU_PM_DRAM_WRITE, "gpu.counters.dram_written_bytes_per_s", "bytes_per_s", GAUGE,        \
	  DEVICE)                                                                                  \
	X(GPU_PM_L2_HIT, "gpu.counters.l2_hit_ratio", "ratio", GAUGE, DEVICE)                      \
	X(GPU_PM_PCIE_TX, "gpu.counters.pcie_sent_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)      \
	X(GPU_PM_PCIE_RX, "gpu.counters.pcie_received_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)  \
	X(GPU_PM_NVLINK_RX, "gpu.counters.nvlink_received_bytes_per_s", "bytes_per_s", GAUGE,      \
	  DEVICE)                                                                                  \
	X(GPU_PM_NVLINK_TX, "gpu.counters.nvlink_sent_bytes_per_s", "bytes_per_s", GAUGE, DEVICE)  \
	X(GPU_PM_CLOCK, "gpu.counters.clock_hz", "hz", GAUGE, DEVICE)                              \
	X(GPU_PM_LAUNCHES, "gpu.counters.launches_per_s", "per_s", GAUGE, DEVICE)                  \
	X(GPU_PM_OPEN, "gpu.counters.is_open", "bool", GAUGE, DEVICE) /* 1: a window begins; 0 */

enum tp_metric {
#define X(id, name, unit, kind, subject) TP_METRIC_##id,
	TP_METRIC_MAP(X)
#undef X
		TP_N_METRICS
};

/* Metrics of devices from NVML are consecutive, with those that GPM samples at the end. Those of
 * hardware counters follow. */
enum {
	TP_METRIC_GPU_FIRST = TP_METRIC_GPU_AWAKE,
	TP_METRIC_GPM_FIRST = TP_METRIC_GPU_SM_ACTIVE,
	TP_METRIC_GPU_END = TP_METRIC_GPU_NVLINK_TX + 1,
	TP_N_GPU_METRICS = TP_METRIC_GPU_END - TP_METRIC_GPU_FIRST,
	TP_METRIC_PM_FIRST = TP_METRIC_GPU_PM_SM_ACTIVE,
	TP_N_PM_METRICS = TP_METRIC_GPU_PM_OPEN - TP_METRIC_PM_FIRST,
};

enum tp_metric_kind { TP_METRIC_KIND_COUNTER, TP_METRIC_KIND_GAUGE };
enum tp_metric_subject {
	TP_METRIC_OF_TASK,
	TP_METRIC_OF_PROCESS,
	TP_METRIC_OF_HOST,
	TP_METRIC_OF_DEVICE,
};

/* A reading of hardware counters describes about this long a time before it. */
#define TP_PM_BIN_NS UINT64_C(100000000)

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
