/* SPDX-License-Identifier: Apache-2.0 */
/* Detects traces that cannot be judged, or not completely: unknown origin, lost device work, only
 * named ranges, few operations, or mostly calls that are slow the first time. */
#include "capture_facts.h"
#include "analyze/thresholds.h"
#include "rank_names.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/capture_words.h"
#include "trainprof/model/fact.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(struct tp_profile *profile, enum tp_fact fact, double value)
{
	tp_profile_set(profile, fact, value, TP_ORIGIN_MEASURED, 1);
}

/* ---- files of unknown origin ---- */

struct lane {
	const char *name;
	size_t n;
	uint64_t time_ns;
};

static int lane_order(const void *a, const void *b)
{
	const struct lane *x = a;
	const struct lane *y = b;
	return (x->n < y->n) - (x->n > y->n);
}

static bool has_format(const struct tp_run_info *run, uint32_t rank, const char *format)
{
	return rank < run->n_ranks && run->ranks[rank].format &&
	       strcmp(run->ranks[rank].format, format) == 0;
}

static bool has_unknown_maker(const struct tp_run_info *run, uint32_t rank)
{
	return has_format(run, rank, "unknown");
}

/* Horovod's timeline has lanes of waits and transfers, and no computation. */
static bool has_transfers_only(const struct tp_run_info *run, uint32_t rank)
{
	return has_format(run, rank, "horovod");
}

/* Spans are sorted by start; those of one lane may overlap. */
static uint64_t time_covered(const struct tp_track_spans *spans)
{
	uint64_t sum_ns = 0;
	uint64_t until_ns = 0;
	for (size_t i = 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		uint64_t from_ns = span->start_ns > until_ns ? span->start_ns : until_ns;
		if (span->end_ns <= from_ns)
			continue;
		sum_ns += span->end_ns - from_ns;
		until_ns = span->end_ns;
	}
	return sum_ns;
}

/* Lists the largest lanes, so that the reader knows the content of the file. */
static void warn_of_lanes(struct tp_rank_analysis *analysis,
			  bool (*is_meant)(const struct tp_run_info *run, uint32_t rank),
			  const char *id, const char *effect, const char *remedy)
{
	enum { LANES_SHOWN = 5 };
	const struct tp_trace *trace = analysis->trace;
	struct lane *lanes = tp_alloc((trace->n_tracks + 1) * sizeof(*lanes));
	struct tp_buf text = {0};
	size_t n = 0;
	for (size_t i = 0; i < trace->n_tracks; i++) {
		const struct tp_track *track = &trace->tracks[i];
		if (!is_meant(&trace->run, track->rank) || !trace->spans[i].n)
			continue;
		lanes[n++] = (struct lane){.name = tp_trace_string(trace, track->name),
					   .n = trace->spans[i].n,
					   .time_ns = time_covered(&trace->spans[i])};
	}
	qsort(lanes, n, sizeof(*lanes), lane_order);
	tp_buf_printf(&text, "it holds %.3f s in %zu lane%s", (double)trace->end_ns / 1e9, n,
		      n == 1 ? "" : "s");
	for (size_t i = 0; i < n && i < LANES_SHOWN; i++)
		tp_buf_printf(&text, "%s '%.40s' %zu event%s %.3f s", i ? "," : ":",
			      *lanes[i].name ? lanes[i].name : "without name", lanes[i].n,
			      lanes[i].n == 1 ? "" : "s", (double)lanes[i].time_ns / 1e9);
	tp_profile_warn(analysis->profile, id, tp_buf_text(&text), effect, remedy);
	tp_buf_release(&text);
	free(lanes);
}

