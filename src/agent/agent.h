/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libtrainprof-agent.so exports: the doors by which NVIDIA's libraries call a tool in, and the
 * one by which trainprof attach does. It is
 * loaded into somebody's training: it prints nothing, ends nothing, waits for nothing in a thread
 * that is not its own, and where anything is missing it does nothing.
 *
 * Through whichever of NVIDIA's doors somebody comes first, the agent begins: it starts its thread,
 * once, if TRAINPROF_GPU_RINGS names a directory and TRAINPROF_GPU is not "0". Any thread, any
 * number of times.
 */
#ifndef TRAINPROF_SRC_AGENT_AGENT_H
#define TRAINPROF_SRC_AGENT_AGENT_H

#include "agent/nvtx/nvtx_abi.h"

#include <stddef.h>

/* NVIDIA's names. NOLINTBEGIN(readability-identifier-naming) */

/* Called by libcuda in cuInit() where CUDA_INJECTION64_PATH names this library. Always 1: success.
 */
int InitializeInjection(void);

/* Called by each module that has NVTX in it, at its first range, where NVTX_INJECTION64_PATH names
 * this library. 0: nothing is told, and ranges cost nothing. */
int InitializeInjectionNvtx2(nvtx_get_table get_table);

/* The same for each extension of NVTX in it. */
int InitializeInjectionNvtxExtension(const struct nvtx_extension *extension);

/* NOLINTEND(readability-identifier-naming) */

/* Called by trainprof attach, in a thread that it has put into a program that uses CUDA already;
 * see trainprof/wire/gpu_ring.h for what it does and returns. Any thread, any number of times. */
int trainprof_agent_attach(void *block, size_t bytes);

#endif
