/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each call of CUDA's runtime and driver does, told from its name. CUPTI numbers calls, and
 * the numbers grow with every version; it also tells the name of each number. So the table of this
 * file is one of names, and calls that do not exist yet are classed by how their names begin.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CALL_NAMES_H
#define TRAINPROF_SRC_AGENT_CUPTI_CALL_NAMES_H

#include "cupti_library.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TP_CALL_NAMES_MAX = 2048,  /* numbers of a domain: 811 of the driver's in 13.0 */
	TP_CALL_NAMES_DOMAINS = 3, /* by enum cupti_domain; 0 is none */
};

struct tp_call_names {
	/* enum tp_gpu_call of each number; TP_GPU_CALL_OTHER also beyond the last. */
	uint8_t does[TP_CALL_NAMES_DOMAINS][TP_CALL_NAMES_MAX];
	uint32_t name[TP_CALL_NAMES_DOMAINS][TP_CALL_NAMES_MAX]; /* id in the ring; filled by
								    whoever owns the names */
	uint32_t n[TP_CALL_NAMES_DOMAINS];                       /* numbers that have a name */
};

/* enum tp_gpu_call of "cudaLaunchKernel_v7000" or "cuLaunchKernel". */
uint8_t tp_call_names_class(const char *name);

/* Is the call of interest: does it make the GPU work, wait, or have other memory? */
bool tp_call_names_is_recorded(uint8_t class);

/* Ask CUPTI for the names of all numbers. Each that is told is handed to `name_id`, and its answer
 * is kept. Costs about a thousand calls; nothing fails: what has no name is not told. */
void tp_call_names_load(struct tp_call_names *out, const struct tp_cupti_library *lib,
			uint32_t (*name_id)(void *context, const char *name), void *context);

#endif