/* Sums up who was waited for and what was sent. */
static void sum_transfers(struct tp_rank_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct tp_transfers *out = &analysis->profile->transfers;
	struct tp_intervals waits = {0};
	struct tp_intervals sent = {0};
	*out = (struct tp_transfers){.span_ns = trace->end_ns, .late_rank = -1};
	for (size_t t = 0; t < trace->n_tracks; t++) {
		const struct tp_track *track = &trace->tracks[t];
		const struct tp_track_spans *spans = &trace->spans[t];
		struct tp_intervals *list = track->number >= 0                    ? &waits
					    : track->number == TP_TRACK_TRANSFERS ? &sent
										  : NULL;
		if (!has_transfers_only(&trace->run, track->rank))
			continue;
		for (size_t i = 0; list && i < spans->n; i++)
			tp_intervals_add(list, spans->items[i].start_ns, spans->items[i].end_ns);
		if (track->number >= 0 || track->number == TP_TRACK_TOGETHER)
			out->n_waits += spans->n;
		uint64_t time_ns = time_covered(spans);
		if (track->number < 0 || time_ns <= out->late_ns)
			continue;
		out->late_rank = track->number;
		out->n_late = spans->n;
		out->late_ns = time_ns;
	}
	tp_intervals_merge(&waits);
	tp_intervals_merge(&sent);
	out->waited_ns = tp_intervals_sum(&waits);
	out->sent_ns = tp_intervals_sum(&sent);
	uint64_t larger_ns = out->waited_ns > out->sent_ns ? out->waited_ns : out->sent_ns;
	if ((double)larger_ns >= TP_LARGEST_PART_MIN * (double)out->span_ns)
		out->cause = larger_ns == out->sent_ns ? "communicating" : "waiting_for_ranks";
	free(waits.items);
	free(sent.items);
}

static bool is_any(const struct tp_run_info *run,
		   bool (*is_meant)(const struct tp_run_info *run, uint32_t rank))
{
	for (uint32_t i = 0; i < run->n_ranks; i++)
		if (is_meant(run, i))
			return true;
	return false;
}

bool tp_capture_is_known(struct tp_rank_analysis *analysis)
{
	const struct tp_run_info *run = &analysis->trace->run;
	bool is_unknown = is_any(run, has_unknown_maker);
	bool is_transfers = !is_unknown && is_any(run, has_transfers_only);
	set(analysis->profile, TP_FACT_TRACE_RECOGNISED, !is_unknown);
	if (!is_unknown && !is_transfers)
		return true;
	size_t n_spans = 0;
	for (size_t i = 0; i < analysis->trace->n_tracks; i++)
		n_spans += analysis->trace->spans[i].n;
	set(analysis->profile, TP_FACT_TRACE_SPANS, (double)n_spans);
	if (is_unknown) {
		warn_of_lanes(analysis, has_unknown_maker, "unknown-maker",
			      "no lane is taken for a device or a trainer: nothing is judged",
			      "trainprof import --device-lane='PROCESS/THREAD' FILE   (if one is a "
			      "device's)");
	} else {
		set(analysis->profile, TP_FACT_TRACE_ONLY_RANGES, true);
		sum_transfers(analysis);
		warn_of_lanes(analysis, has_transfers_only, "transfers-only",
			      "computing is not recorded: time between transfers is unknown",
			      "trainprof run -- CMD   on each rank");
	}
	return false;
}

/* ---- activity of threads ---- */

struct thread_counts {
	size_t n_launches;
	size_t n_collectives; /* by device libraries (NCCL, RCCL) */
	size_t n_operators;
	size_t n_calls;
	size_t n_ranges;
	size_t n_python;
};

static struct thread_counts count_rank(struct tp_rank_analysis *analysis,
				       const struct tp_rank_work *rank)
{
	struct thread_counts counts = {0};
	for (size_t t = 0; t < rank->n_threads; t++) {
		const struct tp_track_spans *spans = &analysis->trace->spans[rank->threads[t]];
		for (size_t i = 0; i < spans->n; i++) {
			const struct tp_span *span = &spans->items[i];
			const char *name = tp_trace_string(analysis->trace, span->name);
			bool is_of_library =
				strncmp(name, "nccl:", 5) == 0 || strncmp(name, "rccl:", 5) == 0;
			counts.n_launches += span->kind == TP_SPAN_CALL &&
					     tp_rank_sense(analysis, span) == TP_SENSE_LAUNCH;
			counts.n_collectives += is_of_library && tp_rank_sense(analysis, span) ==
									 TP_SENSE_COLLECTIVE;
			counts.n_operators += span->kind == TP_SPAN_OPERATOR;
			counts.n_calls += span->kind == TP_SPAN_CALL;
			counts.n_ranges += span->kind == TP_SPAN_ANNOTATION;
			counts.n_python += span->kind == TP_SPAN_PYTHON;
		}
	}
	return counts;
}

