/* SPDX-License-Identifier: Apache-2.0 */
/* Times in records of the kernel. It writes CLOCK_MONOTONIC of the machine; in a time namespace
 * (containers that were moved to another machine) our clock and the program's differ from it. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_KERNEL_TIME_H
#define TRAINPROF_SRC_COLLECT_MACHINE_KERNEL_TIME_H

#include <stdint.h>

/* Converts a time of a record to that of our clock. */
uint64_t tp_kernel_time_ns(uint64_t kernel_ns);

/* The same with the text of /proc/self/timens_offsets; "" = no offset. */
uint64_t tp_kernel_time_add_offset(uint64_t kernel_ns, const char *offsets);

#endif
