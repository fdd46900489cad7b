/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a thread's CPU time went into page faults, where the kernel could not be sampled. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PAGE_FAULT_SHARE_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_PAGE_FAULT_SHARE_H

#include "analyze/analysis.h"

/* Share of on-CPU time between two readings of the thread's page faults; empty when the kernel was
 * sampled or nothing is known. */
struct tp_page_fault_share {
	const struct tp_gauge *readings; /* the trace's: one more than there are ratios */
	double *ratio;                   /* in the analysis' arena */
	size_t n;
};

void tp_page_fault_share_build(struct tp_page_fault_share *out, const struct tp_analysis *analysis,
			       uint32_t task);
double tp_page_fault_share_at(const struct tp_page_fault_share *share, uint64_t time_ns);

#endif
