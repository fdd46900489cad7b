/* SPDX-License-Identifier: Apache-2.0 */
/* Infers a border between rounds for each increment of a counter, the rounds that were not read,
 * and how many more there may have been. */
#include "counter_rounds.h"

#include "counter_growth.h"
#include "cpu_clock.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

/* The known lengths of rounds while borders are searched. */
struct round_lengths {
	double period_ns;       /* usual length; 0 = not known, and nothing is inferred */
	double first_ns;        /* usual length of the first rounds; batches may grow later */
	double shortest_ns;     /* minimal length of a round that was not read */
	double shortest_cpu_ns; /* the same as CPU time; 0 = rounds hardly use a CPU */
	const struct tp_cpu_clock *clock;
	bool is_length_known; /* of epochs whose iterator does not report it */
	bool is_complete;     /* loops of this counter reached their total more than once */
};

/* Returns the value in the first round: for a variable the lowest value that was read. */
static uint64_t find_first_value(const struct tp_counter_series *series)
{
	uint64_t lowest = UINT64_MAX;
	for (size_t i = 0; i < series->n; i++)
		lowest = series->readings[i].value < lowest ? series->readings[i].value : lowest;
	return series->is_iterator && lowest <= TP_COUNTER_GROWTH_MAX ? 1 : lowest;
}

static bool is_restart(const struct tp_counter_series *series, size_t i)
{
	return i > 0 && series->readings[i].value < series->readings[i - 1].value;
}

static bool has_restart(const struct tp_counter_series *series)
{
	for (size_t i = 1; i < series->n; i++)
		if (is_restart(series, i))
			return true;
	return false;
}

/* Returns how many rounds began since the previous reading; counters restart with every epoch. A
 * counter whose first reading is a high value counts as one cut round. */
static uint64_t n_started(const struct tp_counter_series *series, size_t i)
{
	uint64_t first_value = series->first_value;
	uint64_t value = series->readings[i].value;
	if (i > 0 && tp_counter_series_is_growth(series, value, series->readings[i - 1].value))
		return value - series->readings[i - 1].value;
	if (i == 0)
		return value >= first_value;
	if (value < first_value)
		return 0; /* an iterator that has not returned anything yet */
	return tp_counter_series_is_growth(series, value, first_value) ? value - first_value + 1
								       : 0;
}

/* Returns the usual length of the first n_max rounds that were read, from those between the first
 * and the last reading of each period of growth; 0 = not known. */
static double find_period(const struct tp_counter_series *series, size_t n_max)
{
	double *lengths = tp_alloc((series->n + 1) * sizeof(*lengths));
	size_t n = 0;
	for (size_t i = 1; i < series->n && n < n_max; i++) {
		const struct tp_counter_reading *r = &series->readings[i];
		if (r->value > r[-1].value &&
		    tp_counter_series_is_growth(series, r->value, r[-1].value))
			lengths[n++] = (double)(r->time_ns - r[-1].time_ns) /
				       (double)(r->value - r[-1].value);
	}
	double period = n >= TP_LOOP_ROUNDS_MIN / 2 ? tp_stats_median(lengths, n) : 0;
	free(lengths);
	return period;
}

static double ns_between(const struct tp_cpu_clock *clock, uint64_t from_ns, uint64_t to_ns)
{
	return clock ? (double)(tp_cpu_clock_ns(clock, to_ns) - tp_cpu_clock_ns(clock, from_ns))
		     : (double)(to_ns - from_ns);
}

/* Returns the minimal length of a round, as CPU time if a clock is given. It is taken from the
 * shortest few rounds in a row, because readings show when a value was first read, so a single
 * round may look shorter than it was. */
