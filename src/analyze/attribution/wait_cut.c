/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a wait of the main thread by what it waits for. */
#include "wait_cut.h"

#include "analyze/thresholds.h"

const enum tp_label tp_wait_loader_labels[TP_N_ACTIVITIES] = {
	[TP_ACTIVITY_WORK] = TP_LABEL_DATALOADER_PREP,
	[TP_ACTIVITY_SCRIPT] = TP_LABEL_DATALOADER_PREP,
	[TP_ACTIVITY_READ] = TP_LABEL_DATALOADER_FETCH,
	[TP_ACTIVITY_QUEUE] = TP_LABEL_DATALOADER_QUEUE,
	[TP_ACTIVITY_TRANSFER] = TP_LABEL_DATALOADER_HANDOVER,
	[TP_ACTIVITY_SLEEP] = TP_LABEL_DATALOADER_PAUSE,
	[TP_ACTIVITY_EXCHANGE] = TP_LABEL_DATALOADER_HANDOVER,
	[TP_ACTIVITY_NONE] = TP_LABEL_DATALOADER_HANDOVER,
};

unsigned tp_wait_kind(const struct tp_segment *segment)
{
	return segment->state == TP_STATE_RUNNABLE ? TP_WAIT_RUNNABLE
						   : TP_WAIT_BLOCKED + (unsigned)segment->cause;
}

/* A wait for a team in which the main thread computes, too, is lost time; a wait for a team to
 * which it delegated the work is that work. */
static enum tp_label label_while(const struct tp_wait *wait, int kind)
{
	bool is_math = wait->is_delegated && kind == TP_ACTIVITY_WORK;
	return is_math ? TP_LABEL_COMPUTE_MATH : wait->labels[kind];
}

/* Splits the wait in proportion to the group's activities during exact waits of this kind: samples
 * of two threads that alternate faster than the sampling period are no evidence about both at the
 * same time. Returns false if there is too little exact time. */
static bool cut_by_overlap(const struct tp_wait *wait, const struct tp_segment *segment,
			   tp_wait_callback *put, void *context)
{
	const uint64_t *ns = wait->follow->meanwhile_ns[tp_wait_kind(segment)];
	double all_ns = 0;
	for (int kind = 0; kind < TP_N_ACTIVITIES; kind++)
		all_ns += (double)ns[kind];
	if (!segment->is_sampled || all_ns < (double)TP_CONCURRENCE_MIN_NS)
		return false;
	double length_ns = (double)(segment->end_ns - segment->start_ns);
	double sum_ns = 0;
	uint64_t at = segment->start_ns;
	for (int kind = 0; kind < TP_N_ACTIVITIES; kind++) {
		sum_ns += (double)ns[kind];
		uint64_t end = segment->start_ns + (uint64_t)(length_ns * (sum_ns / all_ns));
		put(context, segment, at, end, label_while(wait, kind));
		at = end;
	}
	put(context, segment, at, segment->end_ns, wait->label);
	return true;
}

/* Labels a gap in which the first group does not work by the activity of the next group. While the
 * first group waits for a CPU, the threads of the next group that have one are waited for. */
static void cut_by_next_group(const struct tp_wait *wait, const struct tp_segment *segment,
			      const struct tp_activity *gap, tp_wait_callback *put, void *context)
{
	const struct tp_activities *group = &wait->behind->activities;
	enum tp_label label = wait->labels[gap->kind];
	bool is_queue = gap->kind == TP_ACTIVITY_QUEUE;
	uint64_t at = gap->start_ns;
	for (size_t i = tp_activities_find(group, at); i < group->n && at < gap->end_ns; i++) {
		const struct tp_activity *item = &group->items[i];
		uint64_t until = item->end_ns < gap->end_ns ? item->end_ns : gap->end_ns;
		bool is_idle = item->kind == TP_ACTIVITY_SLEEP || item->kind == TP_ACTIVITY_NONE;
		bool is_behind = is_queue ? item->kind <= TP_ACTIVITY_READ : !is_idle;
		put(context, segment, at, until,
		    is_behind ? tp_wait_loader_labels[item->kind] : label);
		at = until;
	}
	put(context, segment, at, gap->end_ns, label);
}

static void cut_by_activity(const struct tp_wait *wait, const struct tp_segment *segment,
			    tp_wait_callback *put, void *context)
{
	uint64_t at = segment->start_ns;
	const struct tp_activities *group = &wait->follow->activities;
	for (size_t i = tp_activities_find(group, at); i < group->n && at < segment->end_ns; i++) {
		enum tp_activity_kind kind = group->items[i].kind;
		uint64_t end = group->items[i].end_ns;
		end = end < segment->end_ns ? end : segment->end_ns;
		struct tp_activity gap = {at, end, kind};
		if (wait->behind && (kind == TP_ACTIVITY_NONE || kind == TP_ACTIVITY_QUEUE))
			cut_by_next_group(wait, segment, &gap, put, context);
		else
			put(context, segment, at, end, label_while(wait, (int)kind));
		at = end;
	}
	put(context, segment, at, segment->end_ns, wait->label);
}

/* While no batch is there, whatever the pool does is loading. */
static void cut_by_fetch(const struct tp_wait *wait, const struct tp_segment *segment,
			 tp_wait_callback *put, void *context)
{
	struct tp_wait loading = *wait;
	struct tp_wait step = *wait;
	struct tp_segment part = *segment;
	loading.label = TP_LABEL_DATALOADER_HANDOVER;
	loading.labels = tp_wait_loader_labels;
	loading.is_delegated = false;
	step.behind = wait->fetch.is_last ? NULL : wait->behind;
	part.end_ns = wait->fetch.start_ns;
	cut_by_activity(&step, &part, put, context);
	part.start_ns = wait->fetch.start_ns;
	part.end_ns = wait->fetch.end_ns;
	cut_by_activity(&loading, &part, put, context);
	part.start_ns = wait->fetch.end_ns;
	part.end_ns = segment->end_ns;
	cut_by_activity(&step, &part, put, context);
}

void tp_wait_cut(const struct tp_wait *wait, const struct tp_segment *segment,
		 tp_wait_callback *put, void *context)
{
	if (!wait->follow)
		put(context, segment, segment->start_ns, segment->end_ns, wait->label);
	else if (wait->fetch.end_ns > wait->fetch.start_ns)
		cut_by_fetch(wait, segment, put, context);
	else if (!cut_by_overlap(wait, segment, put, context))
		cut_by_activity(wait, segment, put, context);
}
