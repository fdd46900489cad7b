/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one thread of a program create another. What happens to the thread, in this order:
 *
 *	  it waits in a system call: stopped; the kernel would make the call again, that is kept
 *	  (or it runs: followed to its next system call, which is not made for now)
 *	  all signals blocked: what comes meanwhile waits
 *	* mmap() of the block, by the thread's own system call instruction
 *	* the block is written
 *	  it runs the block's code: pthread_create(), vector registers back
 *	  stopped where it rests; registers and mask of before; let go
 *
 * In what is marked by * the thread's registers are ours: if the tracer died there, the thread
 * would take the address of the block for the result of its own system call. Before it nothing has
 * changed, behind it the block's code brings the thread back without us; a tracer that comes too
 * late finds it outside of the block and leaves it alone.
 *
 * Where others want the CPUs each of these steps waits for one. A patient tracer lets go, with
 * nothing changed, as soon as a step took long, so that another moment can be tried.
 */
#ifndef TRAINPROF_SRC_INJECT_REMOTE_CALL_H
#define TRAINPROF_SRC_INJECT_REMOTE_CALL_H

#include "payload.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_remote_call {
	pid_t pid;
	pid_t tid;
	bool may_run;          /* wait for its next system call, too */
	bool is_patient;       /* let go where it takes long, see above */
	uint64_t made;         /* block that a try before has left, or 0 */
	uint64_t loader_start; /* code of the dynamic loader, in which no thread is held */
	uint64_t loader_end;
	uint64_t signal_return;  /* where handlers of signals return to; 0: unknown */
	struct tp_payload block; /* all but what the thread's registers say */
};

enum tp_remote_call_outcome {
	TP_REMOTE_CALL_DONE,     /* the guest has been created, or it is told why not */
	TP_REMOTE_CALL_DETACHED, /* it will be, or not: the thread was let go in the block's code */
	TP_REMOTE_CALL_UNSAFE, /* not this thread, or not now; it goes on as it was; `block` may be
				* made
				*/
	TP_REMOTE_CALL_DENIED, /* by the kernel: `error` */
	TP_REMOTE_CALL_FAILED, /* mmap() in the program, or writing to it: `error` */
	TP_REMOTE_CALL_BROKEN, /* the helper ended without a word */
};

struct tp_remote_call_result {
	enum tp_remote_call_outcome outcome;
	int error;
	uint64_t block; /* its address; 0: none was made */
	uint64_t stopped_ns;
};

/* Do it, in a child process with a session of its own; waits for that child. */
void tp_remote_call_run(struct tp_remote_call_result *out, const struct tp_remote_call *borrow);

#endif
