/* SPDX-License-Identifier: Apache-2.0 */
/* Peers of the trainer, and the way it waits for them. Needs: labels, roles, window. Gives:
 * comm.* */
#include "window_gauges.h"

#include "trainprof/model/fact.h"

#include <string.h>

static void set_peers(struct tp_analysis *analysis)
{
	size_t n = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++)
		n += analysis->threads[task].leader == task &&
		     analysis->roles[task] == TP_ROLE_TRAINER;
	tp_profile_set(analysis->profile, TP_FACT_COMM_PEERS, (double)n, TP_ORIGIN_DERIVED, 1);
}

/* The innermost frame of busy waiting is no copy, system call or arithmetic: it is a known spinning
 * function, or a function of a communication library, whose progress loops have no names of their
 * own. */
static bool is_spinning(const struct tp_analysis *analysis, const struct tp_segment *segment)
{
	if (segment->state != TP_STATE_ON_CPU || segment->sample == TP_NO_SAMPLE)
		return false;
	const struct tp_trace *trace = analysis->trace;
	uint32_t id = trace->samples[segment->sample].stack;
	enum tp_leaf leaf = analysis->classes[id].leaf;
	const struct tp_stack *stack = tp_trace_stack(trace, id);
	if (leaf != TP_LEAF_NONE || !stack->n_frames)
		return leaf == TP_LEAF_SPIN;
	const char *exe = tp_trace_string(trace, trace->tasks[analysis->profile->trainer].exe);
	const char *module = tp_trace_string(trace, trace->frames[stack->frames[0]].module);
	return strcmp(module, exe) != 0;
}

static void set_busy_wait(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	double communication_ns = 0;
	double spinning_ns = 0;
	uint64_t n = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		if (tp_label_part(segment->label) != TP_PART_COMMUNICATION ||
		    segment->start_ns < profile->window_start_ns ||
		    segment->end_ns > profile->window_end_ns)
			continue;
		double length = (double)(segment->end_ns - segment->start_ns);
		communication_ns += length;
		spinning_ns += is_spinning(analysis, segment) ? length : 0;
		n += !segment->is_inferred;
	}
	if (communication_ns > 0) {
		tp_profile_set(profile, TP_FACT_COMM_BUSY_WAIT, spinning_ns / communication_ns,
			       TP_ORIGIN_SAMPLED, 1);
		profile->facts[TP_FACT_COMM_BUSY_WAIT].n = n;
	} else {
		tp_profile_set_missing(profile, TP_FACT_COMM_BUSY_WAIT,
				       "no communication was seen");
	}
}

enum tp_status tp_pass_communication(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	set_peers(analysis);
	if (analysis->main_task != TP_NO_TASK && tp_window_gauges_length_s(analysis) > 0)
		set_busy_wait(analysis);
	return TP_OK;
}
