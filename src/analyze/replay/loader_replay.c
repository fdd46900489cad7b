/* SPDX-License-Identifier: Apache-2.0 */
/* Discrete-event simulation of a data loader and its trainer. */
#include "loader_replay.h"

#include "trainprof/base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum {
	N_SLICES = 8, /* alternations of CPU work and waits in a batch or a step */
	N_BATCHES_MIN = 200,
	N_QUEUES_MIN = 10, /* simulate at least this many times the batches of a full queue */
	FILLING_PART = 5,  /* one in this many batches fills the queue */
};

/* A worker or the trainer: alternates between slices of CPU work and of waits. */
struct actor {
	struct tp_replay_work work;
	int n_slices_left; /* 0 = idle */
	double left_ns;
	double weight; /* number of CPUs it keeps busy */
	size_t batch;
	size_t next; /* workers only, if is_in_turn: the batch that it makes next */
};

struct play {
	const struct tp_loader_replay *of;
	struct actor trainer;
	struct actor *workers;
	bool *is_ready; /* by batch */
	size_t n;       /* number of batches that the trainer uses; workers continue to make more */
	size_t n_begun;
	size_t n_ready;
	size_t n_taken;
	size_t n_used;
	bool is_making; /* the trainer makes the batch itself */
	double now_ns;
	double filled_ns; /* time at which the queue counts as filled */
	double wanted_ns; /* CPU time */
	double delayed_ns;
};

static bool is_on_cpu(const struct actor *actor)
{
	return actor->n_slices_left % 2 == 0;
}

/* Empty slices end at once. */
static void begin_slice(struct actor *actor)
{
	while (actor->n_slices_left > 0) {
		actor->left_ns =
			(is_on_cpu(actor) ? actor->work.cpu_ns : actor->work.wait_ns) / N_SLICES;
		if (actor->left_ns > 0)
			return;
		actor->n_slices_left--;
	}
}

static void begin(struct actor *actor, const struct tp_replay_work *work, size_t batch)
{
	actor->work = *work;
	actor->batch = batch;
	actor->n_slices_left = 2 * N_SLICES;
	begin_slice(actor);
}

static void finish_batch(struct play *play, size_t batch)
{
	play->is_ready[batch] = true;
	play->n_ready++;
}

static bool may_begin(const struct play *play, size_t batch)
{
	const struct tp_loader_replay *of = play->of;
	return batch < play->n_taken + (size_t)of->n_workers * of->n_ahead;
}

/* Returns true if any work was begun. Work of zero length ends at once. */
static bool begin_workers(struct play *play)
{
	const struct tp_loader_replay *of = play->of;
	bool has_begun = false;
	for (unsigned i = 0; i < of->n_workers; i++) {
		struct actor *worker = &play->workers[i];
		size_t batch = of->is_in_turn ? worker->next : play->n_begun;
		if (worker->n_slices_left || !may_begin(play, batch))
			continue;
		begin(worker, &of->batches[batch % of->n], batch);
		worker->next += of->n_workers;
		play->n_begun++;
		has_begun = true;
		if (!worker->n_slices_left)
			finish_batch(play, batch);
	}
	return has_begun;
}

static bool has_next(const struct play *play)
{
	return play->of->is_in_turn ? play->is_ready[play->n_used] : play->n_ready > play->n_used;
}

static void end_step(struct play *play)
{
	play->n_used++;
	if (play->n_used == play->n / FILLING_PART)
		play->filled_ns = play->now_ns;
}

static bool begin_trainer(struct play *play)
{
	const struct tp_loader_replay *of = play->of;
	struct actor *trainer = &play->trainer;
	if (trainer->n_slices_left || play->n_used >= play->n)
		return false;
	size_t at = play->n_used % of->n;
	if (!of->n_workers && !play->is_ready[play->n_used]) {
		play->is_making = true;
		trainer->weight = 1;
		begin(trainer, &of->batches[at], play->n_used);
		if (!trainer->n_slices_left)
			finish_batch(play, play->n_used);
		return true;
	}
	if (!has_next(play))
		return false;
	play->is_making = false;
	play->n_taken++;
	trainer->weight = of->team;
	begin(trainer, &of->steps[at], play->n_used);
	if (!trainer->n_slices_left)
		end_step(play);
	return true;
}

/* Number of CPUs that are wanted. */
struct demand {
	double trainer;
	double workers;
};

/* The share of the wanted CPUs that each side gets. */
struct supply {
	double trainer;
	double workers;
};

/* The least work left of workers on a CPU and of those that wait; infinite if there are none. */
struct least_left {
	double cpu_ns;
	double wait_ns;
};

/* fmin() without its care for NaN, which costs a call for each worker at each event. */
static double lesser(double a, double b)
{
	return a < b ? a : b;
}

