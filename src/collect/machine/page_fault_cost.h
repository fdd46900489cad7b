/* SPDX-License-Identifier: Apache-2.0 */
/* What a minor page fault costs on this machine. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_PAGE_FAULT_COST_H
#define TRAINPROF_SRC_COLLECT_MACHINE_PAGE_FAULT_COST_H

/* CPU time of a first touch of anonymous memory, ns, zeroing included; 0 when it cannot be
 * measured. Takes about a millisecond. */
double tp_page_fault_cost_ns(void);

#endif
