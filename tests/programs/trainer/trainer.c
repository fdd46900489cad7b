/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training program with a known bottleneck: a small convolutional network learns four kinds of
 * generated pictures, and one knob for each cause makes that cause dominant. With --truth it writes
 * the time of its main thread in the six parts that trainprof reports.
 *
 * 	./trainer --steps 300 --truth truth.json
 *
 * Cause                      knobs (--help lists all with their defaults) slow decode
 * --side 256, --decode 8; moved to workers: --workers 2 workers as processes       --worker-kind
 * process loader that only waits     --sample-sleep-us 1000
 * storage                    --uncached 1 (page cache dropped), --direct 1 (4 KiB reads),
 *                            --map 1 (major faults), --padding-kb 1024 (more bytes),
 *                            --pictures 20000 (many small files)
 * compute                    --width 4, --kernel scalar, --threads 2 oversubscribed threads
 * --threads 8, --barrier spin
 * lock                       --threads 2 --lock 1 memory-bound lookups       --embedding-mb 512
 * --lookups 20000 (compute, bandwidth-bound) page faults, copies        --churn-mb 64, --copy-mb 64
 * host work                  --metrics 20, --log-every 1 --log-lines 1000, --log-sync 1,
 *                            --checkpoint-every 5 --checkpoint-mb 32
 * idle                       --sleep-us 5000
 * communication              --ranks 2, --transport tcp, --payload-kb 8192, --late-us 5000 special
 * steps              --eval-every 20, --warmup-ms 500, --warmup-steps 20, --vary 3
 * ends                       --crash-at 10, --exit-at 10 --exit-code 4, --signal-at 10 --signal 9
 * marks                      --marks steps, --marks phases
 *
 * The truth: the whole wall time of a phase belongs to its part, for all its leaf functions
 * (next_batch is dataloader although it reads, decodes and copies). Memory and idle phases are
 * separate functions; compute causes no page faults, since all its memory is touched before the
 * first step. Time in which the main thread wanted a CPU and had none is given next to each phase,
 * from schedstat.
 */
#include "burdens.h"
#include "knobs.h"
#include "loader.h"
#include "network.h"
#include "phases.h"
#include "pictures.h"
#include "ranks.h"
#include "resident.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trainer {
	const struct knobs *knobs;
	struct ranks *ranks;
	struct loader *loader;
	struct network *net;
	struct burdens *burdens;
	float *inputs;
	int *classes;
	double first_loss; /* mean over the first and over the last eighth */
	double last_loss;
	double *losses;
	int n_steps;
	uint64_t until_ns; /* 0 = no limit */
	int is_over;
};

__attribute__((noinline)) static void next_batch(struct trainer *t)
{
	phase_enter(PHASE_NEXT_BATCH);
	loader_next(t->loader, t->inputs, t->classes);
	phase_leave();
}

__attribute__((noinline)) static double forward(struct trainer *t)
{
	phase_enter(PHASE_FORWARD);
	double loss = network_forward(t->net, t->inputs, t->classes);
	phase_leave();
	return loss;
}

__attribute__((noinline)) static void backward(struct trainer *t)
{
	phase_enter(PHASE_BACKWARD);
	network_backward(t->net, t->classes);
	phase_leave();
}

__attribute__((noinline)) static void sgd_update(struct trainer *t, int n_parts)
{
	phase_enter(PHASE_SGD);
	network_update(t->net, 0.02F / (float)(n_parts * t->knobs->ranks));
	phase_leave();
}

__attribute__((noinline)) static void all_reduce(struct trainer *t)
{
	size_t n;
	float *gradients = network_gradients(t->net, &n);
	phase_enter(PHASE_ALL_REDUCE);
	phases_add_wait(ranks_sum(t->ranks, gradients, n, &t->is_over));
	phase_leave();
}

__attribute__((noinline)) static void evaluate(struct trainer *t)
{
	double loss = 0;
	phases_evaluation(1);
	for (int i = 0; i < t->knobs->eval_batches; i++) {
		next_batch(t);
		loss += forward(t);
	}
	phases_evaluation(0);
	printf("evaluation loss %.4f\n", loss / t->knobs->eval_batches);
}

static void end_early(const struct knobs *knobs, int step)
{
	if (step == knobs->crash_at) {
		volatile int *volatile nowhere = NULL;
		*nowhere = 1; /* NOLINT(clang-analyzer-core.NullDereference): the point */
	}
	if (step == knobs->exit_at)
		exit(knobs->exit_code);
	if (step == knobs->signal_at)
		raise(knobs->signal);
}

static int is_due(int step, int every)
{
	return every > 0 && step % every == 0;
}

/* Returns how often the batch is computed in this step. */
static int micro_batches(const struct knobs *knobs, int step)
{
	unsigned mixed = (unsigned)step * 2654435761u;
	if (step <= knobs->warmup_steps)
		return 3;
	return knobs->vary ? 1 + (int)((mixed >> 16) % (unsigned)(knobs->vary + 1)) : 1;
}

