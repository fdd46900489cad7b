/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the counter of a loop that stacks may show, and compares the two. */
#include "counter_choice.h"

#include "analyze/thresholds.h"

#include <math.h>

bool tp_counter_choice_is_exact(const struct tp_counter_steps *counted)
{
	return (double)counted->n_exact >= TP_WATCH_EXACT_MIN * (double)counted->n;
}

/* If steps are short, stacks may show only a few consecutive rounds, far from all, or miss most of
 * them. A counter of parts of these few steps would restart in each. */
static bool is_part(const struct tp_loop *loop, const struct tp_counter_steps *counted)
{
	size_t n = 0;
	bool is_sure = counted->is_iterator || counted->is_of_batches ||
		       tp_counter_choice_is_exact(counted);
	if (is_sure && counted->n_restarts + 2 < loop->n_stays &&
	    loop->n_stays < TP_LOOP_ROUNDS_MANY &&
	    counted->n >= TP_LOOP_EPOCH_STEPS_MIN * loop->n_stays)
		return true;
	for (size_t i = 0; i < counted->n; i++)
		n += counted->borders[i] >= loop->start_ns && counted->borders[i] <= loop->end_ns;
	return (double)n < TP_COUNTER_COVERED_MIN * (double)counted->n;
}

/* If stacks show every step, they have better borders: waits begin and end exactly. If the counts
 * differ, but not by much, the counter is right; also if the rounds of stacks may be groups of
 * steps, or epochs. */
bool tp_counter_choice_is_better(const struct tp_counter_steps *counted, const struct tp_loop *loop)
{
	double n = (double)loop->n_stays;
	double more = (double)counted->n - n;
	if (loop->state != TP_LOOP_FOUND || is_part(loop, counted))
		return true;
	if (tp_counter_choice_is_exact(counted) && fabs(more) <= TP_COUNTER_DIFFERS_MAX * n)
		return true;
	/* In stacks epochs look alike; a counter of batches is more reliable. */
	if (counted->is_of_batches && more > TP_COUNTER_DIFFERS_MIN * n)
		return true;
	if (loop->may_be_groups && more > TP_COUNTER_DIFFERS_MIN * n)
		return true;
	return fabs(more) > fmax(1, TP_COUNTER_DIFFERS_MIN * n) &&
	       fabs(more) <= TP_COUNTER_DIFFERS_MAX * n;
}

bool tp_counter_choice_splits_calls(const struct tp_counter_steps *counted,
				    const struct tp_loop *loop)
{
	size_t n_split = 0;
	size_t at = 0;
	bool is_position =
		counted->is_iterator && counted->n_restarts == 0 && counted->n_unknown == 0;
	if (loop->state != TP_LOOP_FOUND || !is_position || counted->n <= loop->n_stays)
		return false;
	for (size_t i = 0; i < counted->n; i++) {
		while (at < loop->n_stays && loop->stays[at].end_ns <= counted->borders[i])
			at++;
		n_split += at < loop->n_stays && loop->stays[at].start_ns < counted->borders[i];
	}
	return (double)n_split >= TP_COUNTER_SPLITS_MIN * (double)counted->n;
}

static bool has_bounds(const struct tp_loop *loop)
{
	return loop->state != TP_LOOP_ABSENT && loop->end_ns > loop->start_ns;
}

uint64_t tp_counter_choice_until_ns(const struct tp_analysis *analysis, const struct tp_loop *loop)
{
	return has_bounds(loop) ? loop->end_ns : analysis->trace->end_ns;
}

/* The few rounds that stacks show, such as imports, may all be before the training, or after it. */
static bool find_counter_outside(struct tp_counter_steps *counted,
				 const struct tp_analysis *analysis, const struct tp_loop *loop)
{
	uint64_t end_ns = analysis->trace->end_ns;
	if (loop->state != TP_LOOP_FOUND || loop->n_stays >= TP_LOOP_ROUNDS_MANY)
		return false;
	bool is_before = loop->end_ns < end_ns && loop->start_ns < end_ns - loop->end_ns;
	uint64_t from_ns = is_before ? loop->end_ns : 0;
	uint64_t until_ns = is_before ? end_ns : loop->start_ns;
	bool is_found = false;
	/* Imports and other preparation may take longer than a short training. */
	uint64_t span_ns = loop->end_ns - loop->start_ns;
	while (!is_found && until_ns > from_ns && until_ns - from_ns > span_ns) {
		is_found = tp_counter_steps_find(counted, analysis, from_ns, until_ns);
		from_ns += (until_ns - from_ns) / 2;
	}
	if (!is_found)
		return false;
	if ((counted->is_iterator || counted->is_of_batches) &&
	    counted->n >= TP_LOOP_EPOCH_STEPS_MIN * loop->n_stays)
		return true;
	tp_counter_steps_release(counted);
	return false;
}

/* Imports and other preparation may take longer than a short training: a counter that covers most
 * of the second half of the run has the steps. */
static bool find_counter_late(struct tp_counter_steps *counted, const struct tp_analysis *analysis,
			      const struct tp_loop *loop)
{
	uint64_t until_ns = tp_counter_choice_until_ns(analysis, loop);
	return loop->state != TP_LOOP_FOUND &&
	       tp_counter_steps_find(counted, analysis, until_ns / 2, until_ns);
}

static uint64_t counted_ns(const struct tp_counter_steps *counted)
{
	return counted->borders[counted->n - 1] - counted->borders[0];
}

/* Stacks may show a loop that prepares data, and miss the training after it or before it. A counter
 * of the rest of the run that counts for much longer is the one of the training. */
static bool find_longer_counter(struct tp_counter_steps *counted, bool has_counter,
				const struct tp_analysis *analysis, const struct tp_loop *loop)
{
	uint64_t end_ns = analysis->trace->end_ns;
	uint64_t after_ns = loop->end_ns < end_ns ? end_ns - loop->end_ns : 0;
	bool is_after = after_ns > loop->start_ns;
	uint64_t span_ns = loop->end_ns - loop->start_ns;
	struct tp_counter_steps other = {0};
	if ((is_after ? after_ns : loop->start_ns) <= TP_LOOP_REST_MIN * span_ns ||
	    !tp_counter_steps_find(&other, analysis, is_after ? loop->end_ns : 0,
				   is_after ? end_ns : loop->start_ns))
		return false;
	bool is_longer = counted_ns(&other) > TP_LOOP_REST_MIN * span_ns;
	if (is_longer) {
		if (has_counter)
			tp_counter_steps_release(counted);
		*counted = other;
	} else {
		tp_counter_steps_release(&other);
	}
	return is_longer;
}

bool tp_counter_choice_find(struct tp_counter_steps *counted, const struct tp_analysis *analysis,
			    const struct tp_loop *loop)
{
	*counted = (struct tp_counter_steps){0};
	bool is_found =
		tp_counter_steps_find(counted, analysis, has_bounds(loop) ? loop->start_ns : 0,
				      tp_counter_choice_until_ns(analysis, loop)) ||
		find_counter_outside(counted, analysis, loop) ||
		find_counter_late(counted, analysis, loop);
	if (has_bounds(loop) && find_longer_counter(counted, is_found, analysis, loop))
		is_found = true;
	return is_found;
}

/* Returns true if the counts are equal, except for rounds that either may miss. */
bool tp_counter_choice_is_same(const struct tp_counter_steps *counted, const struct tp_loop *loop)
{
	double n = (double)loop->n_stays;
	return loop->state == TP_LOOP_FOUND &&
	       fabs((double)counted->n - n) <= fmax(1, TP_COUNTER_DIFFERS_MIN * n);
}
