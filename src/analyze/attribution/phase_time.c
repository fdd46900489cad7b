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
static bool is_phase_known(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	if (segment->sample == TP_NO_SAMPLE || segment->is_inferred)
		return false;
	uint32_t id = analysis->trace->samples[segment->sample].stack;
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
		const struct tp_segment *segment = &timeline->segments[i];
		if (is_phase_known(analysis, segment))
			next = (uint32_t)i;
		if (next == TP_NO_SAMPLE)
			continue;
		uint64_t after = timeline->segments[next].start_ns - segment->start_ns;
		if (nearest[i] == TP_NO_SAMPLE ||
		    after < segment->end_ns - timeline->segments[nearest[i]].end_ns)
			nearest[i] = next;
	}
	return nearest;
}

static void add_segment(struct tp_phase_time *out, const struct tp_analysis *analysis,
			const struct tp_timeline *timeline, size_t i, uint32_t nearest,
			bool is_evaluation)
{
	const struct tp_segment *segment = &timeline->segments[i];
	struct tp_stack_class class = {0};
	if (nearest != TP_NO_SAMPLE)
		class = analysis->classes[analysis->trace
						  ->samples[timeline->segments[nearest].sample]
						  .stack];
	bool is_checkpoint = segment->label == TP_LABEL_HOST_CHECKPOINT ||
			     (nearest != i && class.phase == TP_PHASE_CHECKPOINT);
	bool is_side[TP_N_SIDES] = {
		[TP_SIDE_EVALUATION] = is_evaluation || class.in_evaluation,
		[TP_SIDE_CHECKPOINT] = is_checkpoint,
		[TP_SIDE_CHECKPOINT_WAIT] =
			is_checkpoint && segment->state == TP_STATE_BLOCKED &&
			(segment->cause == TP_CAUSE_FILE || segment->cause == TP_CAUSE_DISK),
		[TP_SIDE_LOGGING] = segment->label == TP_LABEL_HOST_LOGGING,
	};
	for (int side = 0; side < TP_N_SIDES; side++)
		if (is_side[side])
			tp_intervals_add(&out->side[side], segment->start_ns, segment->end_ns);
}

void tp_phase_time_build(struct tp_phase_time *out, const struct tp_analysis *analysis)
{
	*out = (struct tp_phase_time){0};
	if (analysis->main_task == TP_NO_TASK)
		return;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	struct mark_walk walk = {0};
	uint32_t *nearest = find_known_phases(analysis, timeline);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		/* A segment lasts a few milliseconds: its middle decides which marks apply. */
		walk_to(&walk, analysis,
			segment->start_ns + (segment->end_ns - segment->start_ns) / 2);
		add_segment(out, analysis, timeline, i, nearest[i], walk.n_open > 0);
	}
	free(nearest);
}

void tp_phase_time_release(struct tp_phase_time *phases)
{
	for (int side = 0; side < TP_N_SIDES; side++)
		free(phases->side[side].items);
	*phases = (struct tp_phase_time){0};
}

uint64_t tp_phase_time_between(const struct tp_phase_time *phases, enum tp_side_phase side,
			       uint64_t from_ns, uint64_t to_ns)
{
	return tp_intervals_covered(&phases->side[side], from_ns, to_ns);
}
