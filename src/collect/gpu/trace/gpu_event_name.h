/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels, copies, memsets and calls, formatted as in imported traces so that the same
 * patterns match them. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_EVENT_NAME_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_EVENT_NAME_H

#include "trainprof/base/buf.h"
#include "trainprof/wire/gpu_ring.h"

#include <stddef.h>
#include <stdint.h>

/* The C++ library's demangler, if it is installed; otherwise kernels keep their mangled names. */
struct tp_gpu_demangler {
	void *library;
	char *(*demangle)(const char *name, char *out, size_t *size, int *status);
};

void tp_gpu_demangler_open(struct tp_gpu_demangler *out);
void tp_gpu_demangler_close(struct tp_gpu_demangler *demangler);

/* Append the name of a kernel: "void f<int>(float*)" for "_Z1fIiEvPf". */
void tp_gpu_name_kernel(struct tp_buf *out, const struct tp_gpu_demangler *demangler,
			const char *name, size_t length);

/* Appends the name of a copy or memset by the `id` of its event: "Memcpy HtoD (Pageable ->
 * Device)". */
void tp_gpu_name_copy(struct tp_buf *out, uint32_t id);
void tp_gpu_name_set(struct tp_buf *out, uint32_t id);

/* Appends the name of a call without the suffixes of its variants ("cudaLaunchKernel_v7000",
 * "cuStreamSynchronize_ptsz"); without a name, a name for its class. */
void tp_gpu_name_call(struct tp_buf *out, const char *name, size_t length, unsigned call);

/* The name of a wait whose call is not known as one; NULL if no thread waits. */
const char *tp_gpu_name_wait(uint32_t sync);
/* The name of work of the driver that delays the program; NULL for work of CUPTI. */
const char *tp_gpu_name_overhead(uint32_t overhead);

#endif
