/* SPDX-License-Identifier: Apache-2.0 */
/* Reads clocks. */
#include "trainprof/base/clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts = {0};
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * TP_NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t tp_clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t tp_clock_boot_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

uint64_t tp_clock_wall_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

uint64_t tp_clock_thread_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t tp_clock_self_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void tp_clock_format_utc(uint64_t wall_ns, char *out, unsigned long size)
{
	time_t seconds = (time_t)(wall_ns / TP_NS_PER_S);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
