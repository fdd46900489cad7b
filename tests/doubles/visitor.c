/* SPDX-License-Identifier: Apache-2.0 */
/* A library for injection into programs: visitor_come() counts its calls, and returns a descriptor
 * from which the count can be read. The memory of a call is freed some calls later, if its thread
 * has ended by then. If $VISITOR_ANSWER is set its value is returned instead. */
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEPT = 8 };

int visitor_come(void *block, size_t bytes);

int visitor_come(void *block, size_t bytes)
{
	static struct {
		void *block;
		size_t bytes;
		int fd;
		pid_t tid;
	} visits[KEPT];
	static unsigned n_visits;
	const char *answer = getenv("VISITOR_ANSWER");
	unsigned n = __atomic_add_fetch(&n_visits, 1, __ATOMIC_RELAXED);
	unsigned i = n % KEPT;
	if (visits[i].fd > 0)
		close(visits[i].fd);
	if (visits[i].bytes && syscall(SYS_tgkill, getpid(), visits[i].tid, 0) != 0)
		munmap(visits[i].block, visits[i].bytes);
	visits[i].block = block;
	visits[i].bytes = bytes;
	visits[i].tid = (pid_t)syscall(SYS_gettid);
	visits[i].fd = eventfd(n, EFD_CLOEXEC | EFD_NONBLOCK);
	return answer ? atoi(answer) : visits[i].fd;
}
