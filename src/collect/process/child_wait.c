/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the end of a child, with a time limit. */
#include "child_wait.h"

#include "trainprof/base/clock.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#define POLL_NS (5 * (long)TP_NS_PER_MS)

bool tp_child_wait(pid_t pid, uint64_t within_ns, int *status)
{
	uint64_t until_ns = tp_clock_now_ns() + within_ns;
	for (;;) {
		pid_t ended = waitpid(pid, status, WNOHANG);
		if (ended == pid || (ended < 0 && errno == ECHILD))
			return true;
		if (tp_clock_now_ns() >= until_ns)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
	}
}
