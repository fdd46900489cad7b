/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a thread that works while the first thread of its process does not. */
#include "counting_thread.h"

enum {
	ROW_MIN = 8,    /* samples without one of the first thread: 80 ms at 99 Hz */
	GROUP = 64,     /* samples after which the choice is reviewed */
	FIRST_MAX = 16, /* of them of the first thread: with more it works itself */
	VOTES_MAX = 16, /* a chosen thread is replaced after as many samples of others in a row */
};

/* Chooses the thread with most samples: each sample of another one is a vote against it. The chosen
 * thread stays while one sample in VOTES_MAX is its own, because a change would lose what is known
 * of its counters: a thread that trains has few samples beside a pool of threads that load data. */
static void vote(struct tp_counting_thread *self, pid_t tid)
{
	if (self->tid == tid) {
		self->n_votes += self->n_votes < VOTES_MAX;
		self->n_row++;
		self->n_without = 0;
		return;
	}
	self->n_without++;
	bool stays = self->is_chosen ? self->n_without < VOTES_MAX : self->n_votes > 0;
	self->n_votes -= self->n_votes > 0;
	if (stays)
		return;
	self->tid = tid;
	self->n_without = 0;
	self->n_votes = 1;
	self->n_row = 1;
	self->is_chosen = false;
}

static void review(struct tp_counting_thread *self)
{
	if (self->n_first > FIRST_MAX)
		self->is_chosen = false;
	self->n = 0;
	self->n_first = 0;
}

void tp_counting_thread_add(struct tp_counting_thread *self, pid_t tid, bool is_first)
{
	self->n++;
	if (is_first) {
		self->n_first++;
		self->n_row = 0;
	} else {
		vote(self, tid);
	}
	if (self->n_row >= ROW_MIN)
		self->is_chosen = true;
	if (self->n >= GROUP)
		review(self);
}

bool tp_counting_thread_is(const struct tp_counting_thread *self, pid_t tid)
{
	return self->is_chosen && self->tid == tid;
}