static double find_min_length(const struct tp_counter_series *series, double period_ns,
			      const struct tp_cpu_clock *clock)
{
	double *lengths = tp_alloc((series->n + 1) * sizeof(*lengths));
	size_t n = 0;
	size_t first = 0;
	for (size_t i = 1; i < series->n; i++) {
		const struct tp_counter_reading *r = series->readings;
		if (!tp_counter_series_is_growth(series, r[i].value, r[i - 1].value))
			first = i;
		if (i - first >= TP_LOOP_ROUNDS_MIN)
			lengths[n++] =
				ns_between(clock, r[i - TP_LOOP_ROUNDS_MIN].time_ns, r[i].time_ns) /
				(double)(r[i].value - r[i - TP_LOOP_ROUNDS_MIN].value);
	}
	tp_stats_sort(lengths, n);
	double shortest_ns = TP_COUNTER_SHORT_MIN * (n > 0 ? lengths[0] : period_ns);
	free(lengths);
	return shortest_ns;
}

/* Returns true if this many rounds fit between two readings. */
static bool has_room(uint64_t n, double length_ns, uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns && (double)n * length_ns <= (double)(to_ns - from_ns);
}

struct border_list {
	uint64_t *items;
	size_t n;
	size_t capacity;
};

/* Adds n borders in the middle of n equal parts, each after the previous one. */
static void spread(struct border_list *out, uint64_t n, uint64_t from_ns, uint64_t to_ns)
{
	double between = to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
	for (uint64_t k = 0; k < n; k++) {
		uint64_t ns = from_ns + (uint64_t)(between * ((double)k + 0.5) / (double)n);
		if (out->n && ns <= out->items[out->n - 1])
			ns = out->items[out->n - 1] + 1;
		TP_ARRAY_PUSH(out->items, out->n, out->capacity) = ns;
	}
}

/* Returns the value in the first round of the program. */
static uint64_t first_round_value(const struct tp_counter_series *series)
{
	return series->is_iterator || series->is_down;
}

/* Returns how many rounds before the first reading its value implies, as far as they fit between
 * that reading and the last sample without the counter. A program that was attached to may have run
 * for long. */
static uint64_t n_before_first(const struct tp_counter_series *series,
			       const struct tp_analysis *analysis,
			       const struct round_lengths *lengths)
{
	const struct tp_counter_reading *r = &series->readings[0];
	uint64_t lowest = first_round_value(series);
	uint64_t n = r->value > lowest ? r->value - lowest : 0;
	bool began_here = r->before_ns > 0 || analysis->trace->run.mode != TP_MODE_ATTACH;
	return began_here && n <= TP_COUNTER_UNSEEN_MAX &&
			       has_room(n, TP_COUNTER_ROOM_MIN * lengths->first_ns, r->before_ns,
					r->time_ns)
		       ? n
		       : 0;
}

/* Epochs without a known end usually have equally many rounds: as many as the longest one. The last
 * one ends at the last reading. */
static void infer_totals(struct tp_counter_series *series)
{
	uint64_t longest = 0;
	for (size_t i = 1; i <= series->n; i++) {
		uint64_t value = series->readings[i - 1].value;
		if ((i < series->n && !is_restart(series, i)) || value < longest)
			continue;
		series->n_full = value == longest ? series->n_full + 1 : 1;
		longest = value;
	}
	for (size_t i = 0; has_restart(series) && i < series->n; i++)
		if (series->readings[i].total == 0) {
			series->readings[i].total = longest;
			series->readings[i].is_inferred = true;
		}
}

static double rounds_in(double ns, double shortest_ns)
{
	return shortest_ns > 0 ? floor(ns / shortest_ns) : 0;
}

/* Returns how many rounds may have passed without a reading, in addition to the n_counted ones. On
 * a busy machine a round takes longer than its work, and one that got a CPU at once is as quick as
 * that work. */
static size_t n_in_room(const struct round_lengths *lengths, uint64_t from_ns, uint64_t to_ns,
			uint64_t n_counted)
{
	if (to_ns <= from_ns)
		return 0;
	double n = rounds_in((double)(to_ns - from_ns), lengths->shortest_ns);
	if (lengths->shortest_cpu_ns > 0)
		n = fmax(n, rounds_in(ns_between(lengths->clock, from_ns, to_ns),
				      lengths->shortest_cpu_ns));
	return n > (double)n_counted ? (size_t)n - (size_t)n_counted : 0;
}

