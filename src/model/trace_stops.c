/* SPDX-License-Identifier: Apache-2.0 */
/* Removes from a trace the time in which the program or trainprof was stopped. The result is the
 * program as if it had not been stopped, so that no analysis pass has to handle stops. */
#include "trace_stops.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>
#include <string.h>

/* A stop is detected by reading /proc now and then. Switch records show exactly when the last
 * thread left its CPU and when the first one returned, if that is at most this far away. */
#define EDGE_MAX_NS (TP_NS_PER_S / 2)
/* A stopped process with less than this part of the program's CPU time has little effect on the
 * program. */
#define PARTS_OF_CPU_TIME 10

struct stretch {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t before_ns;     /* time left out before its start */
	enum tp_stop_kind kind; /* if stops overlap: the kind that comes first in TP_STOP_MAP */
};

struct stretches {
	struct stretch *items; /* heap; sorted, without overlaps */
	size_t n;
};

/* ---- which stops count ----------------------------------------------------------------------- */

static uint64_t cpu_ns_of(const struct tp_trace *trace, size_t task)
{
	const struct tp_task *of = &trace->tasks[task];
	uint64_t account_ns = of->tid == of->pid ? of->utime_ns + of->stime_ns : 0;
	uint64_t runs_ns = 0;
	for (size_t i = trace->run_index[task]; i < trace->run_index[task + 1]; i++)
		runs_ns += trace->runs[i].end_ns - trace->runs[i].start_ns;
	return account_ns > runs_ns ? account_ns : runs_ns;
}

static bool is_busy_process(const struct tp_trace *trace, pid_t pid)
{
	uint64_t of_all_ns = 0;
	uint64_t of_process_ns = 0;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		uint64_t ns = cpu_ns_of(trace, i);
		of_all_ns += ns;
		of_process_ns += trace->tasks[i].pid == pid ? ns : 0;
	}
	return of_process_ns >= of_all_ns / PARTS_OF_CPU_TIME;
}

/* A stopped process does not run: it was not stopped before the end of its last run, nor after the
 * start of its next one. */
static void move_edges(const struct tp_trace *trace, pid_t pid, uint64_t *start_ns,
		       uint64_t *end_ns)
{
	uint64_t first_ns = 0;
	uint64_t last_ns = UINT64_MAX;
	for (size_t task = 0; task < trace->n_tasks; task++) {
		if (trace->tasks[task].pid != pid)
			continue;
		for (size_t i = trace->run_index[task]; i < trace->run_index[task + 1]; i++) {
			const struct tp_run *run = &trace->runs[i];
			if (run->end_ns <= *start_ns && run->end_ns > first_ns)
				first_ns = run->end_ns;
			if (run->start_ns >= *end_ns && run->start_ns < last_ns)
				last_ns = run->start_ns;
		}
	}
	if (first_ns && *start_ns - first_ns <= EDGE_MAX_NS)
		*start_ns = first_ns;
	if (last_ns != UINT64_MAX && last_ns - *end_ns <= EDGE_MAX_NS)
		*end_ns = last_ns;
}

/* Moves the gaps that are stops from trace->gaps to trace->stops, with their own times. */
static void split_gaps(struct tp_trace *trace)
{
	size_t kept = 0;
	trace->stops = tp_arena_array(&trace->arena, trace->n_gaps, sizeof(*trace->stops));
	for (size_t i = 0; i < trace->n_gaps; i++) {
		const struct tp_gap gap = trace->gaps[i];
		struct tp_stopped_time stop;
		if (strcmp(tp_trace_string(trace, gap.source), TP_STOP_SOURCE) != 0 ||
		    !tp_stop_parse(&stop, tp_trace_string(trace, gap.reason)) ||
		    gap.end_ns < gap.start_ns) {
			trace->gaps[kept++] = gap;
			continue;
		}
		stop.n_lost = gap.n_lost;
		uint64_t end_ns = gap.end_ns < trace->end_ns ? gap.end_ns : trace->end_ns;
		stop.start_ns = gap.start_ns < end_ns ? gap.start_ns : end_ns;
		if (stop.kind != TP_STOP_SUSPENDED)
			stop.length_ns = end_ns - stop.start_ns;
		trace->stops[trace->n_stops++] = stop;
	}
	trace->n_gaps = kept;
}

