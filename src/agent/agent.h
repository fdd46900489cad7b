/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exported functions of libtrainprof-agent.so: the entry points that NVIDIA's libraries call,
 * and the one that `trainprof attach` calls. The agent is loaded into other people's training
 * programs. It prints nothing, ends nothing, blocks no thread but its own, and does nothing when
 * something it needs is missing.
 *
 * The first entry point that is called starts the agent's thread, once, if TRAINPROF_GPU_RINGS
 * names a directory and TRAINPROF_GPU is not "0". All entry points may be called from any thread,
 * any number of times.
 */
#ifndef TRAINPROF_SRC_AGENT_AGENT_H
#define TRAINPROF_SRC_AGENT_AGENT_H

#include "agent/nvtx/nvtx_abi.h"

#include <stddef.h>

/* NVIDIA's names. NOLINTBEGIN(readability-identifier-naming) */

/* Called by libcuda in cuInit() when CUDA_INJECTION64_PATH names this library. Always returns 1
 * (success). */
int InitializeInjection(void);

/* Called by each module that uses NVTX, at its first range, when NVTX_INJECTION64_PATH names this
 * library. Returns 0 if no ranges are recorded; they then cost nothing. */
int InitializeInjectionNvtx2(nvtx_get_table get_table);

/* Called in the same way for each extension of NVTX that the module uses. */
int InitializeInjectionNvtxExtension(const struct nvtx_extension *extension);

/* NOLINTEND(readability-identifier-naming) */

/* Called by `trainprof attach`, in a thread that it has created in a program that already uses
 * CUDA; trainprof/wire/gpu_ring.h describes what it does and returns. Any thread, any number of
 * times. */
int trainprof_agent_attach(void *block, size_t bytes);

#endif
