/* SPDX-License-Identifier: Apache-2.0 */
/* Times of other clocks. The kernel writes CLOCK_MONOTONIC of the machine; in a time namespace
 * (containers that were moved to another machine) our clock and the program's differ from it. The
 * program may also be in another namespace than we. */
#ifndef TRAINPROF_SRC_COLLECT_MACHINE_KERNEL_TIME_H
#define TRAINPROF_SRC_COLLECT_MACHINE_KERNEL_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_host;

/* Converts a time of a record to that of our clock. */
uint64_t tp_kernel_time_ns(uint64_t kernel_ns);

/* The same with the text of /proc/self/timens_offsets; "" = no offset. */
uint64_t tp_kernel_time_add_offset(uint64_t kernel_ns, const char *offsets);

/* Stores in *offset_ns what to add to a process's CLOCK_MONOTONIC to get ours. False, and 0, if
 * that is unknown: the process has ended, or is not readable. Reads two links. */
bool tp_process_time_offset(const struct tp_host *host, pid_t pid, int64_t *offset_ns);

#endif
