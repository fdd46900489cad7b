/* SPDX-License-Identifier: Apache-2.0 */
/* Names of GPU tools. */
#include "gpu_tools.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <string.h>

/* Prefixes of file names. Nsight Systems: from scripts of its users; Nsight Compute, Compute
 * Sanitizer: from their installations; parcagpu, NVBit, CUTracer: from their documentation of
 * CUDA_INJECTION64_PATH. All read 2026-11-22. */
static const struct {
	const char *start;
	const char *tool;
} libraries[] = {
	{"libToolsInjection", "Nsight Systems"},
	{"libcuda-injection", "Nsight Compute"},
	{"libsanitizer-collection", "Compute Sanitizer"},
	{"libInterceptorInjection", "Compute Sanitizer"},
	{"libparcagpu", "Parca"},
	{"tracer_tool.so", "NVBit"},
	{"cutracer", "CUTracer"},
	{"libcupti", "a tool that is built into CUPTI"},
	{"libtrainprof-agent", "trainprof"},
};

const char *tp_gpu_tool_of_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	for (size_t i = 0; i < TP_ARRAY_LEN(libraries); i++)
		if (tp_text_starts_with(file, libraries[i].start))
			return libraries[i].tool;
	return NULL;
}

/* KINETO_USE_DAEMON: pytorch/kineto, libkineto; the others: variables in the environment of
 * programs under these tools. Read 2026-11-22. */
static const struct {
	const char *name;
	const char *tool;
} variables[] = {
	{"KINETO_USE_DAEMON", "Kineto, by its daemon"},
	{"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
	{"NV_NSIGHT_INJECTION_PORT_BASE", "Nsight Compute"},
};

const char *tp_gpu_tool_of_variable(const char *name)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(variables); i++)
		if (strcmp(name, variables[i].name) == 0)
			return variables[i].tool;
	return NULL;
}

/* The kernel truncates process names to 15 bytes. */
static const struct {
	const char *comm;
	enum tp_gpu_process_kind kind;
	const char *tool;
} processes[] = {
	{"nsys", TP_GPU_PROCESS_TRACES, "Nsight Systems"},
	{"nsys-launcher", TP_GPU_PROCESS_TRACES, "Nsight Systems"},
	{"ncu", TP_GPU_PROCESS_TRACES, "Nsight Compute"},
	{"cuda-gdb", TP_GPU_PROCESS_TRACES, "CUDA-GDB"},
	{"compute-sanitiz", TP_GPU_PROCESS_TRACES, "Compute Sanitizer"},
	{"nv-hostengine", TP_GPU_PROCESS_COUNTS, "DCGM"},
	{"dcgm-exporter", TP_GPU_PROCESS_COUNTS, "DCGM"},
	{"nvidia-cuda-mps", TP_GPU_PROCESS_SHARES, "MPS"},
};

enum tp_gpu_process_kind tp_gpu_process_kind_of(const char *comm, const char **tool)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(processes); i++) {
		if (strcmp(comm, processes[i].comm) != 0)
			continue;
		*tool = processes[i].tool;
		return processes[i].kind;
	}
	return TP_GPU_PROCESS_OTHER;
}
