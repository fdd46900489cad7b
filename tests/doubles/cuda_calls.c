/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libcuda's double that programs call: a device of 4 GiB that does all work at
 * once. Work that a program requests is reported as by cuda_double_work(). Handles are addresses of
 * their objects; a captured graph is the number of kernels that were launched. */
#include "cuda_double.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KERNEL_NS = 1500, MOST_FUNCTIONS = 64, NAME_BYTES = 64, STREAM = 7 };

#define DEVICE_BYTES ((size_t)4 << 30)

struct event {
	double at_s;
};

struct graph {
	long n_kernels;
};

static char functions[MOST_FUNCTIONS][NAME_BYTES];
static int n_functions;
static size_t used_bytes;
static struct graph *captured; /* NULL = nothing is being captured */
static char thing;             /* contexts, modules and streams point to it */

static double clock_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void work(enum cuda_double_what what, const char *name, size_t bytes)
{
	const struct cuda_double_work unit = {
		.what = what, .name = name, .bytes = bytes, .took_ns = KERNEL_NS, .stream = STREAM};
	cuda_double_work(&unit);
}

static int give_thing(void **out)
{
	*out = &thing;
	return 0;
}

/* Defines an exported function. Programs know its type from NVIDIA's headers, so ours has none. */
#define CALL(name, ...)                                                                            \
	int name(__VA_ARGS__);                                                                     \
	int name(__VA_ARGS__)

/* NOLINTBEGIN(readability-identifier-naming): NVIDIA's names */

CALL(cuDeviceGet, int *out, int ordinal)
{
	*out = ordinal;
	return 0;
}

CALL(cuDeviceGetName, char *out, int size, int device)
{
	snprintf(out, (size_t)size, "Double of a GPU %d", device);
	return 0;
}

CALL(cuDeviceGetAttribute, int *out, int attribute, int device)
{
	(void)attribute;
	(void)device;
	*out = 4;
	return 0;
}

CALL(cuDevicePrimaryCtxRetain, void **out, int device)
{
	(void)device;
	return give_thing(out);
}

CALL(cuCtxSetCurrent, void *context)
{
	return context ? 0 : 201;
}

CALL(cuCtxSynchronize, void)
{
	work(CUDA_DOUBLE_SYNC, NULL, 0);
	return 0;
}

CALL(cuModuleLoadData, void **out, const void *image)
{
	return strstr(image, ".entry") ? give_thing(out) : 218;
}

CALL(cuModuleGetFunction, void **out, void *module, const char *name)
{
	(void)module;
	if (n_functions == MOST_FUNCTIONS)
		return 500;
	snprintf(functions[n_functions], NAME_BYTES, "%s", name);
	*out = functions[n_functions++];
	return 0;
}

CALL(cuMemAlloc_v2, uint64_t *out, size_t bytes)
{
	if (used_bytes + bytes > DEVICE_BYTES)
		return 2;
	used_bytes += bytes;
	size_t *block = malloc(sizeof(*block));
	*block = bytes;
	*out = (uint64_t)(uintptr_t)block;
	return 0;
}

CALL(cuMemFree_v2, uint64_t memory)
{
	size_t *block = (size_t *)(uintptr_t)memory;
	used_bytes -= *block;
	free(block);
	return 0;
}

CALL(cuMemGetInfo_v2, size_t *available, size_t *all)
{
	*available = DEVICE_BYTES - used_bytes;
	*all = DEVICE_BYTES;
	return 0;
}

CALL(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes)
{
	(void)to;
	(void)from;
	work(CUDA_DOUBLE_COPY, NULL, bytes);
	return 0;
}

CALL(cuStreamCreate, void **out, unsigned flags)
{
	(void)flags;
	return give_thing(out);
}

CALL(cuStreamBeginCapture_v2, void *stream, int how)
{
	(void)stream;
	(void)how;
	captured = calloc(1, sizeof(*captured));
	return 0;
}

CALL(cuStreamEndCapture, void *stream, void **out)
{
	(void)stream;
	*out = captured;
	captured = NULL;
	return *out ? 0 : 901;
}

CALL(cuGraphInstantiateWithFlags, void **out, void *graph, uint64_t flags)
{
	(void)flags;
	*out = graph;
	return 0;
}

CALL(cuGraphLaunch, void *launched, void *stream)
{
	const struct graph *graph = launched;
	(void)stream;
	for (long i = 0; i < graph->n_kernels; i++)
		work(CUDA_DOUBLE_LAUNCH_GRAPH, "bench_empty", 0);
	return 0;
}

CALL(cuEventCreate, void **out, unsigned flags)
{
	(void)flags;
	*out = calloc(1, sizeof(struct event));
	return 0;
}

CALL(cuEventRecord, void *recorded, void *stream)
{
	struct event *event = recorded;
	(void)stream;
	event->at_s = clock_s();
	return 0;
}

CALL(cuEventSynchronize, void *event)
{
	(void)event;
	work(CUDA_DOUBLE_SYNC, NULL, 0);
	return 0;
}

CALL(cuEventElapsedTime, float *out, void *begin, void *end)
{
	const struct event *from = begin;
	const struct event *to = end;
	*out = (float)((to->at_s - from->at_s) * 1e3);
	return 0;
}

CALL(cuLaunchKernel, void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void *stream,
     void **arguments, void **extra)
{
	(void)shared;
	(void)stream;
	(void)arguments;
	(void)extra;
	if (!grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z)
		return 1;
	if (captured)
		captured->n_kernels++;
	else
		work(CUDA_DOUBLE_LAUNCH_DRIVER, function, 0);
	return 0;
}

/* NOLINTEND(readability-identifier-naming) */
