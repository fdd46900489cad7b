/* SPDX-License-Identifier: Apache-2.0 */
/* Prevents forks from overlapping the agent's calls into the loader. */
#include "fork_gate.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	FORK_MS = 100, /* longest delay of a fork */
	ONE_MS_IN_NS = 1000000,
};

static struct {
	uint32_t n_forking;
	uint32_t n_asking;
	bool is_watched; /* the fork handlers are registered; without them nothing waits */
} gate;

static void before_fork(void)
{
	const struct timespec nap = {.tv_nsec = ONE_MS_IN_NS};
	int saved = errno;
	__atomic_add_fetch(&gate.n_forking, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < FORK_MS; i++) {
		uint32_t n = __atomic_load_n(&gate.n_asking, __ATOMIC_SEQ_CST);
		if (!n)
			break;
		syscall(SYS_futex, &gate.n_asking, FUTEX_WAIT_PRIVATE, n, &nap, NULL, 0);
	}
	errno = saved;
}

static void after_fork(void)
{
	__atomic_sub_fetch(&gate.n_forking, 1, __ATOMIC_SEQ_CST);
}

static void after_fork_in_child(void)
{
	__atomic_store_n(&gate.n_forking, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&gate.n_asking, 0, __ATOMIC_SEQ_CST);
}

/* The caller and the forking thread each first publish what they do and then read the other's
 * state. */
bool tp_fork_gate_enter(void)
{
	if (!gate.is_watched)
		gate.is_watched = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
	if (!gate.is_watched)
		return false;
	__atomic_add_fetch(&gate.n_asking, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&gate.n_forking, __ATOMIC_SEQ_CST))
		return true;
	tp_fork_gate_leave();
	return false;
}

bool tp_fork_gate_wait(void)
{
	const struct timespec nap = {.tv_nsec = ONE_MS_IN_NS};
	for (int i = 0; i < FORK_MS; i++) {
		if (tp_fork_gate_enter())
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

void tp_fork_gate_leave(void)
{
	__atomic_sub_fetch(&gate.n_asking, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &gate.n_asking, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