/* A long stop is recorded in pieces, so that a crash keeps most of it. */
static void join_parts(struct tp_trace *trace)
{
	size_t n = 0;
	for (size_t i = 0; i < trace->n_stops; i++) {
		const struct tp_stopped_time next = trace->stops[i];
		size_t k = next.kind == TP_STOP_SUSPENDED ? 0 : n;
		while (k > 0 && (trace->stops[k - 1].pid != next.pid ||
				 trace->stops[k - 1].kind != next.kind))
			k--;
		struct tp_stopped_time *before = k ? &trace->stops[k - 1] : NULL;
		if (before && before->start_ns + before->length_ns == next.start_ns) {
			before->length_ns += next.length_ns;
			before->n_lost += next.n_lost;
		} else {
			trace->stops[n++] = next;
		}
	}
	trace->n_stops = n;
}

static int interval_order(const void *a, const void *b)
{
	const struct stretch *x = a;
	const struct stretch *y = b;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void merge(struct stretches *stretches)
{
	size_t n = 0;
	qsort(stretches->items, stretches->n, sizeof(*stretches->items), interval_order);
	for (size_t i = 0; i < stretches->n; i++) {
		const struct stretch next = stretches->items[i];
		struct stretch *last = n ? &stretches->items[n - 1] : NULL;
		if (!last || next.start_ns > last->end_ns) {
			stretches->items[n++] = next;
			continue;
		}
		if (next.kind < last->kind)
			last->kind = next.kind;
		if (next.end_ns > last->end_ns)
			last->end_ns = next.end_ns;
	}
	stretches->n = n;
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < n; i++) {
		stretches->items[i].before_ns = sum_ns;
		sum_ns += stretches->items[i].end_ns - stretches->items[i].start_ns;
	}
}

static struct stretches find_intervals(struct tp_trace *trace)
{
	struct stretches found = {.items = tp_alloc((trace->n_stops + 1) * sizeof(*found.items))};
	for (size_t i = 0; i < trace->n_stops; i++) {
		struct tp_stopped_time *stop = &trace->stops[i];
		uint64_t end_ns = stop->start_ns + stop->length_ns;
		stop->is_left_out = !stop->pid || is_busy_process(trace, stop->pid);
		if (!stop->is_left_out || stop->kind == TP_STOP_SUSPENDED)
			continue;
		if (stop->pid)
			move_edges(trace, stop->pid, &stop->start_ns, &end_ns);
		stop->length_ns = end_ns - stop->start_ns;
		if (stop->length_ns)
			found.items[found.n++] = (struct stretch){
				.start_ns = stop->start_ns,
				.end_ns = end_ns,
				.kind = stop->kind,
			};
	}
	merge(&found);
	return found;
}

