/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers intervals of a live view, and notices when the program behaves otherwise. */
#include "trainprof/report/live_history.h"

#include "trainprof/model/gate_thresholds.h"
#include "trainprof/model/part.h"
#include "trainprof/report/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MEDIAN_MAX = 30, /* intervals of the median */
	MEDIAN_MIN = 5,  /* fewer are too few to compare with */
};

static struct tp_live_interval describe(const struct tp_profile *profile)
{
	struct tp_live_interval interval = {.limiter = profile->total_ns ? profile->limiter
									 : TP_N_PARTS};
	if (profile->is_of_steps && profile->step_time.n) {
		interval.step_ns = profile->step_time.mean;
		interval.step_max_ns = profile->step_time.max;
	}
	return interval;
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Returns the median step time of the last intervals; 0 if one of the last few had no step. */
static double median_step_ns(const struct tp_live_history *history)
{
	double times[MEDIAN_MAX];
	size_t n = 0;
	for (size_t i = history->n; i > 0 && n < MEDIAN_MAX; i--) {
		if (history->items[i - 1].step_ns <= 0)
			break;
		times[n++] = history->items[i - 1].step_ns;
	}
	if (n < MEDIAN_MIN)
		return 0;
	qsort(times, n, sizeof(*times), compare_times);
	return times[n / 2];
}

static void set_alarm(struct tp_live_history *history, const char *clock, const char *text)
{
	/* Several at once: the first is the cause of the others more often than not. */
	if (history->is_new)
		return;
	snprintf(history->alarm, sizeof(history->alarm), "%.15s  %.140s", clock, text);
	history->is_new = true;
}

static void check_limit(struct tp_live_history *history, const struct tp_profile *profile,
			const char *clock)
{
	char text[TP_LIVE_ALARM_SIZE];
	enum tp_part now = profile->limiter;
	if (!profile->total_ns || now == TP_N_PARTS)
		return;
	double total = (double)profile->total_ns;
	double ratio = (double)profile->parts[now].time_ns / total;
	double before = (double)profile->parts[history->limiter].time_ns / total;
	if (history->has_limiter && (now == history->limiter || ratio < before + TP_LIVE_LIMIT_MIN))
		return;
	if (history->has_limiter) {
		snprintf(text, sizeof(text), "%s is the limit now, %s; before it was %s.",
			 tp_part_name(now), tp_unit_percent(ratio).text,
			 tp_part_name(history->limiter));
		set_alarm(history, clock, text);
	}
	history->has_limiter = true;
	history->limiter = now;
}

static void check_steps(struct tp_live_history *history, const struct tp_live_interval *now,
			const char *clock)
{
	char text[TP_LIVE_ALARM_SIZE];
	double median_ns = median_step_ns(history);
	bool is_stalled =
		history->is_stalled ? now->step_ns <= 0 : median_ns > 0 && now->step_ns <= 0;
	if (is_stalled && !history->is_stalled)
		snprintf(text, sizeof(text), "No step was seen; before, one took %s.",
			 tp_unit_time(median_ns).text);
	else if (history->is_stalled && !is_stalled)
		snprintf(text, sizeof(text), "Steps are seen again, %s each.",
			 tp_unit_time(now->step_ns).text);
	if (is_stalled != history->is_stalled)
		set_alarm(history, clock, text);
	history->is_stalled = is_stalled;
	if (median_ns <= 0 || now->step_ns <= 0)
		return;
	bool is_slow = now->step_ns >= TP_LIVE_SLOW_MIN * median_ns;
	if (is_slow && !history->is_slow) {
		struct tp_unit_text slow = tp_unit_time(now->step_ns);
		snprintf(text, sizeof(text), "Steps are slower: %s, before %s.", slow.text,
			 tp_unit_time(median_ns).text);
		set_alarm(history, clock, text);
	}
	history->is_slow = is_slow;
}

void tp_live_history_add(struct tp_live_history *history, const struct tp_profile *profile,
			 const char *clock)
{
	const struct tp_live_interval now = describe(profile);
	history->is_new = false;
	check_limit(history, profile, clock);
	check_steps(history, &now, clock);
	if (history->n == TP_LIVE_INTERVALS_MAX) {
		history->n--;
		memmove(history->items, history->items + 1, history->n * sizeof(*history->items));
	}
	history->items[history->n++] = now;
}
