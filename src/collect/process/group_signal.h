/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes a signal that was sent to the whole process group, or to everything in a control
 * group, from one that was sent to us alone. The kernel does not say which. A child in our group
 * blocks all signals and shows which ones it received as well.
 */
#ifndef TRAINPROF_SRC_COLLECT_PROCESS_GROUP_SIGNAL_H
#define TRAINPROF_SRC_COLLECT_PROCESS_GROUP_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TP_GROUP_SIGNALS_MAX = 64 };

/* Signals of other processes; those of the terminal are not among them. */
struct tp_group_signals {
	uint32_t asked; /* in an answer: the number of the request that it answers */
	uint32_t n;
	struct {
		int32_t signal;
		int32_t sender; /* pid */
	} rows[TP_GROUP_SIGNALS_MAX];
};

struct tp_group_listener {
	pid_t pid; /* 0 = none: then nothing counts as sent to the group */
	int fd;
	uint32_t n_requests;
	unsigned looks_max; /* of 20 ms, at a listener that does not answer */
	bool is_stuck;      /* has not answered during all of them, nor since */
	/* Signals that were decided without an answer: a late answer says nothing about later
	 * signals. Signals to us alone are in it as well, and take from an answer what it says of a
	 * later signal to the group. That signal then counts as one to us: it is passed on, rather
	 * twice than never. */
	struct tp_group_signals given_up;
};

/* Starts the child. The caller must have blocked the signals in question. */
void tp_group_listener_start(struct tp_group_listener *out);
/* Stores in `out` what the group has received since the last call. Waits 10 ms first: a sender that
 * signals one process after another may not have come to the child yet. Returns false without an
 * answer: the child ended, is stopped, or has not answered for 2 s. `out` then holds what late
 * answers to earlier requests say. For each other signal the caller must decide without an answer,
 * and report that by tp_group_listener_give_up(). */
bool tp_group_listener_request(struct tp_group_listener *listener, struct tp_group_signals *out);
void tp_group_listener_give_up(struct tp_group_listener *listener, int signal, pid_t sender);
bool tp_group_signals_has(const struct tp_group_signals *signals, int signal, pid_t sender);
/* Removes one such signal from the list; false if there is none. */
bool tp_group_signals_remove(struct tp_group_signals *signals, int signal, pid_t sender);
/* Ends the child. May be called twice. */
void tp_group_listener_end(struct tp_group_listener *listener);

#endif
