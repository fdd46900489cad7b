/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates how long each step exchanges data with other ranks, from the samples of all steps.
 *
 * A rank that spins until the last one arrives has no context switch there: between two samples of
 * a step, nothing shows when the exchange begins. The midpoint between the samples is wrong by up
 * to half a sampling period, and in the same direction for as long as the samples keep their
 * position in the step. But an exchange begins at about the same position in neighbouring steps. So
 * the samples of a block of steps, sorted by position, show in what share of them an exchange goes
 * on there.
 *
 * In a step, time between two samples that agree is what both found; other time in which the thread
 * is not blocked has the share of the block. The sum over a block is that of the shares alone,
 * which do not depend on where in the steps the samples came. Blocks are short, so that differences
 * between them show how uncertain the estimate is.
 */
#include "exchange_times.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"
#include "trainprof/model/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sample that was taken in a judged step. */
struct observation {
	uint64_t position_ns; /* since the start of its step */
	size_t step;
	bool is_exchange;
};

struct exchanges {
	struct tp_profile *profile;
	const struct tp_timeline *timeline;
	const uint8_t *halves;
	struct observation *items; /* heap: in order of time */
	size_t n, capacity;
	/* The block: steps, the observations in them, and these in order of position. */
	size_t first_step, end_step;
	size_t first, end;
	struct observation *pool; /* heap */
	double *before_ns; /* heap: by pool index, mean exchange in a step before its border */
	/* The first segment that reaches into the next step. */
	size_t segment;
};

/* Estimates for one step. */
struct estimate {
	double own_samples_ns; /* its own samples decide, the pool where they disagree */
	double pool_ns;        /* the pool alone decides */
	double length_ns;
};

/* ---- observations ---------------------------------------------------------------------------- */

/* Collects the samples on a CPU that represent the segment in which they were taken. */
static void collect(struct exchanges *e)
{
	const struct tp_profile *profile = e->profile;
	size_t step = 0;
	for (size_t i = 0; i < e->timeline->n; i++) {
		const struct tp_segment *segment = &e->timeline->segments[i];
		if (segment->state != TP_STATE_ON_CPU || segment->is_inferred ||
		    segment->sample == TP_NO_SAMPLE)
			continue;
		uint64_t time_ns = profile->trace->samples[segment->sample].time_ns;
		if (time_ns < segment->start_ns || time_ns >= segment->end_ns)
			continue;
		while (step < profile->n_steps && profile->steps[step].end_ns <= time_ns)
			step++;
		if (step == profile->n_steps || profile->steps[step].start_ns > time_ns ||
		    !tp_step_is_training(&profile->steps[step]))
			continue;
		TP_ARRAY_PUSH(e->items, e->n, e->capacity) = (struct observation){
			.position_ns = time_ns - profile->steps[step].start_ns,
			.step = step,
			.is_exchange = e->halves[i] == 2,
		};
	}
}

