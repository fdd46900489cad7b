/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one thread of a program create another one. The steps:
 *
 * 	  the thread waits in a system call: it is stopped; the kernel would restart the call, which
 * 	  is remembered (or it runs: it is followed to its next system call, which is postponed)
 * 	  all signals are blocked: those that arrive meanwhile wait
 * 	* mmap() of the block, with the thread's own system call instruction
 * 	* the block is written
 * 	  the thread runs the block's code: pthread_create(), then restores its vector registers
 * 	  it stops where it pauses; its registers and mask are restored; it is released
 *
 * During the steps marked with * the thread's registers are ours: if the tracer died there, the
 * thread would take the address of the block for the result of its own system call. Before them
 * nothing has changed; after them the block's code restores the thread without us, and a tracer
 * that comes too late finds it outside of the block and leaves it alone.
 *
 * When other programs want the CPUs, each step waits for one. A patient tracer releases the thread,
 * with nothing changed, as soon as a step took long, so that another moment can be tried.
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
	bool may_run;          /* also wait for its next system call */
	bool is_patient;       /* release the thread if a step takes long, see above */
	uint64_t made;         /* block that an earlier attempt has left, or 0 */
	uint64_t loader_start; /* code of the dynamic loader, in which no thread is held */
	uint64_t loader_end;
	uint64_t signal_return;  /* return address of signal handlers; 0 = unknown */
	struct tp_payload block; /* everything that does not depend on the thread's registers */
};

enum tp_remote_call_outcome {
	TP_REMOTE_CALL_DONE,     /* the guest was created, or the reason why not is known */
	TP_REMOTE_CALL_DETACHED, /* unknown: the thread was released inside the block's code */
	TP_REMOTE_CALL_UNSAFE,   /* not this thread, or not now; it continues unchanged; `block` may
				    exist */
	TP_REMOTE_CALL_DENIED,   /* refused by the kernel: `error` */
	TP_REMOTE_CALL_FAILED,   /* mmap() in the program, or writing to it, failed: `error` */
	TP_REMOTE_CALL_BROKEN,   /* the helper ended without a result */
};

struct tp_remote_call_result {
	enum tp_remote_call_outcome outcome;
	int error;
	uint64_t block; /* its address; 0 = none was created */
	uint64_t stopped_ns;
};

/* Runs the steps in a child process with its own session and waits for that child. */
void tp_remote_call_run(struct tp_remote_call_result *out, const struct tp_remote_call *borrow);

#endif
