/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX's way in: each module of a program that has NVTX in it loads, at its first range, the
 * library that NVTX_INJECTION64_PATH names, and asks it to put functions into its tables.
 *
 * Any thread; several modules may ask at once. Needs tp_nvtx_ranges_init().
 */
#ifndef TRAINPROF_SRC_AGENT_NVTX_NVTX_H
#define TRAINPROF_SRC_AGENT_NVTX_NVTX_H

#include "nvtx_abi.h"

#include <stdbool.h>

/* Put our functions into a module's tables. False: it has no tables. */
bool tp_nvtx_attach(nvtx_get_table get_table);

/* The same for the extension for payloads, by which NCCL ends ranges; of other extensions nothing
 * is taken. */
void tp_nvtx_attach_extension(const struct nvtx_extension *extension);

#endif
