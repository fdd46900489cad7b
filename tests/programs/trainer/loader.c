/* SPDX-License-Identifier: Apache-2.0 */
/* The loader: slots for ready batches in shared memory, filled by threads or processes. */
#include "loader.h"

#include "knobs.h"
#include "phases.h"
#include "pictures.h"
#include "recipe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORKERS = 256 };

struct worker {
	struct loader *loader;
	int index;
	pthread_t thread;
	pid_t pid;
	int tasks[2]; /* of a process: numbers of the batches to produce */
	int ready[2]; /* and of the batches produced */
};

struct loader {
	const struct knobs *knobs;
	const char *set;
	int first;
	int stride;
	int is_forked;
	int n_slots;
	int n_taken; /* by the trainer */
	float *inputs;
	int *classes;
	struct worker_stat *stats; /* shared with processes */
	struct worker workers[MAX_WORKERS];
	struct recipe recipe; /* if there are no workers */

	/* of threads */
	pthread_mutex_t mutex; /* guards everything below and n_taken */
	pthread_cond_t has_space;
	pthread_cond_t has_batch;
	int n_begun;
	int is_closing;
	int *is_ready; /* per slot */
};

static void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	memset(memory, 0, size);
	return memory;
}

static size_t slot_floats(const struct loader *l)
{
	return (size_t)l->knobs->batch * INPUT_FLOATS;
}

/* Produces the n-th batch of this rank in its slot. */
static void fill_slot(struct loader *l, struct recipe *recipe, int n, struct worker_stat *stat)
{
	size_t slot = (size_t)(n % l->n_slots);
	recipe_make(recipe, l->first + n * l->stride, l->inputs + slot * slot_floats(l),
		    l->classes + slot * (size_t)l->knobs->batch, stat);
}

static void introduce(struct worker_stat *stat)
{
	stat->pid = (int)getpid();
	stat->tid = (int)syscall(SYS_gettid);
}

__attribute__((noinline)) static void *loader_thread(void *argument)
{
	struct worker *worker = argument;
	struct loader *l = worker->loader;
	struct worker_stat *stat = &l->stats[worker->index];
	struct recipe recipe;
	introduce(stat);
	recipe_init(&recipe, l->knobs, l->set);
	for (;;) {
		pthread_mutex_lock(&l->mutex);
		while (!l->is_closing && l->n_begun - l->n_taken >= l->n_slots)
			pthread_cond_wait(&l->has_space, &l->mutex);
		int n = l->n_begun++;
		int is_closing = l->is_closing;
		pthread_mutex_unlock(&l->mutex);
		if (is_closing)
			break;
		fill_slot(l, &recipe, n, stat);
		uint64_t made_ns = clock_ns();
		pthread_mutex_lock(&l->mutex);
		l->is_ready[n % l->n_slots] = 1;
		pthread_cond_broadcast(&l->has_batch);
		pthread_mutex_unlock(&l->mutex);
		stat->handover_ns += clock_ns() - made_ns;
	}
	recipe_release(&recipe);
	return NULL;
}

static void take_from_thread(struct loader *l, int n)
{
	pthread_mutex_lock(&l->mutex);
	while (!l->is_ready[n % l->n_slots])
		pthread_cond_wait(&l->has_batch, &l->mutex);
	pthread_mutex_unlock(&l->mutex);
}

static void give_space_to_threads(struct loader *l)
{
	pthread_mutex_lock(&l->mutex);
	l->is_ready[l->n_taken % l->n_slots] = 0;
	l->n_taken++;
	pthread_cond_broadcast(&l->has_space);
	pthread_mutex_unlock(&l->mutex);
}

__attribute__((noinline)) static void loader_process(struct worker *worker)
{
	struct loader *l = worker->loader;
	struct worker_stat *stat = &l->stats[worker->index];
	struct recipe recipe;
	int n;
	introduce(stat);
	recipe_init(&recipe, l->knobs, l->set);
	while (read(worker->tasks[0], &n, sizeof(n)) == sizeof(n)) {
		fill_slot(l, &recipe, n, stat);
		uint64_t made_ns = clock_ns();
		if (write(worker->ready[1], &n, sizeof(n)) != sizeof(n))
			break;
		stat->handover_ns += clock_ns() - made_ns;
	}
	recipe_release(&recipe);
}

