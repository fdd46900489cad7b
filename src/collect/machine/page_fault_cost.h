/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of a minor page fault on this machine. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_PAGE_FAULT_COST_H
#define TRAINPROF_SRC_COLLECT_MACHINE_PAGE_FAULT_COST_H

/* Returns the CPU time of the first access to anonymous memory in ns, including zeroing; 0 if it
 * cannot be measured. Takes about a millisecond. */
double tp_page_fault_cost_ns(void);

#endif