static int timed_gap_order(const void *a, const void *b)
{
	const struct tp_timed_gap *x = a;
	const struct tp_timed_gap *y = b;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Keeps the times that the clock showed, for reports of what happened when. */
static void list_timed_gaps(struct tp_trace *trace)
{
	size_t n = 0;
	struct tp_timed_gap *items =
		tp_arena_array(&trace->arena, trace->n_gaps + trace->n_stops, sizeof(*items));
	for (size_t i = 0; i < trace->n_gaps; i++) {
		const struct tp_gap *gap = &trace->gaps[i];
		uint64_t last_ns = gap->start_ns > trace->end_ns ? gap->start_ns : trace->end_ns;
		items[n++] = (struct tp_timed_gap){
			.source = tp_trace_string(trace, gap->source),
			.reason = tp_trace_string(trace, gap->reason),
			.start_ns = gap->start_ns,
			.end_ns = gap->end_ns < last_ns ? gap->end_ns : last_ns,
			.n_lost = gap->n_lost,
		};
	}
	for (size_t i = 0; i < trace->n_stops; i++) {
		const struct tp_stopped_time *stop = &trace->stops[i];
		items[n++] = (struct tp_timed_gap){
			.source = TP_STOP_SOURCE,
			.reason = tp_stop_kind_text(stop->kind),
			.pid = stop->pid,
			.start_ns = stop->start_ns,
			.end_ns = stop->start_ns + stop->length_ns,
			.n_lost = stop->n_lost,
		};
	}
	qsort(items, n, sizeof(*items), timed_gap_order);
	trace->timed_gaps = items;
	trace->n_timed_gaps = n;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Returns the last stretch that begins before the time; NULL = none. */
static const struct stretch *interval_before(const struct stretches *stretches, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, stretches->n, stretches->items[at].start_ns >= time_ns);
	return at ? &stretches->items[at - 1] : NULL;
}

static uint64_t moved(const struct stretches *stretches, uint64_t time_ns)
{
	const struct stretch *before = interval_before(stretches, time_ns);
	if (!before || time_ns == UINT64_MAX)
		return time_ns;
	uint64_t until_ns = time_ns < before->end_ns ? time_ns : before->end_ns;
	return time_ns - before->before_ns - (until_ns - before->start_ns);
}

static bool is_left_out(const struct stretches *stretches, uint64_t time_ns)
{
	const struct stretch *before = interval_before(stretches, time_ns);
	return before && time_ns < before->end_ns;
}

static void move_tasks(struct tp_trace *trace, const struct stretches *stretches)
{
	for (size_t i = 0; i < trace->n_tasks; i++) {
		struct tp_task *task = &trace->tasks[i];
		task->start_ns = moved(stretches, task->start_ns);
		task->end_ns = moved(stretches, task->end_ns);
		task->exec_ns = moved(stretches, task->exec_ns);
	}
}

static void move_runs(struct tp_trace *trace, const struct stretches *stretches)
{
	size_t kept = 0;
	for (size_t i = 0; i < trace->n_runs; i++) {
		struct tp_run run = trace->runs[i];
		run.start_ns = moved(stretches, run.start_ns);
		run.end_ns = moved(stretches, run.end_ns);
		if (run.end_ns > run.start_ns || run.how == TP_RUN_OPEN)
			trace->runs[kept++] = run;
	}
	trace->n_runs = kept;
}

static size_t move_samples(struct tp_sample *samples, size_t n, const struct stretches *stretches)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_left_out(stretches, samples[i].time_ns))
			continue;
		samples[kept] = samples[i];
		samples[kept++].time_ns = moved(stretches, samples[i].time_ns);
	}
	return kept;
}

/* A step that ended during a stop is unknown and dropped; phases have to stay pairs. */
static void move_marks(struct tp_trace *trace, const struct stretches *stretches)
{
	size_t kept = 0;
	for (size_t i = 0; i < trace->n_marks; i++) {
		struct tp_mark mark = trace->marks[i];
		bool stays = mark.kind == TP_MARK_PHASE_BEGIN || mark.kind == TP_MARK_PHASE_END ||
			     mark.kind == TP_MARK_SETTING;
		if (!stays && is_left_out(stretches, mark.time_ns))
			continue;
		mark.time_ns = moved(stretches, mark.time_ns);
		trace->marks[kept++] = mark;
	}
	trace->n_marks = kept;
}

