/* SPDX-License-Identifier: Apache-2.0 */
/* Converts phase marks to intervals. */
#include "phase_marks.h"

#include "analyze/classify/frame_class.h"

#include "trainprof/base/search.h"

enum { MAX_NESTING = 32 };

static enum tp_phase open_phase(const enum tp_phase *open, int depth)
{
	for (int i = 0; i < depth; i++)
		if (tp_phase_owns_time(open[i]))
			return open[i];
	for (int i = depth - 1; i >= 0; i--)
		if (open[i])
			return open[i];
	return TP_PHASE_NONE;
}

static void collect_phases(struct tp_phase_marks *out, const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	out->items = tp_arena_array(analysis->arena, trace->n_marks + 1, sizeof(*out->items));
	enum tp_phase open[MAX_NESTING];
	int depth = 0;
	uint64_t since = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		bool begins = mark->kind == TP_MARK_PHASE_BEGIN;
		if (mark->task != analysis->main_task ||
		    (!begins && mark->kind != TP_MARK_PHASE_END))
			continue;
		int known = depth < MAX_NESTING ? depth : MAX_NESTING;
		enum tp_phase phase = open_phase(open, known);
		if (phase && mark->time_ns > since)
			out->items[out->n++] = (struct tp_phase_mark){since, mark->time_ns, phase};
		since = mark->time_ns;
		if (begins && depth < MAX_NESTING)
			open[depth] = tp_patterns_mark(analysis->patterns,
						       tp_trace_string(trace, mark->name));
		depth += begins ? 1 : depth > 0 ? -1 : 0;
	}
}

static void collect_hits(struct tp_phase_marks *out, const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	size_t first = trace->sample_index[analysis->main_task];
	size_t end = trace->sample_index[analysis->main_task + 1];
	for (int phase = 0; phase < TP_N_PHASES; phase++)
		out->hits[phase].samples =
			tp_arena_array(analysis->arena, end - first, sizeof(uint32_t));
	for (size_t i = first; i < end; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		if (sample->state != TP_STATE_ON_CPU || (sample->flags & TP_SAMPLE_LEAF_ONLY))
			continue;
		struct tp_phase_hits *hits = &out->hits[tp_phase_marks_at(out, sample->time_ns)];
		hits->samples[hits->n++] = (uint32_t)i;
	}
}

void tp_phase_marks_build(struct tp_phase_marks *out, const struct tp_analysis *analysis)
{
	*out = (struct tp_phase_marks){0};
	collect_phases(out, analysis);
	if (out->n)
		collect_hits(out, analysis);
}

enum tp_phase tp_phase_marks_at(const struct tp_phase_marks *marked, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, marked->n, marked->items[at].end_ns > time_ns);
	bool is_inside = at < marked->n && marked->items[at].start_ns <= time_ns;
	return is_inside ? marked->items[at].phase : TP_PHASE_NONE;
}

uint32_t tp_phase_marks_sample(const struct tp_phase_marks *marked, const struct tp_trace *trace,
			       enum tp_phase phase, uint64_t time_ns)
{
	const struct tp_phase_hits *hits = &marked->hits[phase];
	size_t at;
	TP_FIND_FIRST(at, 0, hits->n, trace->samples[hits->samples[at]].time_ns >= time_ns);
	if (!hits->n)
		return TP_NO_SAMPLE;
	if (at == hits->n)
		return hits->samples[at - 1];
	if (at == 0)
		return hits->samples[0];
	uint64_t before = trace->samples[hits->samples[at - 1]].time_ns;
	uint64_t after = trace->samples[hits->samples[at]].time_ns;
	return time_ns - before < after - time_ns ? hits->samples[at - 1] : hits->samples[at];
}
