/* SPDX-License-Identifier: Apache-2.0 */
/* The thread team: static split of the loop, barrier at both ends, blocking or spinning. */
#include "team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct member {
	struct team *team;
	int index;
	pthread_t thread;
};

struct team {
	int n;
	int is_spinning;
	int is_locked;
	struct member *members;
	pthread_mutex_t item_lock; /* taken for each item when is_locked */

	/* `turn` counts the loops begun; a loop is over when n_done reaches n - 1. */
	pthread_mutex_t mutex;
	pthread_cond_t has_turn;
	pthread_cond_t has_done;
	atomic_int turn;
	atomic_int n_done;
	atomic_int is_closing;
	team_work *work;
	void *context;
	int n_items;
};

__attribute__((noinline)) static void do_share(struct team *t, int index)
{
	int from = (int)((long)t->n_items * index / t->n);
	int to = (int)((long)t->n_items * (index + 1) / t->n);
	for (int item = from; item < to; item++) {
		if (t->is_locked)
			pthread_mutex_lock(&t->item_lock);
		t->work(t->context, item, index);
		if (t->is_locked)
			pthread_mutex_unlock(&t->item_lock);
	}
}

static void wait_for_turn(struct team *t, int seen)
{
	if (t->is_spinning) {
		while (atomic_load_explicit(&t->turn, memory_order_acquire) == seen)
			;
		return;
	}
	pthread_mutex_lock(&t->mutex);
	while (atomic_load(&t->turn) == seen)
		pthread_cond_wait(&t->has_turn, &t->mutex);
	pthread_mutex_unlock(&t->mutex);
}

static void *team_member(void *argument)
{
	struct member *member = argument;
	struct team *t = member->team;
	for (int seen = 0;; seen++) {
		wait_for_turn(t, seen);
		if (atomic_load(&t->is_closing))
			return NULL;
		do_share(t, member->index);
		if (atomic_fetch_add(&t->n_done, 1) + 1 == t->n - 1 && !t->is_spinning) {
			pthread_mutex_lock(&t->mutex);
			pthread_cond_signal(&t->has_done);
			pthread_mutex_unlock(&t->mutex);
		}
	}
}

struct team *team_open(int n_threads, int is_spinning, int is_locked)
{
	struct team *t = calloc(1, sizeof(*t));
	if (!t)
		abort();
	t->n = n_threads;
	t->is_spinning = is_spinning;
	t->is_locked = is_locked;
	t->members = calloc((size_t)n_threads, sizeof(*t->members));
	if (!t->members)
		abort();
	pthread_mutex_init(&t->item_lock, NULL);
	pthread_mutex_init(&t->mutex, NULL);
	pthread_cond_init(&t->has_turn, NULL);
	pthread_cond_init(&t->has_done, NULL);
	for (int i = 1; i < n_threads; i++) {
		t->members[i] = (struct member){.team = t, .index = i};
		if (pthread_create(&t->members[i].thread, NULL, team_member, &t->members[i]) != 0)
			abort();
	}
	return t;
}

static void begin_turn(struct team *t)
{
	pthread_mutex_lock(&t->mutex);
	atomic_store(&t->n_done, 0);
	atomic_fetch_add_explicit(&t->turn, 1, memory_order_release);
	pthread_cond_broadcast(&t->has_turn);
	pthread_mutex_unlock(&t->mutex);
}

void team_close(struct team *t)
{
	atomic_store(&t->is_closing, 1);
	begin_turn(t);
	for (int i = 1; i < t->n; i++)
		pthread_join(t->members[i].thread, NULL);
	free(t->members);
	free(t);
}

__attribute__((noinline)) static void wait_for_team(struct team *t)
{
	if (t->is_spinning) {
		while (atomic_load_explicit(&t->n_done, memory_order_acquire) < t->n - 1)
			;
		return;
	}
	pthread_mutex_lock(&t->mutex);
	while (atomic_load(&t->n_done) < t->n - 1)
		pthread_cond_wait(&t->has_done, &t->mutex);
	pthread_mutex_unlock(&t->mutex);
}

void team_run(struct team *t, team_work *work, void *context, int n_items)
{
	t->work = work;
	t->context = context;
	t->n_items = n_items;
	if (t->n == 1) {
		do_share(t, 0);
		return;
	}
	begin_turn(t);
	do_share(t, 0);
	wait_for_team(t);
}

int team_size(const struct team *t)
{
	return t->n;
}
