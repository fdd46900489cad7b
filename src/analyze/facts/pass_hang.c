/* SPDX-License-Identifier: Apache-2.0 */
/* Detects a program that seems to hang: up to the end of measuring no thread did anything, and the
 * main thread was in a wait that is no sleep. Needs: timelines, labels, window. Gives: run.hang_ns,
 * run.hang_ratio, profile->hang_text. */
#include "analyze/analysis.h"
#include "analyze/classify/python_class.h"
#include "analyze/thresholds.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/cause_text.h"
#include "trainprof/model/fact.h"

/* ---- duration ---------------------------------------------------------------------------- */

static uint64_t on_cpu_since(const struct tp_analysis *analysis, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum_ns = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		const struct tp_timeline *timeline = &analysis->timelines[task];
		for (size_t i = timeline->n; i-- > 0 && timeline->segments[i].end_ns > from_ns;)
			if (timeline->segments[i].state == TP_STATE_ON_CPU)
				sum_ns += tp_segment_ns_in(&timeline->segments[i], from_ns, to_ns);
	}
	return sum_ns;
}

/* True for a wait for an event that may never come. */
static bool is_waiting(const struct tp_segment *segment)
{
	return segment->state == TP_STATE_BLOCKED && segment->cause != TP_CAUSE_SLEEP &&
	       segment->cause != TP_CAUSE_TERMINAL;
}

/* Returns the start of the main thread's final wait, searched backward from the end. Short moments
 * in which it woke up only to wait again are ignored (a wait with a time limit does that). */
static uint64_t waiting_since(const struct tp_timeline *timeline, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t since_ns = to_ns;
	uint64_t awake_ns = 0;
	for (size_t i = timeline->n; i-- > 0;) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t length_ns = tp_segment_ns_in(segment, from_ns, to_ns);
		if (segment->end_ns <= from_ns)
			break;
		if (!is_waiting(segment)) {
			awake_ns += length_ns;
			if ((double)awake_ns >
			    TP_HANG_AWAKE_MAX * (double)(to_ns - segment->start_ns))
				break;
		} else if (length_ns) {
			since_ns = segment->start_ns > from_ns ? segment->start_ns : from_ns;
		}
	}
	return since_ns;
}

/* ---- place --------------------------------------------------------------------------------- */

/* Returns the sample that represents the largest part of the wait. */
static const struct tp_sample *sample_of_wait(const struct tp_analysis *analysis,
					      const struct tp_timeline *timeline, uint64_t from_ns,
					      uint64_t to_ns)
{
	const struct tp_sample *found = NULL;
	uint64_t longest_ns = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t length_ns = tp_segment_ns_in(segment, from_ns, to_ns);
		if (!is_waiting(segment) || segment->sample == TP_NO_SAMPLE ||
		    length_ns <= longest_ns)
			continue;
		longest_ns = length_ns;
		found = &analysis->trace->samples[segment->sample];
	}
	return found;
}

/* Returns the innermost Python frame, only of the user's own files if `is_own`; NULL if there is
 * none. */
static const struct tp_frame *find_python(const struct tp_analysis *analysis,
					  const struct tp_stack *stack, bool is_own)
{
	const struct tp_trace *trace = analysis->trace;
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		if (frame->kind != TP_FRAME_PYTHON || !frame->file)
			continue;
		if (!is_own ||
		    !tp_python_class_find(analysis->patterns, tp_trace_string(trace, frame->file),
					  tp_trace_string(trace, frame->symbol))
			     .is_library)
			return frame;
	}
	return NULL;
}

static const char *native_function(const struct tp_trace *trace, const struct tp_stack *stack)
{
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct tp_frame *frame = &trace->frames[stack->frames[i]];
		const char *symbol = tp_trace_string(trace, frame->symbol);
		if (*symbol && frame->kind != TP_FRAME_KERNEL)
			return symbol;
	}
	return "";
}

/* Appends the place of the wait, and the user's own line if that is a different one. */
static void add_place(struct tp_buf *out, const struct tp_analysis *analysis, uint32_t stack_id)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_stack *stack = tp_trace_stack(trace, stack_id);
	const struct tp_frame *places[] = {find_python(analysis, stack, false),
					   find_python(analysis, stack, true)};
	for (size_t i = 0; i < TP_ARRAY_LEN(places); i++) {
		if (!places[i] || (i && places[i] == places[0]))
			continue;
		tp_buf_printf(out, "%s%s:%u in %s", i ? ", called from " : " at ",
			      tp_text_base_name(tp_trace_string(trace, places[i]->file)),
			      places[i]->line, tp_trace_string(trace, places[i]->symbol));
	}
	const char *native = native_function(trace, stack);
	if (!places[0] && *native)
		tp_buf_printf(out, " in %s()", native);
}

static const char *describe(struct tp_analysis *analysis, const struct tp_sample *sample)
{
	struct tp_buf text = {0};
	const char *target = sample ? tp_trace_string(analysis->trace, sample->target) : "";
	tp_buf_printf(&text, "The main thread waits for %s",
		      tp_cause_text(sample ? sample->cause : TP_CAUSE_UNKNOWN));
	if (*target)
		tp_buf_printf(&text, " (%s)", target);
	if (sample)
		add_place(&text, analysis, sample->stack);
	const char *kept = tp_arena_printf(analysis->arena, "%s.", tp_buf_text(&text));
	tp_buf_release(&text);
	return kept;
}

/* A GPU may work while its host waits. */
static bool has_device(const struct tp_analysis *analysis)
{
	size_t n = analysis->profile->n_devices;
	for (size_t i = 0; i < analysis->trace->n_gauges && !n; i++)
		n += analysis->trace->gauges[i].metric == TP_METRIC_GPU_AWAKE;
	return n != 0;
}

static void set(struct tp_analysis *analysis, uint64_t hang_ns)
{
	struct tp_profile *profile = analysis->profile;
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	tp_profile_set(profile, TP_FACT_RUN_HANG, (double)hang_ns, TP_ORIGIN_DERIVED, 1);
	tp_profile_set(profile, TP_FACT_RUN_HANG_RATIO, (double)hang_ns / window_ns,
		       TP_ORIGIN_DERIVED, 1);
}

enum tp_status tp_pass_hang(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	uint64_t from_ns = profile->window_start_ns;
	uint64_t to_ns = profile->window_end_ns;
	const char *why = analysis->main_task == TP_NO_TASK || to_ns <= from_ns
				  ? "there is no trainer"
			  : has_device(analysis) ? "a GPU may be at work while all threads wait"
						 : NULL;
	if (why) {
		tp_profile_set_missing(profile, TP_FACT_RUN_HANG, why);
		tp_profile_set_missing(profile, TP_FACT_RUN_HANG_RATIO, why);
		return TP_OK;
	}
	const struct tp_timeline *timeline = &analysis->timelines[analysis->main_task];
	uint64_t since_ns = waiting_since(timeline, from_ns, to_ns);
	double hang_ns = (double)(to_ns - since_ns);
	double busy_ns = (double)on_cpu_since(analysis, since_ns, to_ns);
	if (hang_ns < TP_HANG_NS_MIN || busy_ns > TP_HANG_AWAKE_MAX * hang_ns) {
		set(analysis, 0);
		return TP_OK;
	}
	set(analysis, to_ns - since_ns);
	profile->hang_text =
		describe(analysis, sample_of_wait(analysis, timeline, since_ns, to_ns));
	return TP_OK;
}
