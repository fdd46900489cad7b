/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the counter of the main thread that counts steps. */
#include "counter_steps.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "counter_match.h"
#include "counter_name.h"
#include "counter_rounds.h"
#include "cpu_clock.h"
#include "regular_rounds.h"
#include "watch_steps.h"
#include "weight_updates.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct counter {
	const struct tp_counter_series *series;
	struct tp_counter_name name;
	struct tp_counter_steps found;
};

/* The counters of a trace; items[i] belongs to all.items[i]. */
struct counters {
	struct tp_counter_list all;
	struct counter *items; /* heap */
};

static void release(struct counters *counters)
{
	for (size_t i = 0; i < counters->all.n; i++)
		tp_counter_steps_release(&counters->items[i].found);
	free(counters->items);
	tp_counter_list_release(&counters->all);
}

/* Returns the borders as CPU time of the main thread. Heap. */
static uint64_t *borders_in_cpu_time(const struct tp_counter_steps *found,
				     const struct tp_analysis *analysis)
{
	struct tp_cpu_clock clock;
	uint64_t *cpu_ns = tp_alloc((found->n + 1) * sizeof(*cpu_ns));
	tp_cpu_clock_init(&clock, analysis);
	for (size_t i = 0; i < found->n; i++)
		cpu_ns[i] = tp_cpu_clock_ns(&clock, found->borders[i]);
	tp_cpu_clock_release(&clock);
	return cpu_ns;
}

/* A busy machine stretches rounds but not the work in them. */
void tp_counter_steps_measure(struct tp_counter_steps *found, const struct tp_analysis *analysis)
{
	double usual_work_ns;
	if (found->n < 2)
		return;
	found->regularity =
		tp_regular_share(found->borders, found->n, found->is_one_loop, &found->period_ns);
	if (!analysis->has_runs)
		return;
	uint64_t *cpu_ns = borders_in_cpu_time(found, analysis);
	double by_work = tp_regular_share(cpu_ns, found->n, found->is_one_loop, &usual_work_ns);
	if (usual_work_ns > 0)
		found->regularity = fmax(found->regularity, by_work);
	free(cpu_ns);
}

double tp_counter_steps_last_ns(const struct tp_counter_steps *found)
{
	double last_ns = found->period_ns;
	double *usual_ns = tp_alloc((found->n + 1) * sizeof(*usual_ns));
	tp_local_lengths(found->borders, found->n, usual_ns);
	if (found->n > 1)
		last_ns = usual_ns[found->n - 2];
	free(usual_ns);
	return last_ns;
}

static size_t n_between(const struct tp_counter_steps *found, uint64_t start_ns, uint64_t end_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < found->n; i++)
		n += found->borders[i] >= start_ns && found->borders[i] <= end_ns;
	return n;
}

/* Returns true if it restarts no more often than a counter whose name says that it counts
 * epochs. */
static bool is_within_known_epochs(const struct counters *counters, const struct counter *counter)
{
	for (size_t i = 0; i < counters->all.n; i++) {
		const struct counter *epochs = &counters->items[i];
		if (epochs != counter && epochs->name.meaning == TP_COUNTS_EPOCHS &&
		    epochs->series->n_restarts == 0 &&
		    counter->series->n_restarts <= epochs->found.n)
			return true;
	}
	return false;
}

/* A counter that restarts more often counts layers, samples or parts of a batch, or the steps of
 * short epochs. */
static bool restarts_like_epochs(const struct counters *counters, const struct counter *counter,
				 const struct tp_weight_updates *updates)
{
	const struct tp_counter_steps *found = &counter->found;
	double all_ns = (double)(found->borders[found->n - 1] - found->borders[0]);
	return counter->series->n_restarts == 0 || found->is_of_batches ||
	       is_within_known_epochs(counters, counter) ||
	       all_ns >= TP_COUNTER_EPOCH_NS * (double)counter->series->n_restarts ||
	       (found->n >= TP_LOOP_EPOCH_STEPS_MIN * counter->series->n_restarts &&
		tp_weight_updates_are_inside(updates, counter->series->restarts,
					     counter->series->n_restarts));
}

/* Returns the time in rounds between start and end. Excess length of long rounds is outside of the
 * loop: a counter of an evaluation does not count while the program trains. */
