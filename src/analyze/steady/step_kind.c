/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distinguishes steady steps from warm-up, evaluations, checkpoints and slow steps
 * (docs/design/steps.md#steady-state).
 *
 * Order: steps that the recording cut are excluded; the longest stretch without a level shift is
 * selected; its slow start is warm-up; single steps far above the rest are special and are named by
 * the activity of the main thread in the excess time. Slow steps that recur with the loader's
 * workers are not special.
 */
#include "step_kind.h"

#include "analyze/numeric/intervals.h"
#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "counter_windows.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

enum {
	BLOCK = 5, /* number of steps whose median represents them in the search for levels */
	MAX_LEVELS = 64,
};

/* Indices into profile->steps of steps that may be steady, with their lengths; for traced steps the
 * estimated length without tracing. Plain steps are not made long by an evaluation
 * or a checkpoint: only they tell which length is usual. */
struct step_candidates {
	size_t *index;
	double *length_ns;
	bool *is_plain;
	size_t n;
};

/* The plain steps in one stretch of the candidates, with their lengths. */
struct plain_steps {
	size_t *at; /* positions among the candidates */
	double *length_ns;
	size_t n;
};

struct kind_context {
	const struct tp_analysis *analysis;
	struct tp_profile *profile;
	const struct tp_phase_time *phases;
	double median_ns;                 /* of the selected level */
	double special_ns;                /* longer steps are special */
	bool is_few;                      /* no length is usual: only named steps are special */
	bool is_slow_before;              /* the steps before the level are longer */
	double usual_side_ns[TP_N_SIDES]; /* time of each side phase in every step */
	struct tp_step_levels levels;
};

/* The activities that give a step its name. */
static const struct {
	enum tp_side_phase side;
	enum tp_step_kind kind;
} named_sides[] = {{TP_SIDE_EVALUATION, TP_STEP_EVALUATION},
		   {TP_SIDE_CHECKPOINT, TP_STEP_CHECKPOINT}};

static double length_of(const struct tp_step *step)
{
	return (double)(step->end_ns - step->start_ns);
}

static double side_of(const struct tp_phase_time *phases, enum tp_side_phase side,
		      const struct tp_step *step)
{
	return (double)tp_phase_time_between(phases, side, step->start_ns, step->end_ns);
}

/* Returns true if the whole step lies in a window of tracing; false if all or nothing was
 * traced. */
static bool is_in_window(const struct tp_analysis *analysis, const struct tp_step *step)
{
	return analysis->untraced && step->start_ns >= analysis->traced_from_ns &&
	       !tp_intervals_covered(analysis->untraced, step->start_ns, step->end_ns);
}

/* Scales traced steps to untraced length: the slowdown in windows is not a level of the program. */
static void subtract_tracing(struct step_candidates *c, const struct tp_analysis *analysis)
{
	const struct tp_step *steps = analysis->profile->steps;
	bool *is_traced = tp_alloc((c->n + 1) * sizeof(*is_traced));
	double *lengths[2] = {tp_alloc((c->n + 1) * sizeof(double)),
			      tp_alloc((c->n + 1) * sizeof(double))};
	size_t n[2] = {0};
	for (size_t i = 0; i < c->n; i++) {
		is_traced[i] = is_in_window(analysis, &steps[c->index[i]]);
		if (c->is_plain[i])
			lengths[is_traced[i]][n[is_traced[i]]++] = c->length_ns[i];
	}
	double slowed =
		n[0] && n[1] ? tp_stats_median(lengths[1], n[1]) / tp_stats_median(lengths[0], n[0])
			     : 1;
	for (size_t i = 0; i < c->n; i++)
		if (is_traced[i])
			c->length_ns[i] /= slowed;
	free(is_traced);
	free(lengths[0]);
	free(lengths[1]);
}

static int by_length(const void *a, const void *b)
{
	const double *first = a;
	const double *second = b;
	return (*first > *second) - (*first < *second);
}

/* Returns the longest of the short steps, where two groups of lengths are furthest apart (Otsu, on
 * logarithms). */
static double longest_short(const struct step_candidates *c)
{
	double *sorted = tp_alloc((c->n + 1) * sizeof(*sorted));
	double sum = 0;
	for (size_t i = 0; i < c->n; i++) {
		sorted[i] = c->length_ns[i];
		sum += log(sorted[i]);
	}
	qsort(sorted, c->n, sizeof(*sorted), by_length);
	double best = 0;
	double out = INFINITY;
	double below = 0;
	for (size_t i = 0; i + 1 < c->n; i++) {
		below += log(sorted[i]);
		double n = (double)(i + 1);
		double rest = (double)c->n - n;
		double apart = (sum - below) / rest - below / n;
		if (n * rest * apart * apart > best) {
			best = n * rest * apart * apart;
			out = sorted[i];
		}
	}
	free(sorted);
	return out;
}

/* Long steps are not plain if an evaluation or a checkpoint makes them long. The median of all
 * steps would be that of either kind, by chance, if every other step saves. Means of both groups
 * decide: the samples of one short step may show the phase of its neighbour. A phase that nearly
 * all steps hold belongs to the usual step. */
static void find_plain(struct step_candidates *c, const struct tp_profile *profile,
		       const struct tp_phase_time *phases)
{
	double limit = longest_short(c);
	double length[2] = {0};
	double side[2] = {0};
	double n[2] = {0};
	for (size_t i = 0; i < c->n; i++) {
		int is_long = c->length_ns[i] > limit;
		n[is_long]++;
		length[is_long] += c->length_ns[i];
		for (size_t k = 0; k < TP_ARRAY_LEN(named_sides); k++)
			side[is_long] +=
				side_of(phases, named_sides[k].side, &profile->steps[c->index[i]]);
	}
	double usual = length[0] / n[0];
	double excess = length[1] / n[1] - usual;
	bool is_named = n[1] > 0 && n[0] > TP_RECURRING_MIN * (double)c->n &&
			excess > (TP_SPECIAL_RATIO - 1) * usual &&
			side[1] / n[1] - side[0] / n[0] >= TP_SPECIAL_NAMED_MIN * excess;
	for (size_t i = 0; i < c->n; i++)
		c->is_plain[i] = !is_named || c->length_ns[i] <= limit;
}

static struct step_candidates collect_steady(const struct tp_analysis *analysis,
					     const struct tp_phase_time *phases)
{
	const struct tp_profile *profile = analysis->profile;
	struct step_candidates c = {0};
	c.index = tp_alloc((profile->n_steps + 1) * sizeof(*c.index));
	c.length_ns = tp_alloc((profile->n_steps + 1) * sizeof(*c.length_ns));
	c.is_plain = tp_alloc((profile->n_steps + 1) * sizeof(*c.is_plain));
	for (size_t i = 0; i < profile->n_steps; i++) {
		if (profile->steps[i].kind != TP_STEP_STEADY)
			continue;
		c.index[c.n] = i;
		c.length_ns[c.n++] = length_of(&profile->steps[i]);
	}
	find_plain(&c, profile, phases);
	subtract_tracing(&c, analysis);
	return c;
}

static void release_candidates(struct step_candidates *c)
{
	free(c->index);
	free(c->length_ns);
	free(c->is_plain);
}

/* Selects the plain candidates of [from, to); all of them if none is plain. */
static struct plain_steps select_plain(const struct step_candidates *c, size_t from, size_t to)
{
	struct plain_steps p = {.at = tp_alloc((to - from + 1) * sizeof(*p.at)),
				.length_ns = tp_alloc((to - from + 1) * sizeof(*p.length_ns))};
	size_t n_plain = 0;
	for (size_t i = from; i < to; i++)
		n_plain += c->is_plain[i];
	for (size_t i = from; i < to; i++) {
		if (n_plain && !c->is_plain[i])
			continue;
		p.at[p.n] = i;
		p.length_ns[p.n++] = c->length_ns[i];
	}
	return p;
}

static void release_plain(struct plain_steps *p)
{
	free(p->at);
	free(p->length_ns);
}

/* ---- exclusion ---------------------------------------------------------------------------- */

/* With --delay and --duration nothing but marks was recorded outside of them. With --skip the user
 * excludes steps. */
static void exclude_not_recorded(struct kind_context *j)
{
	const struct tp_run_info *run = &j->analysis->trace->run;
	uint64_t from =
		run->measure_from_ns > run->started_ns ? run->measure_from_ns - run->started_ns : 0;
	uint64_t until = run->measure_until_ns > run->started_ns
				 ? run->measure_until_ns - run->started_ns
				 : UINT64_MAX;
	uint64_t skip = j->analysis->options ? j->analysis->options->skip_steps : 0;
	for (size_t i = 0; i < j->profile->n_steps; i++) {
		struct tp_step *step = &j->profile->steps[i];
		if (step->start_ns < from || step->end_ns > until)
			step->kind = TP_STEP_CUT;
		else if (i < skip)
			step->kind = TP_STEP_WARMUP;
	}
}

/* Splits the steps into stretches without a level shift. Uses medians of five steps each, so that
 * single slow steps are no level. Returns the number of stretches. */
static size_t split_levels(const struct plain_steps *p, size_t starts[MAX_LEVELS + 1])
{
	size_t n = p->n / BLOCK;
	double *blocks = tp_alloc((n + 1) * sizeof(*blocks));
	for (size_t i = 0; i < n; i++)
		blocks[i] = log(tp_stats_median(p->length_ns + i * BLOCK, BLOCK));
	size_t levels = tp_stats_levels(blocks, n, TP_LEVEL_BLOCKS_MIN, log(TP_LEVEL_RATIO), starts,
					MAX_LEVELS);
	free(blocks);
	return levels;
}

/* Finds the longest stretch of plain steps without a level shift: [*from, *to) of them. */
static void find_level(struct kind_context *j, const struct plain_steps *p, size_t *from,
		       size_t *to)
{
	size_t starts[MAX_LEVELS + 1];
	size_t levels = split_levels(p, starts);
	*from = 0;
	*to = p->n;
	j->levels.n = levels < 2 ? 1 : levels;
	if (levels < 2)
		return;
	size_t best = 0;
	size_t best_length = 0;
	for (size_t i = 0; i < levels; i++) {
		size_t end = i + 1 < levels ? starts[i + 1] * BLOCK : p->n;
		if (end - starts[i] * BLOCK > best_length) {
			best_length = end - starts[i] * BLOCK;
			best = i;
		}
	}
	j->levels.is_unsteady = best_length * 2 < p->n;
	if (j->levels.is_unsteady)
		return;
	*from = starts[best] * BLOCK;
	*to = *from + best_length;
	/* The steps before are warm-up; the shift is only reported if they are many. */
	double before = tp_stats_median(p->length_ns, *from);
	double level = tp_stats_median(p->length_ns + *from, best_length);
	j->is_slow_before = before > level;
	j->levels.is_shifted = *to < p->n || *from * 5 > p->n || (*from && before < level);
}

static double minimum(const double *values, size_t n)
{
	double least = INFINITY;
	for (size_t i = 0; i < n; i++)
		least = fmin(least, values[i]);
	return least;
}

/* Measures how long each side phase is in a usual step. */
static void measure_sides(struct kind_context *j, const struct step_candidates *c,
			  const struct plain_steps *p)
{
	double *times = tp_alloc((p->n + 1) * sizeof(*times));
	for (int side = 0; side < TP_N_SIDES; side++) {
		for (size_t i = 0; i < p->n; i++)
			times[i] = side_of(j->phases, (enum tp_side_phase)side,
					   &j->profile->steps[c->index[p->at[i]]]);
		j->usual_side_ns[side] =
			j->is_few ? minimum(times, p->n) : tp_stats_median(times, p->n);
	}
	free(times);
}

/* Measures the level: the median, and the length above which steps are special. Among a few steps
 * the shortest is the usual one. */
static void measure_level(struct kind_context *j, const struct step_candidates *c, size_t from,
			  size_t to)
{
	struct plain_steps p = select_plain(c, from, to);
	j->median_ns = tp_stats_median(p.length_ns, p.n);
	double mad = tp_stats_mad(p.length_ns, p.n, j->median_ns);
	j->special_ns = fmax(TP_SPECIAL_RATIO * j->median_ns, j->median_ns + TP_SPECIAL_MADS * mad);
	j->is_few = to - from < TP_SPECIAL_STEPS_MIN;
	if (j->is_few) {
		j->median_ns = minimum(p.length_ns, p.n);
		j->special_ns = TP_SPECIAL_RATIO * j->median_ns;
	}
	measure_sides(j, c, &p);
	release_plain(&p);
}

/* Returns the kind that fills at least half of the time by which a step is longer than usual; else
 * `otherwise`. */
static enum tp_step_kind kind_of_slow_step(const struct kind_context *j, const struct tp_step *step,
					   enum tp_step_kind otherwise)
{
	double excess = length_of(step) - j->median_ns;
	for (size_t i = 0; i < TP_ARRAY_LEN(named_sides); i++) {
		enum tp_side_phase side = named_sides[i].side;
		if (side_of(j->phases, side, step) - j->usual_side_ns[side] >=
		    TP_SPECIAL_NAMED_MIN * excess)
			return named_sides[i].kind;
	}
	return otherwise;
}

/* Returns how many of n usual lengths at the start of a level are warm-up: MSER-5's answer, without
 * the usual steps at its end, if the remaining ones are slower than the rest by 3 % and by three
 * standard errors. MSER alone would always exclude some steps. */
static size_t count_slow_start(const double *length_ns, size_t n)
{
	double *y = tp_alloc((n + 1) * sizeof(*y));
	for (size_t i = 0; i < n; i++)
		y[i] = log(length_ns[i]);
	size_t d = tp_stats_mser5(y, n);
	double rest = (double)(n - d);
	double mean = 0;
	double variance = 0;
	for (size_t i = d; i < n; i++)
		mean += y[i] / rest;
	for (size_t i = d; i < n; i++)
		variance += (y[i] - mean) * (y[i] - mean) / rest;
	double sigma = sqrt(variance);
	while (d && y[d - 1] <= mean + 2 * sigma)
		d--;
	double excess = 0;
	for (size_t i = 0; i < d; i++)
		excess += (y[i] - mean) / (double)d;
	free(y);
	return d && excess > log(TP_LEVEL_RATIO) && excess > 3 * sigma / sqrt((double)d) ? d : 0;
}

/* If the last two of three steps are alike, a slower first one is the warm-up. */
static void exclude_first(struct kind_context *j, const struct step_candidates *c, size_t from,
			  size_t to)
{
	if (to - from == 3 && c->length_ns[from] > j->special_ns &&
	    c->length_ns[from + 1] <= j->special_ns && c->length_ns[from + 2] <= j->special_ns)
		j->profile->steps[c->index[from]].kind =
			kind_of_slow_step(j, &j->profile->steps[c->index[from]], TP_STEP_WARMUP);
}

/* Excludes slow steps at the very start, then a slow start among the usual ones. */
static void exclude_warmup(struct kind_context *j, const struct step_candidates *c, size_t from,
			   size_t to)
{
	struct tp_step *steps = j->profile->steps;
	size_t first = from;
	if (j->is_few) {
		exclude_first(j, c, from, to);
		return;
	}
	while (first < to && c->length_ns[first] > j->special_ns &&
	       kind_of_slow_step(j, &steps[c->index[first]], TP_STEP_SLOW) == TP_STEP_SLOW)
		steps[c->index[first++]].kind = TP_STEP_WARMUP;
	double *usual = tp_alloc((to - first + 1) * sizeof(*usual));
	size_t *index = tp_alloc((to - first + 1) * sizeof(*index));
	size_t n = 0;
	for (size_t i = first; i < to; i++) {
		if (c->length_ns[i] > j->special_ns)
			continue;
		index[n] = c->index[i];
		usual[n++] = c->length_ns[i];
	}
	size_t slow = count_slow_start(usual, n);
	for (size_t i = 0; i < slow; i++)
		steps[index[i]].kind = TP_STEP_WARMUP;
	free(usual);
	free(index);
}

/* Sets the kinds of special steps; steps outside the level are warm-up if they come before it and
 * are slower. */
static void exclude_special(struct kind_context *j, const struct step_candidates *c, size_t from,
			    size_t to)
{
	for (size_t i = 0; i < c->n; i++) {
		struct tp_step *step = &j->profile->steps[c->index[i]];
		if (step->kind != TP_STEP_STEADY)
			continue;
		if (c->length_ns[i] > j->special_ns)
			step->kind = kind_of_slow_step(j, step,
						       j->is_few ? TP_STEP_STEADY : TP_STEP_SLOW);
		else if (i < from || i >= to)
			step->kind = TP_STEP_OTHER;
		if (i < from && j->is_slow_before &&
		    (step->kind == TP_STEP_SLOW || step->kind == TP_STEP_OTHER))
			step->kind = TP_STEP_WARMUP;
	}
}

/* Returns true if nearly all gaps between the given positions are equal and small. */
static bool has_period(const size_t *at, size_t n)
{
	if (n < TP_RECURRING_STEPS_MIN)
		return false;
	double *gaps = tp_alloc(n * sizeof(*gaps));
	for (size_t i = 1; i < n; i++)
		gaps[i - 1] = (double)(at[i] - at[i - 1]);
	double median = tp_stats_median(gaps, n - 1);
	size_t alike = 0;
	for (size_t i = 0; i + 1 < n; i++)
		alike += fabs(gaps[i] - median) < 1;
	free(gaps);
	return median <= (double)TP_RECURRING_PERIOD_MAX && alike * 5 >= (n - 1) * 4;
}

/* Slow steps that are frequent, or come once per round of loader workers, are normal for the
 * program and stay steady; a single one is not. */
static void keep_repeated(struct kind_context *j, const struct step_candidates *c, size_t from,
			  size_t to)
{
	size_t *at = tp_alloc((c->n + 1) * sizeof(*at));
	size_t n = 0;
	for (size_t i = from; i < to; i++)
		if (j->profile->steps[c->index[i]].kind == TP_STEP_SLOW)
			at[n++] = i;
	if ((n > 1 && (double)n > TP_RECURRING_MIN * (double)(to - from)) || has_period(at, n))
		for (size_t i = 0; i < n; i++)
			j->profile->steps[c->index[at[i]]].kind = TP_STEP_STEADY;
	free(at);
}

/* Steps in windows of counters are not judged; an evaluation or a checkpoint among them keeps its
 * kind. */
static void mark_counted(const struct kind_context *j)
{
	for (size_t i = 0; i < j->profile->n_steps; i++) {
		struct tp_step *step = &j->profile->steps[i];
		if (step->kind == TP_STEP_COUNTED && length_of(step) > j->special_ns)
			step->kind = kind_of_slow_step(j, step, TP_STEP_COUNTED);
	}
}

void tp_step_kind_assign(struct tp_step_levels *levels, struct tp_analysis *analysis,
			 const struct tp_phase_time *phases)
{
	struct kind_context kind_context = {.analysis = analysis,
					    .profile = analysis->profile,
					    .phases = phases};
	struct kind_context *j = &kind_context;
	exclude_not_recorded(j);
	tp_counter_windows_exclude(analysis);
	struct step_candidates c = collect_steady(analysis, phases);
	if (c.n) {
		size_t from;
		size_t to;
		struct plain_steps p = select_plain(&c, 0, c.n);
		find_level(j, &p, &from, &to);
		/* Steps that are not plain belong to the level that is before them. */
		from = from ? p.at[from] : 0;
		to = to < p.n ? p.at[to] : c.n;
		release_plain(&p);
		measure_level(j, &c, from, to);
		exclude_warmup(j, &c, from, to);
		exclude_special(j, &c, from, to);
		keep_repeated(j, &c, from, to);
		mark_counted(j);
	}
	release_candidates(&c);
	*levels = j->levels;
}
