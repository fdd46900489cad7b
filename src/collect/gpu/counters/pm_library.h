/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti with PM sampling (CUPTI 12.6 or newer), loaded when it is there. Never unloaded:
 * CUPTI has crashed at it.
 *
 * Order: $TRAINPROF_CUPTI; beside the runtime that `beside` names, as in Python wheels, for that
 * fits its program's driver; libcupti.so.13, .12 by the loader's own ways; the places of a toolkit.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_LIBRARY_H
#define TRAINPROF_SRC_COLLECT_GPU_COUNTERS_PM_LIBRARY_H

#include "pm_abi.h"

#include "trainprof/base/status.h"
#include "trainprof/model/source.h"

struct tp_pm_library {
	void *handle;
/* Parameters have no parentheses to spare. NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define X(call, symbol, argument) int (*call)(argument *);
	PM_CALL_MAP(X)
#undef X
};

/* Load and look up; nothing of it is called. `beside`: path of a mapped libcudart, "" or NULL.
 * Errors  TP_ABSENT (none is found), TP_VERSION (too old to have PM sampling). */
TP_MUST_CHECK enum tp_status tp_pm_library_open(struct tp_pm_library *out, const char *beside,
						struct tp_error *err);

/* What a call that failed says about the source: presence, reason and what to type. */
void tp_pm_explain(struct tp_availability *out, const char *call, int result);

#endif
