/* SPDX-License-Identifier: Apache-2.0 */
/* Derives steps from function calls that a breakpoint recorded. */
#include "call_steps.h"

#include "analyze/thresholds.h"

#include "trainprof/base/map.h"
#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The samples of the main thread in some time. */
struct presence {
	size_t n_inside;   /* the function is on the stack */
	size_t n_until;    /* all up to the last of those */
	size_t n_since;    /* all since the first of those */
	uint64_t first_ns; /* of those */
	uint64_t last_ns;
};

static bool is_call(const struct tp_analysis *analysis, const struct tp_mark *mark)
{
	return mark->kind == TP_MARK_CALL && mark->task == analysis->main_task;
}

/* Finds the function with most calls; returns false if there are none. */
static bool find_function(const struct tp_analysis *analysis, uint32_t *name)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_map counts = {0};
	uint64_t most = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		uint64_t n = 0;
		if (!is_call(analysis, mark))
			continue;
		(void)tp_map_get(&counts, mark->name, &n);
		tp_map_set(&counts, mark->name, ++n);
		if (n > most) {
			most = n;
			*name = mark->name;
		}
	}
	tp_map_release(&counts);
	return most > 0;
}

/* Keeps the longer of two sequences of calls; the other one is released and empty. */
static void keep_longer(struct tp_counter_steps *kept, struct tp_counter_steps *other)
{
	struct tp_counter_steps empty = {.name = other->name};
	if (other->n > kept->n) {
		free(kept->borders);
		*kept = *other;
	} else {
		free(other->borders);
	}
	*other = empty;
}

/* A missing number means that calls were lost: the calls before and after it are not joined. The
 * longest sequence without a loss provides the steps. */
static void collect(struct tp_counter_steps *out, const struct tp_analysis *analysis, uint32_t name)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_counter_steps now = {.name = name};
	size_t capacity = 0;
	uint64_t number = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (!is_call(analysis, mark) || mark->name != name)
			continue;
		if (now.n && mark->value != number + 1) {
			keep_longer(out, &now);
			capacity = 0;
		}
		number = mark->value;
		TP_ARRAY_PUSH(now.borders, now.n, capacity) = mark->time_ns;
	}
	keep_longer(out, &now);
	out->n_exact = out->n_writes = out->n;
}

/* The name of the calls is "FUNCTION() in FILE". */
static bool has_function(const struct tp_trace *trace, uint32_t stack, const char *name)
{
	const struct tp_stack *frames = tp_trace_stack(trace, stack);
	for (size_t i = 0; i < frames->n_frames; i++) {
		const char *symbol =
			tp_trace_string(trace, trace->frames[frames->frames[i]].symbol);
		size_t length = strlen(symbol);
		if (length > 0 && strncmp(name, symbol, length) == 0 &&
		    strncmp(name + length, "() in ", 6) == 0)
			return true;
	}
	return false;
}

/* Returns for each stack whether it has the function; heap. */
static bool *find_stacks(const struct tp_trace *trace, uint32_t name)
{
	const char *text = tp_trace_string(trace, name);
	bool *found = tp_alloc((trace->n_stacks + 1) * sizeof(*found));
	for (size_t i = 0; i < trace->n_stacks; i++)
		found[i] = has_function(trace, (uint32_t)i, text);
	return found;
}

static struct presence count_samples(const struct tp_analysis *analysis, const bool *is_inside,
				     uint64_t from_ns, uint64_t until_ns)
{
	const struct tp_trace *trace = analysis->trace;
	struct presence seen = {0};
	size_t n = 0;
	for (size_t i = trace->sample_index[analysis->main_task];
	     i < trace->sample_index[analysis->main_task + 1]; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		if (sample->time_ns < from_ns || sample->time_ns >= until_ns)
			continue;
		n++;
		seen.n_since += seen.n_inside > 0 || is_inside[sample->stack];
		if (!is_inside[sample->stack])
			continue;
		if (seen.n_inside++ == 0)
			seen.first_ns = sample->time_ns;
		seen.last_ns = sample->time_ns;
		seen.n_until = n;
	}
	return seen;
}