static size_t device_ops_of(const struct tp_rank_analysis *analysis, uint32_t rank)
{
	size_t n = 0;
	for (size_t i = 0; i < analysis->n_devices; i++)
		if (analysis->devices[i].rank == rank)
			n += analysis->devices[i].n_ops;
	return n;
}

static bool has_listed_devices(const struct tp_run_info *run, uint32_t rank)
{
	return rank < run->n_ranks && run->ranks[rank].n_devices > 0;
}

/* ---- device work ---- */

/* Kineto names the devices, and XProf the lanes, before all events. Other makers write a lane after
 * another, so a file that ends early may have lost all of the device. */
static bool may_end_early(const struct tp_run_info *run, uint32_t rank)
{
	return rank < run->n_ranks && run->ranks[rank].is_cut && !has_format(run, rank, "kineto") &&
	       !has_format(run, rank, "xprof");
}

/* Returns how device work was lost; NULL if none was. A launch starts one piece of work or, for a
 * graph, many: fewer pieces than launches mean that the record ends too early or was never made. */
static const char *how_lost(struct tp_rank_analysis *analysis, uint32_t rank,
			    const struct thread_counts *counts, struct tp_arena *arena)
{
	size_t n_ops = device_ops_of(analysis, rank);
	if (counts->n_launches >= TP_LAUNCHES_MIN &&
	    (double)n_ops < TP_LAUNCHES_DONE_MIN * (double)counts->n_launches)
		return tp_arena_printf(arena, "%zu kernels were launched, and %zu are in it",
				       counts->n_launches, n_ops);
	if (n_ops)
		return NULL;
	if (counts->n_launches)
		return tp_arena_printf(arena, "%zu launch%s of kernels and no kernel is in it",
				       counts->n_launches, counts->n_launches == 1 ? "" : "es");
	if (counts->n_collectives)
		return tp_arena_printf(arena, "it has %zu NCCL operation%s and no kernel of one",
				       counts->n_collectives,
				       counts->n_collectives == 1 ? "" : "s");
	if (has_listed_devices(&analysis->trace->run, rank))
		return "GPUs are listed, and none of their work is in it";
	if (may_end_early(&analysis->trace->run, rank))
		return "the file ends in the middle, before any work of a device";
	return NULL;
}

static void warn_lost(struct tp_profile *profile, const char *why)
{
	tp_profile_warn(profile, "device-side-lost", why,
			"time without a kernel is unknown, not idle",
			tp_capture_words(&profile->trace->run, TP_CAPTURE_DEVICE));
}

/* Returns what of the host is missing, so that the cause of gaps of the devices is unknown; NULL if
 * nothing is. */
static const char *host_gap(struct tp_rank_analysis *analysis, uint32_t rank)
{
	if (has_format(&analysis->trace->run, rank, "timeline"))
		return "the trace holds operations only: no threads, no Python";
	if (!analysis->ranks[rank].n_threads && device_ops_of(analysis, rank))
		return "the trace holds nothing of the host";
	return NULL;
}

void tp_capture_find_host(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	for (uint32_t i = 0; i < analysis->n_ranks; i++) {
		const char *what = host_gap(analysis, i);
		if (!what)
			continue;
		profile->is_idle_unknown = true;
		tp_profile_warn(profile, "host-not-recorded", what,
				"why nothing runs is unknown, and that time is no part of a step",
				tp_capture_words(&analysis->trace->run, TP_CAPTURE_HOST));
		return;
	}
}