/* Does everything but the training itself, as the knobs select it. */
static void do_burdens(struct trainer *t, int step, double loss)
{
	const struct knobs *knobs = t->knobs;
	if (knobs->churn_mb) {
		phase_enter(PHASE_SCRATCH);
		allocate_scratch(t->burdens);
		phase_leave();
	}
	if (knobs->copy_mb) {
		phase_enter(PHASE_COPY);
		copy_activations(t->burdens, t->net);
		phase_leave();
	}
	if (knobs->sleep_us) {
		phase_enter(PHASE_PAUSE);
		pause_for(knobs->sleep_us);
		phase_leave();
	}
	if (knobs->metrics) {
		phase_enter(PHASE_METRICS);
		update_metrics(t->burdens, step, loss);
		phase_leave();
	}
	if (is_due(step, knobs->log_every)) {
		phase_enter(PHASE_LOG);
		log_step(t->burdens, step, loss);
		phase_leave();
	}
	if (is_due(step, knobs->checkpoint_every)) {
		phase_enter(PHASE_CHECKPOINT);
		save_checkpoint(t->burdens, t->net);
		phase_leave();
	}
	if (is_due(step, knobs->eval_every))
		evaluate(t);
}

__attribute__((noinline)) static double train_step(struct trainer *t, int step)
{
	const struct knobs *knobs = t->knobs;
	int n_parts = micro_batches(knobs, step);
	double loss = 0;
	next_batch(t);
	t->is_over = t->until_ns && clock_ns() >= t->until_ns;
	for (int i = 0; i < n_parts; i++) {
		loss = forward(t);
		backward(t);
	}
	if (knobs->ranks > 1) {
		if (knobs->late_us && ranks_index(t->ranks) == knobs->ranks - 1) {
			phase_enter(PHASE_PAUSE);
			pause_for(knobs->late_us);
			phase_leave();
		}
		all_reduce(t);
	}
	sgd_update(t, n_parts);
	do_burdens(t, step, loss);
	end_early(knobs, step);
	return loss;
}

__attribute__((noinline)) static void train_epoch(struct trainer *t)
{
	const struct knobs *knobs = t->knobs;
	if (knobs->milliseconds)
		t->until_ns = clock_ns() + (uint64_t)knobs->milliseconds * 1000000u;
	phases_start(knobs, ranks_index(t->ranks));
	for (int step = 1; step <= knobs->steps && !t->is_over; step++) {
		phases_step();
		t->losses[step - 1] = train_step(t, step);
		t->n_steps = step;
	}
	phases_stop();
}

/* Reading the file list, building caches, importing: time that belongs to no step. */
__attribute__((noinline)) static double warm_up(int milliseconds)
{
	uint64_t until_ns = clock_ns() + (uint64_t)milliseconds * 1000000u;
	double x = 0;
	while (clock_ns() < until_ns)
		x += sqrt(x + 1);
	return x;
}

static void sum_up(struct trainer *t)
{
	int n = (t->n_steps + 7) / 8;
	for (int i = 0; i < n; i++) {
		t->first_loss += t->losses[i] / n;
		t->last_loss += t->losses[t->n_steps - 1 - i] / n;
	}
	phases_set_loss(t->first_loss, t->last_loss);
	if (ranks_index(t->ranks) == 0)
		printf("steps %d loss %.4f -> %.4f\n", t->n_steps, t->first_loss, t->last_loss);
}

int main(int argc, char **argv)
{
	struct knobs knobs;
	struct trainer t = {.knobs = &knobs};
	char directory[2048];
	char set[4096];
	knobs_read(&knobs, argc, argv);
	const char *temporary = getenv("TMPDIR");
	snprintf(directory, sizeof(directory), "%s%s",
		 knobs.data ? knobs.data : (temporary ? temporary : "/tmp"),
		 knobs.data ? "" : "/trainer-pictures");
	if (pictures_prepare(set, sizeof(set), directory, knobs.pictures, knobs.side,
			     (size_t)knobs.padding_kb * 1024) != 0) {
		perror(directory);
		return 2;
	}
	if (knobs.warmup_ms)
		warm_up(knobs.warmup_ms);
	t.ranks = ranks_open(knobs.ranks, strcmp(knobs.transport, "tcp") == 0, knobs.payload_kb);
	int rank = ranks_index(t.ranks);
	t.loader = loader_open(&knobs, set, rank, knobs.ranks);
	t.net = network_open(&knobs);
	t.burdens = burdens_open(&knobs, rank);
	t.inputs = resident_alloc((size_t)knobs.batch * INPUT_FLOATS * sizeof(float));
	t.classes = resident_alloc((size_t)knobs.batch * sizeof(int));
	t.losses = resident_alloc((size_t)knobs.steps * sizeof(double));
	train_epoch(&t);
	sum_up(&t);
	phases_write(t.loader);
	burdens_close(t.burdens);
	network_close(t.net);
	loader_close(t.loader);
	free(t.inputs);
	free(t.classes);
	free(t.losses);
	return ranks_close(t.ranks);
}
