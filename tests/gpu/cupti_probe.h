/* SPDX-License-Identifier: Apache-2.0 */
/* The interface from gpu_bench to cupti_probe, a library that CUDA's driver loads into a program
 * (CUDA_INJECTION64_PATH) and that uses CUPTI by itself: it measures the cost of each of CUPTI's
 * states and the layout of its records. A tool for trying CUPTI; no part of trainprof. */
#ifndef TRAINPROF_TESTS_GPU_CUPTI_PROBE_H
#define TRAINPROF_TESTS_GPU_CUPTI_PROBE_H

/*
 * The states, each entered from any other. Returns 0, or CUPTI's error, or -1 for a state that is
 * unknown or not possible (no CUPTI; no way back from "finalize"). From one thread at a time.
 *
 *   load         libcupti is loaded
 *   subscribe    the probe has subscribed
 *   kernels      kernels are recorded
 *   calls        kernels, copies, fills, waits, and the calls that start work on the device
 *   all          the same, and every call of the driver and the runtime
 *   graphs       graphs are recorded as wholes, and nothing else
 *   disable      subscribed, and nothing is recorded any more
 *   unsubscribe  the probe is not subscribed
 *   finalize     cuptiFinalize was called
 */
typedef int probe_mode_fn(const char *mode);

#define PROBE_MODE_SYMBOL "probe_mode" /* a probe_mode_fn */

/* Environment: the initial state ("load" by default), the output file for the counts, and the
 * maximum number of CUPTI's buffers on the device (CUPTI's default if unset). */
#define PROBE_MODE_ENV   "PROBE_MODE"
#define PROBE_COUNTS_ENV "PROBE_COUNTS"
#define PROBE_LIMIT_ENV  "PROBE_LIMIT"

#endif
