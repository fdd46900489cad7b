/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the counter of a loop that stacks may show, and compares the two. */
#include "counter_choice.h"

#include "analyze/thresholds.h"

#include "trainprof/base/map.h"

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

/* Returns the innermost line of the user's own at which the sample was working; 0 = none. */
static uint64_t own_line(const struct tp_analysis *analysis, const struct tp_sample *sample)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_stack *stack = tp_trace_stack(trace, sample->stack);
	if (sample->state != TP_STATE_ON_CPU ||
	    analysis->classes[sample->stack].phase == TP_PHASE_IMPORT)
		return 0;
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (analysis->frame_flags[stack->frames[i]] & TP_FRAME_IS_OWN)
			return tp_hash_mix((uint64_t)frame->file << 32 | frame->line,
					   frame->symbol);
	}
	return 0;
}

/* Returns true if the program did the work of these rounds before them as well: a training that no
 * counter shows, and then its evaluation. Preparation works at lines of its own. */
static bool follows_same_work(const struct tp_counter_steps *counted,
			      const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	uint32_t task = analysis->main_task;
	struct tp_map lines = {0};
	size_t n_rounds = 0;
	size_t n_before = 0;
	for (size_t i = trace->sample_index[task + 1]; i-- > trace->sample_index[task];) {
		const struct tp_sample *sample = &trace->samples[i];
		uint64_t line = own_line(analysis, sample);
		uint64_t one;
		if (!line || sample->time_ns > counted->borders[counted->n - 1])
			continue;
		if (sample->time_ns >= counted->borders[0]) {
			tp_map_set(&lines, line, 1);
			n_rounds++;
		} else {
			n_before += tp_map_get(&lines, line, &one);
		}
	}
	tp_map_release(&lines);
	return (double)n_before > TP_LATE_SAME_MAX * (double)n_rounds;
}

/* Imports and other preparation may take longer than a short training: a counter that covers most
 * of the second half of the run has the steps. */
static bool find_counter_late(struct tp_counter_steps *counted, const struct tp_analysis *analysis,
			      const struct tp_loop *loop)
{
	uint64_t until_ns = tp_counter_choice_until_ns(analysis, loop);
	if (loop->state == TP_LOOP_FOUND ||
	    !tp_counter_steps_find(counted, analysis, until_ns / 2, until_ns))
		return false;
	if (!follows_same_work(counted, analysis))
		return true;
	tp_counter_steps_release(counted);
	*counted = (struct tp_counter_steps){0};
	return false;
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
