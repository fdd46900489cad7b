/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's management library, loaded if it is installed. Optional functions that it lacks are
 * NULL. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_LIBRARY_H
#define TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_LIBRARY_H

#include "nvml_abi.h"

#include "trainprof/base/status.h"
#include "trainprof/model/source.h"

#define TP_NVML_LIBRARY "libnvidia-ml.so.1"

struct tp_nvml_library {
	void *handle;
/* Parameters cannot be parenthesised. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(call, symbol, older, is_needed, arguments) int(*call) arguments;
	NVML_CALL_MAP(X)
#undef X
};

/* Loads the library and looks up its functions without calling any. `path` NULL: the usual name
 * with the usual search. TP_ABSENT: not installed; TP_VERSION: a required function is missing. */
enum tp_status tp_nvml_library_open(struct tp_nvml_library *out, const char *path,
				    struct tp_error *err);
/* Unloads it; the caller calls shutdown() before. */
void tp_nvml_library_close(struct tp_nvml_library *library);

/* Translates the result of a failed init(): presence, reason and what to type. */
void tp_nvml_explain(struct tp_availability *out, int result);

#endif
