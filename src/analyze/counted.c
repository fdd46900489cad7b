/* Chooses among the counters of the main thread the one that counts steps. */
#include "counted.h"

#include "stats.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

enum {
	MAX_COUNTERS = 64,
	MOST_GROWTH = 16, /* as the collector takes it for counting */
	SURE_ROUNDS = 8,  /* the limits of loop.c */
	MANY_ROUNDS = 30,
	MIN_INNER_EPOCH = 8,
};

static const double epoch_ns = 3e9;
static const double min_regularity = 0.75;
static const double min_covered = 0.5; /* of the time asked for */
static const double max_odd = 0.05;    /* of the changes, such as no counter makes */

struct reading {
	uint64_t value;
	uint64_t before_ns; /* the border to the value before lies from here … */
	uint64_t time_ns;   /* … to here */
};

struct counter {
	uint32_t name;
	struct reading *readings; /* heap, in time order */
	size_t n;
	size_t capacity;
	size_t n_odd;
	size_t n_restarts;
	uint64_t base; /* where it begins */
	struct tp_counted found;
};

static bool follows(uint64_t value, uint64_t before)
{
	return value >= before && value - before <= MOST_GROWTH;
}

static struct counter *counter_of(struct counter *counters, size_t *n, uint32_t name)
{
	for (size_t i = 0; i < *n; i++)
		if (counters[i].name == name)
			return &counters[i];
	if (*n == MAX_COUNTERS)
		return NULL;
	counters[*n] = (struct counter){.name = name, .base = UINT64_MAX};
	return &counters[(*n)++];
}

/* A counter is read just after a sample was taken, and was at the sample before. */
static size_t collect(struct counter *counters, const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	size_t at = trace->sample_index[analysis->main_task];
	size_t end = trace->sample_index[analysis->main_task + 1];
	uint64_t last_ns = 0;
	uint64_t before_ns = 0;
	size_t n = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (mark->kind != TP_MARK_COUNTER || mark->task != analysis->main_task)
			continue;
		for (; at < end && trace->samples[at].time_ns <= mark->time_ns; at++) {
			if (trace->samples[at].flags & TP_SAMPLE_POLLED)
				continue;
			before_ns = last_ns;
			last_ns = trace->samples[at].time_ns;
		}
		struct counter *counter = counter_of(counters, &n, mark->name);
		if (counter)
			TP_ARRAY_PUSH(counter->readings, counter->n, counter->capacity) =
				(struct reading){mark->value, before_ns,
						 last_ns ? last_ns : mark->time_ns};
	}
	return n;
}

/* What a dead frame left behind may give any number once. */
static void drop_glitches(struct counter *counter)
{
	size_t kept = 0;
	struct reading *r = counter->readings;
	for (size_t i = 0; i < counter->n; i++) {
		bool is_glitch = kept > 0 && i + 1 < counter->n &&
				 !follows(r[i].value, r[kept - 1].value) &&
				 follows(r[i + 1].value, r[kept - 1].value);
		if (is_glitch)
			counter->n_odd++;
		else
			r[kept++] = r[i];
	}
	counter->n = kept;
	for (size_t i = 0; i < counter->n; i++)
		counter->base = r[i].value < counter->base ? r[i].value : counter->base;
}

/* How many rounds began since the reading before; counters begin anew with every epoch. Of one that
 * was first read when it had counted for long the round is cut. */
static uint64_t n_begun(const struct counter *counter, size_t i)
{
	uint64_t value = counter->readings[i].value;
	if (i > 0 && follows(value, counter->readings[i - 1].value))
		return value - counter->readings[i - 1].value;
	if (i == 0)
		return 1;
	return value - counter->base <= MOST_GROWTH ? value - counter->base + 1 : 0;
}

