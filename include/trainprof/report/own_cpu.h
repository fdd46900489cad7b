/* SPDX-License-Identifier: Apache-2.0 */
/* What trainprof's own CPU time went for, as the recording says: rows that sum up to all of it. */
#ifndef TRAINPROF_REPORT_OWN_CPU_H
#define TRAINPROF_REPORT_OWN_CPU_H

#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_OWN_CPU_MAX = 10 };

struct tp_own_cpu_row {
	const char *id;   /* of JSON */
	const char *text; /* of pages */
	double cpu_ns;
};

struct tp_own_cpu {
	struct tp_own_cpu_row rows[TP_OWN_CPU_MAX];
	size_t n;
	double cpu_ns; /* by the kernel, from the start of trainprof to the end of the recording */
};

/* False: the recording has no stages. */
bool tp_own_cpu_read(struct tp_own_cpu *out, const struct tp_trace *trace);

#endif