static double time_in_rounds(const struct tp_counter_steps *found, uint64_t start_ns,
			     uint64_t end_ns)
{
	double sum_ns = tp_counter_steps_last_ns(found);
	double *usual_ns = tp_alloc((found->n + 1) * sizeof(*usual_ns));
	tp_local_lengths(found->borders, found->n, usual_ns);
	for (size_t i = 1; i < found->n; i++) {
		double length_ns = (double)(found->borders[i] - found->borders[i - 1]);
		double longest_ns = TP_COUNTER_PAUSE_MIN * usual_ns[i - 1];
		if (found->borders[i - 1] >= start_ns && found->borders[i - 1] <= end_ns)
			sum_ns += length_ns < longest_ns ? length_ns : longest_ns;
	}
	free(usual_ns);
	return sum_ns;
}

/* Batches are steps, however long the program waits for each; and if each round has its write, its
 * length does not depend on sampling. */
static double similar_min(const struct tp_counter_steps *found)
{
	bool is_exact = (double)found->n_exact >= TP_WATCH_EXACT_MIN * (double)found->n;
	if (found->is_of_batches)
		return TP_COUNTER_BATCHES_ALIKE_MIN;
	return is_exact ? TP_COUNTER_EXACT_ALIKE_MIN : TP_COUNTER_ALIKE_MIN;
}

/* A variable that changes between any two samples may count anything. But a loop counts its own
 * rounds, and each write is a round. */
static bool shows_rounds(const struct counter *counter)
{
	return counter->found.n_exact || counter->found.is_of_batches ||
	       counter->series->is_iterator || counter->series->is_down;
}

static bool is_short(const struct counter *counter, const struct tp_analysis *analysis)
{
	return counter->found.period_ns * analysis->trace->run.sample_rate_hz < 1e9;
}

/* Returns true if it counts rounds of that time, slowly enough to be followed from sample to
 * sample. */
static bool is_counter(const struct counters *counters, const struct counter *counter,
		       const struct tp_analysis *analysis, const struct tp_weight_updates *updates,
		       uint64_t start_ns, uint64_t end_ns)
{
	const struct tp_counter_steps *found = &counter->found;
	bool is_unclear = is_short(counter, analysis) && !shows_rounds(counter);
	if (counter->name.meaning == TP_COUNTS_PARTS)
		return false;
	if (found->n <= TP_LOOP_ROUNDS_MIN || found->regularity < similar_min(found) ||
	    analysis->trace->run.sample_rate_hz <= 0 || (is_unclear && !found->is_by_growth) ||
	    (double)counter->series->n_odd > TP_COUNTER_ODD_MAX * (double)counter->series->n ||
	    !restarts_like_epochs(counters, counter, updates))
		return false;
	double covered_ns = time_in_rounds(found, start_ns, end_ns);
	return covered_ns >= TP_COUNTER_COVERED_MIN * (double)(end_ns - start_ns);
}

/* Returns true if two variables count the same, like the variable of a loop and an argument of a
 * function that it calls. One that exists only during the call, or was found late, misses rounds at
 * both ends, but while both exist they agree. */
static bool is_same_count(const struct tp_counter_steps *outer,
			  const struct tp_counter_steps *inner)
{
	uint64_t start_ns = outer->borders[0];
	uint64_t end_ns = outer->borders[outer->n - 1];
	start_ns = start_ns > inner->borders[0] ? start_ns : inner->borders[0];
	end_ns = end_ns < inner->borders[inner->n - 1] ? end_ns : inner->borders[inner->n - 1];
	if (start_ns >= end_ns)
		return false;
	double n_inner = (double)n_between(inner, start_ns, end_ns);
	double n_outer = (double)n_between(outer, start_ns, end_ns);
	return fabs(n_inner - n_outer) <= fmax(1, TP_COUNTER_SAME_MAX * n_inner);
}

