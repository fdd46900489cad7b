/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs that used the CPUs in the window, by name. Needs: window, cpu.*. Gives:
 * profile->others. The sum may be below cpu.other_programs_cpus: programs that lived between two
 * readings are missing, and so are programs outside of our container. */
#include "analyze/analysis.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the counter of one program at a time: interpolated between two readings, outside of them
 * equal to the nearest one. */
static double counter_at(const struct tp_trace *trace, uint32_t name, uint64_t time_ns)
{
	const struct tp_mark *before = NULL;
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (mark->kind != TP_MARK_OTHER || mark->name != name)
			continue;
		if (mark->time_ns >= time_ns) {
			if (!before || mark->time_ns == before->time_ns ||
			    mark->value < before->value)
				return (double)mark->value;
			double passed = (double)(time_ns - before->time_ns) /
					(double)(mark->time_ns - before->time_ns);
			return (double)before->value +
			       passed * (double)(mark->value - before->value);
		}
		before = mark;
	}
	return before ? (double)before->value : 0;
}

static bool is_known(const struct tp_profile *profile, uint32_t name)
{
	for (size_t i = 0; i < profile->n_others; i++)
		if (profile->others[i].name == name)
			return true;
	return false;
}

static int by_cpus(const void *a, const void *b)
{
	const struct tp_other_program *one = a;
	const struct tp_other_program *two = b;
	if (one->cpus != two->cpus)
		return one->cpus > two->cpus ? -1 : 1;
	return one->pid < two->pid ? -1 : one->pid > two->pid;
}

/* A recording may list a process of the program itself, read after its exit. */
static bool is_of_program(const struct tp_trace *trace, pid_t pid)
{
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].pid == pid)
			return true;
	return false;
}

static void add_program(struct tp_analysis *analysis, uint32_t name)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_trace *trace = analysis->trace;
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	double used_ns = counter_at(trace, name, profile->window_end_ns) -
			 counter_at(trace, name, profile->window_start_ns);
	if (used_ns < TP_CPU_WAIT_MIN * window_ns || !(window_ns > 0))
		return;
	char *rest;
	long pid = strtol(tp_trace_string(trace, name), &rest, 10);
	if (is_of_program(trace, (pid_t)pid))
		return;
	profile->others[profile->n_others++] =
		(struct tp_other_program){.pid = (pid_t)pid,
					  .name = name,
					  .comm = rest + (*rest == ' '),
					  .cpus = used_ns / window_ns};
}

enum tp_status tp_pass_other_programs(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	const struct tp_trace *trace = analysis->trace;
	if (!profile->facts[TP_FACT_CPU_OTHERS].is_known)
		return TP_OK;
	size_t n = 0;
	for (size_t i = 0; i < trace->n_marks; i++)
		n += trace->marks[i].kind == TP_MARK_OTHER;
	profile->others = tp_arena_array(analysis->arena, n, sizeof(*profile->others));
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (mark->kind == TP_MARK_OTHER && !is_known(profile, mark->name))
			add_program(analysis, mark->name);
	}
	if (profile->n_others)
		qsort(profile->others, profile->n_others, sizeof(*profile->others), by_cpus);
	return TP_OK;
}
