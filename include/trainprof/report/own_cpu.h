/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks down trainprof's own CPU time according to the recording: rows that sum to the total. */
#ifndef TRAINPROF_REPORT_OWN_CPU_H
#define TRAINPROF_REPORT_OWN_CPU_H

#include "trainprof/model/trace.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_OWN_CPU_MAX = 10 };

struct tp_own_cpu_row {
	const char *id;   /* id in JSON */
	const char *text; /* text on pages */
	double cpu_ns;
};

struct tp_own_cpu {
	struct tp_own_cpu_row rows[TP_OWN_CPU_MAX];
	size_t n;
	double cpu_ns; /* from the kernel, from the start of trainprof to the end of the recording
			*/
};

/* Returns false if the recording has no stages. */
bool tp_own_cpu_read(struct tp_own_cpu *out, const struct tp_trace *trace);

#endif
