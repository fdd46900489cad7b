/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of the double of libcuda to programs and to the double of CUPTI. */
#ifndef TRAINPROF_TESTS_DOUBLES_CUDA_DOUBLE_H
#define TRAINPROF_TESTS_DOUBLES_CUDA_DOUBLE_H

#include <stdint.h>

enum cuda_double_what {
	CUDA_DOUBLE_LAUNCH, /* by the runtime */
	CUDA_DOUBLE_LAUNCH_DRIVER,
	CUDA_DOUBLE_LAUNCH_GRAPH, /* one kernel that is a graph node */
	CUDA_DOUBLE_COPY,
	CUDA_DOUBLE_PEER,
	CUDA_DOUBLE_SET,
	CUDA_DOUBLE_SYNC,
	CUDA_DOUBLE_QUERY,
};

struct cuda_double_work {
	enum cuda_double_what what;
	const char *name; /* of the kernel */
	uint64_t bytes;
	uint64_t took_ns;
	uint32_t stream;
};

typedef void cuda_double_hook_fn(const struct cuda_double_work *work);
extern cuda_double_hook_fn *cuda_double_hook;
extern int cuda_double_is_heard; /* work is being recorded; set by the owner of the hook */

int cuInit(unsigned flags);
int cuDriverGetVersion(int *out);
void cuda_double_work(const struct cuda_double_work *work);

#endif
