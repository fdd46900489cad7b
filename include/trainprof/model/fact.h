/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vocabulary of rules: everything that analysis can know about a run. A rule, report or budget
 * that names an unknown fact does not load. A fact that was not measured is unknown, never zero.
 *
 * A new row rebuilds every file that includes this header, so only files that name facts include
 * it, and no header does.
 */
#ifndef TRAINPROF_MODEL_FACT_H
#define TRAINPROF_MODEL_FACT_H

#include "trainprof/model/fact_id.h"

/*
 * name in code, name in data, unit ("ns", "ratio", "bytes", "1", "bool", "per_s", "bytes_per_s",
 * "cpus", "w", "j"), whether a recording can have it (SEEN) or a user must supply it in a file of
 * facts (TOLD), meaning. Ratios named step.* are shares of the partitioned window. For set.* one
 * observation is enough for yes; no is known only for settings that variables alone determine,
 * otherwise the fact is unknown.
 */
#define TP_FACT_MAP(X)                                                                             \
	X(RUN_DURATION, "run.duration_ns", "ns", SEEN, "from start to end of the program")         \
	X(RUN_WINDOW, "run.window_ns", "ns", SEEN, "the part of the run that was judged")          \
	X(RUN_WINDOW_RATIO, "run.window_ratio", "ratio", SEEN, "judged part of the run")           \
	X(RUN_STARTUP_RATIO, "run.startup_ratio", "ratio", SEEN, "run before the training loop")   \
	X(RUN_WARMUP_RATIO, "run.warmup_ratio", "ratio", SEEN, "loop before it became steady")     \
	X(RUN_OUTSIDE_RATIO, "run.outside_ratio", "ratio", SEEN,                                   \
	  "loop time in special steps (checkpoint, evaluation, slow steps)")                       \
	X(RUN_CHECKPOINT_RATIO, "run.checkpoint_ratio", "ratio", SEEN, "loop time in checkpoints") \
	X(RUN_CHECKPOINT_WAIT, "run.checkpoint_wait_ratio", "ratio", SEEN,                         \
	  "part of the time in checkpoints in which the trainer waits for storage")                \
	X(RUN_EVALUATION, "run.evaluation_ratio", "ratio", SEEN, "loop time in evaluations")       \
	X(RUN_LOGGING_RATIO, "run.logging_ratio", "ratio", SEEN, "loop time in logging")           \
	X(RUN_OVERHEAD_RATIO, "run.overhead_ratio", "ratio", SEEN,                                 \
	  "cost of measuring / CPU time that the program could have had")                          \
	X(RUN_OVERHEAD_TIME, "run.overhead_ns", "ns", SEEN, "CPU time that measuring took")        \
	X(RUN_OVERHEAD_STARTUP, "run.overhead_startup_ns", "ns", SEEN,                             \
	  "of it, what trainprof took to start and to end")                                        \
	X(RUN_OVERHEAD_RUNNING, "run.overhead_running_ratio", "ratio", SEEN,                       \
	  "the rest of it / CPU time that the program could have had")                             \
	X(RUN_STOPPED, "run.stopped_ns", "ns", SEEN,                                               \
	  "time in which the program was stopped: left out")                                       \
	X(RUN_UNWATCHED, "run.unwatched_ns", "ns", SEEN,                                           \
	  "time in which trainprof itself stood still: left out")                                  \
	X(RUN_HANG, "run.hang_ns", "ns", SEEN,                                                     \
	  "time up to the end of measuring in which no thread of the program did anything")        \
	X(RUN_HANG_RATIO, "run.hang_ratio", "ratio", SEEN, "the same, of the judged time")         \
	X(RUN_RECORDS_LOST_RATIO, "run.records_lost_ratio", "ratio", SEEN,                         \
	  "records lost / all records")                                                            \
	X(RUN_SWITCHES_OFF_RATIO, "run.switches_off_ratio", "ratio", SEEN,                         \
	  "run in which switch records were off: too many switches")                               \
	X(RUN_THINNED_RATIO, "run.thinned_ratio", "ratio", SEEN,                                   \
	  "samples of running threads whose stack was left out to save time")                      \
	X(RUN_RATE_RATIO, "run.sample_rate_ratio", "ratio", SEEN,                                  \
	  "samples per second kept up / asked for")                                                \
	X(RUN_ACCOUNTED_RATIO, "run.accounted_ratio", "ratio", SEEN,                               \
	  "program CPU time that has a stack or is named as kernel or short threads")              \
	X(RUN_COMPLETE_STACKS_RATIO, "run.complete_stacks_ratio", "ratio", SEEN,                   \
	  "native stacks that reach the thread's first frame")                                     \
	X(RUN_UNKNOWN_RATIO, "run.unknown_ratio", "ratio", SEEN,                                   \
	  "window whose class rests on no sample of its own kind")                                 \
	X(RUN_N_SAMPLES, "run.n_samples", "1", SEEN, "samples of the trainer in the window")       \
	X(STEP_COUNT, "step.count", "1", SEEN, "steady steps")                                     \
	X(STEP_TIME, "step.time_ns", "ns", SEEN, "mean steady step")                               \
	X(STEP_MEDIAN, "step.median_ns", "ns", SEEN, "median steady step")                         \
	X(STEP_P95, "step.p95_ns", "ns", SEEN, "95th percentile of steady steps")                  \
	X(STEP_SAMPLES_PER_S, "throughput.samples_per_s", "per_s", SEEN,                           \
	  "samples per second: batch size of the loader / mean steady step")                       \
	X(STEP_CV, "step.variation_ratio", "ratio", SEEN,                                          \
	  "standard deviation / mean of steady steps")                                             \
	X(STEP_COMPUTE, "step.compute_ratio", "ratio", SEEN, "share of compute")                   \
	X(STEP_COMMUNICATION, "step.communication_ratio", "ratio", SEEN, "share of communication") \
	X(STEP_MEMORY, "step.memory_ratio", "ratio", SEEN, "share of memory")                      \
	X(STEP_DATALOADER, "step.dataloader_ratio", "ratio", SEEN, "share of dataloader")          \
	X(STEP_HOST, "step.host_ratio", "ratio", SEEN, "share of host")                            \
	X(STEP_IDLE, "step.idle_ratio", "ratio", SEEN, "share of idle")                            \
	X(STEP_TEAM_WAIT, "step.compute_team_wait_ratio", "ratio", SEEN,                           \
	  "share in which the trainer waits for or spins in its thread team")                      \
	X(STEP_COMM_WAIT, "step.communication_wait_ratio", "ratio", SEEN,                          \
	  "share waiting for a peer")                                                              \
	X(STEP_FAULT, "step.memory_page_fault_ratio", "ratio", SEEN, "share in page faults")       \
	X(STEP_SWAP, "step.memory_swap_ratio", "ratio", SEEN, "share waiting for swap")            \
	X(STEP_ALLOC, "step.memory_alloc_ratio", "ratio", SEEN, "share in the allocator")          \
	X(STEP_COPY, "step.memory_copy_ratio", "ratio", SEEN, "share in memory copies")            \
	X(STEP_PREP, "step.dataloader_prep_ratio", "ratio", SEEN,                                  \
	  "share: waits while data is decoded")                                                    \
	X(STEP_FETCH, "step.dataloader_fetch_ratio", "ratio", SEEN,                                \
	  "share: waits while storage reads")                                                      \
	X(STEP_HANDOVER, "step.dataloader_handover_ratio", "ratio", SEEN,                          \
	  "share: batch handed over")                                                              \
	X(STEP_PAUSE, "step.dataloader_pause_ratio", "ratio", SEEN, "share: the producer sleeps")  \
	X(STEP_LOADER_QUEUE, "step.dataloader_cpu_queue_ratio", "ratio", SEEN,                     \
	  "share: the producer waits for a CPU")                                                   \
	X(STEP_INLINE, "step.dataloader_inline_ratio", "ratio", SEEN,                              \
	  "share in which the trainer itself does the loader's work")                              \
	X(STEP_INTERPRETER, "step.host_interpreter_ratio", "ratio", SEEN,                          \
	  "share in the interpreter")                                                              \
	X(STEP_GIL, "step.host_gil_ratio", "ratio", SEEN,                                          \
	  "share waiting for the interpreter lock")                                                \
	X(STEP_LOGGING, "step.host_logging_ratio", "ratio", SEEN, "share in logging")              \
	X(STEP_CHECKPOINT, "step.host_checkpoint_ratio", "ratio", SEEN, "share in checkpoints")    \
	X(STEP_HOST_KERNEL, "step.host_kernel_ratio", "ratio", SEEN, "share in system calls")      \
	X(STEP_GC, "step.host_gc_ratio", "ratio", SEEN, "share: garbage collection")               \
	X(STEP_COMPILE, "step.host_compile_ratio", "ratio", SEEN,                                  \
	  "share: compilation, module loading")                                                    \
	X(STEP_RUNNABLE, "step.idle_runnable_ratio", "ratio", SEEN, "share waiting for a CPU")     \
	X(STEP_SLEEP, "step.idle_sleep_ratio", "ratio", SEEN, "share asleep by its own wish")      \
	X(STEP_IDLE_IO, "step.idle_blocked_io_ratio", "ratio", SEEN, "share blocked in I/O")       \
	X(STEP_LOCK, "step.idle_blocked_lock_ratio", "ratio", SEEN, "share blocked on a lock")     \
	X(STEP_IDLE_UNKNOWN, "step.idle_unknown_ratio", "ratio", SEEN,                             \
	  "share idle, nobody saw why")                                                            \
	X(LOADER_WORKERS, "loader.workers", "1", SEEN, "loader processes and threads")             \
	X(LOADER_PROCESSES, "loader.processes", "1", SEEN, "loader processes")                     \
	X(LOADER_PREFETCH, "loader.prefetch_factor", "1", SEEN,                                    \
	  "batches that the loader is set to fetch ahead for each worker")                         \
	X(LOADER_BATCH_SIZE, "loader.batch_size", "1", SEEN, "samples in a batch of the loader")   \
	X(LOADER_PERSISTENT, "loader.persistent_workers", "bool", SEEN,                            \
	  "the loader is set to keep its workers between epochs")                                  \
	X(LOADER_PIN, "loader.pin_memory", "bool", SEEN, "the loader pins its batches, in effect") \
	X(LOADER_BUSY, "loader.busy_ratio", "ratio", SEEN, "loader workers on CPU")                \
	X(LOADER_READ, "loader.read_wait_ratio", "ratio", SEEN,                                    \
	  "loader workers waiting for storage")                                                    \
	X(LOADER_IDLE, "loader.idle_ratio", "ratio", SEEN,                                         \
	  "loader workers waiting for room or work")                                               \
	X(LOADER_SLEEP, "loader.sleep_ratio", "ratio", SEEN, "loader workers asleep")              \
	X(LOADER_QUEUE, "loader.run_delay_ratio", "ratio", SEEN,                                   \
	  "loader workers waiting for a CPU")                                                      \
	X(LOADER_DECODE, "loader.decode_ratio", "ratio", SEEN, "loader's time spent decoding")     \
	X(LOADER_TRANSFORM, "loader.transform_ratio", "ratio", SEEN,                               \
	  "loader's time spent in other work: augmenting, making batches of samples")              \
	X(LOADER_AUGMENT, "loader.augment_ratio", "ratio", SEEN,                                   \
	  "loader's work in functions that are known to augment")                                  \
	X(LOADER_HANDOVER, "loader.handover_ratio", "ratio", SEEN,                                 \
	  "loader's time spent handing over")                                                      \
	X(LOADER_FULL, "loader.queue_full_ratio", "ratio", SEEN,                                   \
	  "loader workers waiting for room for a batch")                                           \
	X(LOADER_INDEX, "loader.index_wait_ratio", "ratio", SEEN,                                  \
	  "loader workers waiting for something to make")                                          \
	X(LOADER_BATCH, "loader.batch_time_ns", "ns", SEEN,                                        \
	  "a worker's time for one batch, waits for room and for work left out")                   \
	X(LOADER_PASSING, "loader.handover_time_ns", "ns", SEEN,                                   \
	  "handing over one batch: in workers, their helpers and the trainer")                     \
	X(LOADER_SUPPLY, "loader.supply_per_s", "per_s", SEEN,                                     \
	  "batches per second that workers can make")                                              \
	X(LOADER_DEMAND, "loader.demand_per_s", "per_s", SEEN,                                     \
	  "batches per second that the trainer takes where none is waited for")                    \
	X(LOADER_STARTUP, "loader.startup_ratio", "ratio", SEEN,                                   \
	  "loop time from starting workers again to their first batch")                            \
	X(LOADER_STARTS, "loader.restarts", "1", SEEN, "times that workers were started again")    \
	X(LOADER_IMBALANCE, "loader.imbalance_ratio", "ratio", SEEN,                               \
	  "busiest worker / mean, minus 1")                                                        \
	X(REPLAY_ERROR, "replay.error_ratio", "ratio", SEEN,                                       \
	  "the run replayed unchanged: its step / the measured one, minus 1")                      \
	X(REPLAY_WORKERS, "replay.workers", "1", SEEN,                                             \
	  "loader workers above which a replayed step gets hardly shorter")                        \
	X(REPLAY_WORKERS_SAVED, "replay.workers_ratio", "ratio", SEEN,                             \
	  "of the step, what they save if work is not slowed by work beside it")                   \
	X(REPLAY_WORKERS_LEAST, "replay.workers_least_ratio", "ratio", SEEN,                       \
	  "the same if two busy CPUs slow each other down")                                        \
	X(REPLAY_AHEAD_SAVED, "replay.prefetch_ratio", "ratio", SEEN,                              \
	  "of the step, what four times as many batches fetched ahead save")                       \
	X(REPLAY_AUGMENT_SAVED, "replay.augment_ratio", "ratio", SEEN,                             \
	  "of the step, what workers save that do not augment")                                    \
	X(CPU_ALLOWED, "cpu.allowed_cpus", "cpus", SEEN,                                           \
	  "CPUs the program may use, quota included")                                              \
	X(CPU_QUOTA, "cpu.quota_cpus", "cpus", SEEN, "cgroup CPU quota")                           \
	X(CPU_TREE_BUSY, "cpu.program_busy_cpus", "cpus", SEEN, "CPUs the program keeps busy")     \
	X(CPU_BUSY_RATIO, "cpu.busy_ratio", "ratio", SEEN, "busy share of the allowed CPUs")       \
	X(CPU_IDLE, "cpu.idle_cpus", "cpus", SEEN, "allowed CPUs that idle")                       \
	X(CPU_OTHERS, "cpu.other_programs_cpus", "cpus", SEEN, "CPUs busy with other programs")    \
	X(CPU_DELAY, "cpu.run_delay_ratio", "ratio", SEEN,                                         \
	  "trainer threads waiting for a CPU / wanting")                                           \
	X(CPU_WAIT_LOADERS, "cpu.wait_loader_cpus", "cpus", SEEN,                                  \
	  "CPUs that the program's own loaders have while the trainer waits for one")              \
	X(CPU_WAIT_OTHERS, "cpu.wait_program_cpus", "cpus", SEEN,                                  \
	  "CPUs that other threads of the program have while the trainer waits for one")           \
	X(CPU_PREEMPTED, "cpu.preemptions_per_s", "per_s", SEEN,                                   \
	  "involuntary switches of the trainer")                                                   \
	X(CPU_SWITCHES, "cpu.switches_per_s", "per_s", SEEN, "context switches of the program")    \
	X(CPU_RUNNABLE, "cpu.runnable_threads", "1", SEEN, "threads that run or want to, mean")    \
	X(CPU_PER_CORE, "cpu.runnable_per_cpu_ratio", "ratio", SEEN, "those per allowed CPU")      \
	X(CPU_THROTTLED, "cpu.throttled_ratio", "ratio", SEEN,                                     \
	  "window throttled by the cgroup quota")                                                  \
	X(CPU_STEAL, "cpu.steal_ratio", "ratio", SEEN, "CPU time taken by the hypervisor")         \
	X(CPU_PSI, "cpu.pressure_ratio", "ratio", SEEN, "PSI cpu some")                            \
	X(COMPUTE_THREADS, "compute.threads", "1", SEEN, "threads that take part in compute")      \
	X(COMPUTE_BUSY, "compute.busy_threads", "1", SEEN, "of them busy during compute, mean")    \
	X(COMPUTE_SPIN, "compute.spin_ratio", "ratio", SEEN, "compute CPU time spent spinning")    \
	X(COMPUTE_SCALAR, "compute.scalar_ratio", "ratio", SEEN,                                   \
	  "compute time in code that computes number by number")                                   \
	X(COMPUTE_LIBRARY, "compute.library_ratio", "ratio", SEEN,                                 \
	  "compute samples in math libraries")                                                     \
	X(COMPUTE_POOLS, "compute.thread_pools", "1", SEEN,                                        \
	  "thread pool runtimes seen spinning or busy")                                            \
	X(MEM_MINFLT, "memory.minor_faults_per_s", "per_s", SEEN, "minor faults of the program")   \
	X(MEM_MINFLT_STEP, "memory.minor_faults_per_step", "1", SEEN,                              \
	  "minor faults of the trainer")                                                           \
	X(MEM_MAJFLT, "memory.major_faults_per_s", "per_s", SEEN, "major faults of the program")   \
	X(MEM_RSS, "memory.rss_peak_bytes", "bytes", SEEN, "largest sum of resident sets")         \
	X(MEM_GROWTH, "memory.growth_bytes_per_s", "bytes_per_s", SEEN,                            \
	  "growth of the trainer that each quarter of the window shows, at least")                 \
	X(MEM_LIMIT, "memory.limit_bytes", "bytes", SEEN, "memory of the machine or cgroup")       \
	X(MEM_USED_RATIO, "memory.used_ratio", "ratio", SEEN, "peak / limit")                      \
	X(MEM_SWAP, "memory.swap_bytes_per_s", "bytes_per_s", SEEN, "swapped in and out")          \
	X(MEM_PSI, "memory.pressure_ratio", "ratio", SEEN, "PSI memory some")                      \
	X(MEM_STIME, "memory.kernel_cpu_ratio", "ratio", SEEN,                                     \
	  "kernel share of the trainer's CPU time")                                                \
	X(MEM_NUMA, "memory.numa_nodes", "1", SEEN, "NUMA nodes of the machine")                   \
	X(IO_READ, "io.device_read_bytes_per_s", "bytes_per_s", SEEN,                              \
	  "read from devices by the program")                                                      \
	X(IO_WRITE, "io.device_write_bytes_per_s", "bytes_per_s", SEEN,                            \
	  "written to devices by the program")                                                     \
	X(IO_CALL_READ, "io.call_read_bytes_per_s", "bytes_per_s", SEEN, "returned by read calls") \
	X(IO_CALLS, "io.read_calls_per_s", "per_s", SEEN, "read calls")                            \
	X(IO_CALL_BYTES, "io.bytes_per_read_call", "bytes", SEEN, "mean of read calls")            \
	X(IO_CACHED, "io.cached_ratio", "ratio", SEEN, "read bytes that came from the page cache") \
	X(IO_DISK_BUSY, "io.disk_busy_ratio", "ratio", SEEN, "busiest disk")                       \
	X(IO_PSI, "io.pressure_ratio", "ratio", SEEN, "PSI io some")                               \
	X(IO_FILES, "io.data_files", "1", SEEN, "distinct data files seen being read")             \
	X(COMM_PEERS, "comm.trainers", "1", SEEN, "trainer processes in the tree")                 \
	X(COMM_BUSY_WAIT, "comm.busy_wait_ratio", "ratio", SEEN, "communication spent spinning")   \
	X(STEP_NEXT, "step.dataloader_next_ratio", "ratio", SEEN, "share in the loader's next")    \
	X(LOADER_INLINE, "loader.is_inline", "bool", SEEN,                                         \
	  "the training loop loads its batches itself: no worker does")                            \
	X(STEP_H2D, "step.memory_copy_h2d_ratio", "ratio", SEEN,                                   \
	  "share: only copies to the device")                                                      \
	X(STEP_D2H, "step.memory_copy_d2h_ratio", "ratio", SEEN,                                   \
	  "share: only copies from the device")                                                    \
	X(STEP_D2D, "step.memory_copy_d2d_ratio", "ratio", SEEN,                                   \
	  "share: only copies on the device")                                                      \
	X(STEP_DISPATCH, "step.host_dispatch_ratio", "ratio", SEEN,                                \
	  "share: the device waits while the framework's operators run on the host")               \
	X(STEP_LAUNCH, "step.host_launch_ratio", "ratio", SEEN,                                    \
	  "share: the device waits while calls put work on it")                                    \
	X(STEP_SYNC, "step.host_sync_ratio", "ratio", SEEN,                                        \
	  "share: the device is idle while a thread still waits for it")                           \
	X(STEP_COLLECTIVE, "step.communication_collective_ratio", "ratio", SEEN,                   \
	  "share in collectives whose wait and transfer are not told apart")                       \
	X(STEP_UNCAPTURED, "step.communication_not_captured_ratio", "ratio", SEEN,                 \
	  "share of waits for a rank while that has no record")                                    \
	X(DEVICE_COUNT, "device.count", "1", SEEN, "devices that were judged")                     \
	X(DEVICE_BUSY, "device.busy_ratio", "ratio", SEEN,                                         \
	  "windows in which the device works, mean")                                               \
	X(DEVICE_BUSY_LEAST, "device.busy_least_ratio", "ratio", SEEN, "of the least busy device") \
	X(DEVICE_BUSY_MOST, "device.busy_most_ratio", "ratio", SEEN, "of the busiest device")      \
	X(DEVICE_OPS, "device.ops_per_step", "1", SEEN, "kernels and copies of a step, mean")      \
	X(DEVICE_KERNEL, "device.kernel_median_ns", "ns", SEEN, "median length of a kernel")       \
	X(DEVICE_SHORT, "device.short_kernel_ratio", "ratio", SEEN, "kernels shorter than 10 us")  \
	X(DEVICE_UNLINKED, "device.unlinked_ratio", "ratio", SEEN,                                 \
	  "device work without the call that launched it")                                         \
	X(DEVICE_GAP_HOST, "device.gap_host_ratio", "ratio", SEEN,                                 \
	  "windows in which the device waits for the host to launch its next work")                \
	X(DEVICE_GAP_SYNC, "device.gap_sync_ratio", "ratio", SEEN,                                 \
	  "windows in which it waits because the host had waited for it")                          \
	X(DEVICE_GAP_QUEUED, "device.gap_queued_ratio", "ratio", SEEN,                             \
	  "windows in which it is idle although work is queued")                                   \
	X(DEVICE_SYNCS, "device.syncs_per_step", "1", SEEN,                                        \
	  "calls of a step that wait for the device")                                              \
	X(DEVICE_ALLOCS, "device.allocs_per_step", "1", SEEN,                                      \
	  "calls of a step that allocate or free device memory")                                   \
	X(DEVICE_ALLOC_TIME, "device.alloc_time_ratio", "ratio", SEEN,                             \
	  "windows in which a thread is in such a call, hidden or not")                            \
	X(DEVICE_COPY, "device.copy_ratio", "ratio", SEEN, "windows with a copy, hidden or not")   \
	X(DEVICE_H2D_RATE, "device.h2d_bytes_per_s", "bytes_per_s", SEEN,                          \
	  "rate of copies to the device")                                                          \
	X(DEVICE_COPIES, "device.h2d_copies_per_step", "1", SEEN,                                  \
	  "copies to the device in a step")                                                        \
	X(DEVICE_SMALL_COPY, "device.small_copy_ratio", "ratio", SEEN,                             \
	  "time of copies to the device that is in those of less than 64 KiB")                     \
	X(DEVICE_QUEUE, "device.queue_depth", "1", SEEN,                                           \
	  "launched work that waits for its turn on a device, mean")                               \
	X(DEVICE_DRIFT, "device.kernel_drift_ratio", "ratio", SEEN,                                \
	  "how much longer the same kernels take in the later half of the steps")                  \
	X(DEVICE_PAGEABLE, "device.pageable_ratio", "ratio", SEEN,                                 \
	  "time of copies between host and device that use pageable memory")                       \
	X(DEVICE_CAPABILITY, "device.capability", "1", SEEN,                                       \
	  "compute capability, 10 x major + minor")                                                \
	X(DEVICE_TENSOR, "device.has_tensor_cores", "bool", SEEN, "the device has matrix units")   \
	X(KERNEL_MEMORY, "kernel.memory_bound_ratio", "ratio", SEEN,                               \
	  "kernel time in kernels that memory bounds by their names")                              \
	X(KERNEL_ELEMENTWISE, "kernel.elementwise_ratio", "ratio", SEEN,                           \
	  "kernel time in elementwise, activation, cast and copy kernels")                         \
	X(KERNEL_LAYOUT, "kernel.layout_ratio", "ratio", SEEN, "kernel time in layout changes")    \
	X(KERNEL_OPTIMIZER, "kernel.optimizer_ratio", "ratio", SEEN,                               \
	  "kernel time in the optimizer")                                                          \
	X(KERNEL_MATH, "kernel.matrix_ratio", "ratio", SEEN,                                       \
	  "kernel time in matrix products, convolutions and attention")                            \
	X(KERNEL_TENSOR, "kernel.tensor_core_ratio", "ratio", SEEN,                                \
	  "of that, in kernels that use matrix units by their names")                              \
	X(KERNEL_NO_TENSOR, "kernel.tensor_idle_ratio", "ratio", SEEN,                             \
	  "of that, in kernels that do not")                                                       \
	X(KERNEL_HALF, "kernel.half_ratio", "ratio", SEEN,                                         \
	  "of matrix kernel time, kernels of 16-bit numbers by their names")                       \
	X(KERNEL_SINGLE, "kernel.single_ratio", "ratio", SEEN,                                     \
	  "of it, kernels of 32-bit numbers, TF32 included")                                       \
	X(KERNEL_DOUBLE, "kernel.double_ratio", "ratio", SEEN, "of it, kernels of 64-bit numbers") \
	X(KERNEL_WEAK, "kernel.weak_name_ratio", "ratio", SEEN,                                    \
	  "kernel time whose class rests on a name that says little")                              \
	X(COMM_TIME, "comm.kernel_ratio", "ratio", SEEN,                                           \
	  "windows with a collective, hidden or not")                                              \
	X(COMM_HIDDEN, "comm.hidden_ratio", "ratio", SEEN, "time of collectives behind compute")   \
	X(COMM_PER_STEP, "comm.collectives_per_step", "1", SEEN, "collectives of a step")          \
	X(COMM_BYTES, "comm.median_bytes", "bytes", SEEN, "median size of a collective")           \
	X(COMM_SHORT, "comm.small_ratio", "ratio", SEEN, "collectives of less than 1 MiB")         \
	X(COMM_BUS_RATE, "comm.bus_bytes_per_s", "bytes_per_s", SEEN,                              \
	  "median rate of a collective over what connects its ranks")                              \
	X(COMM_RANKS, "comm.ranks", "1", SEEN, "ranks of the job")                                 \
	X(COMM_SEEN, "comm.ranks_seen", "1", SEEN, "ranks whose traces are there")                 \
	X(COMM_LATE, "comm.late_rank_ratio", "ratio", SEEN,                                        \
	  "waits for others that the rank causes which causes most")                               \
	X(COMM_WAITS, "comm.wait_for_others_ratio", "ratio", SEEN,                                 \
	  "share in which a rank waits for a late one, before it is handed over")                  \
	X(COMM_SLOW_RANK, "comm.slow_rank", "1", SEEN,                                             \
	  "rank that computes longest, compared with the ranks that do the same work")             \
	X(COMM_SLOW_RANK_PEERS, "comm.slow_rank_peers", "1", SEEN,                                 \
	  "other ranks that do the same work")                                                     \
	X(COMM_SLOW_RANK_TIMES, "comm.slow_rank_times", "1", SEEN,                                 \
	  "its compute time / the median of theirs")                                               \
	X(COMM_SLOW_RANK_EXCESS, "comm.slow_rank_excess_ratio", "ratio", SEEN,                     \
	  "its compute time beyond that median, of a step")                                        \
	X(COMM_SLOW_RANK_SAVED, "comm.slow_rank_saved_ratio", "ratio", SEEN,                       \
	  "share of the step saved if it computed as long as they do, replayed")                   \
	X(COMM_STAGES, "comm.stages", "1", SEEN, "stages of the pipeline whose ranks are there")   \
	X(COMM_SLOW_STAGE, "comm.slow_stage", "1", SEEN,                                           \
	  "stage that computes longest, counted from 0")                                           \
	X(COMM_SLOW_STAGE_TIMES, "comm.slow_stage_times", "1", SEEN,                               \
	  "its compute time / the median of the other stages")                                     \
	X(COMM_SLOW_STAGE_EXCESS, "comm.slow_stage_excess_ratio", "ratio", SEEN,                   \
	  "its compute time beyond the mean of all stages, of a step")                             \
	X(COMM_SLOW_STAGE_SAVED, "comm.slow_stage_saved_ratio", "ratio", SEEN,                     \
	  "share of the step saved if all stages computed equally long, replayed")                 \
	X(COMM_SLOW_STAGE_MOST, "comm.slow_stage_most_ratio", "ratio", SEEN,                       \
	  "the same if only that stage became faster, replayed")                                   \
	X(COMM_UNEVEN_SAVED, "comm.uneven_saved_ratio", "ratio", SEEN,                             \
	  "share of the step saved if work were equal on all ranks and each time, replayed")       \
	X(COMM_SLOWDOWN, "comm.interference_ratio", "ratio", SEEN,                                 \
	  "kernel time added because communication runs beside, of the window")                    \
	X(TRACE_CUT, "trace.is_cut", "bool", SEEN, "a trace ends in mid-document")                 \
	X(TRACE_SKIPPED, "trace.skipped_ratio", "ratio", SEEN,                                     \
	  "malformed events of all that count")                                                    \
	X(TRACE_OPS, "trace.device_ops", "1", SEEN, "kernels and copies in the trace")             \
	X(TRACE_RECOGNISED, "trace.is_recognised", "bool", SEEN,                                   \
	  "marks that only one program writes say who wrote the trace")                            \
	X(TRACE_DEVICE_LOST, "trace.is_device_lost", "bool", SEEN,                                 \
	  "the trace shows that devices were used, and not what they did")                         \
	X(TRACE_ONLY_RANGES, "trace.is_only_ranges", "bool", SEEN,                                 \
	  "the trace holds named ranges and nothing that computes")                                \
	X(TRACE_JUDGED_OPS, "trace.judged_ops", "1", SEEN,                                         \
	  "kernels and copies that were judged; operators and calls where no device works")        \
	X(TRACE_COLD, "trace.cold_ratio", "ratio", SEEN,                                           \
	  "judged time in few calls that take long the first time, no device at work")             \
	X(TRACE_SPANS, "trace.spans", "1", SEEN, "spans in the trace")                             \
	X(WINDOWS_COUNT, "windows.count", "1", SEEN, "windows in which the GPU was traced")        \
	X(WINDOWS_TRACED, "windows.traced_ratio", "ratio", SEEN, "run in which it was")            \
	X(WINDOWS_SLOWDOWN, "windows.slowdown_ratio", "ratio", SEEN,                               \
	  "steps while the GPU is traced / steps beside that, minus 1")                            \
	X(WINDOWS_COST, "windows.cost_ratio", "ratio", SEEN, "run lost to tracing, by the steps")  \
	X(WINDOWS_AWAKE, "windows.awake_ratio", "ratio", SEEN,                                     \
	  "GPU awake while it was traced, by its driver; mean of GPUs")                            \
	X(WINDOWS_KERNELS, "windows.busy_ratio", "ratio", SEEN, "traced kernels at the same time") \
	X(WINDOWS_SM_ACTIVE, "windows.sm_active_ratio", "ratio", SEEN,                             \
	  "cycles of multiprocessors with work while it was traced")                               \
	X(PMU_IPC, "pmu.instructions_per_cycle", "1", SEEN, "whole program")                       \
	X(PMU_LLC, "pmu.llc_misses_per_kilo_instruction", "1", SEEN, "whole program")              \
	X(PMU_MEMORY, "pmu.memory_bound_ratio", "ratio", SEEN, "pipeline slots lost to memory")    \
	X(GPU_COUNT, "gpu.count", "1", SEEN, "GPUs that the program uses")                         \
	X(GPU_AWAKE, "gpu.awake_ratio", "ratio", SEEN,                                             \
	  "window in which some kernel ran on the GPU, however small; mean of GPUs")               \
	X(GPU_AWAKE_LEAST, "gpu.awake_least_ratio", "ratio", SEEN, "of the GPU that rests most")   \
	X(GPU_MEM_USED, "gpu.memory_used_ratio", "ratio", SEEN,                                    \
	  "peak of GPU memory in use by anybody, fullest GPU")                                     \
	X(GPU_MEM_OTHERS, "gpu.other_memory_ratio", "ratio", SEEN,                                 \
	  "GPU memory of other programs, peak")                                                    \
	X(GPU_MEM_TOTAL, "gpu.memory_total_bytes", "bytes", SEEN, "memory of a GPU")               \
	X(GPU_POWER, "gpu.power_w", "w", SEEN, "power of all GPUs, mean")                          \
	X(GPU_ENERGY, "gpu.energy_j", "j", SEEN, "energy of all GPUs")                             \
	X(GPU_CLOCK, "gpu.sm_clock_ratio", "ratio", SEEN,                                          \
	  "clock of the GPU / the highest it has, mean")                                           \
	X(GPU_POWER_CAPPED, "gpu.power_capped_ratio", "ratio", SEEN,                               \
	  "window in which its power limit held the clock back")                                   \
	X(GPU_HEAT_CAPPED, "gpu.heat_capped_ratio", "ratio", SEEN,                                 \
	  "window in which its temperature did")                                                   \
	X(GPU_SLOWED, "gpu.hardware_slowed_ratio", "ratio", SEEN,                                  \
	  "readings at which the hardware itself did (heat, power brake)")                         \
	X(GPU_OTHERS, "gpu.other_processes", "1", SEEN,                                            \
	  "processes of other programs that compute on it")                                        \
	X(GPU_MEM_GROWTH, "gpu.memory_growth_bytes_per_s", "bytes_per_s", SEEN,                    \
	  "growth of the program's GPU memory from first to last reading, fastest GPU")            \
	X(GPU_POWER_LIMIT, "gpu.power_limit_ratio", "ratio", SEEN,                                 \
	  "power limit of a GPU / the one that it starts with, lowest")                            \
	X(GPU_PCIE_LINK, "gpu.pcie_link_ratio", "ratio", SEEN,                                     \
	  "what its PCIe link carries / what GPU and slot could, lowest")                          \
	X(GPU_PCIE_RX_RATIO, "gpu.pcie_received_ratio", "ratio", SEEN,                             \
	  "received over PCIe / what its link carries, busiest GPU")                               \
	X(GPU_PCIE_TX_RATIO, "gpu.pcie_sent_ratio", "ratio", SEEN, "the same, sent")               \
	X(GPU_SM_ACTIVE, "gpu.sm_active_ratio", "ratio", SEEN,                                     \
	  "cycles of multiprocessors with work, mean")                                             \
	X(GPU_OCCUPANCY, "gpu.sm_occupancy_ratio", "ratio", SEEN,                                  \
	  "warps on them / those that fit")                                                        \
	X(GPU_TENSOR, "gpu.tensor_active_ratio", "ratio", SEEN,                                    \
	  "cycles in which matrix units work")                                                     \
	X(GPU_DRAM, "gpu.dram_active_ratio", "ratio", SEEN, "bandwidth of GPU memory in use")      \
	X(GPU_PCIE_TX, "gpu.pcie_sent_bytes_per_s", "bytes_per_s", SEEN,                           \
	  "sent over PCIe, busiest GPU")                                                           \
	X(GPU_PCIE_RX, "gpu.pcie_received_bytes_per_s", "bytes_per_s", SEEN, "received over PCIe") \
	X(GPU_NVLINK_TX, "gpu.nvlink_sent_bytes_per_s", "bytes_per_s", SEEN, "sent over NVLink")   \
	X(GPU_NVLINK_RX, "gpu.nvlink_received_bytes_per_s", "bytes_per_s", SEEN,                   \
	  "received over NVLink")                                                                  \
	X(GPU_L2_HIT, "gpu.counters.l2_hit_ratio", "ratio", SEEN,                                  \
	  "accesses that the GPU's L2 cache serves, by hardware counters")                         \
	X(GPU_DRAM_READ, "gpu.counters.dram_read_bytes_per_s", "bytes_per_s", SEEN,                \
	  "read from GPU memory, busiest GPU, by hardware counters")                               \
	X(GPU_DRAM_WRITTEN, "gpu.counters.dram_written_bytes_per_s", "bytes_per_s", SEEN,          \
	  "written to GPU memory, busiest GPU, by hardware counters")                              \
	X(GPU_LAUNCHES, "gpu.counters.launches_per_s", "per_s", SEEN,                              \
	  "grids that a GPU starts, mean, by hardware counters")                                   \
	X(GPU_COUNTED, "gpu.counters.time_ratio", "ratio", SEEN,                                   \
	  "window in which hardware counters were read, with clocks locked")                       \
	X(GPU_COUNTED_STEP, "gpu.counters.step_change_ratio", "ratio", SEEN,                       \
	  "mean step while they were read / mean step outside, minus 1")                           \
	X(ENV_OMP, "env.omp_num_threads", "1", SEEN, "OMP_NUM_THREADS")                            \
	X(ENV_BLAS, "env.blas_num_threads", "1", SEEN, "OPENBLAS_NUM_THREADS or MKL_NUM_THREADS")  \
	X(ENV_PASSIVE, "env.omp_wait_passive", "bool", SEEN, "OMP_WAIT_POLICY=passive")            \
	X(ENV_MALLOC, "env.malloc_tuned", "bool", SEEN,                                            \
	  "malloc thresholds set or another malloc used")                                          \
	X(ENV_PYTHON, "env.is_python", "bool", SEEN, "the trainer runs in a Python interpreter")   \
	X(SET_BLOCKING, "set.launch_blocking", "bool", SEEN,                                       \
	  "calls that launch kernels wait for them: CUDA_LAUNCH_BLOCKING")                         \
	X(SET_DEBUG, "set.debugging", "bool", SEEN, "a variable switches debugging aids on")       \
	X(SET_ANOMALY, "set.anomaly_detection", "bool", SEEN,                                      \
	  "autograd's anomaly detection was seen")                                                 \
	X(SET_NCCL, "set.nccl_forced", "bool", SEEN,                                               \
	  "a variable forces or forbids transports of NCCL")                                       \
	X(SET_EXPANDABLE, "set.expandable_segments", "bool", SEEN,                                 \
	  "segments of the device allocator may grow")                                             \
	X(SET_TF32, "set.tf32", "bool", SEEN, "products of 32-bit numbers as TF32 were seen")      \
	X(SET_AMP, "set.amp", "bool", SEEN, "automatic mixed precision was seen")                  \
	X(SET_FP8, "set.fp8", "bool", SEEN, "8-bit matrix products were seen")                     \
	X(SET_FLASH, "set.flash_attention", "bool", SEEN, "tiled attention was seen")              \
	X(SET_FUSED_OPTIMIZER, "set.fused_optimizer", "bool", SEEN, "a fused optimizer was seen")  \
	X(SET_GRAPHS, "set.cuda_graphs", "bool", SEEN, "recorded graphs of device work were seen") \
	X(SET_COMPILED, "set.compiled", "bool", SEEN, "code of torch.compile was seen")            \
	X(SET_XLA, "set.xla", "bool", SEEN, "code of XLA was seen")                                \
	X(SET_FUSED_KERNELS, "set.fused_kernels", "bool", SEEN,                                    \
	  "a library of fused kernels was seen")                                                   \
	X(SET_DATA_PARALLEL, "set.data_parallel", "bool", SEEN,                                    \
	  "DataParallel was seen: one process for several devices")                                \
	X(SET_DDP, "set.ddp", "bool", SEEN,                                                        \
	  "a process for each device: DistributedDataParallel and its like")                       \
	X(SET_FSDP, "set.fsdp", "bool", SEEN, "parameters are sharded: FSDP, ZeRO-3")              \
	X(SET_ZERO, "set.zero", "bool", SEEN, "optimizer states are sharded: ZeRO")                \
	X(SET_SYNCBN, "set.sync_batchnorm", "bool", SEEN, "synchronised BatchNorm was seen")       \
	X(SET_COMM_HALF, "set.comm_half", "bool", SEEN, "gradients are sent in 16 bits by a hook") \
	X(SET_POWERSGD, "set.powersgd", "bool", SEEN, "gradients are sent by PowerSGD")            \
	X(SET_PINNED, "set.pin_memory", "bool", SEEN, "a thread that pins batches was seen")       \
	X(SET_GPU_DECODE, "set.gpu_decode", "bool", SEEN,                                          \
	  "a library that decodes on the device was seen")                                         \
	X(SET_FFCV, "set.ffcv", "bool", SEEN, "the FFCV loader was seen")                          \
	X(SET_SHARDS, "set.sample_shards", "bool", SEEN,                                           \
	  "a loader of shards was seen: WebDataset, streaming")                                    \
	X(SET_BOUND, "set.cpus_bound", "bool", SEEN, "processes or threads are bound to CPUs")     \
	X(SET_HUGE, "set.huge_pages", "bool", SEEN, "a variable asks malloc for huge pages")       \
	X(SET_RECOMPUTE, "set.act_checkpoint", "bool", SEEN,                                       \
	  "activations are computed again in the backward pass")                                   \
	X(SET_OPTIM_8BIT, "set.optim_8bit", "bool", SEEN, "optimizer states in 8 bits were seen")  \
	X(SET_OPTIM_HOST, "set.optim_offload", "bool", SEEN,                                       \
	  "an optimizer that works on the host was seen")                                          \
	X(SET_LORA, "set.lora", "bool", SEEN, "low-rank adapters were seen")                       \
	X(SET_ASYNC_SAVE, "set.async_checkpoint", "bool", SEEN,                                    \
	  "checkpoints are written beside the training")                                           \
	X(ENV_PYTORCH, "env.uses_pytorch", "bool", SEEN, "PyTorch was seen at work")               \
	X(ENV_JAX, "env.uses_jax", "bool", SEEN, "JAX was seen at work")                           \
	X(ENV_TENSORFLOW, "env.uses_tensorflow", "bool", SEEN, "TensorFlow was seen at work")      \
	X(DATA_SIZE, "data.size_bytes", "bytes", TOLD, "training data as it is stored")            \
	X(DATA_PADDING, "data.padding_ratio", "ratio", TOLD,                                       \
	  "of a batch that is padding: tokens, or pixels")                                         \
	X(JOB_NODES, "job.nodes", "1", TOLD, "machines that train together")                       \
	X(JOB_DEVICES, "job.devices", "1", TOLD, "devices that are there to train on")             \
	X(JOB_BATCH, "job.batch_samples", "1", TOLD, "samples of a step, on all devices together") \
	X(JOB_DEVICE_SAMPLES, "job.device_samples", "1", TOLD, "samples of a step on one device")  \
	X(JOB_EPOCHS, "job.epochs", "1", TOLD, "times that training goes through its data")        \
	X(JOB_SAME_DATA, "job.same_data_jobs", "1", TOLD,                                          \
	  "jobs of this machine on the same data, with this one")                                  \
	X(JOB_STAGES, "job.pipeline_stages", "1", TOLD, "stages of a pipeline over devices")       \
	X(JOB_MICROBATCHES, "job.microbatches", "1", TOLD,                                         \
	  "parts in which a batch goes through the pipeline")                                      \
	X(LINK_RATE, "link.bytes_per_s", "bytes_per_s", TOLD,                                      \
	  "from a device to its neighbour, as measured")                                           \
	X(LINK_LATENCY, "link.latency_ns", "ns", TOLD, "a message of no bytes between them")       \
	X(GPU_MEM_RATE, "gpu.memory_bytes_per_s", "bytes_per_s", TOLD,                             \
	  "bandwidth of a GPU's memory, by its data sheet")                                        \
	X(MODEL_SAMPLE, "model.sample_bytes", "bytes", TOLD,                                       \
	  "device memory for one sample: what the way back needs")                                 \
	X(MODEL_STATE, "model.state_bytes", "bytes", TOLD,                                         \
	  "weights, their gradients and optimizer state on a device")                              \
	X(MODEL_OPTIMIZER, "model.optimizer_bytes", "bytes", TOLD, "optimizer state on a device")  \
	X(MODEL_OPERATIONS, "model.sample_operations", "1", TOLD,                                  \
	  "multiplications and additions of a sample, there and back")                             \
	X(MODEL_OPERATION_RATE, "model.operations_per_s", "per_s", TOLD,                           \
	  "of them that a device does in a second on this model")                                  \
	X(MODEL_SAMPLE_TIME, "model.sample_time_ns", "ns", TOLD,                                   \
	  "a sample there and back, on one device")                                                \
	X(MODEL_LEAST, "model.sample_least_bytes", "bytes", TOLD,                                  \
	  "device memory traffic of a sample if only products and convolutions read and write")    \
	X(MODEL_HALO, "model.halo_bytes", "bytes", TOLD,                                           \
	  "sent by a device for a sample that is split in slabs, there and back")                  \
	X(MODEL_HALO_MESSAGES, "model.halo_messages", "1", TOLD, "messages that these bytes take") \
	X(MODEL_SPLIT, "model.split_most", "1", TOLD,                                              \
	  "slabs of a sample, none thinner than its halo")                                         \
	X(MODEL_LINEAR, "model.linear_ratio", "ratio", TOLD,                                       \
	  "kernel time in products of large linear layers (MLP)")                                  \
	X(MODEL_ODD, "model.odd_ratio", "ratio", TOLD,                                             \
	  "kernel time in products of a size that is no multiple of 64")                           \
	X(MODEL_ATTENTION, "model.attention_ratio", "ratio", TOLD,                                 \
	  "kernel time in attention of all tokens to all")                                         \
	X(MODEL_FROZEN, "model.frozen_ratio", "ratio", TOLD,                                       \
	  "kernel time in networks that are not trained, on the same inputs each epoch")           \
	X(MODEL_WIDE, "model.wide_ratio", "ratio", TOLD,                                           \
	  "kernel time that moves activations of 32 bits")                                         \
	X(MODEL_ZEROS, "model.zeros_ratio", "ratio", TOLD,                                         \
	  "weights of those layers that are zero and stay so")                                     \
	X(MODEL_ZERO_BLOCKS, "model.zeros_are_blocks", "bool", TOLD,                               \
	  "the zeros fill whole blocks, of 16 x 16 or more")                                       \
	X(MODEL_ZERO_PAIRS, "model.zeros_are_paired", "bool", TOLD,                                \
	  "two of each four neighbours are zero (2:4)")                                            \
	X(MODEL_ALIKE, "model.layers_alike", "1", TOLD,                                            \
	  "layers of the same shapes that could use the same weights")                             \
	X(MODEL_ALIKE_RATIO, "model.alike_ratio", "ratio", TOLD,                                   \
	  "weights of the model that are in these layers")                                         \
	X(MODEL_CLASSIFIER, "model.is_image_classifier", "bool", TOLD,                             \
	  "a convolutional network that tells classes of images")                                  \
	X(MODEL_MASKED, "model.is_masked_language_model", "bool", TOLD,                            \
	  "a language model trained as BERT is")                                                   \
	X(MODEL_CAUSAL, "model.is_causal_language_model", "bool", TOLD,                            \
	  "a language model that tells the next token")                                            \
	X(FORECAST_MEMBERS, "forecast.members", "1", TOLD,                                         \
	  "simulations that are run for one forecast")                                             \
	X(FORECAST_COST, "forecast.cost_ratio", "ratio", TOLD,                                     \
	  "cost of a forecast that its members take")                                              \
	X(FORECAST_SPREAD, "forecast.spread_suffices", "bool", TOLD,                               \
	  "of the members only their spread is used")                                              \
	X(IDIOM_HELD, "idiom.held_ratio", "ratio", SEEN,                                           \
	  "of the loop, what the idiom of the rule holds up at most; known to idioms only")        \
	X(IDIOM_TIME, "idiom.time_ratio", "ratio", SEEN,                                           \
	  "the same without the main thread's waits for a CPU in it; known to idioms only")        \
	X(IDIOM_LOADING, "idiom.loading_ratio", "ratio", SEEN,                                     \
	  "of the loader workers' time without waits; known to idioms only")                       \
	X(IDIOM_LATE, "idiom.late_ratio", "ratio", SEEN,                                           \
	  "of its time, in the second half of the loop; known to idioms only")                     \
	X(IDIOM_SHARED, "idiom.shared_ratio", "ratio", SEEN,                                       \
	  "of its time, in lines that make other calls, too; known to idioms only")                \
	X(IDIOM_SAMPLES, "idiom.samples", "1", SEEN,                                               \
	  "stacks that show the idiom; known to idioms only")                                      \
	X(ADVICE_SHOWN, "advice.shown", "1", SEEN,                                                 \
	  "advice shown for this run; known to verdicts only")

enum tp_fact {
#define X(id, name, unit, whose, text) TP_FACT_##id,
	TP_FACT_MAP(X)
#undef X
		TP_N_FACTS
};

/* Facts that only single rules use; they form the end of the list. */
enum { TP_FACT_RULES_OWN_FIRST = TP_FACT_IDIOM_HELD, TP_FACT_IDIOM_LAST = TP_FACT_IDIOM_SAMPLES };

/* Facts that only traces of spans have, as importers create them; they are consecutive in the
 * list. */
enum { TP_FACT_SPANS_FIRST = TP_FACT_STEP_NEXT, TP_FACT_SPANS_LAST = TP_FACT_TRACE_SPANS };

/* Facts of runs whose GPU was traced in windows; also consecutive. */
enum {
	TP_FACT_WINDOWS_FIRST = TP_FACT_WINDOWS_COUNT,
	TP_FACT_WINDOWS_LAST = TP_FACT_WINDOWS_SM_ACTIVE,
};

#endif