/* Takes back facts that rest on what was not recorded. */
static void rule_out_unknown(struct tp_profile *profile, const struct thread_counts *counts,
			     size_t n_ops)
{
	if (profile->is_idle_unknown)
		tp_profile_set_missing(profile, TP_FACT_STEP_IDLE,
				       "why nothing runs was not recorded");
	if (n_ops && !counts->n_calls)
		tp_profile_set_missing(profile, TP_FACT_STEP_LAUNCH,
				       "the trace has no calls that launch");
}

/* ---- calls that are slow the first time ---- */

struct name_times {
	uint64_t sum_ns;
	uint64_t n;
};

static bool may_be_cold(struct tp_rank_analysis *analysis, const struct tp_span *span)
{
	/* Functions in Python enclose all kinds of work, but one that compiles is slow once. */
	if (span->kind == TP_SPAN_PYTHON)
		return tp_rank_sense(analysis, span) == TP_SENSE_COMPILE;
	if (span->kind != TP_SPAN_CALL && span->kind != TP_SPAN_OPERATOR)
		return false;
	switch (tp_rank_sense(analysis, span)) {
	case TP_SENSE_NONE:
	case TP_SENSE_ALLOC:
	case TP_SENSE_LAUNCH:
	case TP_SENSE_COPY:
	case TP_SENSE_COMPILE:
		return true;
	default:
		return false;
	}
}

/* Time of a span without the spans inside it, if that is at least half of the span; otherwise 0.
 * Spans of a thread are sorted, enclosing spans first. */
static uint64_t own_time(const struct tp_track_spans *spans, size_t at)
{
	const struct tp_span *span = &spans->items[at];
	uint64_t length_ns = span->end_ns - span->start_ns;
	uint64_t covered_ns = 0;
	uint64_t until_ns = span->start_ns;
	for (size_t i = at + 1; i < spans->n && spans->items[i].start_ns < span->end_ns; i++) {
		const struct tp_span *inner = &spans->items[i];
		uint64_t from_ns = inner->start_ns > until_ns ? inner->start_ns : until_ns;
		uint64_t to_ns = inner->end_ns < span->end_ns ? inner->end_ns : span->end_ns;
		if (to_ns <= from_ns)
			continue;
		covered_ns += to_ns - from_ns;
		until_ns = to_ns;
		if (covered_ns * 2 > length_ns)
			return 0;
	}
	return length_ns - covered_ns;
}

/* Finds calls of at least a millisecond that take many times as long as others of their name, or
 * have no other: they load modules, create contexts or initialize libraries. */
static void find_cold(struct tp_rank_analysis *analysis, const struct tp_rank_work *rank,
		      struct tp_intervals *out)
{
	struct name_times *times = tp_alloc((analysis->trace->n_strings + 1) * sizeof(*times));
	const struct tp_track_spans *spans = &analysis->trace->spans[rank->main];
	for (size_t i = 0; i < spans->n; i++) {
		if (!may_be_cold(analysis, &spans->items[i]))
			continue;
		times[spans->items[i].name].sum_ns +=
			spans->items[i].end_ns - spans->items[i].start_ns;
		times[spans->items[i].name].n++;
	}
	for (size_t i = 0; i < spans->n; i++) {
		const struct tp_span *span = &spans->items[i];
		uint64_t length_ns = span->end_ns - span->start_ns;
		const struct name_times *of = &times[span->name];
		if (length_ns < TP_COLD_CALL_NS || !may_be_cold(analysis, span))
			continue;
		double others_ns =
			of->n > 1 ? (double)(of->sum_ns - length_ns) / (double)(of->n - 1) : 0;
		/* Code is loaded once. A compilation inside the steps of a program that repeats it
		 * is not a start-up cost. */
		if (!analysis->profile->is_of_steps &&
		    tp_rank_sense(analysis, span) == TP_SENSE_COMPILE)
			others_ns = 0;
		if ((double)length_ns >= TP_COLD_CALL_TIMES * others_ns && own_time(spans, i))
			tp_intervals_add(out, span->start_ns, span->end_ns);
	}
	tp_intervals_merge(out);
	free(times);
}