/* Steps are the rounds of the outermost loop, unless that looks like epochs. */
static bool is_better(const struct tp_counter_steps *found, const struct tp_counter_steps *old,
		      const struct tp_weight_updates *updates)
{
	const struct tp_counter_steps *outer = found->n < old->n ? found : old;
	const struct tp_counter_steps *inner = found->n < old->n ? old : found;
	double differ = (double)(inner->n - outer->n);
	if (found->is_by_growth != old->is_by_growth)
		return old->is_by_growth;
	/* If both count the same, prefer the one that certainly misses no round. */
	if ((found->n_unknown == 0) != (old->n_unknown == 0) && is_same_count(outer, inner) &&
	    differ <=
		    fmax((double)TP_COUNTER_GROWTH_MAX, TP_COUNTER_DIFFERS_MIN * (double)inner->n))
		return found->n_unknown == 0;
	/* If both count the same, prefer the one that the collector watches. */
	if (found->n_exact != old->n_exact &&
	    differ <= fmax(1, TP_COUNTER_DIFFERS_MIN * (double)inner->n))
		return found->n_exact > old->n_exact;
	bool are_long = outer->n < TP_LOOP_ROUNDS_MANY && outer->period_ns >= TP_COUNTER_EPOCH_NS;
	bool are_epochs = inner->n >= TP_LOOP_EPOCH_STEPS_MIN * outer->n &&
			  (are_long || inner->is_of_batches ||
			   tp_weight_updates_are_inside(updates, outer->borders, outer->n));
	bool is_inner = are_epochs || is_same_count(outer, inner);
	if (found->n == old->n)
		return found->is_of_batches && !old->is_of_batches;
	/* If both count the same, prefer the loop's own position: it misses no round at either
	 * end. */
	if (is_same_count(outer, inner) && found->is_iterator != old->is_iterator && !are_epochs)
		return found->is_iterator;
	return found == (is_inner ? inner : outer);
}

/* If counters have the same numbers, the one that certainly misses no round has the steps, or else
 * the one that saw clearly more of them. */
static bool is_better_counter(const struct counter *counter, const struct counter *best,
			      const struct tp_weight_updates *updates)
{
	const struct tp_counter_steps *found = &counter->found;
	const struct tp_counter_steps *old = &best->found;
	double differ = fabs((double)found->n - (double)old->n);
	if (differ > fmax(1, TP_COUNTER_DIFFERS_MIN * (double)old->n) &&
	    tp_counter_series_match(counter->series, best->series))
		return (found->n_unknown == 0) == (old->n_unknown == 0) ? found->n > old->n
									: found->n_unknown == 0;
	return is_better(found, old, updates);
}

/* Replaces borders between readings by the times of writes. */
static void join_writes(struct counter *counter, const struct tp_analysis *analysis)
{
	struct tp_counter_steps *found = &counter->found;
	const struct tp_counter_series *series = counter->series;
	struct tp_watch_borders borders = {.times_ns = found->borders, .n = found->n};
	struct tp_watch_reading *readings = tp_alloc((series->n + 1) * sizeof(*readings));
	for (size_t i = 0; i < series->n; i++)
		readings[i] = (struct tp_watch_reading){.value = series->readings[i].value,
							.time_ns = series->readings[i].mark_ns,
							.n_borders = series->readings[i].n_borders};
	if (tp_watch_steps_join(&borders, analysis, series->name, readings, series->n,
				series->first_value, &found->n_writes)) {
		found->borders = borders.times_ns;
		found->n = borders.n;
		found->n_exact = borders.n_exact;
	}
	free(readings);
}

/* Returns true if a loop runs inside a loop over a range in the same function: batches within
 * epochs. The outer loop has few rounds, each with many inner rounds; and its variable is named
 * after epochs, or the inner loop iterates over data. */
static bool is_loop_within_epochs(const struct counters *counters, const struct counter *inner)
{
	for (size_t i = 0; inner->name.line && i < counters->all.n; i++) {
		const struct counter *outer = &counters->items[i];
		bool is_epochs = outer->name.meaning == TP_COUNTS_EPOCHS;
		bool is_unknown = outer->name.meaning == TP_COUNTS_UNKNOWN &&
				  outer->name.is_range && !inner->name.is_range;
		if (outer->name.is_position && (is_epochs || is_unknown) && outer->name.line &&
		    outer->name.line < inner->name.line &&
		    tp_counter_name_has_same_function(&inner->name, &outer->name) &&
		    (is_epochs || outer->found.n < TP_LOOP_ROUNDS_MANY) &&
		    inner->series->n_restarts <= outer->found.n &&
		    inner->found.n >= (is_epochs ? 2 : TP_LOOP_EPOCH_STEPS_MIN) * outer->found.n)
			return true;
	}
	return false;
}

/* Returns true if it counts batches, by its name and its form. */
static bool is_of_batches(const struct counters *counters, const struct counter *counter)
{
	return counter->name.meaning == TP_COUNTS_BATCHES ||
	       (counter->name.meaning == TP_COUNTS_STEPS && counter->series->n_restarts == 0) ||
	       is_loop_within_epochs(counters, counter);
}

