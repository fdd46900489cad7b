/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the time of threads at the borders of steps and of the judged window. */
#include "thread_walk.h"

struct thread_walk {
	const struct tp_profile *profile;
	tp_export_callback *visit;
	void *context;
	uint32_t task;
	const struct tp_timeline *timeline;
	size_t next;    /* next segment of the timeline */
	uint64_t at_ns; /* all time before was visited */
};

static struct tp_export_piece describe_segment(const struct thread_walk *walk,
					       const struct tp_segment *segment)
{
	const struct tp_trace *trace = walk->profile->trace;
	bool has_sample = segment->sample != TP_NO_SAMPLE && segment->sample < trace->n_samples &&
			  segment->state != TP_STATE_RUNNABLE;
	bool is_main = walk->task == walk->profile->main_task;
	return (struct tp_export_piece){
		.task = walk->task,
		.stack = has_sample ? trace->samples[segment->sample].stack : 0,
		.state = segment->state,
		.cause = segment->state == TP_STATE_BLOCKED ? segment->cause : TP_CAUSE_NONE,
		.label = is_main ? segment->label : TP_N_LABELS,
		.is_of_device = segment->is_of_device,
		.is_known = true,
		.step = TP_EXPORT_NO_STEP,
	};
}

static void emit(const struct thread_walk *walk, struct tp_export_piece piece, uint64_t from_ns,
		 uint64_t to_ns, int64_t step, bool is_judged)
{
	if (to_ns <= from_ns)
		return;
	piece.start_ns = from_ns;
	piece.end_ns = to_ns;
	piece.step = step;
	piece.is_judged = is_judged;
	walk->visit(walk->context, &piece);
}

/* A gap is emitted only in judged time, which the parts consist of. */
static void emit_unknown(const struct thread_walk *walk, uint64_t from_ns, uint64_t to_ns,
			 int64_t step, bool is_judged)
{
	const struct tp_export_piece unknown = {.task = walk->task,
						.state = TP_STATE_BLOCKED,
						.cause = TP_CAUSE_UNKNOWN,
						.label = TP_LABEL_IDLE_UNKNOWN};
	if (is_judged)
		emit(walk, unknown, from_ns, to_ns, step, is_judged);
}

/* Emits everything up to to_ns. */
static void advance(struct thread_walk *walk, uint64_t to_ns, int64_t step, bool is_judged)
{
	const struct tp_timeline *timeline = walk->timeline;
	while (walk->next < timeline->n && timeline->segments[walk->next].start_ns < to_ns) {
		const struct tp_segment *segment = &timeline->segments[walk->next];
		uint64_t from_ns =
			segment->start_ns > walk->at_ns ? segment->start_ns : walk->at_ns;
		uint64_t until_ns = segment->end_ns < to_ns ? segment->end_ns : to_ns;
		if (until_ns > from_ns) {
			emit_unknown(walk, walk->at_ns, from_ns, step, is_judged);
			emit(walk, describe_segment(walk, segment), from_ns, until_ns, step,
			     is_judged);
			walk->at_ns = until_ns;
		}
		if (segment->end_ns > to_ns)
			break;
		walk->next++;
	}
	if (to_ns != UINT64_MAX && to_ns > walk->at_ns) {
		emit_unknown(walk, walk->at_ns, to_ns, step, is_judged);
		walk->at_ns = to_ns;
	}
}

static void walk_steps(struct thread_walk *walk)
{
	const struct tp_profile *profile = walk->profile;
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		advance(walk, step->start_ns, TP_EXPORT_NO_STEP, false);
		advance(walk, step->end_ns, (int64_t)i, step->kind == TP_STEP_STEADY);
	}
}

static void walk_main(struct thread_walk *walk)
{
	const struct tp_profile *profile = walk->profile;
	if (profile->is_of_steps) {
		walk_steps(walk);
	} else {
		advance(walk, profile->window_start_ns, TP_EXPORT_NO_STEP, false);
		advance(walk, profile->window_end_ns, TP_EXPORT_NO_STEP, true);
	}
	advance(walk, UINT64_MAX, TP_EXPORT_NO_STEP, false);
}

bool tp_export_has_thread(const struct tp_profile *profile, uint32_t task)
{
	if (!profile->timelines || task >= profile->trace->n_tasks)
		return false;
	return profile->timelines[task].n || task == profile->main_task;
}

void tp_export_walk_thread(const struct tp_profile *profile, uint32_t task,
			   tp_export_callback *visit, void *context)
{
	struct thread_walk walk = {.profile = profile,
				   .visit = visit,
				   .context = context,
				   .task = task};
	if (!tp_export_has_thread(profile, task))
		return;
	if (task == profile->main_task) {
		walk.timeline = &profile->main_timeline;
		walk_main(&walk);
	} else {
		walk.timeline = &profile->timelines[task];
		advance(&walk, UINT64_MAX, TP_EXPORT_NO_STEP, false);
	}
}
