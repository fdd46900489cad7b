/* SPDX-License-Identifier: Apache-2.0 */
/* Finds intervals between calls, and between bursts of calls, that are about equal. */
#include "call_period.h"

#include <math.h>
#include <stdlib.h>

/* Minimum share of the intervals between rounds, of their time, and of bursts of the usual size. */
static const double regular_share = 0.75;
static const double alike = 0.5;
/* The shortest pause between two bursts is at least this many times the longest within one. */
static const double pause_factor = 4;

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Lists the intervals between times, ascending. Returns their number. */
static size_t sorted_gaps(uint64_t *gaps, const uint64_t *times_ns, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		gaps[i] = times_ns[i + 1] - times_ns[i];
	if (n < 2)
		return 0;
	qsort(gaps, n - 1, sizeof(*gaps), compare_times);
	return n - 1;
}

/* Sets is_regular and rate_hz for rounds that begin at these times. */
static void judge(struct tp_call_period *out, const uint64_t *times_ns, size_t n)
{
	uint64_t gaps[TP_PERIOD_CALLS_MAX];
	size_t n_gaps = sorted_gaps(gaps, times_ns, n);
	if (n < TP_PERIOD_CALLS_MIN)
		return;
	double all_ns = (double)(times_ns[n - 1] - times_ns[0]);
	out->rate_hz = all_ns > 0 ? (double)n_gaps * 1e9 / all_ns : 0;
	size_t middle = n_gaps / 2;
	double median = (double)gaps[middle];
	double alike_ns = 0;
	size_t n_alike = 0;
	for (size_t i = 0; i < n_gaps; i++) {
		double differs = (double)gaps[i] - median;
		bool is_alike = differs <= alike * median && -differs <= alike * median;
		n_alike += is_alike;
		alike_ns += is_alike ? (double)gaps[i] : 0;
	}
	out->is_regular = (double)n_alike >= regular_share * (double)n_gaps &&
			  alike_ns >= regular_share * all_ns;
}

/* Returns the border between pauses within bursts and between them, in the middle of their factor;
 * 0 if the intervals are not of two kinds, of which at most half are long. */
static uint64_t find_pause(const uint64_t *times_ns, size_t n)
{
	uint64_t gaps[TP_PERIOD_CALLS_MAX];
	size_t n_gaps = sorted_gaps(gaps, times_ns, n);
	for (size_t n_longer = TP_PERIOD_CALLS_MIN; 2 * n_longer <= n_gaps + 1; n_longer++) {
		double pause_ns = (double)gaps[n_gaps - n_longer];
		double within_ns = n_longer < n_gaps ? (double)gaps[n_gaps - n_longer - 1] : 0;
		if (within_ns > 0 && pause_ns >= pause_factor * within_ns)
			return (uint64_t)sqrt(pause_ns * within_ns);
	}
	return 0;
}

/* Lists the first calls of all whole bursts, and of the last one, and sets how long the longest one
 * lasts. Returns their number; 0 if the bursts have different numbers of calls. */
static size_t find_bursts(uint64_t *starts, uint64_t *longest_ns, const uint64_t *times_ns,
			  size_t n, uint64_t pause_ns)
{
	size_t sizes[TP_PERIOD_CALLS_MAX] = {0}; /* by burst */
	size_t n_of_size[TP_PERIOD_CALLS_MAX] = {0};
	size_t n_starts = 0;
	size_t most = 0;
	for (size_t i = 1; i < n; i++) {
		if (times_ns[i] - times_ns[i - 1] >= pause_ns)
			starts[n_starts++] = times_ns[i];
		if (n_starts == 0)
			continue;
		uint64_t burst_ns = times_ns[i] - starts[n_starts - 1];
		*longest_ns = burst_ns > *longest_ns ? burst_ns : *longest_ns;
		sizes[n_starts - 1]++;
	}
	for (size_t i = 0; i + 1 < n_starts; i++) {
		size_t n_alike = ++n_of_size[sizes[i]];
		most = n_alike > most ? n_alike : most;
	}
	bool is_alike = n_starts > 1 && (double)most >= regular_share * (double)(n_starts - 1);
	return is_alike ? n_starts : 0;
}

void tp_call_period_find(struct tp_call_period *out, const uint64_t *times_ns, size_t n)
{
	uint64_t starts[TP_PERIOD_CALLS_MAX];
	struct tp_call_period bursts = {0};
	n = n < TP_PERIOD_CALLS_MAX ? n : TP_PERIOD_CALLS_MAX;
	*out = (struct tp_call_period){0};
	judge(out, times_ns, n);
	if (out->is_regular)
		return;
	uint64_t pause_ns = find_pause(times_ns, n);
	if (pause_ns == 0)
		return;
	uint64_t longest_ns = 0;
	size_t n_starts = find_bursts(starts, &longest_ns, times_ns, n, pause_ns);
	judge(&bursts, starts, n_starts);
	if (!bursts.is_regular)
		return;
	*out = bursts;
	out->pause_ns = pause_ns;
	out->burst_ns = longest_ns;
}

bool tp_call_period_begins_round(const struct tp_call_period *period, uint64_t last_ns,
				 uint64_t time_ns)
{
	return period->pause_ns == 0 || (last_ns > 0 && time_ns - last_ns >= period->pause_ns);
}
