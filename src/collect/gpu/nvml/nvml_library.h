/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's management library, loaded when it is there. Optional calls it lacks are NULL. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_LIBRARY_H
#define TRAINPROF_SRC_COLLECT_GPU_NVML_NVML_LIBRARY_H

#include "nvml_abi.h"

#include "trainprof/base/status.h"
#include "trainprof/model/source.h"

#define TP_NVML_LIBRARY "libnvidia-ml.so.1"

struct tp_nvml_library {
	void *handle;
/* Parameters have no parentheses to spare. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(call, symbol, older, is_needed, arguments) int(*call) arguments;
	NVML_CALL_MAP(X)
#undef X
};

/* Load and look up; nothing of it is called. `path` NULL: the usual name, by the usual search.
 * TP_ABSENT: it is not there; TP_VERSION: it lacks what cannot be done without. */
enum tp_status tp_nvml_library_open(struct tp_nvml_library *out, const char *path,
				    struct tp_error *err);
/* Unloads it; shutdown() is the caller's. */
void tp_nvml_library_close(struct tp_nvml_library *library);

/* What a failing init() says about the source: presence, reason and what to type. */
void tp_nvml_explain(struct tp_availability *out, int result);

#endif