static void move_spans(struct tp_trace *trace, const struct stretches *stretches)
{
	for (size_t i = 0; i < trace->n_tracks; i++) {
		struct tp_track_spans *track = &trace->spans[i];
		size_t kept = 0;
		for (size_t k = 0; k < track->n; k++) {
			struct tp_span span = track->items[k];
			bool is_inside = is_left_out(stretches, span.start_ns) &&
					 is_left_out(stretches, span.end_ns);
			span.start_ns = moved(stretches, span.start_ns);
			span.end_ns = moved(stretches, span.end_ns);
			if (!is_inside || span.end_ns > span.start_ns)
				track->items[kept++] = span;
		}
		track->n = kept;
		tp_spans_sort(track->items, kept);
	}
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Returns the growth of the counter in the stretch. The program's own counters do not grow while it
 * is stopped. */
static double growth_in(const struct tp_trace *trace, const struct tp_gauge *of,
			const struct stretch *stretch)
{
	enum tp_metric_subject subject = tp_metric_desc(of->metric)->subject;
	double growth = 0;
	if (tp_stop_is_of_program(stretch->kind) &&
	    (subject == TP_METRIC_OF_TASK || subject == TP_METRIC_OF_PROCESS))
		return 0;
	(void)tp_trace_counter_delta(trace, of->metric, of->task, stretch->start_ns,
				     stretch->end_ns, &growth);
	return growth;
}

/* Readings of one metric and task: [first, end). `values` gets their new values. */
static void subtract_growth(const struct tp_trace *trace, size_t first, size_t end,
			    const struct stretches *stretches, double *values)
{
	double taken = 0;
	size_t next = 0;
	for (size_t i = first; i < end; i++) {
		const struct tp_gauge *reading = &trace->gauges[i];
		for (; next < stretches->n && stretches->items[next].end_ns <= reading->time_ns;
		     next++)
			taken += growth_in(trace, reading, &stretches->items[next]);
		values[i] = reading->value - taken;
	}
}

static bool is_counter(const struct tp_gauge *gauge)
{
	return tp_metric_desc(gauge->metric)->kind == TP_METRIC_KIND_COUNTER;
}

static void move_gauges(struct tp_trace *trace, const struct stretches *stretches)
{
	double *values = tp_alloc((trace->n_gauges + 1) * sizeof(*values));
	size_t kept = 0;
	for (size_t first = 0; first < trace->n_gauges;) {
		const struct tp_gauge *of = &trace->gauges[first];
		size_t end = first;
		for (; end < trace->n_gauges && trace->gauges[end].metric == of->metric &&
		       trace->gauges[end].task == of->task;
		     end++)
			values[end] = trace->gauges[end].value;
		if (is_counter(of))
			subtract_growth(trace, first, end, stretches, values);
		first = end;
	}
	for (size_t i = 0; i < trace->n_gauges; i++) {
		struct tp_gauge gauge = trace->gauges[i];
		if (is_left_out(stretches, gauge.time_ns))
			continue;
		gauge.value = values[i];
		gauge.time_ns = moved(stretches, gauge.time_ns);
		trace->gauges[kept++] = gauge;
	}
	trace->n_gauges = kept;
	free(values);
}

/* ---- all ------------------------------------------------------------------------------------- */

static uint64_t moved_of_clock(const struct tp_trace *trace, const struct stretches *stretches,
			       uint64_t time_ns)
{
	uint64_t zero = trace->run.started_ns;
	return time_ns > zero ? zero + moved(stretches, time_ns - zero) : time_ns;
}

static void move_run_info(struct tp_trace *trace, const struct stretches *stretches)
{
	struct tp_run_info *run = &trace->run;
	run->ended_ns = moved_of_clock(trace, stretches, run->ended_ns);
	run->measure_from_ns = moved_of_clock(trace, stretches, run->measure_from_ns);
	run->measure_until_ns = moved_of_clock(trace, stretches, run->measure_until_ns);
	trace->end_ns = moved(stretches, trace->end_ns);
}

static void move_gaps(struct tp_trace *trace, const struct stretches *stretches)
{
	for (size_t i = 0; i < trace->n_gaps; i++) {
		trace->gaps[i].start_ns = moved(stretches, trace->gaps[i].start_ns);
		trace->gaps[i].end_ns = moved(stretches, trace->gaps[i].end_ns);
	}
	for (size_t i = 0; i < trace->n_stops; i++)
		trace->stops[i].start_ns = moved(stretches, trace->stops[i].start_ns);
}

static void sum_up(struct tp_trace *trace, const struct stretches *stretches)
{
	for (size_t i = 0; i < stretches->n; i++)
		trace->left_out_ns[stretches->items[i].kind] +=
			stretches->items[i].end_ns - stretches->items[i].start_ns;
	for (size_t i = 0; i < trace->n_stops; i++)
		if (trace->stops[i].kind == TP_STOP_SUSPENDED)
			trace->left_out_ns[TP_STOP_SUSPENDED] += trace->stops[i].length_ns;
}

void tp_trace_stops_leave_out(struct tp_trace *trace)
{
	split_gaps(trace);
	join_parts(trace);
	struct stretches stretches = find_intervals(trace);
	list_timed_gaps(trace);
	if (stretches.n) {
		move_gauges(trace, &stretches);
		move_tasks(trace, &stretches);
		move_runs(trace, &stretches);
		trace->n_samples = move_samples(trace->samples, trace->n_samples, &stretches);
		trace->n_leavings = move_samples(trace->leavings, trace->n_leavings, &stretches);
		move_marks(trace, &stretches);
		move_spans(trace, &stretches);
		move_gaps(trace, &stretches);
		move_run_info(trace, &stretches);
	}
	sum_up(trace, &stretches);
	free(stretches.items);
}