static int by_position(const void *a, const void *b)
{
	const struct observation *x = a;
	const struct observation *y = b;
	if (x->position_ns != y->position_ns)
		return x->position_ns < y->position_ns ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

/* Start of the positions that are nearer to this observation than to any other. */
static double border_of(const struct exchanges *e, size_t index)
{
	return index ? (double)(e->pool[index - 1].position_ns + e->pool[index].position_ns) / 2
		     : 0;
}

static void build_pool(struct exchanges *e)
{
	size_t n = e->end - e->first;
	memcpy(e->pool, e->items + e->first, n * sizeof(*e->pool));
	qsort(e->pool, n, sizeof(*e->pool), by_position);
	e->before_ns[0] = 0;
	for (size_t i = 1; i < n; i++)
		e->before_ns[i] =
			e->before_ns[i - 1] +
			(e->pool[i - 1].is_exchange ? border_of(e, i) - border_of(e, i - 1) : 0);
}

/* Returns the mean time in exchanges before a position. */
static double pool_before(const struct exchanges *e, double position_ns)
{
	size_t next;
	TP_FIND_FIRST(next, 1, e->end - e->first, border_of(e, next) > position_ns);
	size_t at = next - 1;
	return e->before_ns[at] + (e->pool[at].is_exchange ? position_ns - border_of(e, at) : 0);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Adds time of a step, from one position to another, in which the thread was not blocked. `first`
 * and `end` are the observations of the step. */
static void add_time(const struct exchanges *e, struct estimate *out, size_t first, size_t end,
		     double from_ns, double to_ns)
{
	out->pool_ns += pool_before(e, to_ns) - pool_before(e, from_ns);
	for (size_t i = first; i <= end; i++) {
		double gap_from =
			i > first ? fmax(from_ns, (double)e->items[i - 1].position_ns) : from_ns;
		double gap_to = i < end ? fmin(to_ns, (double)e->items[i].position_ns) : to_ns;
		if (gap_to <= gap_from)
			continue;
		bool agree = i > first && i < end &&
			     e->items[i - 1].is_exchange == e->items[i].is_exchange;
		if (!agree)
			out->own_samples_ns += pool_before(e, gap_to) - pool_before(e, gap_from);
		else if (e->items[i].is_exchange)
			out->own_samples_ns += gap_to - gap_from;
	}
}

/* Estimates a step; moves the segment on, and `observation` behind those of the step. */
static struct estimate estimate_step(struct exchanges *e, size_t index, size_t *observation)
{
	const struct tp_step *step = &e->profile->steps[index];
	const struct tp_timeline *timeline = e->timeline;
	struct estimate out = {.length_ns = (double)(step->end_ns - step->start_ns)};
	size_t first = *observation;
	while (*observation < e->end && e->items[*observation].step == index)
		++*observation;
	while (e->segment < timeline->n && timeline->segments[e->segment].end_ns <= step->start_ns)
		e->segment++;
	for (size_t i = e->segment;
	     i < timeline->n && timeline->segments[i].start_ns < step->end_ns; i++) {
		const struct tp_segment *at = &timeline->segments[i];
		uint64_t inside = tp_segment_ns_in(at, step->start_ns, step->end_ns);
		uint64_t from = at->start_ns > step->start_ns ? at->start_ns - step->start_ns : 0;
		if (at->state == TP_STATE_BLOCKED) {
			double ns = (double)inside * e->halves[i] / 2;
			out.own_samples_ns += ns;
			out.pool_ns += ns;
		} else if (inside) {
			add_time(e, &out, first, *observation, (double)from,
				 (double)(from + inside));
		}
	}
	return out;
}

/* Fits the estimate of a step to the sum over all steps, by scaling the smaller correction: less
 * exchange if there is too much of it, else less work. */
static uint64_t fitted_ns(const struct estimate *step, const struct estimate *sum)
{
	double ns = step->own_samples_ns;
	double work_ns = sum->length_ns - sum->own_samples_ns;
	if (sum->pool_ns < sum->own_samples_ns)
		ns *= sum->pool_ns / sum->own_samples_ns;
	else if (work_ns > 0)
		ns = step->length_ns -
		     (step->length_ns - ns) * (sum->length_ns - sum->pool_ns) / work_ns;
	return (uint64_t)llround(fmin(fmax(0, ns), step->length_ns));
}

static void set_steps(struct exchanges *e, struct estimate *estimates)
{
	struct tp_step *steps = e->profile->steps;
	struct estimate sum = {0};
	size_t observation = e->first;
	for (size_t k = e->first_step; k < e->end_step; k++) {
		if (!tp_step_is_training(&steps[k]))
			continue;
		estimates[k] = estimate_step(e, k, &observation);
		sum.own_samples_ns += estimates[k].own_samples_ns;
		sum.pool_ns += estimates[k].pool_ns;
		sum.length_ns += estimates[k].length_ns;
	}
	for (size_t k = e->first_step; k < e->end_step; k++)
		if (tp_step_is_training(&steps[k]))
			steps[k].peer_ns = fitted_ns(&estimates[k], &sum);
}

/* Moves on to the next block: whole steps with enough samples. The last one takes what is left. */
static void next_block(struct exchanges *e)
{
	e->first_step = e->end_step;
	e->first = e->end;
	e->end = e->first + TP_EXCHANGE_SAMPLES_MIN;
	while (e->end < e->n && e->items[e->end].step == e->items[e->end - 1].step)
		e->end++;
	if (e->n < e->end + TP_EXCHANGE_SAMPLES_MIN)
		e->end = e->n;
	e->end_step = e->end == e->n ? e->profile->n_steps : e->items[e->end].step;
}

/* Borders that were found by samples lie between two of them: positions would not be random. */
static bool has_exact_borders(const struct tp_profile *profile)
{
	return profile->is_of_steps && (profile->steps_found_by == TP_STEPS_MARKER ||
					profile->steps_found_by == TP_STEPS_WATCH);
}

void tp_exchange_times_estimate(struct tp_profile *profile, const struct tp_timeline *timeline,
				const uint8_t *halves)
{
	struct exchanges e = {.profile = profile, .timeline = timeline, .halves = halves};
	if (!has_exact_borders(profile))
		return;
	collect(&e);
	if (e.n >= TP_EXCHANGE_SAMPLES_MIN) {
		struct estimate *estimates = tp_alloc((profile->n_steps + 1) * sizeof(*estimates));
		e.pool = tp_alloc(e.n * sizeof(*e.pool));
		e.before_ns = tp_alloc(e.n * sizeof(*e.before_ns));
		while (e.end < e.n) {
			next_block(&e);
			build_pool(&e);
			set_steps(&e, estimates);
		}
		free(estimates);
	}
	free(e.items);
	free(e.pool);
	free(e.before_ns);
}
