/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the calls whose names the double of CUPTI knows. */
#ifndef TRAINPROF_TESTS_DOUBLES_CUPTI_NAMES_H
#define TRAINPROF_TESTS_DOUBLES_CUPTI_NAMES_H

#include "agent/cupti/cupti_abi.h"

static int tell_name(int domain, uint32_t cbid, const char **out)
{
	static const struct {
		int domain;
		uint32_t cbid;
		const char *name;
	} names[] = {
		{CUPTI_DOMAIN_RUNTIME, 211, "cudaLaunchKernel_v7000"},
		{CUPTI_DOMAIN_RUNTIME, 311, "cudaGraphLaunch_v10000"},
		{CUPTI_DOMAIN_RUNTIME, 41, "cudaMemcpyAsync_v3020"},
		{CUPTI_DOMAIN_RUNTIME, 161, "cudaMemcpyPeerAsync_v4000"},
		{CUPTI_DOMAIN_RUNTIME, 51, "cudaMemsetAsync_v3020"},
		{CUPTI_DOMAIN_RUNTIME, 131, "cudaStreamSynchronize_v3020"},
		{CUPTI_DOMAIN_RUNTIME, 138, "cudaEventQuery_v3020"},
		{CUPTI_DOMAIN_DRIVER, 307, "cuLaunchKernel"},
		{CUPTI_DOMAIN_DRIVER, 652, "cuLaunchKernelEx"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].domain == domain && names[i].cbid == cbid) {
			*out = names[i].name;
			return 0;
		}
	return 1;
}

#endif
