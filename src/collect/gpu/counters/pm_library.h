/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti with PM sampling (CUPTI 12.6 or newer), loaded if it is installed. It is never
 * unloaded, because unloading has crashed CUPTI.
 *
 * Order: $TRAINPROF_CUPTI; next to the runtime `beside`, as in Python wheels, because that one
 * matches the program's driver; libcupti.so.13, .12 by the loader's search; the folders of a
 * toolkit.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_LIBRARY_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_LIBRARY_H

#include "pm_abi.h"

#include "trainprof/base/status.h"
#include "trainprof/model/source.h"

struct tp_pm_library {
	void *handle;
/* Parameters cannot be parenthesised. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(call, symbol, argument) int (*call)(argument *);
	PM_CALL_MAP(X)
#undef X
};

/* Loads the library and looks up its functions without calling any. `beside`: path of a mapped
 * libcudart, "" or NULL. Errors  TP_ABSENT (none is found), TP_VERSION (too old to have PM
 * sampling). */
TP_MUST_CHECK enum tp_status tp_pm_library_open(struct tp_pm_library *out, const char *beside,
						struct tp_error *err);

/* Translates a failed call to a source's presence, reason and what to type. */
void tp_pm_explain(struct tp_availability *out, const char *call, int result);

#endif
