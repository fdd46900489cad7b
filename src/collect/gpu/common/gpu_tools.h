/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other tools that measure GPUs, by the names of what they leave behind: libraries that CUDA loads
 * for them, variables, processes. CUPTI serves one tool in a process, and the counters of a GPU one
 * on the machine.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_TOOLS_H
#define TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_TOOLS_H

/* "Nsight Systems", by the file name of a library; NULL: none that is known. */
const char *tp_gpu_tool_of_library(const char *path);

/* Whose programs have this variable; NULL: it is no tool's, or does not say whose. */
const char *tp_gpu_tool_of_variable(const char *name);

enum tp_gpu_process_kind {
	TP_GPU_PROCESS_OTHER,
	TP_GPU_PROCESS_TRACES, /* takes CUPTI in the programs that it starts */
	TP_GPU_PROCESS_COUNTS, /* may hold the counters of a GPU */
	TP_GPU_PROCESS_SHARES, /* MPS: programs share one context of a GPU */
};

/* What a process is by its name in /proc/PID/comm, and in *tool whose. */
enum tp_gpu_process_kind tp_gpu_process_kind_of(const char *comm, const char **tool);

#endif
