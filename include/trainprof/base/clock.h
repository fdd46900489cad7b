/* SPDX-License-Identifier: Apache-2.0 */
/* The one clock of trainprof: CLOCK_MONOTONIC in ns, the same in every process of a machine. */
#ifndef TRAINPROF_BASE_CLOCK_H
#define TRAINPROF_BASE_CLOCK_H

#include <stdint.h>

#define TP_NS_PER_S  UINT64_C(1000000000)
#define TP_NS_PER_MS UINT64_C(1000000)
#define TP_NS_PER_US UINT64_C(1000)

uint64_t tp_clock_now_ns(void);
uint64_t tp_clock_boot_ns(void); /* CLOCK_BOOTTIME: continues while the machine is suspended */
uint64_t tp_clock_wall_ns(void); /* CLOCK_REALTIME, for dates only */
uint64_t tp_clock_thread_cpu_ns(void);
uint64_t tp_clock_self_cpu_ns(void); /* CPU time of this process, for the cost of measuring */

/* "2026-11-20T14:03:11Z" into out (at least 21 bytes). */
void tp_clock_format_utc(uint64_t wall_ns, char *out, unsigned long size);

#endif
