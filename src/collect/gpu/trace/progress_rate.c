/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what recurs in each step of the target. */
#include "progress_rate.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 2048 }; /* 20 s of points at their highest rate */

/* Faster series are thinned out: a point holds the count reached, so nothing is lost. */
#define POINT_PERIOD_NS (10 * TP_NS_PER_MS)
/* Longest time between two GPM readings that belong together. */
#define READING_PERIOD_NS (3 * TP_NS_PER_S / 2)

/* Evaluations, checkpoints and compilation at the beginning do not measure the speed. */
static const double OUTLIER_RATIO = 2;
enum { OUTLIER_COUNT_MIN = 5 };

const char *tp_progress_name(enum tp_progress_kind kind)
{
	static const char *const names[TP_N_PROGRESS_KINDS] = {
		[TP_PROGRESS_STEPS] = "its steps",
		[TP_PROGRESS_RANGES] = "its NVTX ranges",
		[TP_PROGRESS_COUNTER] = "a counter of its loop",
		[TP_PROGRESS_TRAFFIC] = "the traffic of GPU memory",
	};
	return names[kind];
}

void tp_progress_release(struct tp_progress *progress)
{
	for (size_t i = 0; i < progress->n; i++)
		free(progress->series[i].points);
	*progress = (struct tp_progress){0};
}

/* ---- input ---------------------------------------------------------------------------------- */

static struct tp_progress_series *series_of(struct tp_progress *progress,
					    enum tp_progress_kind kind, uint64_t key)
{
	size_t n_alike = 0;
	for (size_t i = 0; i < progress->n; i++) {
		if (progress->series[i].kind != kind)
			continue;
		if (progress->series[i].key == key)
			return &progress->series[i];
		n_alike++;
	}
	if (n_alike == TP_PROGRESS_SERIES / TP_N_PROGRESS_KINDS)
		return NULL;
	struct tp_progress_series *series = &progress->series[progress->n++];
	*series = (struct tp_progress_series){.kind = kind, .key = key, .last_value = NAN};
	series->points = tp_alloc(POINTS_MAX * sizeof(*series->points));
	return series;
}

static const struct tp_progress_point *point_at(const struct tp_progress_series *series, size_t i)
{
	return &series->points[i % POINTS_MAX];
}

static size_t oldest(const struct tp_progress_series *series)
{
	return series->n > POINTS_MAX ? series->n - POINTS_MAX : 0;
}

static void add_point(struct tp_progress_series *series, uint64_t time_ns, double growth)
{
	series->count += growth;
	series->last_ns = time_ns;
	if (series->n && time_ns < point_at(series, series->n - 1)->time_ns + POINT_PERIOD_NS)
		return;
	series->points[series->n++ % POINTS_MAX] =
		(struct tp_progress_point){.time_ns = time_ns, .count = series->count};
}

static void add_mark(struct tp_progress *progress, const struct tp_mark *mark)
{
	struct tp_progress_series *series = NULL;
	if (mark->kind == TP_MARK_STEP)
		series = series_of(progress, TP_PROGRESS_STEPS, mark->task);
	else if (mark->kind == TP_MARK_COUNTER)
		series = series_of(progress, TP_PROGRESS_COUNTER,
				   (uint64_t)mark->task << 32 | mark->name);
	if (!series)
		return;
	double growth = 1;
	/* A loop that restarted has progressed too, but by an unknown amount. */
	if (mark->kind == TP_MARK_COUNTER) {
		growth = (double)mark->value - series->last_value;
		series->last_value = (double)mark->value;
	}
	add_point(series, mark->time_ns, growth > 0 ? growth : 0);
}

void tp_progress_add_range(struct tp_progress *progress, const char *name, uint32_t track,
			   uint64_t end_ns)
{
	size_t length = strlen(name);
	while (length && isdigit((unsigned char)name[length - 1]))
		length--;
	uint64_t key = tp_hash_mix(tp_hash_bytes(name, length), track);
	struct tp_progress_series *series = series_of(progress, TP_PROGRESS_RANGES, key);
	if (series)
		add_point(series, end_ns, 1);
}

static void add_traffic(struct tp_progress *progress, const struct tp_gauge *gauge)
{
	struct tp_progress_series *series = series_of(progress, TP_PROGRESS_TRAFFIC, gauge->task);
	if (!series)
		return;
	uint64_t since_ns = gauge->time_ns - series->last_ns;
	bool is_next = series->n && since_ns < READING_PERIOD_NS;
	add_point(series, gauge->time_ns, is_next ? gauge->value * (double)since_ns * 1e-9 : 0);
}

