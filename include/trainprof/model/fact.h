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
	  "share of the loop in special steps (checkpoint, evaluation, slow steps)")               \
	X(RUN_CHECKPOINT_RATIO, "run.checkpoint_ratio", "ratio", SEEN,                             \
	  "share of the loop in checkpoints")                                                      \
	X(RUN_CHECKPOINT_WAIT, "run.checkpoint_wait_ratio", "ratio", SEEN,                         \
	  "share of checkpoint time in which the trainer waits for storage")                       \
	X(RUN_EVALUATION, "run.evaluation_ratio", "ratio", SEEN,                                   \
	  "share of the loop in evaluations")                                                      \
	X(RUN_LOGGING_RATIO, "run.logging_ratio", "ratio", SEEN, "share of the loop in logging")   \
	X(RUN_OVERHEAD_RATIO, "run.overhead_ratio", "ratio", SEEN,                                 \
	  "CPU time of measuring / CPU time available to the program")                             \
	X(RUN_OVERHEAD_TIME, "run.overhead_ns", "ns", SEEN, "CPU time of measuring")               \
	X(RUN_OVERHEAD_STARTUP, "run.overhead_startup_ns", "ns", SEEN,                             \
	  "CPU time of starting and ending the measurement")                                       \
	X(RUN_OVERHEAD_RUNNING, "run.overhead_running_ratio", "ratio", SEEN,                       \
	  "CPU time of measuring while running / CPU time available to the program")               \
	X(RUN_STOPPED, "run.stopped_ns", "ns", SEEN,                                               \
	  "time in which the program was stopped: left out")                                       \
	X(RUN_UNWATCHED, "run.unwatched_ns", "ns", SEEN,                                           \
	  "time in which trainprof itself was stopped: left out")                                  \
	X(RUN_HANG, "run.hang_ns", "ns", SEEN,                                                     \
	  "time before the end of measuring in which no thread of the program did "                \
	  "anything")                                                                              \
	X(RUN_HANG_RATIO, "run.hang_ratio", "ratio", SEEN,                                         \
	  "share of the judged time before its end in which no thread did anything")               \
	X(RUN_RECORDS_LOST_RATIO, "run.records_lost_ratio", "ratio", SEEN,                         \
	  "records lost / all records")                                                            \
	X(RUN_SWITCHES_OFF_RATIO, "run.switches_off_ratio", "ratio", SEEN,                         \
	  "share of the run without switch records: too many switches")                            \
	X(RUN_THINNED_RATIO, "run.thinned_ratio", "ratio", SEEN,                                   \
	  "share of samples of running threads without a stack, left out to save time")            \
	X(RUN_RATE_RATIO, "run.sample_rate_ratio", "ratio", SEEN,                                  \
	  "samples per second taken / requested")                                                  \
	X(RUN_ACCOUNTED_RATIO, "run.accounted_ratio", "ratio", SEEN,                               \
	  "share of the program's CPU time that has a stack or is known as kernel or "             \
	  "short threads")                                                                         \
	X(RUN_COMPLETE_STACKS_RATIO, "run.complete_stacks_ratio", "ratio", SEEN,                   \
	  "share of native stacks that reach the thread's first frame")                            \
	X(RUN_UNKNOWN_RATIO, "run.unknown_ratio", "ratio", SEEN,                                   \
	  "share of the window whose class rests on no sample of its own kind")                    \
	X(RUN_N_SAMPLES, "run.n_samples", "1", SEEN, "samples of the trainer in the window")       \
	X(STEP_COUNT, "step.count", "1", SEEN, "steady steps")                                     \
	X(STEP_TIME, "step.time_ns", "ns", SEEN, "mean steady step")                               \
	X(STEP_MEDIAN, "step.median_ns", "ns", SEEN, "median steady step")                         \
	X(STEP_P95, "step.p95_ns", "ns", SEEN, "95th percentile of steady steps")                  \
	X(STEP_SAMPLES_PER_S, "throughput.samples_per_s", "per_s", SEEN,                           \
	  "samples per second: batch size of the loader / mean steady step")                       \
	X(STEP_CV, "step.variation_ratio", "ratio", SEEN,                                          \
	  "standard deviation / mean of steady steps")                                             \
	X(STEP_COMPUTE, "step.compute_ratio", "ratio", SEEN, "share of the step in compute")       \
	X(STEP_COMMUNICATION, "step.communication_ratio", "ratio", SEEN,                           \
	  "share of the step in communication")                                                    \
	X(STEP_MEMORY, "step.memory_ratio", "ratio", SEEN, "share of the step in memory work")     \
	X(STEP_DATALOADER, "step.dataloader_ratio", "ratio", SEEN,                                 \
	  "share of the step spent waiting for data")                                              \
	X(STEP_HOST, "step.host_ratio", "ratio", SEEN, "share of the step in CPU overhead")        \
	X(STEP_IDLE, "step.idle_ratio", "ratio", SEEN,                                             \
	  "share of the step in waits that belong to no other part")                               \
	X(STEP_TEAM_WAIT, "step.compute_team_wait_ratio", "ratio", SEEN,                           \
	  "share of the step in which the trainer waits for its compute threads, or spins")        \
	X(STEP_COMM_WAIT, "step.communication_wait_ratio", "ratio", SEEN,                          \
	  "share of the step spent waiting for other ranks")                                       \
	X(STEP_FAULT, "step.memory_page_fault_ratio", "ratio", SEEN,                               \
	  "share of the step in page faults")                                                      \
	X(STEP_SWAP, "step.memory_swap_ratio", "ratio", SEEN,                                      \
	  "share of the step spent waiting for swap")                                              \
	X(STEP_ALLOC, "step.memory_alloc_ratio", "ratio", SEEN,                                    \
	  "share of the step in malloc and free")                                                  \
	X(STEP_COPY, "step.memory_copy_ratio", "ratio", SEEN,                                      \
	  "share of the step in memory copies")                                                    \
	X(STEP_PREP, "step.dataloader_prep_ratio", "ratio", SEEN,                                  \
	  "share of the step spent waiting while data is decoded or prepared")                     \
	X(STEP_FETCH, "step.dataloader_fetch_ratio", "ratio", SEEN,                                \
	  "share of the step spent waiting while data is read from storage")                       \
	X(STEP_HANDOVER, "step.dataloader_handover_ratio", "ratio", SEEN,                          \
	  "share of the step spent handing batches to the trainer")                                \
	X(STEP_PAUSE, "step.dataloader_pause_ratio", "ratio", SEEN,                                \
	  "share of the step spent waiting while the loader itself waits")                         \
	X(STEP_LOADER_QUEUE, "step.dataloader_cpu_queue_ratio", "ratio", SEEN,                     \
	  "share of the step spent waiting while the loader waits for a CPU")                      \
	X(STEP_INLINE, "step.dataloader_inline_ratio", "ratio", SEEN,                              \
	  "share of the step in which the trainer does the loader's work itself")                  \
	X(STEP_INTERPRETER, "step.host_interpreter_ratio", "ratio", SEEN,                          \
	  "share of the step in the Python interpreter")                                           \
	X(STEP_PYTHON_LINES, "step.python_lines_ratio", "ratio", SEEN,                             \
	  "share of the step in lines of the program whose time is Python's to a third, calls "    \
	  "included")                                                                              \
	X(STEP_GIL, "step.host_gil_ratio", "ratio", SEEN,                                          \
	  "share of the step spent waiting for the interpreter lock")                              \
	X(STEP_LOGGING, "step.host_logging_ratio", "ratio", SEEN, "share of the step in logging")  \
	X(STEP_CHECKPOINT, "step.host_checkpoint_ratio", "ratio", SEEN,                            \
	  "share of the step in checkpoints")                                                      \
	X(STEP_HOST_KERNEL, "step.host_kernel_ratio", "ratio", SEEN,                               \
	  "share of the step in system calls")                                                     \
	X(STEP_GC, "step.host_gc_ratio", "ratio", SEEN, "share of the step in garbage collection") \
	X(STEP_COMPILE, "step.host_compile_ratio", "ratio", SEEN,                                  \
	  "share of the step in compilation and module loading")                                   \
	X(STEP_RUNNABLE, "step.idle_runnable_ratio", "ratio", SEEN,                                \
	  "share of the step spent waiting for a CPU")                                             \
	X(STEP_SLEEP, "step.idle_sleep_ratio", "ratio", SEEN, "share of the step in sleep calls")  \
	X(STEP_IDLE_IO, "step.idle_blocked_io_ratio", "ratio", SEEN,                               \
	  "share of the step blocked in I/O")                                                      \
	X(STEP_LOCK, "step.idle_blocked_lock_ratio", "ratio", SEEN,                                \
	  "share of the step blocked on a lock")                                                   \
	X(STEP_IDLE_UNKNOWN, "step.idle_unknown_ratio", "ratio", SEEN,                             \
	  "share of the step idle for an unknown reason")                                          \
	X(LOADER_WORKERS, "loader.workers", "1", SEEN, "loader processes and threads")             \
	X(LOADER_PROCESSES, "loader.processes", "1", SEEN, "loader processes")                     \
	X(LOADER_PREFETCH, "loader.prefetch_factor", "1", SEEN,                                    \
	  "batches that the loader fetches ahead for each worker (its setting)")                   \
	X(LOADER_BATCH_SIZE, "loader.batch_size", "1", SEEN, "samples in a batch of the loader")   \
	X(LOADER_PERSISTENT, "loader.persistent_workers", "bool", SEEN,                            \
	  "the loader keeps its workers between epochs (its setting)")                             \
	X(LOADER_PIN, "loader.pin_memory", "bool", SEEN, "the loader really pins its batches")     \
	X(LOADER_BUSY, "loader.busy_ratio", "ratio", SEEN, "share of the workers' time on a CPU")  \
	X(LOADER_READ, "loader.read_wait_ratio", "ratio", SEEN,                                    \
	  "share of the workers' time waiting for storage")                                        \
	X(LOADER_IDLE, "loader.idle_ratio", "ratio", SEEN,                                         \
	  "share of the workers' time waiting for room or for work")                               \
	X(LOADER_SLEEP, "loader.sleep_ratio", "ratio", SEEN, "share of the workers' time asleep")  \
	X(LOADER_QUEUE, "loader.run_delay_ratio", "ratio", SEEN,                                   \
	  "share of the workers' time waiting for a CPU")                                          \
	X(LOADER_DECODE, "loader.decode_ratio", "ratio", SEEN,                                     \
	  "share of the loader's time in decoding")                                                \
	X(LOADER_TRANSFORM, "loader.transform_ratio", "ratio", SEEN,                               \
	  "share of the loader's time in other work: augmenting, collating samples into "          \
	  "batches")                                                                               \
	X(LOADER_AUGMENT, "loader.augment_ratio", "ratio", SEEN,                                   \
	  "share of the loader's work in functions that are known to augment")                     \
	X(LOADER_HANDOVER, "loader.handover_ratio", "ratio", SEEN,                                 \
	  "share of the loader's time in handing batches over")                                    \
	X(LOADER_FULL, "loader.queue_full_ratio", "ratio", SEEN,                                   \
	  "share of the workers' time waiting for room for a batch")                               \
	X(LOADER_INDEX, "loader.index_wait_ratio", "ratio", SEEN,                                  \
	  "share of the workers' time waiting for an order to make a batch")                       \
	X(LOADER_BATCH, "loader.batch_time_ns", "ns", SEEN,                                        \
	  "time that a worker needs for one batch, without waits for room and for work")           \
	X(LOADER_PASSING, "loader.handover_time_ns", "ns", SEEN,                                   \
	  "time to hand over one batch: in workers, their helpers and the trainer")                \
	X(LOADER_SUPPLY, "loader.supply_per_s", "per_s", SEEN,                                     \
	  "batches per second that the workers can make")                                          \
	X(LOADER_DEMAND, "loader.demand_per_s", "per_s", SEEN,                                     \
	  "batches per second that the trainer could use without waiting")                         \
	X(LOADER_STARTUP, "loader.startup_ratio", "ratio", SEEN,                                   \
	  "share of the loop that restarts of workers take")                                       \
	X(LOADER_RESTART_STEPS, "loader.restart_steps_ratio", "ratio", SEEN,                       \
	  "share of the loop that steps lose in which workers restart: what they take longer")     \
	X(LOADER_STARTS, "loader.restarts", "1", SEEN,                                             \
	  "number of times that workers were restarted")                                           \
	X(LOADER_IMBALANCE, "loader.imbalance_ratio", "ratio", SEEN,                               \
	  "busiest worker / mean, minus 1")                                                        \
	X(REPLAY_ERROR, "replay.error_ratio", "ratio", SEEN,                                       \
	  "step of the unchanged replay / measured step, minus 1")                                 \
	X(REPLAY_WORKERS, "replay.workers", "1", SEEN,                                             \
	  "number of loader workers above which a replayed step hardly gets shorter")              \
	X(REPLAY_WORKERS_SAVED, "replay.workers_ratio", "ratio", SEEN,                             \
	  "share of the step saved by that many workers if CPUs do not slow each other "           \
	  "down")                                                                                  \
	X(REPLAY_WORKERS_LEAST, "replay.workers_least_ratio", "ratio", SEEN,                       \
	  "share of the step saved by that many workers if two busy CPUs slow each other "         \
	  "down")                                                                                  \
	X(REPLAY_AHEAD_SAVED, "replay.prefetch_ratio", "ratio", SEEN,                              \
	  "share of the step saved by fetching four times as many batches ahead")                  \
	X(REPLAY_AUGMENT_SAVED, "replay.augment_ratio", "ratio", SEEN,                             \
	  "share of the step saved if workers did not augment")                                    \
	X(CPU_ALLOWED, "cpu.allowed_cpus", "cpus", SEEN,                                           \
	  "CPUs that the program may use, quota included")                                         \
	X(CPU_QUOTA, "cpu.quota_cpus", "cpus", SEEN, "cgroup CPU quota")                           \
	X(CPU_TREE_BUSY, "cpu.program_busy_cpus", "cpus", SEEN, "CPUs the program keeps busy")     \
	X(CPU_BUSY_RATIO, "cpu.busy_ratio", "ratio", SEEN, "busy share of the allowed CPUs")       \
	X(CPU_IDLE, "cpu.idle_cpus", "cpus", SEEN, "allowed CPUs that idle")                       \
	X(CPU_OTHERS, "cpu.other_programs_cpus", "cpus", SEEN, "CPUs busy with other programs")    \
	X(CPU_DELAY, "cpu.run_delay_ratio", "ratio", SEEN,                                         \
	  "trainer threads: time waiting for a CPU / time running or waiting for a CPU")           \
	X(CPU_WAIT_LOADERS, "cpu.wait_loader_cpus", "cpus", SEEN,                                  \
	  "CPUs used by the program's own loaders while the trainer waits for one")                \
	X(CPU_WAIT_OTHERS, "cpu.wait_program_cpus", "cpus", SEEN,                                  \
	  "CPUs used by other threads of the program while the trainer waits for one")             \
	X(CPU_WAIT_FOREIGN, "cpu.wait_foreign_ratio", "ratio", SEEN,                               \
	  "trainer: waits for a CPU while the program's own threads leave one / all such waits")   \
	X(CPU_PREEMPTED, "cpu.preemptions_per_s", "per_s", SEEN,                                   \
	  "involuntary switches of the trainer")                                                   \
	X(CPU_SWITCHES, "cpu.switches_per_s", "per_s", SEEN, "context switches of the program")    \
	X(CPU_RUNNABLE, "cpu.runnable_threads", "1", SEEN,                                         \
	  "threads that run or wait for a CPU, mean")                                              \
	X(CPU_PER_CORE, "cpu.runnable_per_cpu_ratio", "ratio", SEEN,                               \
	  "threads that run or wait for a CPU / allowed CPUs")                                     \
	X(CPU_THROTTLED, "cpu.throttled_ratio", "ratio", SEEN,                                     \
	  "share of the window throttled by the cgroup quota")                                     \
	X(CPU_STEAL, "cpu.steal_ratio", "ratio", SEEN,                                             \
	  "share of CPU time taken by the hypervisor")                                             \
	X(CPU_PSI, "cpu.pressure_ratio", "ratio", SEEN,                                            \
	  "share of time in which tasks waited for a CPU (PSI cpu some)")                          \
	X(COMPUTE_THREADS, "compute.threads", "1", SEEN, "threads that take part in compute")      \
	X(COMPUTE_BUSY, "compute.busy_threads", "1", SEEN,                                         \
	  "compute threads that are busy during compute, mean")                                    \
	X(COMPUTE_SPIN, "compute.spin_ratio", "ratio", SEEN,                                       \
	  "share of compute CPU time spent spinning")                                              \
	X(COMPUTE_SCALAR, "compute.scalar_ratio", "ratio", SEEN,                                   \
	  "share of compute time in code without vector instructions")                             \
	X(COMPUTE_LIBRARY, "compute.library_ratio", "ratio", SEEN,                                 \
	  "share of compute samples in math libraries")                                            \
	X(COMPUTE_POOLS, "compute.thread_pools", "1", SEEN,                                        \
	  "thread pool runtimes seen spinning or busy")                                            \
	X(MEM_MINFLT, "memory.minor_faults_per_s", "per_s", SEEN, "minor faults of the program")   \
	X(MEM_MINFLT_STEP, "memory.minor_faults_per_step", "1", SEEN,                              \
	  "minor faults of the trainer")                                                           \
	X(MEM_MAJFLT, "memory.major_faults_per_s", "per_s", SEEN, "major faults of the program")   \
	X(MEM_RSS, "memory.rss_peak_bytes", "bytes", SEEN,                                         \
	  "largest sum of resident memory of all processes")                                       \
	X(MEM_GROWTH, "memory.growth_bytes_per_s", "bytes_per_s", SEEN,                            \
	  "growth of the trainer's memory, at least, in each quarter of the window")               \
	X(MEM_LIMIT, "memory.limit_bytes", "bytes", SEEN, "memory of the machine or cgroup")       \
	X(MEM_USED_RATIO, "memory.used_ratio", "ratio", SEEN, "peak memory / limit")               \
	X(MEM_SWAP, "memory.swap_bytes_per_s", "bytes_per_s", SEEN, "swapped in and out")          \
	X(MEM_PSI, "memory.pressure_ratio", "ratio", SEEN,                                         \
	  "share of time in which tasks waited for memory (PSI memory some)")                      \
	X(MEM_STIME, "memory.kernel_cpu_ratio", "ratio", SEEN,                                     \
	  "share of the trainer's CPU time in the kernel")                                         \
	X(MEM_NUMA, "memory.numa_nodes", "1", SEEN, "NUMA nodes of the machine")                   \
	X(IO_READ, "io.device_read_bytes_per_s", "bytes_per_s", SEEN,                              \
	  "bytes per second read from disks by the program")                                       \
	X(IO_WRITE, "io.device_write_bytes_per_s", "bytes_per_s", SEEN,                            \
	  "bytes per second written to disks by the program")                                      \
	X(IO_CALL_READ, "io.call_read_bytes_per_s", "bytes_per_s", SEEN,                           \
	  "bytes per second returned by read calls")                                               \
	X(IO_CALLS, "io.read_calls_per_s", "per_s", SEEN, "read calls per second")                 \
	X(IO_CALL_BYTES, "io.bytes_per_read_call", "bytes", SEEN, "mean bytes per read call")      \
	X(IO_CACHED, "io.cached_ratio", "ratio", SEEN,                                             \
	  "share of read bytes that came from the page cache")                                     \
	X(IO_DISK_BUSY, "io.disk_busy_ratio", "ratio", SEEN,                                       \
	  "share of time in which the busiest disk works")                                         \
	X(IO_PSI, "io.pressure_ratio", "ratio", SEEN,                                              \
	  "share of time in which tasks waited for I/O (PSI io some)")                             \
	X(IO_FILES, "io.data_files", "1", SEEN, "number of different data files seen being read")  \
	X(COMM_PEERS, "comm.trainers", "1", SEEN, "trainer processes in the tree")                 \
	X(COMM_BUSY_WAIT, "comm.busy_wait_ratio", "ratio", SEEN,                                   \
	  "share of communication spent spinning")                                                 \
	X(STEP_NEXT, "step.dataloader_next_ratio", "ratio", SEEN,                                  \
	  "share of the step in the loader's next()")                                              \
	X(LOADER_INLINE, "loader.is_inline", "bool", SEEN,                                         \
	  "the training loop loads its batches itself, without workers")                           \
	X(STEP_H2D, "step.memory_copy_h2d_ratio", "ratio", SEEN,                                   \
	  "share of the step with only copies to the device")                                      \
	X(STEP_D2H, "step.memory_copy_d2h_ratio", "ratio", SEEN,                                   \
	  "share of the step with only copies from the device")                                    \
	X(STEP_D2D, "step.memory_copy_d2d_ratio", "ratio", SEEN,                                   \
	  "share of the step with only copies on the device")                                      \
	X(STEP_DISPATCH, "step.host_dispatch_ratio", "ratio", SEEN,                                \
	  "share of the step in which the device waits for operators of the framework on "         \
	  "the CPU")                                                                               \
	X(STEP_LAUNCH, "step.host_launch_ratio", "ratio", SEEN,                                    \
	  "share of the step in which the device waits for launching calls")                       \
	X(STEP_SYNC, "step.host_sync_ratio", "ratio", SEEN,                                        \
	  "share of the step in which the device idles while a thread still waits for it")         \
	X(STEP_COLLECTIVE, "step.communication_collective_ratio", "ratio", SEEN,                   \
	  "share of the step in collectives whose wait and transfer are not distinguished")        \
	X(STEP_UNCAPTURED, "step.communication_not_captured_ratio", "ratio", SEEN,                 \
	  "share of the step waiting for a rank that has no records of that time")                 \
	X(DEVICE_COUNT, "device.count", "1", SEEN, "number of judged devices")                     \
	X(DEVICE_BUSY, "device.busy_ratio", "ratio", SEEN,                                         \
	  "share of the windows in which the device works, mean")                                  \
	X(DEVICE_BUSY_LEAST, "device.busy_least_ratio", "ratio", SEEN,                             \
	  "share of the windows in which the least busy device works")                             \
	X(DEVICE_BUSY_MOST, "device.busy_most_ratio", "ratio", SEEN,                               \
	  "share of the windows in which the busiest device works")                                \
	X(DEVICE_OPS, "device.ops_per_step", "1", SEEN, "kernels and copies per step, mean")       \
	X(DEVICE_KERNEL, "device.kernel_median_ns", "ns", SEEN, "median length of a kernel")       \
	X(DEVICE_SHORT, "device.short_kernel_ratio", "ratio", SEEN,                                \
	  "share of kernels shorter than 10 µs")                                                   \
	X(DEVICE_UNLINKED, "device.unlinked_ratio", "ratio", SEEN,                                 \
	  "share of device work without a known launching call")                                   \
	X(DEVICE_GAP_HOST, "device.gap_host_ratio", "ratio", SEEN,                                 \
	  "share of the windows in which the device waits for the CPU to launch its next "         \
	  "work")                                                                                  \
	X(DEVICE_GAP_SYNC, "device.gap_sync_ratio", "ratio", SEEN,                                 \
	  "share of the windows in which the device idles because the CPU had waited for "         \
	  "it")                                                                                    \
	X(DEVICE_GAP_QUEUED, "device.gap_queued_ratio", "ratio", SEEN,                             \
	  "share of the windows in which the device idles although work is queued")                \
	X(DEVICE_SYNCS, "device.syncs_per_step", "1", SEEN,                                        \
	  "calls per step that wait for the device")                                               \
	X(DEVICE_ALLOCS, "device.allocs_per_step", "1", SEEN,                                      \
	  "calls per step that allocate or free device memory")                                    \
	X(DEVICE_ALLOC_TIME, "device.alloc_time_ratio", "ratio", SEEN,                             \
	  "share of the windows in calls that allocate or free device memory, overlapped "         \
	  "or not")                                                                                \
	X(DEVICE_COPY, "device.copy_ratio", "ratio", SEEN,                                         \
	  "share of the windows with a copy, overlapped or not")                                   \
	X(DEVICE_H2D_RATE, "device.h2d_bytes_per_s", "bytes_per_s", SEEN,                          \
	  "rate of copies to the device")                                                          \
	X(DEVICE_COPIES, "device.h2d_copies_per_step", "1", SEEN, "copies to the device per step") \
	X(DEVICE_SMALL_COPY, "device.small_copy_ratio", "ratio", SEEN,                             \
	  "share of the copy time to the device in copies of less than 64 KiB")                    \
	X(DEVICE_QUEUE, "device.queue_depth", "1", SEEN,                                           \
	  "work that is launched and waits on a device, mean")                                     \
	X(DEVICE_DRIFT, "device.kernel_drift_ratio", "ratio", SEEN,                                \
	  "time of the same kernels late in the run / early, minus 1")                             \
	X(DEVICE_PAGEABLE, "device.pageable_ratio", "ratio", SEEN,                                 \
	  "share of the copy time between CPU and device that uses pageable memory")               \
	X(DEVICE_CAPABILITY, "device.capability", "1", SEEN,                                       \
	  "compute capability, 10 x major + minor")                                                \
	X(DEVICE_TENSOR, "device.has_tensor_cores", "bool", SEEN, "the device has matrix units")   \
	X(KERNEL_MEMORY, "kernel.memory_bound_ratio", "ratio", SEEN,                               \
	  "share of kernel time in kernels that are bound by memory, judged by name")              \
	X(KERNEL_ELEMENTWISE, "kernel.elementwise_ratio", "ratio", SEEN,                           \
	  "share of kernel time in elementwise, activation, cast and copy kernels")                \
	X(KERNEL_LAYOUT, "kernel.layout_ratio", "ratio", SEEN,                                     \
	  "share of kernel time in layout changes")                                                \
	X(KERNEL_OPTIMIZER, "kernel.optimizer_ratio", "ratio", SEEN,                               \
	  "share of kernel time in the optimizer")                                                 \
	X(KERNEL_MATH, "kernel.matrix_ratio", "ratio", SEEN,                                       \
	  "share of kernel time in matrix products, convolutions and attention")                   \
	X(KERNEL_TENSOR, "kernel.tensor_core_ratio", "ratio", SEEN,                                \
	  "share of matrix kernel time in kernels that use matrix units, judged by name")          \
	X(KERNEL_NO_TENSOR, "kernel.tensor_idle_ratio", "ratio", SEEN,                             \
	  "share of matrix kernel time in kernels that do not use matrix units")                   \
	X(KERNEL_HALF, "kernel.half_ratio", "ratio", SEEN,                                         \
	  "share of matrix kernel time in kernels of 16-bit numbers, judged by name")              \
	X(KERNEL_SINGLE, "kernel.single_ratio", "ratio", SEEN,                                     \
	  "share of matrix kernel time in kernels of 32-bit numbers, TF32 included")               \
	X(KERNEL_DOUBLE, "kernel.double_ratio", "ratio", SEEN,                                     \
	  "share of matrix kernel time in kernels of 64-bit numbers")                              \
	X(KERNEL_WEAK, "kernel.weak_name_ratio", "ratio", SEEN,                                    \
	  "share of kernel time in kernels whose name says little")                                \
	X(COMM_TIME, "comm.kernel_ratio", "ratio", SEEN,                                           \
	  "share of the windows with a collective, overlapped or not")                             \
	X(COMM_HIDDEN, "comm.hidden_ratio", "ratio", SEEN,                                         \
	  "share of collective time that overlaps with compute")                                   \
	X(COMM_PER_STEP, "comm.collectives_per_step", "1", SEEN, "collectives per step")           \
	X(COMM_BYTES, "comm.median_bytes", "bytes", SEEN, "median size of a collective")           \
	X(COMM_SHORT, "comm.small_ratio", "ratio", SEEN,                                           \
	  "share of collectives of less than 1 MiB")                                               \
	X(COMM_BUS_RATE, "comm.bus_bytes_per_s", "bytes_per_s", SEEN,                              \
	  "median rate of collectives over the links between ranks")                               \
	X(COMM_RANKS, "comm.ranks", "1", SEEN, "ranks of the job")                                 \
	X(COMM_SEEN, "comm.ranks_seen", "1", SEEN, "ranks whose records are present")              \
	X(COMM_LATE, "comm.late_rank_ratio", "ratio", SEEN,                                        \
	  "share of the waits for others that is caused by the one rank that causes most")         \
	X(COMM_WAITS, "comm.wait_for_others_ratio", "ratio", SEEN,                                 \
	  "share of the step in which a rank waits for a late one, before attribution to "         \
	  "causes")                                                                                \
	X(COMM_SLOW_RANK, "comm.slow_rank", "1", SEEN,                                             \
	  "rank that computes longest, compared with ranks that do the same work")                 \
	X(COMM_SLOW_RANK_PEERS, "comm.slow_rank_peers", "1", SEEN,                                 \
	  "number of other ranks that do the same work as the slow rank")                          \
	X(COMM_SLOW_RANK_TIMES, "comm.slow_rank_times", "1", SEEN,                                 \
	  "compute time of the slow rank / median of its peers")                                   \
	X(COMM_SLOW_RANK_EXCESS, "comm.slow_rank_excess_ratio", "ratio", SEEN,                     \
	  "share of the step that the slow rank computes longer than that median")                 \
	X(COMM_SLOW_RANK_SAVED, "comm.slow_rank_saved_ratio", "ratio", SEEN,                       \
	  "share of the step saved if the slow rank computed as long as its peers, "               \
	  "replayed")                                                                              \
	X(COMM_STAGES, "comm.stages", "1", SEEN, "stages of the pipeline whose ranks are present") \
	X(COMM_SLOW_STAGE, "comm.slow_stage", "1", SEEN,                                           \
	  "stage that computes longest, counted from 0")                                           \
	X(COMM_SLOW_STAGE_TIMES, "comm.slow_stage_times", "1", SEEN,                               \
	  "compute time of the slow stage / median of the other stages")                           \
	X(COMM_SLOW_STAGE_EXCESS, "comm.slow_stage_excess_ratio", "ratio", SEEN,                   \
	  "share of the step that the slow stage computes longer than the mean of all "            \
	  "stages")                                                                                \
	X(COMM_SLOW_STAGE_SAVED, "comm.slow_stage_saved_ratio", "ratio", SEEN,                     \
	  "share of the step saved if all stages computed equally long, replayed")                 \
	X(COMM_SLOW_STAGE_MOST, "comm.slow_stage_most_ratio", "ratio", SEEN,                       \
	  "share of the step saved if only the slow stage became faster, replayed")                \
	X(COMM_UNEVEN_SAVED, "comm.uneven_saved_ratio", "ratio", SEEN,                             \
	  "share of the step saved if all ranks had equal work in each step, replayed")            \
	X(COMM_SLOWDOWN, "comm.interference_ratio", "ratio", SEEN,                                 \
	  "share of the window by which communication lengthens concurrent kernels")               \
	X(TRACE_CUT, "trace.is_cut", "bool", SEEN, "the file of a trace ends in the middle")       \
	X(TRACE_SKIPPED, "trace.skipped_ratio", "ratio", SEEN,                                     \
	  "share of relevant events that are malformed")                                           \
	X(TRACE_OPS, "trace.device_ops", "1", SEEN, "kernels and copies in the trace")             \
	X(TRACE_RECOGNISED, "trace.is_recognised", "bool", SEEN,                                   \
	  "the trace has marks that only one program writes")                                      \
	X(TRACE_DEVICE_LOST, "trace.is_device_lost", "bool", SEEN,                                 \
	  "the trace shows that devices were used, but not what they did")                         \
	X(TRACE_ONLY_RANGES, "trace.is_only_ranges", "bool", SEEN,                                 \
	  "the trace holds named ranges but no computation")                                       \
	X(TRACE_JUDGED_OPS, "trace.judged_ops", "1", SEEN,                                         \
	  "kernels and copies that were judged; operators and calls if no device works")           \
	X(TRACE_COLD, "trace.cold_ratio", "ratio", SEEN,                                           \
	  "share of the judged time in slow first calls, without device work")                     \
	X(TRACE_SPANS, "trace.spans", "1", SEEN, "spans in the trace")                             \
	X(WINDOWS_COUNT, "windows.count", "1", SEEN, "windows in which the GPU was traced")        \
	X(WINDOWS_TRACED, "windows.traced_ratio", "ratio", SEEN,                                   \
	  "share of the run in which the GPU was traced")                                          \
	X(WINDOWS_SLOWDOWN, "windows.slowdown_ratio", "ratio", SEEN,                               \
	  "steps while the GPU is traced / steps just before and after, minus 1")                  \
	X(WINDOWS_COST, "windows.cost_ratio", "ratio", SEEN,                                       \
	  "share of the run lost to tracing, computed from the steps")                             \
	X(WINDOWS_AWAKE, "windows.awake_ratio", "ratio", SEEN,                                     \
	  "share of the traced time in which the GPU was awake according to its driver; "          \
	  "mean of GPUs")                                                                          \
	X(WINDOWS_KERNELS, "windows.busy_ratio", "ratio", SEEN,                                    \
	  "share of the traced time with traced kernels")                                          \
	X(WINDOWS_SM_ACTIVE, "windows.sm_active_ratio", "ratio", SEEN,                             \
	  "share of cycles in which multiprocessors work while the GPU is traced")                 \
	X(PMU_IPC, "pmu.instructions_per_cycle", "1", SEEN,                                        \
	  "instructions per cycle of the whole program")                                           \
	X(PMU_LLC, "pmu.llc_misses_per_kilo_instruction", "1", SEEN,                               \
	  "last-level cache misses per 1000 instructions of the whole program")                    \
	X(PMU_MEMORY, "pmu.memory_bound_ratio", "ratio", SEEN,                                     \
	  "share of pipeline slots that stall on memory")                                          \
	X(GPU_COUNT, "gpu.count", "1", SEEN, "GPUs that the program uses")                         \
	X(GPU_AWAKE, "gpu.awake_ratio", "ratio", SEEN,                                             \
	  "share of the window in which some kernel ran on the GPU, however small; mean "          \
	  "of GPUs")                                                                               \
	X(GPU_AWAKE_LEAST, "gpu.awake_least_ratio", "ratio", SEEN,                                 \
	  "share of the window in which some kernel ran on the least used GPU")                    \
	X(GPU_MEM_USED, "gpu.memory_used_ratio", "ratio", SEEN,                                    \
	  "peak share of GPU memory in use by all programs, fullest GPU")                          \
	X(GPU_MEM_OTHERS, "gpu.other_memory_ratio", "ratio", SEEN,                                 \
	  "peak share of GPU memory used by other programs")                                       \
	X(GPU_MEM_TOTAL, "gpu.memory_total_bytes", "bytes", SEEN, "memory of a GPU")               \
	X(GPU_POWER, "gpu.power_w", "w", SEEN, "power of all GPUs, mean")                          \
	X(GPU_ENERGY, "gpu.energy_j", "j", SEEN, "energy of all GPUs")                             \
	X(GPU_CLOCK, "gpu.sm_clock_ratio", "ratio", SEEN, "GPU clock / its maximum, mean")         \
	X(GPU_POWER_CAPPED, "gpu.power_capped_ratio", "ratio", SEEN,                               \
	  "share of the window in which the power limit lowered the clock")                        \
	X(GPU_HEAT_CAPPED, "gpu.heat_capped_ratio", "ratio", SEEN,                                 \
	  "share of the window in which the temperature lowered the clock")                        \
	X(GPU_SLOWED, "gpu.hardware_slowed_ratio", "ratio", SEEN,                                  \
	  "share of readings at which the hardware itself lowered the clock (heat, power "         \
	  "brake)")                                                                                \
	X(GPU_OTHERS, "gpu.other_processes", "1", SEEN,                                            \
	  "processes of other programs that compute on the GPU")                                   \
	X(GPU_MEM_GROWTH, "gpu.memory_growth_bytes_per_s", "bytes_per_s", SEEN,                    \
	  "growth of the program's GPU memory from first to last reading, fastest GPU")            \
	X(GPU_POWER_LIMIT, "gpu.power_limit_ratio", "ratio", SEEN,                                 \
	  "power limit of a GPU / its default limit, lowest GPU")                                  \
	X(GPU_PCIE_LINK, "gpu.pcie_link_ratio", "ratio", SEEN,                                     \
	  "bandwidth of the PCIe link / what GPU and slot support, lowest GPU")                    \
	X(GPU_PCIE_RX_RATIO, "gpu.pcie_received_ratio", "ratio", SEEN,                             \
	  "received over PCIe / bandwidth of the link, busiest GPU")                               \
	X(GPU_PCIE_TX_RATIO, "gpu.pcie_sent_ratio", "ratio", SEEN,                                 \
	  "sent over PCIe / bandwidth of the link, busiest GPU")                                   \
	X(GPU_SM_ACTIVE, "gpu.sm_active_ratio", "ratio", SEEN,                                     \
	  "share of cycles in which multiprocessors have work, mean")                              \
	X(GPU_OCCUPANCY, "gpu.sm_occupancy_ratio", "ratio", SEEN, "resident warps / maximum")      \
	X(GPU_TENSOR, "gpu.tensor_active_ratio", "ratio", SEEN,                                    \
	  "share of cycles in which matrix units work")                                            \
	X(GPU_DRAM, "gpu.dram_active_ratio", "ratio", SEEN,                                        \
	  "share of the GPU memory bandwidth in use")                                              \
	X(GPU_PCIE_TX, "gpu.pcie_sent_bytes_per_s", "bytes_per_s", SEEN,                           \
	  "sent over PCIe, busiest GPU")                                                           \
	X(GPU_PCIE_RX, "gpu.pcie_received_bytes_per_s", "bytes_per_s", SEEN, "received over PCIe") \
	X(GPU_NVLINK_TX, "gpu.nvlink_sent_bytes_per_s", "bytes_per_s", SEEN, "sent over NVLink")   \
	X(GPU_NVLINK_RX, "gpu.nvlink_received_bytes_per_s", "bytes_per_s", SEEN,                   \
	  "received over NVLink")                                                                  \
	X(GPU_L2_HIT, "gpu.counters.l2_hit_ratio", "ratio", SEEN,                                  \
	  "share of accesses served by the GPU's L2 cache, by hardware counters")                  \
	X(GPU_DRAM_READ, "gpu.counters.dram_read_bytes_per_s", "bytes_per_s", SEEN,                \
	  "read from GPU memory, busiest GPU, by hardware counters")                               \
	X(GPU_DRAM_WRITTEN, "gpu.counters.dram_written_bytes_per_s", "bytes_per_s", SEEN,          \
	  "written to GPU memory, busiest GPU, by hardware counters")                              \
	X(GPU_LAUNCHES, "gpu.counters.launches_per_s", "per_s", SEEN,                              \
	  "grids started per second and GPU, by hardware counters")                                \
	X(GPU_COUNTED, "gpu.counters.time_ratio", "ratio", SEEN,                                   \
	  "share of the window in which hardware counters were read, with clocks locked")          \
	X(GPU_COUNTED_STEP, "gpu.counters.step_change_ratio", "ratio", SEEN,                       \
	  "mean step while counters were read / mean step otherwise, minus 1")                     \
	X(ENV_OMP, "env.omp_num_threads", "1", SEEN, "OMP_NUM_THREADS")                            \
	X(ENV_BLAS, "env.blas_num_threads", "1", SEEN, "OPENBLAS_NUM_THREADS or MKL_NUM_THREADS")  \
	X(ENV_PASSIVE, "env.omp_wait_passive", "bool", SEEN, "OMP_WAIT_POLICY=passive")            \
	X(ENV_MALLOC, "env.malloc_tuned", "bool", SEEN,                                            \
	  "malloc thresholds set or another malloc used")                                          \
	X(ENV_PYTHON, "env.is_python", "bool", SEEN, "the trainer runs in a Python interpreter")   \
	X(SET_BLOCKING, "set.launch_blocking", "bool", SEEN,                                       \
	  "kernel launches wait for the kernel: CUDA_LAUNCH_BLOCKING")                             \
	X(SET_DEBUG, "set.debugging", "bool", SEEN, "a variable enables debugging aids")           \
	X(SET_ANOMALY, "set.anomaly_detection", "bool", SEEN,                                      \
	  "autograd's anomaly detection was seen")                                                 \
	X(SET_NCCL, "set.nccl_forced", "bool", SEEN,                                               \
	  "a variable forces or forbids transports of NCCL")                                       \
	X(SET_EXPANDABLE, "set.expandable_segments", "bool", SEEN,                                 \
	  "the device allocator may use expandable segments")                                      \
	X(SET_TF32, "set.tf32", "bool", SEEN, "matrix products in TF32 were seen")                 \
	X(SET_AMP, "set.amp", "bool", SEEN, "automatic mixed precision was seen")                  \
	X(SET_FP8, "set.fp8", "bool", SEEN, "8-bit matrix products were seen")                     \
	X(SET_FLASH, "set.flash_attention", "bool", SEEN, "tiled attention was seen")              \
	X(SET_FUSED_OPTIMIZER, "set.fused_optimizer", "bool", SEEN, "a fused optimizer was seen")  \
	X(SET_GRAPHS, "set.cuda_graphs", "bool", SEEN, "CUDA graphs were seen")                    \
	X(SET_COMPILED, "set.compiled", "bool", SEEN, "code of torch.compile was seen")            \
	X(SET_XLA, "set.xla", "bool", SEEN, "code of XLA was seen")                                \
	X(SET_FUSED_KERNELS, "set.fused_kernels", "bool", SEEN,                                    \
	  "a library of fused kernels was seen")                                                   \
	X(SET_DATA_PARALLEL, "set.data_parallel", "bool", SEEN,                                    \
	  "DataParallel was seen: one process for several devices")                                \
	X(SET_DDP, "set.ddp", "bool", SEEN,                                                        \
	  "one process per device: DistributedDataParallel or similar")                            \
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
	X(SET_HUGE, "set.huge_pages", "bool", SEEN, "a variable makes malloc use huge pages")      \
	X(SET_RECOMPUTE, "set.act_checkpoint", "bool", SEEN,                                       \
	  "activations are recomputed in the backward pass")                                       \
	X(SET_OPTIM_8BIT, "set.optim_8bit", "bool", SEEN, "optimizer states in 8 bits were seen")  \
	X(SET_OPTIM_HOST, "set.optim_offload", "bool", SEEN, "an optimizer on the CPU was seen")   \
	X(SET_LORA, "set.lora", "bool", SEEN, "low-rank adapters were seen")                       \
	X(SET_ASYNC_SAVE, "set.async_checkpoint", "bool", SEEN,                                    \
	  "checkpoints are written in the background")                                             \
	X(ENV_PYTORCH, "env.uses_pytorch", "bool", SEEN, "PyTorch was seen at work")               \
	X(ENV_JAX, "env.uses_jax", "bool", SEEN, "JAX was seen at work")                           \
	X(ENV_TENSORFLOW, "env.uses_tensorflow", "bool", SEEN, "TensorFlow was seen at work")      \
	X(DATA_SIZE, "data.size_bytes", "bytes", TOLD, "training data as it is stored")            \
	X(DATA_PADDING, "data.padding_ratio", "ratio", TOLD,                                       \
	  "share of a batch that is padding: tokens, or pixels")                                   \
	X(JOB_NODES, "job.nodes", "1", TOLD, "machines that train together")                       \
	X(JOB_DEVICES, "job.devices", "1", TOLD, "devices available for training")                 \
	X(JOB_BATCH, "job.batch_samples", "1", TOLD, "samples per step on all devices together")   \
	X(JOB_DEVICE_SAMPLES, "job.device_samples", "1", TOLD, "samples per step on one device")   \
	X(JOB_EPOCHS, "job.epochs", "1", TOLD, "number of epochs")                                 \
	X(JOB_SAME_DATA, "job.same_data_jobs", "1", TOLD,                                          \
	  "jobs on this machine that use the same data, including this one")                       \
	X(JOB_STAGES, "job.pipeline_stages", "1", TOLD, "stages of a pipeline over devices")       \
	X(JOB_MICROBATCHES, "job.microbatches", "1", TOLD,                                         \
	  "micro-batches into which the pipeline divides a batch")                                 \
	X(LINK_RATE, "link.bytes_per_s", "bytes_per_s", TOLD,                                      \
	  "measured bandwidth from a device to its neighbour")                                     \
	X(LINK_LATENCY, "link.latency_ns", "ns", TOLD,                                             \
	  "time of an empty message between neighbouring devices")                                 \
	X(GPU_MEM_RATE, "gpu.memory_bytes_per_s", "bytes_per_s", TOLD,                             \
	  "memory bandwidth of a GPU according to its data sheet")                                 \
	X(MODEL_SAMPLE, "model.sample_bytes", "bytes", TOLD,                                       \
	  "device memory for the activations of one sample")                                       \
	X(MODEL_STATE, "model.state_bytes", "bytes", TOLD,                                         \
	  "weights, gradients and optimizer state on a device")                                    \
	X(MODEL_OPTIMIZER, "model.optimizer_bytes", "bytes", TOLD, "optimizer state on a device")  \
	X(MODEL_OPERATIONS, "model.sample_operations", "1", TOLD,                                  \
	  "multiplications and additions for one sample, forward and backward")                    \
	X(MODEL_OPERATION_RATE, "model.operations_per_s", "per_s", TOLD,                           \
	  "multiplications and additions per second on a device for this model")                   \
	X(MODEL_SAMPLE_TIME, "model.sample_time_ns", "ns", TOLD,                                   \
	  "time for one sample on one device, forward and backward")                               \
	X(MODEL_LEAST, "model.sample_least_bytes", "bytes", TOLD,                                  \
	  "device memory traffic of one sample if only products and convolutions read and "        \
	  "write")                                                                                 \
	X(MODEL_HALO, "model.halo_bytes", "bytes", TOLD,                                           \
	  "bytes that a device sends for one split sample, forward and backward")                  \
	X(MODEL_HALO_MESSAGES, "model.halo_messages", "1", TOLD,                                   \
	  "messages that carry these bytes")                                                       \
	X(MODEL_SPLIT, "model.split_most", "1", TOLD,                                              \
	  "maximum number of slabs of a sample, none thinner than its halo")                       \
	X(MODEL_LINEAR, "model.linear_ratio", "ratio", TOLD,                                       \
	  "share of kernel time in products of large linear layers (MLP)")                         \
	X(MODEL_ODD, "model.odd_ratio", "ratio", TOLD,                                             \
	  "share of kernel time in products whose size is no multiple of 64")                      \
	X(MODEL_ATTENTION, "model.attention_ratio", "ratio", TOLD,                                 \
	  "share of kernel time in full attention between all tokens")                             \
	X(MODEL_FROZEN, "model.frozen_ratio", "ratio", TOLD,                                       \
	  "share of kernel time in frozen networks that get the same inputs in each epoch")        \
	X(MODEL_WIDE, "model.wide_ratio", "ratio", TOLD,                                           \
	  "share of kernel time that moves 32-bit activations")                                    \
	X(MODEL_ZEROS, "model.zeros_ratio", "ratio", TOLD,                                         \
	  "share of the model's weights that are zero and stay zero")                              \
	X(MODEL_ZERO_BLOCKS, "model.zeros_are_blocks", "bool", TOLD,                               \
	  "the zeros fill whole blocks of at least 16 x 16")                                       \
	X(MODEL_ZERO_PAIRS, "model.zeros_are_paired", "bool", TOLD,                                \
	  "two of each four adjacent weights are zero (2:4)")                                      \
	X(MODEL_ALIKE, "model.layers_alike", "1", TOLD,                                            \
	  "layers of the same shapes that could use the same weights")                             \
	X(MODEL_ALIKE_RATIO, "model.alike_ratio", "ratio", TOLD,                                   \
	  "share of the model's weights in layers that could share them")                          \
	X(MODEL_CLASSIFIER, "model.is_image_classifier", "bool", TOLD,                             \
	  "a convolutional network that classifies images")                                        \
	X(MODEL_MASKED, "model.is_masked_language_model", "bool", TOLD,                            \
	  "a language model trained like BERT")                                                    \
	X(MODEL_CAUSAL, "model.is_causal_language_model", "bool", TOLD,                            \
	  "a language model that predicts the next token")                                         \
	X(FORECAST_MEMBERS, "forecast.members", "1", TOLD,                                         \
	  "simulations (members) that are run for one forecast")                                   \
	X(FORECAST_COST, "forecast.cost_ratio", "ratio", TOLD,                                     \
	  "share of a forecast's cost in its members")                                             \
	X(FORECAST_SPREAD, "forecast.spread_suffices", "bool", TOLD,                               \
	  "only the spread of the members is used")                                                \
	X(IDIOM_HELD, "idiom.held_ratio", "ratio", SEEN,                                           \
	  "share of the loop lost to the idiom of the rule, at most; known to idioms only")        \
	X(IDIOM_TIME, "idiom.time_ratio", "ratio", SEEN,                                           \
	  "share of the loop in the idiom without waits for a CPU; known to idioms only")          \
	X(IDIOM_LOADING, "idiom.loading_ratio", "ratio", SEEN,                                     \
	  "share of the loader workers' time in the idiom, without waits; known to idioms "        \
	  "only")                                                                                  \
	X(IDIOM_LATE, "idiom.late_ratio", "ratio", SEEN,                                           \
	  "share of the idiom's time in the second half of the steps; known to idioms only")       \
	X(IDIOM_SHARED, "idiom.shared_ratio", "ratio", SEEN,                                       \
	  "share of the idiom's time in lines that make other calls too; known to idioms "         \
	  "only")                                                                                  \
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
