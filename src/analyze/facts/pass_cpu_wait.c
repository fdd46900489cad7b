/* SPDX-License-Identifier: Apache-2.0 */
/* Use of CPUs by the program's other threads while the trainer waits for one. Needs: timelines,
 * roles, window, cpu.allowed_cpus. Gives: cpu.wait_loader_cpus, cpu.wait_program_cpus,
 * cpu.wait_foreign_ratio. */
#include "analyze/analysis.h"
#include "analyze/numeric/intervals.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <stdlib.h>

static uint64_t clipped(uint64_t time_ns, const struct tp_profile *profile)
{
	if (time_ns < profile->window_start_ns)
		return profile->window_start_ns;
	return time_ns < profile->window_end_ns ? time_ns : profile->window_end_ns;
}

/* Collects the times inside the window in which the main thread is runnable without a CPU. */
static void collect_waits(struct tp_intervals *out, const struct tp_analysis *analysis)
{
	const struct tp_timeline *timeline = &analysis->timelines[analysis->main_task];
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *segment = &timeline->segments[i];
		uint64_t start_ns = clipped(segment->start_ns, analysis->profile);
		uint64_t end_ns = clipped(segment->end_ns, analysis->profile);
		if (segment->state == TP_STATE_RUNNABLE && end_ns > start_ns)
			tp_intervals_add(out, start_ns, end_ns);
	}
	tp_intervals_merge(out);
}

static uint64_t on_cpu_ns_in(const struct tp_timeline *timeline, const struct tp_intervals *waits)
{
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < timeline->n; i++)
		if (timeline->segments[i].state == TP_STATE_ON_CPU)
			sum_ns += tp_intervals_covered(waits, timeline->segments[i].start_ns,
						       timeline->segments[i].end_ns);
	return sum_ns;
}

/* ---- who has the CPUs ---- */

/* A thread gets ready, or no longer is; or a wait of the trainer begins or ends. */
struct wait_edge {
	uint64_t time_ns;
	int n_ready;
	int n_waits;
};

struct wait_edges {
	struct wait_edge *items; /* heap */
	size_t n;
	size_t capacity;
};

static void add_edges(struct wait_edges *edges, uint64_t start_ns, uint64_t end_ns, bool is_wait)
{
	struct wait_edge edge = {start_ns, !is_wait, is_wait};
	TP_ARRAY_PUSH(edges->items, edges->n, edges->capacity) = edge;
	edge = (struct wait_edge){end_ns, -edge.n_ready, -edge.n_waits};
	TP_ARRAY_PUSH(edges->items, edges->n, edges->capacity) = edge;
}

static int by_time(const void *a, const void *b)
{
	const struct wait_edge *left = a;
	const struct wait_edge *right = b;
	return left->time_ns < right->time_ns ? -1 : left->time_ns > right->time_ns;
}

/* Returns how long the trainer waits while fewer other threads of the program than CPUs run or are
 * ready to. */
static uint64_t foreign_ns(struct wait_edges *edges, double n_cpus)
{
	uint64_t sum_ns = 0;
	int n_ready = 0;
	int n_waits = 0;
	if (edges->n)
		qsort(edges->items, edges->n, sizeof(*edges->items), by_time);
	for (size_t i = 0; i + 1 < edges->n; i++) {
		n_ready += edges->items[i].n_ready;
		n_waits += edges->items[i].n_waits;
		if (n_waits > 0 && n_ready + 1 <= n_cpus)
			sum_ns += edges->items[i + 1].time_ns - edges->items[i].time_ns;
	}
	return sum_ns;
}

static void set_foreign(struct tp_analysis *analysis, const struct tp_intervals *waits)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_quantity *allowed = &profile->facts[TP_FACT_CPU_ALLOWED];
	struct wait_edges edges = {0};
	if (!allowed->is_known) {
		tp_profile_set_missing(profile, TP_FACT_CPU_WAIT_FOREIGN, allowed->missing);
		return;
	}
	for (size_t i = 0; i < waits->n; i++)
		add_edges(&edges, waits->items[i].start_ns, waits->items[i].end_ns, true);
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		const struct tp_timeline *timeline = &analysis->timelines[task];
		for (size_t i = 0; task != analysis->main_task && i < timeline->n; i++) {
			const struct tp_segment *segment = &timeline->segments[i];
			bool is_ready = segment->state == TP_STATE_ON_CPU ||
					segment->state == TP_STATE_RUNNABLE;
			if (is_ready &&
			    tp_intervals_covered(waits, segment->start_ns, segment->end_ns) > 0)
				add_edges(&edges, segment->start_ns, segment->end_ns, false);
		}
	}
	tp_profile_set(profile, TP_FACT_CPU_WAIT_FOREIGN,
		       (double)foreign_ns(&edges, allowed->value) / (double)tp_intervals_sum(waits),
		       TP_ORIGIN_DERIVED, 1);
	free(edges.items);
}

static void set_missing(struct tp_profile *profile, const char *why)
{
	tp_profile_set_missing(profile, TP_FACT_CPU_WAIT_LOADERS, why);
	tp_profile_set_missing(profile, TP_FACT_CPU_WAIT_OTHERS, why);
	tp_profile_set_missing(profile, TP_FACT_CPU_WAIT_FOREIGN, why);
}

enum tp_status tp_pass_cpu_wait(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	if (analysis->main_task == TP_NO_TASK || !analysis->has_runs) {
		set_missing(profile, analysis->has_runs ? "there is no trainer"
							: "no switches were recorded");
		return TP_OK;
	}
	struct tp_intervals waits = {0};
	collect_waits(&waits, analysis);
	double waits_ns = (double)tp_intervals_sum(&waits);
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	if (waits_ns <= 0 || waits_ns < TP_CPU_WAIT_MIN * window_ns) {
		set_missing(profile, "the trainer hardly waits for a CPU");
		free(waits.items);
		return TP_OK;
	}
	double loaders_ns = 0;
	double others_ns = 0;
	for (uint32_t task = 0; task < analysis->trace->n_tasks; task++) {
		if (task == analysis->main_task)
			continue;
		double ns = (double)on_cpu_ns_in(&analysis->timelines[task], &waits);
		if (analysis->threads[task].role == TP_THREAD_LOADER)
			loaders_ns += ns;
		else
			others_ns += ns;
	}
	set_foreign(analysis, &waits);
	free(waits.items);
	tp_profile_set(profile, TP_FACT_CPU_WAIT_LOADERS, loaders_ns / waits_ns, TP_ORIGIN_MEASURED,
		       1);
	tp_profile_set(profile, TP_FACT_CPU_WAIT_OTHERS, others_ns / waits_ns, TP_ORIGIN_MEASURED,
		       1);
	return TP_OK;
}
