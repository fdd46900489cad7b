/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts what changes of the data loader would save, by replaying the measured steps with them.
 *
 * Needs: labels, steps, window, loader.*, cpu.*. Sets: replay.*
 *
 * A replay of the unchanged run has to reproduce its measured step time; if it does not, nothing is
 * predicted. One thing cannot be known in advance: how much work on one CPU is slowed down by work
 * on other CPUs (shared cores, caches, memory). So savings are a range, without that slowdown and
 * with TP_REPLAY_SLOWDOWN.
 */
#include "analyze/analysis.h"
#include "analyze/thresholds.h"
#include "loop_record.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>

enum { OTHERS_PARTS = 4 };

static const enum tp_fact saved_facts[] = {
	TP_FACT_REPLAY_WORKERS,     TP_FACT_REPLAY_WORKERS_SAVED, TP_FACT_REPLAY_WORKERS_LEAST,
	TP_FACT_REPLAY_AHEAD_SAVED, TP_FACT_REPLAY_AUGMENT_SAVED,
};

static void set_all_missing(struct tp_profile *profile, const char *why)
{
	for (size_t i = 0; i < TP_ARRAY_LEN(saved_facts); i++)
		tp_profile_set_missing(profile, saved_facts[i], why);
}

static void set(struct tp_profile *profile, enum tp_fact fact, double value)
{
	tp_profile_set(profile, fact, value, TP_ORIGIN_ESTIMATED, 1);
}

static struct tp_loader_replay replay_of(const struct tp_loop_record *record)
{
	return (struct tp_loader_replay){
		.batches = record->batches,
		.steps = record->steps,
		.n = record->n,
		.n_workers = record->n_workers,
		.n_ahead = record->n_ahead,
		.is_in_turn = record->is_in_turn,
		.n_cpus = record->n_cpus,
		.others = record->others,
		.team = record->team,
	};
}

/* Worst case: work is slowed down by concurrent work, and batches have to be transferred. Best
 * case: the scheduler runs the trainer before workers. */
struct extra_cost {
	double slowdown;
	double handover_ns;
	bool is_trainer_first;
};

/* Work that was measured next to workers already includes most of their slowdown. */
static struct extra_cost max_slowdown(const struct tp_loader_replay *replay)
{
	if (replay->n_workers)
		return (struct extra_cost){.slowdown = TP_REPLAY_SLOWDOWN_MORE};
	return (struct extra_cost){TP_REPLAY_SLOWDOWN, TP_REPLAY_HANDOVER_NS, false};
}

/* A PyTorch loader that gets its first workers uses them in turn, with two batches ahead. */
static double step_with(struct tp_loader_replay replay, unsigned n_workers, struct extra_cost extra)
{
	replay.is_in_turn |= !replay.n_workers;
	if (replay.n_workers || n_workers)
		replay.slowdown = extra.slowdown;
	replay.is_trainer_first = extra.is_trainer_first;
	replay.n_workers = n_workers;
	return tp_loader_replay(&replay).step_ns + (n_workers ? extra.handover_ns : 0);
}

static double saved_ratio(double before_ns, double after_ns)
{
	return fmin(1, fmax(0, 1 - after_ns / before_ns));
}

/* No loader makes a step shorter than the trainer's own work. */
static double step_min_ns(const struct tp_loader_replay *replay)
{
	double sum_ns = 0;
	for (size_t i = 0; i < replay->n; i++)
		sum_ns += replay->steps[i].cpu_ns + replay->steps[i].wait_ns;
	return sum_ns / (double)replay->n;
}

/* Returns the share of a batch's time in which its worker uses a CPU. */
static double cpu_share(const struct tp_loader_replay *replay)
{
	double cpu_ns = 0;
	double all_ns = 0;
	for (size_t i = 0; i < replay->n; i++) {
		cpu_ns += replay->batches[i].cpu_ns;
		all_ns += replay->batches[i].cpu_ns + replay->batches[i].wait_ns;
	}
	return all_ns > 0 ? cpu_ns / all_ns : 0;
}

/* Returns how many workers are worth a try. More than keep the CPUs busy would only take time from
 * other programs, and from each other. */
static unsigned max_workers(const struct tp_loader_replay *replay)
{
	double tried = fmax(ceil(replay->n_cpus), TP_REPLAY_WORKERS_TRIED);
	double share = cpu_share(replay);
	double enough = share > 0 ? fmax(1, round(replay->n_cpus / share)) : tried;
	tried = fmax(fmin(tried, enough), replay->n_workers);
	return (unsigned)fmin(tried, TP_REPLAY_WORKERS_MAX);
}

/* Returns the smallest number of workers, from the current one up, whose step time is about as
 * short as the best one. */