/* Returns the time until which rounds may have followed the last reading of a loop. */
static uint64_t tail_end_ns(const struct tp_counter_series *series, size_t i)
{
	const struct tp_counter_reading *r = &series->readings[i];
	return r->ended_ns ? r->ended_ns : i + 1 == series->n ? r->next_ns : r[1].time_ns;
}

/* Epochs whose last readings are equal reached their end for certain only if one of them had no
 * time for another round. */
static bool is_length_known(const struct tp_counter_series *series,
			    const struct round_lengths *lengths)
{
	for (size_t i = 0; series->n_full >= 2 && i < series->n; i++) {
		const struct tp_counter_reading *r = &series->readings[i];
		bool is_last = i + 1 == series->n || is_restart(series, i + 1);
		if (is_last && r->value == r->total &&
		    n_in_room(lengths, r->seen_ns, tail_end_ns(series, i), 0) == 0)
			return true;
	}
	return false;
}

/* Returns true if loops of this counter reached their total more than once. */
static bool reaches_total(const struct tp_counter_series *series)
{
	size_t n = 0;
	for (size_t i = 0; i < series->n; i++)
		n += series->readings[i].value == series->readings[i].total;
	return n >= 2;
}

static struct round_lengths find_lengths(const struct tp_counter_series *series, double period_ns,
					 const struct tp_cpu_clock *clock)
{
	/* The first rounds may also be longer than later ones, because they warm up. */
	double first_ns = fmin(find_period(series, TP_ROUND_NEIGHBOURS), period_ns);
	struct round_lengths lengths = {.period_ns = period_ns,
					.first_ns = first_ns,
					.shortest_ns = find_min_length(series, period_ns, NULL),
					.shortest_cpu_ns = find_min_length(series, 0, clock),
					.clock = clock,
					.is_complete = reaches_total(series)};
	if (lengths.shortest_cpu_ns < TP_COUNTER_WORK_MIN * lengths.shortest_ns)
		lengths.shortest_cpu_ns = 0;
	lengths.is_length_known = is_length_known(series, &lengths);
	return lengths;
}

/* Adds the rounds after the last reading before a restart or the end: the rest of the total, as far
 * as it fits before the next reading. A loop that restarted, and reaches its total elsewhere, also
 * did so here. The count is exact if the total is known and fits. */
static void add_tail(struct tp_counter_series *series, struct border_list *out, size_t i,
		     const struct round_lengths *lengths)
{
	const struct tp_counter_reading *r = &series->readings[i];
	bool is_end = i + 1 == series->n;
	uint64_t until_ns = tail_end_ns(series, i);
	uint64_t n_left = r->total > r->value ? r->total - r->value : 0;
	bool fits = n_left <= TP_COUNTER_UNSEEN_MAX &&
		    has_room(n_left, lengths->shortest_ns, r->seen_ns, until_ns);
	bool is_implied = lengths->is_complete && !is_end && n_left <= TP_COUNTER_UNSEEN_MAX;
	/* No sample showed that the loop had ended: the program ended, or reading failed. */
	bool is_open = is_end && !r->ended_ns && n_left > 0;
	uint64_t n = fits || is_implied ? n_left : 0;
	bool is_total_known = r->total > 0 && (!r->is_inferred || lengths->is_length_known);
	size_t n_hidden = n_in_room(lengths, r->seen_ns, until_ns, 0);
	uint64_t needed_ns = (uint64_t)((double)n * lengths->period_ns);
	uint64_t room_ns = until_ns > r->seen_ns ? until_ns - r->seen_ns : 0;
	spread(out, n, r->seen_ns, r->seen_ns + (needed_ns < room_ns ? needed_ns : room_ns));
	series->n_inferred += n;
	/* It may have been left by a break. */
	bool may_have_broken = is_open && n > 1;
	if (n_left > 0 && n == n_left && (!fits || !is_total_known || may_have_broken))
		series->n_unknown += n;
	else if (!is_total_known || n < n_left)
		series->n_unknown += n_left > 0 && n_left < n_hidden ? n_left
				     : is_open && n_hidden == 0      ? 1
								     : n_hidden;
}

