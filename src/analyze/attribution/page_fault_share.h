/* SPDX-License-Identifier: Apache-2.0 */
/* Share of a thread's CPU time in page faults, for runs in which the kernel could not be
 * sampled. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PAGE_FAULT_SHARE_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PAGE_FAULT_SHARE_H

#include "analyze/analysis.h"

/* Page-fault share of on-CPU time between consecutive readings of the thread's page faults; empty
 * if the kernel was sampled or nothing is known. */
struct tp_page_fault_share {
	const struct tp_gauge
		*readings; /* borrowed from the trace: one more than there are ratios */
	double *ratio;     /* in the analysis' arena */
	size_t n;
};

void tp_page_fault_share_build(struct tp_page_fault_share *out, const struct tp_analysis *analysis,
			       uint32_t task);
double tp_page_fault_share_at(const struct tp_page_fault_share *share, uint64_t time_ns);

#endif