void tp_progress_add_record(struct tp_progress *progress, const struct tp_record *record)
{
	if (record->kind == TP_RECORD_MARK)
		add_mark(progress, &record->of.mark);
	else if (record->kind == TP_RECORD_GAUGE && record->of.gauge.metric == TP_METRIC_GPU_DRAM)
		add_traffic(progress, &record->of.gauge);
}

/* ---- queries -------------------------------------------------------------------------------- */

/* Returns the first point at or after that time; series->n if there is none. */
static size_t first_from(const struct tp_progress_series *series, uint64_t time_ns)
{
	size_t first;
	TP_FIND_FIRST(first, oldest(series), series->n,
		      point_at(series, first)->time_ns >= time_ns);
	return first;
}

/* An interval between two points in which the count grew. */
struct interval {
	double count;
	double time_ns;
};

static size_t intervals_of(const struct tp_progress_series *series, size_t first, size_t last,
			   struct interval *out)
{
	size_t n = 0;
	size_t before = first;
	for (size_t i = first + 1; i <= last; i++) {
		const struct tp_progress_point *from = point_at(series, before);
		const struct tp_progress_point *to = point_at(series, i);
		if (to->count <= from->count)
			continue;
		out[n++] = (struct interval){.count = to->count - from->count,
					     .time_ns = (double)(to->time_ns - from->time_ns)};
		before = i;
	}
	return n;
}

static double interval_rate(const struct interval *interval)
{
	return interval->time_ns / interval->count;
}

static int compare_intervals(const void *a, const void *b)
{
	double x = interval_rate(a);
	double y = interval_rate(b);
	return (x > y) - (x < y);
}

/* Intervals of several counts vary less than single ones. */
static void describe(const struct interval *stretches, size_t n, struct tp_progress_rate *out)
{
	double time_ns = 0;
	double squares = 0;
	for (size_t i = 0; i < n; i++) {
		out->n += stretches[i].count;
		time_ns += stretches[i].time_ns;
	}
	out->count_ns = time_ns / out->n;
	for (size_t i = 0; i < n; i++) {
		double off_ns = interval_rate(&stretches[i]) - out->count_ns;
		squares += stretches[i].count * off_ns * off_ns;
	}
	if (n > 1)
		out->spread_ratio = sqrt(squares / (double)(n - 1)) / out->count_ns;
}

/* Measures between points [first, last]. */
static bool measure(const struct tp_progress_series *series, size_t first, size_t last,
		    bool is_usual, struct tp_progress_rate *out)
{
	struct interval *stretches = tp_alloc((last - first + 1) * sizeof(*stretches));
	size_t n = intervals_of(series, first, last, stretches);
	*out = (struct tp_progress_rate){.from_ns = point_at(series, first)->time_ns,
					 .to_ns = point_at(series, last)->time_ns};
	if (n && is_usual && n >= OUTLIER_COUNT_MIN) {
		qsort(stretches, n, sizeof(*stretches), compare_intervals);
		double most_ns = OUTLIER_RATIO * interval_rate(&stretches[n / 2]);
		while (interval_rate(&stretches[n - 1]) > most_ns)
			n--;
	}
	if (n)
		describe(stretches, n, out);
	free(stretches);
	return n > 0;
}

bool tp_progress_typical_rate(const struct tp_progress_series *series, uint64_t from_ns,
			      uint64_t to_ns, struct tp_progress_rate *out)
{
	size_t first = first_from(series, from_ns);
	size_t end = first_from(series, to_ns + 1);
	return end >= first + 3 && measure(series, first, end - 1, true, out);
}

bool tp_progress_total_rate(const struct tp_progress_series *series, uint64_t from_ns,
			    uint64_t to_ns, struct tp_progress_rate *out)
{
	size_t first = first_from(series, from_ns + 1);
	size_t last = first_from(series, to_ns);
	return first > oldest(series) && last < series->n &&
	       measure(series, first - 1, last, false, out);
}

const struct tp_progress_series *tp_progress_steps(const struct tp_progress *progress)
{
	const struct tp_progress_series *found = NULL;
	for (size_t i = 0; i < progress->n; i++)
		if (progress->series[i].kind == TP_PROGRESS_STEPS &&
		    (!found || progress->series[i].count > found->count))
			found = &progress->series[i];
	return found;
}