static unsigned best_workers(const struct tp_loader_replay *replay, struct extra_cost extra)
{
	double steps_ns[TP_REPLAY_WORKERS_MAX + 1];
	double least_ns = INFINITY;
	double reached_ns = (1 + TP_REPLAY_HARDLY) * step_min_ns(replay);
	unsigned most = max_workers(replay);
	unsigned last = replay->n_workers;
	for (unsigned n = replay->n_workers; n <= most && least_ns > reached_ns; n++) {
		steps_ns[n] = step_with(*replay, n, extra);
		least_ns = fmin(least_ns, steps_ns[n]);
		last = n;
	}
	unsigned best = replay->n_workers;
	while (best < last && steps_ns[best] > (1 + TP_REPLAY_HARDLY) * least_ns)
		best++;
	return best;
}

static void set_workers(struct tp_profile *profile, const struct tp_loader_replay *replay,
			double error)
{
	static const struct extra_cost best_case = {.is_trainer_first = true};
	struct extra_cost worst = max_slowdown(replay);
	unsigned now = replay->n_workers;
	unsigned best = best_workers(replay, (struct extra_cost){.slowdown = worst.slowdown / 2});
	/* Add the error of the replay of the unchanged run and the usual difference between two
	 * runs. */
	double doubt = best == now ? 0 : TP_REPLAY_DOUBT + fabs(error) / 2;
	set(profile, TP_FACT_REPLAY_WORKERS, best);
	set(profile, TP_FACT_REPLAY_WORKERS_SAVED,
	    saved_ratio(step_with(*replay, now, best_case),
			step_with(*replay, best, best_case) * (1 - doubt)));
	set(profile, TP_FACT_REPLAY_WORKERS_LEAST,
	    saved_ratio(step_with(*replay, now, worst),
			step_with(*replay, best, worst) * (1 + doubt)));
}

static void set_ahead(struct tp_profile *profile, struct tp_loader_replay replay, double now_ns)
{
	if (!replay.n_workers) {
		tp_profile_set_missing(profile, TP_FACT_REPLAY_AHEAD_SAVED,
				       "the loader has no workers");
		return;
	}
	replay.n_ahead *= 4;
	set(profile, TP_FACT_REPLAY_AHEAD_SAVED,
	    saved_ratio(now_ns, tp_loader_replay(&replay).step_ns));
}

static void set_augment(struct tp_profile *profile, struct tp_loader_replay replay, double now_ns)
{
	const struct tp_quantity *augment = &profile->facts[TP_FACT_LOADER_AUGMENT];
	if (!augment->is_known) {
		tp_profile_set_missing(profile, TP_FACT_REPLAY_AUGMENT_SAVED, augment->missing);
		return;
	}
	struct tp_replay_work *lighter = tp_alloc((replay.n + 1) * sizeof(*lighter));
	for (size_t i = 0; i < replay.n; i++) {
		lighter[i] = replay.batches[i];
		lighter[i].cpu_ns *= 1 - augment->value;
	}
	replay.batches = lighter;
	set(profile, TP_FACT_REPLAY_AUGMENT_SAVED,
	    saved_ratio(now_ns, tp_loader_replay(&replay).step_ns));
	free(lighter);
}

/* Other programs want CPUs as this one does, unless their priority is lower. Scales their demand so
 * that workers and trainer wait for a CPU as long as they did in the run. */
static void fit_others(struct tp_loader_replay *replay, double delay_ratio)
{
	double all = replay->others;
	double best = 0;
	double least = INFINITY;
	for (int part = 0; part <= OTHERS_PARTS; part++) {
		replay->others = all * part / OTHERS_PARTS;
		double off = fabs(tp_loader_replay(replay).delay_ratio - delay_ratio);
		if (off < least) {
			least = off;
			best = replay->others;
		}
	}
	replay->others = best;
}

static void set_saved(struct tp_profile *profile, const struct tp_loop_record *record)
{
	struct tp_loader_replay replay = replay_of(record);
	fit_others(&replay, record->delay_ratio);
	double now_ns = tp_loader_replay(&replay).step_ns;
	double error = now_ns / record->step_ns - 1;
	set(profile, TP_FACT_REPLAY_ERROR, error);
	if (!(fabs(error) <= TP_REPLAY_ERROR_MAX)) {
		set_all_missing(profile,
				"the run replayed as it was takes longer or shorter than it did");
		return;
	}
	set_workers(profile, &replay, error);
	set_ahead(profile, replay, now_ns);
	set_augment(profile, replay, now_ns);
}

enum tp_status tp_pass_replay(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_loop_record record = {0};
	const char *why = tp_loop_record_build(&record, analysis);
	if (why) {
		tp_profile_set_missing(analysis->profile, TP_FACT_REPLAY_ERROR, why);
		set_all_missing(analysis->profile, why);
	} else {
		set_saved(analysis->profile, &record);
	}
	tp_loop_record_release(&record);
	return TP_OK;
}