/* Part of the device's judged time, without the time that is hidden by its own work. */
static double cold_in_windows(const struct tp_device_work *device, const struct tp_intervals *cold)
{
	struct tp_intervals busy = {0};
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < device->n_ops; i++)
		tp_intervals_add(&busy, device->ops[i].start_ns, device->ops[i].end_ns);
	tp_intervals_merge(&busy);
	for (size_t w = device->from; w < device->to; w++)
		for (size_t i = 0; i < cold->n; i++) {
			const struct tp_interval *window = &device->windows[w];
			uint64_t from = cold->items[i].start_ns > window->start_ns
						? cold->items[i].start_ns
						: window->start_ns;
			uint64_t to = cold->items[i].end_ns < window->end_ns ? cold->items[i].end_ns
									     : window->end_ns;
			if (to > from)
				sum_ns += to - from - tp_intervals_covered(&busy, from, to);
		}
	free(busy.items);
	return (double)sum_ns;
}

static void set_cold(struct tp_rank_analysis *analysis)
{
	double cold_ns = 0;
	double window_ns = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		const struct tp_rank_work *rank = &analysis->ranks[device->rank];
		struct tp_intervals cold = {0};
		if (rank->main != TP_NO_TASK && device->number != TP_TRACK_THREAD)
			find_cold(analysis, rank, &cold);
		/* Many slow calls are not a few first ones. */
		if (cold.n <= TP_COLD_CALLS_MAX)
			cold_ns += cold_in_windows(device, &cold);
		for (size_t w = device->from; w < device->to; w++)
			window_ns +=
				(double)(device->windows[w].end_ns - device->windows[w].start_ns);
		free(cold.items);
	}
	if (window_ns > 0)
		set(analysis->profile, TP_FACT_TRACE_COLD, cold_ns / window_ns);
	else
		tp_profile_set_missing(analysis->profile, TP_FACT_TRACE_COLD,
				       "nothing of the trace was judged");
}

/* ---- amount of judged work ---- */

static size_t ops_judged(struct tp_rank_analysis *analysis)
{
	size_t n = 0;
	for (size_t d = 0; d < analysis->n_devices; d++) {
		const struct tp_device_work *device = &analysis->devices[d];
		for (size_t i = 0; i < device->n_ops; i++)
			n += tp_op_is_in_window(device, &device->ops[i]);
	}
	return n;
}

void tp_capture_facts_set(struct tp_rank_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	const char *why = NULL;
	struct thread_counts all = {0};
	size_t n_ops = 0;
	for (uint32_t i = 0; i < analysis->n_ranks; i++) {
		struct thread_counts counts = count_rank(analysis, &analysis->ranks[i]);
		if (!why)
			why = how_lost(analysis, i, &counts, &profile->arena);
		all.n_operators += counts.n_operators;
		all.n_calls += counts.n_calls;
		all.n_ranges += counts.n_ranges;
		all.n_python += counts.n_python;
		n_ops += device_ops_of(analysis, i);
	}
	bool is_only_ranges = all.n_ranges && !all.n_operators && !all.n_calls && !all.n_python &&
			      !n_ops && !profile->trace->n_tasks;
	set(profile, TP_FACT_TRACE_DEVICE_LOST, why != NULL);
	set(profile, TP_FACT_TRACE_ONLY_RANGES, is_only_ranges);
	set(profile, TP_FACT_TRACE_JUDGED_OPS,
	    n_ops ? (double)ops_judged(analysis)
		  : (double)(all.n_operators + all.n_calls + all.n_ranges + all.n_python));
	set_cold(analysis);
	rule_out_unknown(profile, &all, n_ops);
	if (why)
		warn_lost(profile, why);
}
