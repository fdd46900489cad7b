/* SPDX-License-Identifier: Apache-2.0 */
/* Derives from its name what each call of CUDA's runtime and driver does. CUPTI numbers the calls,
 * the numbers grow with every version, and CUPTI can return the name of each number. This table is
 * therefore keyed by name, and calls that do not exist yet are classified by the prefix of their
 * names. */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CALL_NAMES_H
#define TRAINPROF_SRC_AGENT_CUPTI_CALL_NAMES_H

#include "cupti_library.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TP_CALL_NAMES_MAX = 2048,  /* call numbers per domain; the driver has 811 in 13.0 */
	TP_CALL_NAMES_DOMAINS = 3, /* indexed by enum cupti_domain; 0 = none */
};

struct tp_call_names {
	/* enum tp_gpu_call of each number; TP_GPU_CALL_OTHER for numbers beyond the last. */
	uint8_t does[TP_CALL_NAMES_DOMAINS][TP_CALL_NAMES_MAX];
	uint32_t name[TP_CALL_NAMES_DOMAINS]
		     [TP_CALL_NAMES_MAX];  /* id in the ring, set by the name table's owner */
	uint32_t n[TP_CALL_NAMES_DOMAINS]; /* number of calls that have a name */
};

/* Returns the enum tp_gpu_call of a name such as "cudaLaunchKernel_v7000" or "cuLaunchKernel". */
uint8_t tp_call_names_class(const char *name);

/*
 * True if calls of this class are recorded: they make the GPU work, wait for it, or manage memory.
 */
bool tp_call_names_is_recorded(uint8_t class);

/* Asks CUPTI for the names of all call numbers. Each name is passed to `name_id`, and the returned
 * id is stored. Costs about a thousand calls into CUPTI and cannot fail: a number without a name is
 * not recorded. */
void tp_call_names_load(struct tp_call_names *out, const struct tp_cupti_library *lib,
			uint32_t (*name_id)(void *context, const char *name), void *context);

#endif
