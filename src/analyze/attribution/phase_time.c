/* SPDX-License-Identifier: Apache-2.0 */
/* Sums evaluation, checkpoint and logging time of the main thread, from names and from marks. */
#include "phase_time.h"

#include "analyze/classify/frame_class.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>

enum { MAX_NESTING = 32 };

/* Walks through the marks of the main thread and tracks whether an evaluation is open. */
struct mark_walk {
	size_t next;
	bool is_evaluation[MAX_NESTING];
	size_t depth;
	size_t n_open; /* open evaluations */
};

static void walk_to(struct mark_walk *walk, const struct tp_analysis *analysis, uint64_t time_ns)
{
	const struct tp_trace *trace = analysis->trace;
	for (; walk->next < trace->n_marks; walk->next++) {
		const struct tp_mark *mark = &trace->marks[walk->next];
		if (mark->time_ns > time_ns)
			break;
		if (mark->task != analysis->main_task)
			continue;
		if (mark->kind == TP_MARK_PHASE_BEGIN && walk->depth < MAX_NESTING) {
			enum tp_phase phase = tp_patterns_mark(analysis->patterns,
							       tp_trace_string(trace, mark->name));
			walk->is_evaluation[walk->depth] = phase == TP_PHASE_EVALUATION;
			walk->n_open += walk->is_evaluation[walk->depth++];
		} else if (mark->kind == TP_MARK_PHASE_END && walk->depth) {
			walk->n_open -= walk->is_evaluation[--walk->depth];
		}
	}
}

/* Returns true if the segment's own sample shows its phase: a truncated stack may lack the frame of
 * the phase. */
static bool is_phase_known(const struct tp_analysis *analysis, const struct tp_segment *piece)
{
	if (piece->sample == TP_NO_SAMPLE || piece->is_inferred)
		return false;
	uint32_t id = analysis->trace->samples[piece->sample].stack;
	const struct tp_stack *stack = tp_trace_stack(analysis->trace, id);
	return (stack->n_frames && !(stack->flags & TP_STACK_TRUNCATED)) ||
	       analysis->classes[id].in_evaluation ||
	       analysis->classes[id].phase == TP_PHASE_CHECKPOINT;
}

/* Returns for each segment the nearest one in time whose sample shows its phase: the other segments
 * are in the phase of their neighbours, since a phase lasts many segments. A sample that was
 * inferred from a similar segment may be of another phase. TP_NO_SAMPLE if no segment shows its
 * phase. */
static uint32_t *find_known_phases(const struct tp_analysis *analysis,
				   const struct tp_timeline *timeline)
{
	uint32_t *nearest = tp_alloc((timeline->n + 1) * sizeof(*nearest));
	uint32_t last = TP_NO_SAMPLE;
	for (size_t i = 0; i < timeline->n; i++) {
		if (is_phase_known(analysis, &timeline->segments[i]))
			last = (uint32_t)i;
		nearest[i] = last;
	}
	uint32_t next = TP_NO_SAMPLE;
	for (size_t i = timeline->n; i-- > 0;) {
		const struct tp_segment *piece = &timeline->segments[i];
		if (is_phase_known(analysis, piece))
			next = (uint32_t)i;
		if (next == TP_NO_SAMPLE)
			continue;
		uint64_t after = timeline->segments[next].start_ns - piece->start_ns;
		if (nearest[i] == TP_NO_SAMPLE ||
		    after < piece->end_ns - timeline->segments[nearest[i]].end_ns)
			nearest[i] = next;
	}
	return nearest;
}

static void set_segment_phases(struct tp_phase_time *out, const struct tp_analysis *analysis,
			       size_t i, uint32_t nearest)
{
	const struct tp_segment *pieces = out->timeline->segments;
	struct tp_stack_class class = {0};
	if (nearest != TP_NO_SAMPLE)
		class = analysis->classes[analysis->trace->samples[pieces[nearest].sample].stack];
	bool is_checkpoint = pieces[i].label == TP_LABEL_HOST_CHECKPOINT ||
			     (nearest != i && class.phase == TP_PHASE_CHECKPOINT);
	out->is_side[TP_SIDE_EVALUATION][i] |= class.in_evaluation;
	out->is_side[TP_SIDE_CHECKPOINT][i] = is_checkpoint;
	out->is_side[TP_SIDE_CHECKPOINT_WAIT][i] =
		is_checkpoint && pieces[i].state == TP_STATE_BLOCKED &&
		(pieces[i].cause == TP_CAUSE_FILE || pieces[i].cause == TP_CAUSE_DISK);
	out->is_side[TP_SIDE_LOGGING][i] = pieces[i].label == TP_LABEL_HOST_LOGGING;
}

void tp_phase_time_build(struct tp_phase_time *out, const struct tp_analysis *analysis)
{
	*out = (struct tp_phase_time){0};
	if (analysis->main_task == TP_NO_TASK)
		return;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	out->timeline = timeline;
	for (int side = 0; side < TP_N_SIDES; side++) {
		out->is_side[side] = tp_arena_array(analysis->arena, timeline->n + 1, sizeof(bool));
		out->sums_ns[side] =
			tp_arena_array(analysis->arena, timeline->n + 1, sizeof(uint64_t));
	}
	struct mark_walk walk = {0};
	uint32_t *nearest = find_known_phases(analysis, timeline);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		uint64_t length = piece->end_ns - piece->start_ns;
		/* A segment lasts a few milliseconds: its middle decides which marks apply. */
		walk_to(&walk, analysis, piece->start_ns + length / 2);
		out->is_side[TP_SIDE_EVALUATION][i] = walk.n_open > 0;
		set_segment_phases(out, analysis, i, nearest[i]);
		for (int side = 0; side < TP_N_SIDES; side++)
			out->sums_ns[side][i + 1] =
				out->sums_ns[side][i] + (out->is_side[side][i] ? length : 0);
	}
	free(nearest);
}

/* Returns the sum over all time before an instant. */
static uint64_t sum_before(const struct tp_phase_time *phases, enum tp_side_phase side,
			   uint64_t time_ns)
{
	const struct tp_timeline *timeline = phases->timeline;
	size_t low = 0;
	size_t high = timeline->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (timeline->segments[middle].start_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	uint64_t sum = phases->sums_ns[side][low];
	if (low && phases->is_side[side][low - 1] && timeline->segments[low - 1].end_ns > time_ns)
		sum -= timeline->segments[low - 1].end_ns - time_ns;
	return sum;
}

uint64_t tp_phase_time_between(const struct tp_phase_time *phases, enum tp_side_phase side,
			       uint64_t from_ns, uint64_t to_ns)
{
	if (!phases->timeline || to_ns <= from_ns)
		return 0;
	return sum_before(phases, side, to_ns) - sum_before(phases, side, from_ns);
}