static struct worker *worker_of(struct loader *l, int n)
{
	return &l->workers[n % l->knobs->workers];
}

static void order_from_process(struct loader *l, int n)
{
	if (write(worker_of(l, n)->tasks[1], &n, sizeof(n)) != sizeof(n))
		perror("trainer: loader worker");
}

static void take_from_process(struct loader *l, int n)
{
	int made = -1;
	if (read(worker_of(l, n)->ready[0], &made, sizeof(made)) != sizeof(made) || made != n) {
		fprintf(stderr, "trainer: loader worker %d is gone\n", n % l->knobs->workers);
		exit(2);
	}
}

static void start_process(struct loader *l, struct worker *worker)
{
	if (pipe(worker->tasks) != 0 || pipe(worker->ready) != 0)
		abort();
	fflush(NULL);
	worker->pid = fork();
	if (worker->pid != 0)
		return;
	/* A worker that kept the others' pipe ends open would never see them closed. */
	for (struct worker *w = l->workers; w <= worker; w++) {
		close(w->tasks[1]);
		close(w->ready[0]);
	}
	loader_process(worker);
	_exit(0);
}

struct loader *loader_open(const struct knobs *knobs, const char *set, int first, int stride)
{
	struct loader *l = calloc(1, sizeof(*l));
	if (!l)
		abort();
	l->knobs = knobs;
	l->set = set;
	l->first = first;
	l->stride = stride;
	l->is_forked = strcmp(knobs->worker_kind, "process") == 0;
	l->n_slots = knobs->workers ? knobs->workers * knobs->prefetch : 1;
	l->inputs = share((size_t)l->n_slots * slot_floats(l) * sizeof(float));
	l->classes = share((size_t)l->n_slots * (size_t)knobs->batch * sizeof(int));
	l->is_ready = share((size_t)l->n_slots * sizeof(int));
	l->stats = share(MAX_WORKERS * sizeof(*l->stats));
	pthread_mutex_init(&l->mutex, NULL);
	pthread_cond_init(&l->has_space, NULL);
	pthread_cond_init(&l->has_batch, NULL);
	if (!knobs->workers) {
		introduce(&l->stats[0]);
		recipe_init(&l->recipe, knobs, set);
	}
	for (int i = 0; i < knobs->workers; i++) {
		struct worker *worker = &l->workers[i];
		worker->loader = l;
		worker->index = i;
		if (l->is_forked)
			start_process(l, worker);
		else if (pthread_create(&worker->thread, NULL, loader_thread, worker) != 0)
			abort();
	}
	for (int n = 0; l->is_forked && knobs->workers && n < l->n_slots; n++)
		order_from_process(l, n);
	return l;
}

void loader_next(struct loader *l, float *inputs, int *classes)
{
	int n = l->n_taken;
	if (!l->knobs->workers)
		fill_slot(l, &l->recipe, n, &l->stats[0]);
	else if (l->is_forked)
		take_from_process(l, n);
	else
		take_from_thread(l, n);
	size_t slot = (size_t)(n % l->n_slots);
	memcpy(inputs, l->inputs + slot * slot_floats(l), slot_floats(l) * sizeof(float));
	memcpy(classes, l->classes + slot * (size_t)l->knobs->batch,
	       (size_t)l->knobs->batch * sizeof(int));
	if (l->knobs->workers && !l->is_forked) {
		give_space_to_threads(l);
		return;
	}
	l->n_taken++;
	if (l->knobs->workers)
		order_from_process(l, n + l->n_slots);
}

void loader_close(struct loader *l)
{
	pthread_mutex_lock(&l->mutex);
	l->is_closing = 1;
	pthread_cond_broadcast(&l->has_space);
	pthread_mutex_unlock(&l->mutex);
	for (int i = 0; i < l->knobs->workers; i++) {
		struct worker *worker = &l->workers[i];
		if (!l->is_forked) {
			pthread_join(worker->thread, NULL);
			continue;
		}
		close(worker->tasks[1]);
		close(worker->ready[0]);
		waitpid(worker->pid, NULL, 0);
	}
	if (!l->knobs->workers)
		recipe_release(&l->recipe);
	free(l);
}

int loader_worker_count(const struct loader *l)
{
	return l->knobs->workers ? l->knobs->workers : 1;
}

const struct worker_stat *loader_worker_stat(const struct loader *l, int i)
{
	return &l->stats[i];
}
