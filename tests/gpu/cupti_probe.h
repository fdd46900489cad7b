/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gpu_bench asks of cupti_probe, a library that CUDA's driver loads into a program
 * (CUDA_INJECTION64_PATH) and that uses CUPTI by itself: how dear each of CUPTI's states is, what
 * its records look like. A tool for trying CUPTI; no part of trainprof.
 */
#ifndef TRAINPROF_TESTS_GPU_CUPTI_PROBE_H
#define TRAINPROF_TESTS_GPU_CUPTI_PROBE_H

/*
 * The states, each entered from any other. Returns 0, or CUPTI's error, or -1 for a state that is
 * not known, not possible (no CUPTI; no way back from "finalize"). From one thread at a time.
 *
 *   load         libcupti is loaded
 *   subscribe    and somebody has subscribed
 *   kernels      kernels are told
 *   calls        kernels, copies, fills, waits, and those calls that put work on the device
 *   all          the same, and every call of the driver and the runtime
 *   graphs       graphs are told as wholes, and nothing else
 *   disable      subscribed, and nothing is told any more
 *   unsubscribe  nobody is subscribed
 *   finalize     CUPTI has been told to leave
 */
typedef int probe_mode_fn(const char *mode);

#define PROBE_MODE_SYMBOL "probe_mode" /* a probe_mode_fn */

/* Environment: the state at the beginning ("load" otherwise), the file for what was counted, and
 * how many buffers on the device CUPTI may have (its own choice otherwise). */
#define PROBE_MODE_ENV   "PROBE_MODE"
#define PROBE_COUNTS_ENV "PROBE_COUNTS"
#define PROBE_LIMIT_ENV  "PROBE_LIMIT"

#endif
