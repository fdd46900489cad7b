/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects to NVTX. Each module of a program that uses NVTX loads, at its first range, the library
 * named by NVTX_INJECTION64_PATH and asks it to write functions into the module's tables.
 *
 * Any thread; several modules may ask at once. Needs tp_nvtx_ranges_init().
 */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_H

#include "nvtx_abi.h"

#include <stdbool.h>

/* Writes our functions into a module's tables. Returns false if it has no tables. */
bool tp_nvtx_attach(nvtx_get_table get_table);

/* The same for the payload extension, with which NCCL ends ranges; other extensions are ignored. */
void tp_nvtx_attach_extension(const struct nvtx_extension *extension);

#endif
