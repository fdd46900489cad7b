/* SPDX-License-Identifier: Apache-2.0 */
/* How kernels, copies, fills and calls of a GPU agent are called in records: as in imported traces,
 * so that the same patterns know them. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_EVENT_NAME_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_GPU_EVENT_NAME_H

#include "trainprof/base/buf.h"
#include "trainprof/wire/gpu_ring.h"

#include <stddef.h>
#include <stdint.h>

/* The C++ library's demangler, where it is here; kernels have their mangled names without it. */
struct tp_gpu_demangler {
	void *library;
	char *(*demangle)(const char *name, char *out, size_t *size, int *status);
};

void tp_gpu_demangler_open(struct tp_gpu_demangler *out);
void tp_gpu_demangler_close(struct tp_gpu_demangler *demangler);

/* Append the name of a kernel: "void f<int>(float*)" for "_Z1fIiEvPf". */
void tp_gpu_name_kernel(struct tp_buf *out, const struct tp_gpu_demangler *demangler,
			const char *name, size_t length);

/* Append the name of a copy or fill by the `id` of its event: "Memcpy HtoD (Pageable -> Device)".
 */
void tp_gpu_name_copy(struct tp_buf *out, uint32_t id);
void tp_gpu_name_set(struct tp_buf *out, uint32_t id);

/* Append the name of a call, without what entry points of one call differ in
 * ("cudaLaunchKernel_v7000", "cuStreamSynchronize_ptsz"); without a name what it does says it. */
void tp_gpu_name_call(struct tp_buf *out, const char *name, size_t length, unsigned call);

/* What a wait is called whose call does not say that it waits; NULL where no thread waits. */
const char *tp_gpu_name_wait(uint32_t sync);
/* What the driver's own doings are called that delay the program; NULL for those of CUPTI. */
const char *tp_gpu_name_overhead(uint32_t overhead);

#endif