/* Returns the lowest value at which the counter restarted. */
static uint64_t min_epoch(const struct tp_counter_series *series)
{
	uint64_t shortest = UINT64_MAX;
	for (size_t i = 1; i < series->n; i++)
		if (is_restart(series, i) && series->readings[i - 1].value < shortest)
			shortest = series->readings[i - 1].value;
	return shortest;
}

/* Adds the rounds that a whole epoch may have had between readings of which the second does not
 * show a restart: it is equal to the first, or higher. */
static void add_hidden_epochs(struct tp_counter_series *series, const struct round_lengths *lengths)
{
	uint64_t shortest_epoch = min_epoch(series);
	for (size_t i = 0; i < series->n; i++) {
		const struct tp_counter_reading *r = &series->readings[i];
		double n_equal = rounds_in((double)r->gap_ns, lengths->shortest_ns);
		if (n_equal >= (double)shortest_epoch)
			series->n_unknown += (size_t)n_equal;
		if (i == 0 || r->value <= r[-1].value)
			continue;
		uint64_t n_grown = r->value - r[-1].value;
		size_t n_more = n_in_room(lengths, r[-1].seen_ns, r->time_ns, n_grown);
		if (n_more >= shortest_epoch)
			series->n_unknown += n_more;
	}
}

/* Returns the rounds of a whole epoch before that reading; 0 = not known. */
static uint64_t epoch_length(const struct tp_counter_series *series, size_t i,
			     const struct round_lengths *lengths)
{
	const struct tp_counter_reading *r = &series->readings[i - 1];
	bool is_known = !r->is_inferred || lengths->is_length_known || series->n_full >= 2;
	return is_known && r->total >= series->first_value && series->n_restarts > 0
		       ? r->total - series->first_value + 1
		       : 0;
}

/* Returns the rounds of epochs that passed between two looks, so that neither shows them: those
 * that make the rounds between the looks as long as others are. They must have used the CPU as
 * others do: a wait between two epochs is none. */
static uint64_t n_in_hidden_epochs(const struct tp_counter_series *series, size_t i,
				   uint64_t n_counted, const struct round_lengths *lengths)
{
	const struct tp_counter_reading *r = &series->readings[i];
	uint64_t from_ns = r->before_ns > r[-1].seen_ns ? r->before_ns : r[-1].seen_ns;
	double epoch = (double)epoch_length(series, i, lengths);
	double cpu_period_ns =
		lengths->period_ns * lengths->shortest_cpu_ns / fmax(1, lengths->shortest_ns);
	if (!(epoch >= 2) || !(cpu_period_ns > 0) || r->time_ns <= from_ns)
		return 0;
	double n = fmin((double)(r->time_ns - from_ns) / lengths->period_ns,
			ns_between(lengths->clock, from_ns, r->time_ns) / cpu_period_ns);
	double n_epochs = floor((n - (double)n_counted) / epoch + 0.5);
	double off = fabs(n - (double)n_counted - n_epochs * epoch);
	return n_epochs >= 1 && off <= TP_COUNTER_EPOCH_OFF_MAX * n ? (uint64_t)(n_epochs * epoch)
								    : 0;
}

/* Returns the rounds since the start of recording that the first reading implies, including its
 * own. The start value of a variable or a range is known only if it was read at its beginning. */