static void find_borders(struct counter *counter)
{
	struct tp_counted *found = &counter->found;
	size_t capacity = 0;
	for (size_t i = 0; i < counter->n; i++) {
		const struct reading *r = &counter->readings[i];
		uint64_t n = n_begun(counter, i);
		double between = (double)(r->time_ns - r->before_ns);
		counter->n_odd += n == 0;
		counter->n_restarts += i > 0 && r->value < r[-1].value;
		for (uint64_t k = 0; k < n; k++)
			TP_ARRAY_PUSH(found->borders, found->n, capacity) =
				r->before_ns + (uint64_t)(between * ((double)k + 0.5) / (double)n);
	}
	found->name = counter->name;
}

static void measure(struct tp_counted *found)
{
	if (found->n < 2)
		return;
	size_t n = found->n - 1;
	double *lengths = tp_alloc(n * sizeof(*lengths));
	for (size_t i = 0; i < n; i++)
		lengths[i] = (double)(found->borders[i + 1] - found->borders[i]);
	found->period_ns = tp_stats_median(lengths, n);
	size_t near = 0;
	for (size_t i = 0; i < n; i++)
		near += fabs(lengths[i] - found->period_ns) <= 0.5 * found->period_ns;
	found->regularity = (double)near / (double)n;
	free(lengths);
}

static size_t n_between(const struct tp_counted *found, uint64_t start_ns, uint64_t end_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < found->n; i++)
		n += found->borders[i] >= start_ns && found->borders[i] <= end_ns;
	return n;
}

/* What begins anew more often counts layers, samples or parts of a batch. */
static bool restarts_like_epochs(const struct counter *counter)
{
	const struct tp_counted *found = &counter->found;
	double all_ns = (double)(found->borders[found->n - 1] - found->borders[0]);
	return counter->n_restarts == 0 || all_ns >= epoch_ns * (double)counter->n_restarts;
}

/* Whether it counts rounds of that time, slowly enough to be followed from sample to sample. */
static bool is_counter(const struct counter *counter, const struct tp_analysis *analysis,
		       uint64_t start_ns, uint64_t end_ns)
{
	const struct tp_counted *found = &counter->found;
	double rate_hz = analysis->trace->run.sample_rate_hz;
	if (found->n <= SURE_ROUNDS || found->regularity < min_regularity || rate_hz <= 0 ||
	    found->period_ns * rate_hz < 1e9 ||
	    (double)counter->n_odd > max_odd * (double)counter->n || !restarts_like_epochs(counter))
		return false;
	double covered_ns = (double)n_between(found, start_ns, end_ns) * found->period_ns;
	return covered_ns >= min_covered * (double)(end_ns - start_ns);
}

/* Steps are what the outer one of several loops does, unless that looks like epochs. */
static bool is_better(const struct tp_counted *found, const struct tp_counted *old)
{
	const struct tp_counted *outer = found->n < old->n ? found : old;
	const struct tp_counted *inner = found->n < old->n ? old : found;
	bool are_epochs = outer->n < MANY_ROUNDS && outer->period_ns >= epoch_ns &&
			  inner->n >= MIN_INNER_EPOCH * outer->n;
	return found == (are_epochs ? inner : outer) && found->n != old->n;
}

bool tp_counted_find(struct tp_counted *out, const struct tp_analysis *analysis, uint64_t start_ns,
		     uint64_t end_ns)
{
	struct counter *counters = tp_alloc(MAX_COUNTERS * sizeof(*counters));
	struct counter *best = NULL;
	size_t n = end_ns > start_ns ? collect(counters, analysis) : 0;
	for (size_t i = 0; i < n; i++) {
		drop_glitches(&counters[i]);
		find_borders(&counters[i]);
		measure(&counters[i].found);
		if (is_counter(&counters[i], analysis, start_ns, end_ns) &&
		    (!best || is_better(&counters[i].found, &best->found)))
			best = &counters[i];
	}
	bool is_found = best != NULL;
	if (best) {
		*out = best->found;
		best->found.borders = NULL;
	}
	for (size_t i = 0; i < n; i++) {
		free(counters[i].readings);
		tp_counted_release(&counters[i].found);
	}
	free(counters);
	return is_found;
}

void tp_counted_release(struct tp_counted *counted)
{
	free(counted->borders);
	*counted = (struct tp_counted){0};
}
