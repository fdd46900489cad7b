/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a library into a running process and calls a function of it there.
 *
 * One thread that waits in a system call is held for a moment with ptrace and made to create a
 * thread. That thread loads the library with the program's own dlopen(), after the held thread has
 * returned to its system call. So no code runs in the middle of anything, the held thread runs a
 * few microseconds of foreign code, and loading may take as long as it needs. From its first
 * instruction on, that code returns by itself, so killing trainprof then harms nothing but the
 * attempt. Only one mmap() before it is at risk; a helper process in a session of its own makes it,
 * so that killing trainprof alone does not interrupt it there.
 *
 * The program sees no additional or missing signal, no EINTR, and no other result of the system
 * call. The library stays, and, until it is unmapped, the mapping of tp_injection.
 *
 * x86-64, glibc. Linux 5.6.
 */
#ifndef TRAINPROF_INJECT_INJECT_H
#define TRAINPROF_INJECT_INJECT_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All members are borrowed for the call. */
struct tp_inject_config {
	const char *library; /* a file that trainprof can read; the program need not see it */
	const char *soname;  /* its soname, by which an already loaded copy is found */
	/* Its function: int (void *block, size_t bytes). It returns a descriptor of the program or
	 * a negative errno. The mapping that it receives belongs to it from then on, once the
	 * thread that called it has ended; 0 bytes: it receives none. */
	const char *door;
	const char
		*needs; /* prefix of the name of a library without which there is nothing to do */
};

struct tp_injection {
	int fd;              /* the returned descriptor, duplicated: the caller closes it */
	uint64_t stopped_ns; /* longest time for which a thread was held */
	unsigned n_tries;    /* threads that were checked, the last of which was held */
	bool was_there;      /* the library was loaded already */
};

/*
 * Loads the library if that is safe. Takes about 10 ms in most cases, at most 5 s to find a thread
 * that can be held and 10 s to load. Errors  TP_ABSENT (`needs` is not there, or this machine or
 * program is of a kind that is not known), TP_DENIED, TP_TARGET (stopped, ended), TP_BUSY (another
 * tracer, no thread could be held, or the entry point returns EBUSY), TP_IO (the library cannot be
 * loaded: the program's own reason). At most the mapping then stays. err->next says what to type.
 * Thread  any; forks, and waits for that child only.
 */
TP_MUST_CHECK enum tp_status tp_inject(struct tp_injection *out, pid_t pid,
				       const struct tp_inject_config *config, struct tp_error *err);

#endif