/* A counter that counts the same as a counter of batches counts batches. */
static void copy_meaning(const struct counters *counters, struct counter *best)
{
	for (size_t i = 0; i < counters->all.n; i++) {
		const struct tp_counter_steps *other = &counters->items[i].found;
		bool is_fewer = other->n < best->found.n;
		if (other->is_of_batches && other->n > TP_LOOP_ROUNDS_MIN &&
		    is_same_count(is_fewer ? other : &best->found, is_fewer ? &best->found : other))
			best->found.is_of_batches = true;
	}
}

/* Returns the counter that counts the same and misses fewest rounds: a counter with a breakpoint
 * may have been found late, while those that were read all the time look irregular between
 * samples. */
static struct counter *find_complete(const struct counters *counters, struct counter *best)
{
	struct counter *surer = best;
	for (size_t i = 0; i < counters->all.n; i++) {
		struct counter *other = &counters->items[i];
		const struct tp_counter_steps *found = &other->found;
		bool is_counting = found->n >= best->found.n && found->n > TP_LOOP_ROUNDS_MIN &&
				   other->series->n_odd == 0 &&
				   other->name.meaning != TP_COUNTS_PARTS &&
				   other->name.meaning != TP_COUNTS_EPOCHS;
		if (is_counting && found->n_unknown < surer->found.n_unknown &&
		    is_same_count(&best->found, found))
			surer = other;
	}
	return surer;
}

/* Returns the nearest border from `at` on, which must exist; both lists are sorted. */
static size_t nearest_border(const struct tp_counter_steps *of, size_t at, uint64_t time_ns)
{
	while (at + 1 < of->n && fabs((double)of->borders[at + 1] - (double)time_ns) <=
					 fabs((double)of->borders[at] - (double)time_ns))
		at++;
	return at;
}

/* Replaces each border by a near border of the watched counter. */
static void copy_writes(struct tp_counter_steps *to, const struct tp_counter_steps *from)
{
	size_t at = 0;
	size_t n = 0;
	size_t used = SIZE_MAX;
	double period_ns = fmax(to->period_ns, from->period_ns);
	for (size_t i = 0; i < to->n; i++) {
		at = nearest_border(from, at, to->borders[i]);
		uint64_t time_ns = from->borders[at];
		double off_ns = fabs((double)time_ns - (double)to->borders[i]);
		bool is_before_next = i + 1 == to->n || time_ns < to->borders[i + 1];
		if (at == used || off_ns > TP_ROUND_ALIKE_MAX * period_ns || !is_before_next ||
		    (i > 0 && time_ns <= to->borders[i - 1]))
			continue;
		to->borders[i] = time_ns;
		used = at;
		n++;
	}
	size_t n_without = from->n - n;
	to->n_exact = from->n_exact > n_without ? from->n_exact - n_without : 0;
	to->n_writes = from->n_writes;
	to->watched = from->name;
}

/* If two counters count the same, one may provide the number of rounds and the other the
 * breakpoint. */
static void use_writes(const struct counters *counters, struct counter *best,
		       const struct tp_analysis *analysis)
{
	const struct tp_counter_steps *watched = NULL;
	for (size_t i = 0; i < counters->all.n; i++) {
		const struct tp_counter_steps *other = &counters->items[i].found;
		bool is_fewer = other->n < best->found.n;
		if (other->n_exact > (watched ? watched->n_exact : best->found.n_exact) &&
		    other->n > TP_LOOP_ROUNDS_MIN &&
		    is_same_count(is_fewer ? other : &best->found, is_fewer ? &best->found : other))
			watched = other;
	}
	if (!watched)
		return;
	copy_writes(&best->found, watched);
	tp_counter_steps_measure(&best->found, analysis);
}

/* Detects a loop with few rounds over a range, with many rounds inside, and a name without a known
 * meaning: these are layers or time steps in a step, or steps in an epoch. */