static double share_of(size_t n_inside, size_t n)
{
	return n ? (double)n_inside / (double)n : 0;
}

/* Inserts borders before the others, or after them, each a mean step apart. */
static void insert(struct tp_counter_steps *found, size_t n_before, size_t n_after, double mean_ns)
{
	size_t n = n_before + found->n + n_after;
	uint64_t first_ns = found->borders[0];
	uint64_t last_ns = found->borders[found->n - 1];
	uint64_t *borders = tp_alloc(n * sizeof(*borders));
	for (size_t i = 0; i < n_before; i++)
		borders[i] = first_ns - (uint64_t)((double)(n_before - i) * mean_ns);
	memcpy(borders + n_before, found->borders, found->n * sizeof(*borders));
	for (size_t i = 0; i < n_after; i++)
		borders[n - n_after + i] = last_ns + (uint64_t)((double)(i + 1) * mean_ns);
	free(found->borders);
	found->borders = borders;
	found->n = n;
	found->n_earlier = n_before;
	found->n_inferred = found->n_unknown = n_before + n_after;
}

/* Returns how many calls were not recorded in some time, of `n` samples: there the function was in
 * about as many as while calls were recorded, so it was called about as often. */
static double n_missing(const struct presence *seen, size_t n, const struct presence *recorded,
			double ns, double mean_ns)
{
	double usual = share_of(recorded->n_inside, recorded->n_until);
	if (seen->n_inside < TP_CALL_SIGHTINGS_MIN || !(mean_ns > 0) ||
	    share_of(seen->n_inside, n) < TP_CALL_ALIKE_MIN * usual)
		return 0;
	return floor(ns / mean_ns + 0.5);
}

/* Estimates the calls before the breakpoint was set, and after it was taken down because calls came
 * too fast. No more are estimated than were recorded. */
static void add_missing(struct tp_counter_steps *found, const struct tp_analysis *analysis)
{
	uint64_t first_ns = found->borders[0];
	uint64_t last_ns = found->borders[found->n - 1];
	double mean_ns = (double)(last_ns - first_ns) / (double)(found->n - 1);
	uint64_t after_ns = last_ns + (uint64_t)mean_ns;
	bool *is_inside = find_stacks(analysis->trace, found->name);
	struct presence before = count_samples(analysis, is_inside, 0, first_ns);
	struct presence during = count_samples(analysis, is_inside, first_ns, last_ns);
	struct presence after = count_samples(analysis, is_inside, after_ns, UINT64_MAX);
	free(is_inside);
	double most = (double)found->n;
	double n_before = n_missing(&before, before.n_since, &during,
				    (double)(first_ns - before.first_ns), mean_ns);
	double n_after = n_missing(&after, after.n_until, &during,
				   (double)(after.last_ns - last_ns), mean_ns);
	found->is_part_before = n_before > most || n_before * mean_ns >= (double)first_ns;
	found->is_part_after = n_after > most;
	if (found->is_part_before)
		n_before = 0;
	if (found->is_part_after)
		n_after = 0;
	if (n_before > 0 || n_after > 0)
		insert(found, (size_t)n_before, (size_t)n_after, mean_ns);
}

bool tp_call_steps_find(struct tp_counter_steps *out, const struct tp_analysis *analysis)
{
	uint32_t name = 0;
	*out = (struct tp_counter_steps){0};
	if (!find_function(analysis, &name))
		return false;
	collect(out, analysis, name);
	tp_counter_steps_measure(out, analysis);
	if (out->n > TP_LOOP_ROUNDS_MIN && out->regularity >= TP_COUNTER_ALIKE_MIN) {
		add_missing(out, analysis);
		return true;
	}
	tp_counter_steps_release(out);
	return false;
}
