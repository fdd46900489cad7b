/* SPDX-License-Identifier: Apache-2.0 */
/* Cleans up when a command is interrupted half-way. A separate thread waits for the signal, so that
 * the cleanup may take locks and allocate memory. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_INTERRUPT_H
#define TRAINPROF_SRC_CLI_TERMINAL_INTERRUPT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Must not move between start and stop. */
struct tp_interrupt {
	void (*tidy)(void *context); /* runs in the other thread, while this one continues */
	void *context;
	sigset_t awaited;
	sigset_t before; /* blocked signals of the thread that started it */
	int wake;        /* one of the awaited signals; 0 = all are ignored */
	pthread_t thread;
	bool is_watched;
	atomic_bool is_over; /* a signal has arrived, or is no longer awaited */
};

/* From now on SIGINT, SIGTERM and SIGHUP, unless ignored, call tidy(context) and then end the
 * process by that signal. Threads that are started meanwhile must block them, too. If no thread can
 * be created, signals act as before. */
void tp_interrupt_start(struct tp_interrupt *interrupt, void (*tidy)(void *context), void *context);

/* Returns when tidy is not running and will not run; does not return if it has begun. */
void tp_interrupt_stop(struct tp_interrupt *interrupt);

#endif