static void find_inner_loop(const struct counters *counters, struct counter *best)
{
	if (!best->name.is_position || !best->name.is_range ||
	    best->name.meaning != TP_COUNTS_UNKNOWN || best->found.n >= TP_LOOP_ROUNDS_MANY)
		return;
	for (size_t i = 0; i < counters->all.n; i++) {
		const struct counter *inner = &counters->items[i];
		size_t n_restarts = inner->series->n_restarts;
		if (inner->name.is_position && inner->name.meaning != TP_COUNTS_PARTS &&
		    tp_counter_name_has_same_function(&inner->name, &best->name) &&
		    inner->name.line > best->name.line && n_restarts <= best->found.n &&
		    n_restarts + 2 >= best->found.n &&
		    inner->found.n >= TP_LOOP_EPOCH_STEPS_MIN * best->found.n &&
		    inner->found.regularity >= TP_COUNTER_ALIKE_MIN) {
			best->found.inner_line = inner->name.line;
			best->found.n_inner = inner->found.n;
		}
	}
}

static void find_all_borders(struct counters *counters, const struct tp_analysis *analysis)
{
	counters->items = tp_alloc((counters->all.n + 1) * sizeof(*counters->items));
	for (size_t i = 0; i < counters->all.n; i++) {
		struct tp_counter_series *series = &counters->all.items[i];
		struct counter *counter = &counters->items[i];
		*counter = (struct counter){.series = series};
		tp_counter_name_parse(&counter->name,
				      tp_trace_string(analysis->trace, series->name),
				      analysis->patterns);
		counter->found.name = series->name;
		counter->found.watched = series->name;
		counter->found.borders = series->borders;
		counter->found.n = series->n_borders;
		counter->found.n_inferred = series->n_inferred;
		counter->found.n_unknown = series->n_unknown;
		counter->found.is_iterator = series->is_iterator;
		counter->found.n_restarts = series->n_restarts;
		counter->found.is_one_loop = series->n_restarts == 0;
		series->borders = NULL; /* ownership moved to counter->found */
		if (tp_watch_steps_has_writes(analysis, series->name))
			join_writes(counter, analysis);
		tp_counter_steps_measure(&counter->found, analysis);
	}
}

static void note_growth(struct counter *counter, const struct tp_analysis *analysis)
{
	counter->found.is_by_growth =
		counter->series->is_steady && is_short(counter, analysis) && !shows_rounds(counter);
}

/* Returns the counter of the steps, or, `of_epochs`, that of epochs which are one step each; NULL
 * if there is none. */
static struct counter *find_best(struct counters *counters, const struct tp_analysis *analysis,
				 const struct tp_weight_updates *updates,
				 const uint64_t window_ns[2], bool of_epochs)
{
	struct counter *best = NULL;
	for (size_t i = 0; i < counters->all.n; i++) {
		struct counter *counter = &counters->items[i];
		if ((counter->name.meaning == TP_COUNTS_EPOCHS) == of_epochs &&
		    is_counter(counters, counter, analysis, updates, window_ns[0], window_ns[1]) &&
		    (!of_epochs || tp_weight_updates_are_single(updates, counter->found.borders,
								counter->found.n)) &&
		    (!best || is_better_counter(counter, best, updates)))
			best = counter;
	}
	return best;
}

bool tp_counter_steps_find(struct tp_counter_steps *out, const struct tp_analysis *analysis,
			   uint64_t start_ns, uint64_t end_ns)
{
	struct counters counters = {0};
	struct tp_weight_updates updates;
	tp_weight_updates_init(&updates, analysis);
	const uint64_t window_ns[2] = {start_ns, end_ns};
	if (end_ns > start_ns)
		tp_counter_list_collect(&counters.all, analysis);
	tp_counter_rounds_find(&counters.all, analysis);
	find_all_borders(&counters, analysis);
	for (size_t i = 0; i < counters.all.n; i++) {
		struct counter *counter = &counters.items[i];
		counter->found.is_of_batches = is_of_batches(&counters, counter);
		note_growth(counter, analysis);
	}
	struct counter *best = find_best(&counters, analysis, &updates, window_ns, false);
	if (!best)
		best = find_best(&counters, analysis, &updates, window_ns, true);
	bool is_found = best != NULL;
	if (best && best->found.n_exact)
		best = find_complete(&counters, best);
	if (best) {
		find_inner_loop(&counters, best);
		copy_meaning(&counters, best);
		use_writes(&counters, best, analysis);
		*out = best->found;
		best->found.borders = NULL;
	}
	release(&counters);
	tp_weight_updates_release(&updates);
	return is_found;
}

void tp_counter_steps_release(struct tp_counter_steps *counted)
{
	free(counted->borders);
	*counted = (struct tp_counter_steps){0};
}
