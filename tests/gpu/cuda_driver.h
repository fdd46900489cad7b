/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUDA's driver that gpu_bench uses, declared by hand and loaded at run time: the build
 * needs no toolkit. Names are those of cuda.h 13.0; a context is the device's primary one.
 *
 * cuda_driver_open() is not thread-safe; the calls themselves may be made from any thread that has
 * made the context current.
 */
#ifndef TRAINPROF_TESTS_GPU_CUDA_DRIVER_H
#define TRAINPROF_TESTS_GPU_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct cuda_opaque *cuda_handle; /* a context, module, function, stream, event or graph */
typedef uint64_t cuda_address;           /* address in device memory */

/* Member, symbol, arguments. Each returns 0 on success. */
#define CUDA_DRIVER_MAP(X)                                                                         \
	X(init, cuInit, (unsigned))                                                                \
	X(get_device, cuDeviceGet, (int *, int))                                                   \
	X(get_name, cuDeviceGetName, (char *, int, int))                                           \
	X(get_attribute, cuDeviceGetAttribute, (int *, int, int))                                  \
	X(get_version, cuDriverGetVersion, (int *))                                                \
	X(retain_context, cuDevicePrimaryCtxRetain, (cuda_handle *, int))                          \
	X(set_context, cuCtxSetCurrent, (cuda_handle))                                             \
	X(synchronize, cuCtxSynchronize, (void))                                                   \
	X(load_module, cuModuleLoadData, (cuda_handle *, const void *))                            \
	X(get_function, cuModuleGetFunction, (cuda_handle *, cuda_handle, const char *))           \
	X(allocate, cuMemAlloc_v2, (cuda_address *, size_t))                                       \
	X(release, cuMemFree_v2, (cuda_address))                                                   \
	X(get_memory, cuMemGetInfo_v2, (size_t *, size_t *))                                       \
	X(copy_to_device, cuMemcpyHtoD_v2, (cuda_address, const void *, size_t))                   \
	X(create_stream, cuStreamCreate, (cuda_handle *, unsigned))                                \
	X(begin_capture, cuStreamBeginCapture_v2, (cuda_handle, int))                              \
	X(end_capture, cuStreamEndCapture, (cuda_handle, cuda_handle *))                           \
	X(instantiate, cuGraphInstantiateWithFlags, (cuda_handle *, cuda_handle, uint64_t))        \
	X(launch_graph, cuGraphLaunch, (cuda_handle, cuda_handle))                                 \
	X(create_event, cuEventCreate, (cuda_handle *, unsigned))                                  \
	X(record_event, cuEventRecord, (cuda_handle, cuda_handle))                                 \
	X(wait_for_event, cuEventSynchronize, (cuda_handle))                                       \
	X(elapsed_ms, cuEventElapsedTime, (float *, cuda_handle, cuda_handle))                     \
	X(launch, cuLaunchKernel,                                                                  \
	  (cuda_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,      \
	   cuda_handle, void **, void **))

struct cuda_driver {
#define X(member, symbol, arguments) int(*member) arguments;
	CUDA_DRIVER_MAP(X)
#undef X
};

/* Returns NULL, or the name of what is missing: the library or a function. */
const char *cuda_driver_open(struct cuda_driver *out);

#endif
