/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises other tools that measure GPUs by the libraries that CUDA loads for them, by
 * variables and by processes. CUPTI serves one tool per process, and the counters of a GPU one
 * per machine. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_TOOLS_H
#define TRAINPROF_SRC_COLLECT_GPU_COMMON_GPU_TOOLS_H

/* Returns "Nsight Systems" for the file name of its library; NULL if the library is unknown. */
const char *tp_gpu_tool_of_library(const char *path);

/* Returns the tool whose programs have this variable; NULL if no known tool sets it. */
const char *tp_gpu_tool_of_variable(const char *name);

enum tp_gpu_process_kind {
	TP_GPU_PROCESS_OTHER,
	TP_GPU_PROCESS_TRACES, /* uses CUPTI in the programs that it starts */
	TP_GPU_PROCESS_COUNTS, /* may hold the counters of a GPU */
	TP_GPU_PROCESS_SHARES, /* MPS: programs share one context of a GPU */
};

/* Classifies a process by its name in /proc/PID/comm; *tool receives the tool's name. */
enum tp_gpu_process_kind tp_gpu_process_kind_of(const char *comm, const char **tool);

#endif