static struct demand sum_busy(const struct play *play, struct least_left *left)
{
	struct demand demand = {0};
	*left = (struct least_left){INFINITY, INFINITY};
	if (play->trainer.n_slices_left && is_on_cpu(&play->trainer))
		demand.trainer = play->trainer.weight;
	for (unsigned i = 0; i < play->of->n_workers; i++) {
		const struct actor *worker = &play->workers[i];
		if (!worker->n_slices_left)
			continue;
		if (is_on_cpu(worker)) {
			demand.workers += worker->weight;
			left->cpu_ns = lesser(left->cpu_ns, worker->left_ns);
		} else {
			left->wait_ns = lesser(left->wait_ns, worker->left_ns);
		}
	}
	return demand;
}

static double equal_share(double wanted, double n_cpus)
{
	return wanted > n_cpus ? n_cpus / wanted : 1;
}

static struct supply share_cpus(const struct tp_loader_replay *of, struct demand demand)
{
	double trainer = equal_share(demand.trainer + demand.workers + of->others, of->n_cpus);
	if (!of->is_trainer_first)
		return (struct supply){trainer, trainer};
	trainer = equal_share(demand.trainer, of->n_cpus);
	/* A CPU that does not exist is modelled as a very slow one, so that everything ends. */
	double left = fmax(of->n_cpus - trainer * demand.trainer, 1e-9 * of->n_cpus);
	return (struct supply){trainer, equal_share(demand.workers + of->others, left)};
}

static double rate_of(const struct actor *actor, double cpu_rate)
{
	return is_on_cpu(actor) ? cpu_rate : 1;
}

/* All workers have the same rate, so the one with the least left ends first. */
static double until_event(const struct play *play, const struct least_left *left,
			  struct supply rate)
{
	double least = lesser(left->cpu_ns / rate.workers, left->wait_ns);
	if (play->trainer.n_slices_left)
		least = lesser(least,
			       play->trainer.left_ns / rate_of(&play->trainer, rate.trainer));
	return least;
}

/* Returns true if the work is finished. Rounding remainders of a slice count as zero. */
static bool advance(struct actor *actor, double ns, double rate)
{
	if (!actor->n_slices_left)
		return false;
	actor->left_ns -= ns * rate_of(actor, rate);
	if (actor->left_ns > 1e-3)
		return false;
	actor->n_slices_left--;
	begin_slice(actor);
	return !actor->n_slices_left;
}

static void pass_time(struct play *play)
{
	const struct tp_loader_replay *of = play->of;
	struct least_left left;
	struct demand demand = sum_busy(play, &left);
	double wanted = demand.trainer + demand.workers;
	double busy = fmin(wanted + of->others, of->n_cpus);
	double slower = 1 + of->slowdown * fmax(0, 2 * busy / of->n_cpus - 1);
	struct supply share = share_cpus(of, demand);
	struct supply rate = {share.trainer / slower, share.workers / slower};
	double ns = until_event(play, &left, rate);
	assert(isfinite(ns));
	play->wanted_ns += wanted * ns;
	play->delayed_ns +=
		(wanted - share.trainer * demand.trainer - share.workers * demand.workers) * ns;
	play->now_ns += ns;
	for (unsigned i = 0; i < play->of->n_workers; i++)
		if (advance(&play->workers[i], ns, rate.workers))
			finish_batch(play, play->workers[i].batch);
	if (!advance(&play->trainer, ns, rate.trainer))
		return;
	if (play->is_making)
		finish_batch(play, play->n_used);
	else
		end_step(play);
}

struct tp_replayed tp_loader_replay(const struct tp_loader_replay *replay)
{
	if (!replay->n)
		return (struct tp_replayed){0};
	assert(replay->n_cpus > 0 && replay->n_workers <= TP_REPLAY_WORKERS_MAX);
	struct play play = {.of = replay, .n = replay->n};
	size_t n_ahead = (size_t)replay->n_workers * replay->n_ahead;
	while (play.n < N_BATCHES_MIN || play.n < N_QUEUES_MIN * n_ahead)
		play.n += replay->n;
	play.workers = tp_alloc((replay->n_workers + 1) * sizeof(*play.workers));
	play.is_ready = tp_alloc((play.n + n_ahead + 1) * sizeof(*play.is_ready));
	for (unsigned i = 0; i < replay->n_workers; i++) {
		play.workers[i].next = i;
		play.workers[i].weight = 1;
	}
	while (play.n_used < play.n) {
		bool has_begun = begin_workers(&play);
		if (!begin_trainer(&play) && !has_begun)
			pass_time(&play);
	}
	free(play.workers);
	free(play.is_ready);
	size_t n_filling = play.n / FILLING_PART;
	return (struct tp_replayed){
		.step_ns = (play.now_ns - play.filled_ns) / (double)(play.n - n_filling),
		.delay_ratio = play.wanted_ns > 0 ? play.delayed_ns / play.wanted_ns : 0,
	};
}
