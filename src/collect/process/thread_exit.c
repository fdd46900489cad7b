/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for threads that have left their process, but not the kernel. */
#include "thread_exit.h"

#include "trainprof/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS     (TP_NS_PER_MS / 2)
#define NAP_MAX_NS (20 * TP_NS_PER_MS)

/* F_SETOWN is the only call with the number of a task that checks merely whether the number is in
 * use. */
static bool has_number_only(int fd, pid_t tid)
{
	return fcntl(fd, F_SETOWN, tid) == 0 && kill(tid, 0) != 0 && errno == ESRCH;
}

void tp_thread_exit_wait(const pid_t *tids, size_t n, uint64_t within_ns)
{
	uint64_t until_ns = tp_clock_now_ns() + within_ns;
	uint64_t nap_ns = NAP_NS;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; fd >= 0 && i < n;) {
		if (!has_number_only(fd, tids[i])) {
			i++;
			continue;
		}
		uint64_t now_ns = tp_clock_now_ns();
		if (now_ns >= until_ns)
			break;
		nap_ns = nap_ns < until_ns - now_ns ? nap_ns : until_ns - now_ns;
		nanosleep(&(struct timespec){.tv_nsec = (long)nap_ns}, NULL);
		nap_ns = 2 * nap_ns < NAP_MAX_NS ? 2 * nap_ns : NAP_MAX_NS;
	}
	if (fd >= 0)
		close(fd);
}
