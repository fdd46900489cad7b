/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be tidied when a command is interrupted half-way. A thread of its own waits for the
 * signal, so that what is tidied may take locks and memory.
 */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_INTERRUPT_H
#define TRAINPROF_SRC_CLI_TERMINAL_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Between start and stop; where it lies must not move. */
struct tp_interrupt {
	void (*tidy)(void *context); /* of the other thread, while this one goes on */
	void *context;
	sigset_t awaited;
	sigset_t before; /* blocked signals of the thread that started it */
	int wake;        /* one of the awaited signals; 0: all are ignored */
	pthread_t thread;
	bool is_watched;
	atomic_bool is_over; /* a signal has come, or need not come any more */
};

/*
 * From now on SIGINT, SIGTERM and SIGHUP, unless ignored, call tidy(context) and then end the
 * process by that signal. Threads that are started meanwhile must block them, too. Where no thread
 * can be had, signals act as before.
 */
void tp_interrupt_start(struct tp_interrupt *interrupt, void (*tidy)(void *context), void *context);

/* Returns when tidy neither runs nor will; not at all when it has begun. */
void tp_interrupt_stop(struct tp_interrupt *interrupt);

#endif