static uint64_t count_first(struct tp_counter_series *series, const struct tp_analysis *analysis,
			    uint64_t n_own, const struct round_lengths *lengths)
{
	const struct tp_counter_reading *r = &series->readings[0];
	uint64_t n = n_before_first(series, analysis, lengths);
	uint64_t lowest = first_round_value(series);
	size_t n_hidden = n_in_room(lengths, r->before_ns, r->time_ns, n_own + n);
	series->n_inferred += n;
	if (analysis->trace->run.mode == TP_MODE_ATTACH)
		return n_own + n;
	/* It started at another value, or the look before it did not read it. */
	if (series->is_down || r->value != n + lowest)
		series->n_unknown += n_hidden > 0 || series->is_down ? n_hidden : 1;
	else if (n_hidden >= min_epoch(series))
		series->n_unknown += n_hidden; /* epochs without any reading */
	if (r->value > lowest && (!series->is_iterator || series->is_number))
		series->n_unknown++;
	return n_own + n;
}

/* Returns when the n rounds before a reading began: each takes the usual time, as far as the
 * counter was not read meanwhile. */
static uint64_t start_of_rounds(const struct tp_counter_reading *r, uint64_t n, double period_ns)
{
	uint64_t seen_ns = r[-1].seen_ns < r->before_ns ? r[-1].seen_ns : r->before_ns;
	double room_ns = (double)(r->time_ns - seen_ns);
	double needed_ns = fmin((double)n * period_ns, room_ns);
	uint64_t from_ns = r->time_ns - (uint64_t)needed_ns;
	return from_ns < r->before_ns ? from_ns : r->before_ns;
}

static void find_borders(struct tp_counter_series *series, const struct tp_analysis *analysis,
			 const struct tp_cpu_clock *clock)
{
	struct border_list out = {0};
	size_t restarts_capacity = 0;
	series->first_value = find_first_value(series);
	double period_ns = find_period(series, SIZE_MAX);
	infer_totals(series);
	const struct round_lengths lengths = find_lengths(series, period_ns, clock);
	for (size_t i = 0; i < series->n; i++) {
		struct tp_counter_reading *r = &series->readings[i];
		uint64_t from_ns = r->before_ns;
		uint64_t n = n_started(series, i);
		bool is_odd = n == 0 && r->value >= series->first_value;
		series->n_odd += is_odd;
		series->n_unknown += is_odd;
		if (is_restart(series, i)) {
			TP_ARRAY_PUSH(series->restarts, series->n_restarts, restarts_capacity) =
				r->time_ns;
			if (period_ns > 0)
				add_tail(series, &out, i - 1, &lengths);
		}
		if (i > 0 && period_ns > 0) {
			uint64_t n_tail = out.n - r[-1].n_borders;
			uint64_t n_hidden = n_in_hidden_epochs(series, i, n + n_tail, &lengths);
			series->n_inferred += n_hidden;
			n += n_hidden;
		}
		if (i == 0 && period_ns > 0) {
			n = count_first(series, analysis, n, &lengths);
			uint64_t needed_ns = (uint64_t)((double)n * lengths.first_ns);
			if (r->time_ns - from_ns > needed_ns)
				from_ns = r->time_ns - needed_ns;
		}
		/* Several rounds do not fit between a look that saw other code and this one. */
		if (i > 0 && n > 1 && period_ns > 0)
			from_ns = start_of_rounds(r, n, period_ns);
		if (out.n && from_ns < out.items[out.n - 1])
			from_ns = out.items[out.n - 1];
		spread(&out, n, from_ns, r->time_ns);
		r->n_borders = out.n;
	}
	if (series->n && period_ns > 0) {
		add_hidden_epochs(series, &lengths);
		add_tail(series, &out, series->n - 1, &lengths);
		/* A variable may change early or late in a round, so its last value is that of the
		 * last round or of one that never took place. */
		series->n_unknown += first_round_value(series) == 0;
	}
	series->borders = out.items;
	series->n_borders = out.n;
}

void tp_counter_rounds_find(struct tp_counter_list *list, const struct tp_analysis *analysis)
{
	struct tp_cpu_clock clock;
	tp_cpu_clock_init(&clock, analysis);
	for (size_t i = 0; i < list->n; i++) {
		find_borders(&list->items[i], analysis, &clock);
		list->items[i].is_steady = tp_counter_growth_is_steady(&list->items[i], &clock);
	}
	tp_cpu_clock_release(&clock);
}
