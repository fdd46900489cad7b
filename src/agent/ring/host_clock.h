/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the machine. Any thread, also in a signal handler. */
#ifndef TRAINPROF_SRC_AGENT_RING_HOST_CLOCK_H
#define TRAINPROF_SRC_AGENT_RING_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns nanoseconds; 0 if there is no such clock. */
static inline uint64_t tp_host_clock_ns(clockid_t clock)
{
	struct timespec now = {0};
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
