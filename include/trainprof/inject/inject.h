/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a library into a process that runs, and calls a function of it there.
 *
 * One thread that waits in a system call is held for a moment, by ptrace, and made to create a
 * thread; that one loads the library, by the program's own dlopen(), after the other has gone back
 * to its system call. So nothing is called in the middle of anything, the held thread runs a few
 * microseconds of code that is not its own, and loading takes as long as it takes. From its first
 * instruction on that code goes back by itself: whoever kills trainprof then harms nothing but the
 * attempt. Before that lies one mmap(), during which it would: a helper of our own, in a session of
 * its own, makes it, so that killing trainprof alone does not stop it there.
 *
 * The program sees no signal more or less, no EINTR, no other result of the system call. What
 * stays: the library, and until it removes it a mapping of tp_injection.
 *
 * x86-64, glibc. Linux 5.6.
 */
#ifndef TRAINPROF_INJECT_INJECT_H
#define TRAINPROF_INJECT_INJECT_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All borrowed for the call. */
struct tp_inject_config {
	const char *library; /* file that we can read; the program need not see it */
	const char *soname;  /* of it: by that a copy that is there already is found */
	/* Function of it: int (void *block, size_t bytes). It returns a descriptor of the program
	 * or a negative errno. The mapping that it is told is its own from then
	 * on, once the thread that called it has ended; 0 bytes: none is. */
	const char *door;
	const char *needs; /* begin of the name of a library without which there is nothing to do */
};

struct tp_injection {
	int fd;              /* what the door returned, taken over: the caller's to close */
	uint64_t stopped_ns; /* for which a thread was held, at most */
	unsigned n_tries;    /* threads that were looked at, the last of them held */
	bool was_there;      /* the library */
};

/*
 * Do it, if it may be done. Takes some 10 ms mostly, at most 5 s for a thread that can be held and
 * 10 s for loading.
 * Errors  TP_ABSENT (`needs` is not there, or this machine or program is of a kind that is not
 * known), TP_DENIED, TP_TARGET (stopped, ended), TP_BUSY (another tracer, no thread could be held,
 * or the door says EBUSY), TP_IO (the library cannot be loaded: the program's own reason). Then at
 * most the mapping stays. err->next says what to type. Thread  any; forks, and waits for that child
 * alone.
 */
TP_MUST_CHECK enum tp_status tp_inject(struct tp_injection *out, pid_t pid,
				       const struct tp_inject_config *config, struct tp_error *err);

#endif
