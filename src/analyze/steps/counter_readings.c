/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the values of counters, and infers a border between rounds for each increment. */
#include "counter_readings.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "counter_name.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if the counter may have grown by this much between two readings: a variable may hold
 * any value. */
static bool is_growth(const struct tp_counter_series *series, uint64_t value, uint64_t before)
{
	uint64_t most = series->is_iterator ? TP_COUNTER_LOOP_GROWTH_MAX : TP_COUNTER_GROWTH_MAX;
	return value >= before && value - before <= most;
}

/* Returns true for a loop that reports how many rounds there were, or for a loader outside of a for
 * loop. A loop that only reports how many are left is counted from its first reading, as a variable
 * is. */
static bool is_position(const char *text, const struct tp_patterns *patterns)
{
	struct tp_counter_name name;
	tp_counter_name_parse(&name, text, patterns);
	return name.meaning == TP_COUNTS_BATCHES || (name.line && !strstr(text, " for loop down "));
}

/* Imports alone bring dozens of counters. */
static struct tp_counter_series *series_of(struct tp_counter_list *list,
					   const struct tp_analysis *analysis, uint32_t name)
{
	const char *text = tp_trace_string(analysis->trace, name);
	uint64_t index;
	if (tp_map_get(&list->by_name, name, &index))
		return &list->items[index];
	tp_map_set(&list->by_name, name, list->n);
	TP_ARRAY_PUSH(list->items, list->n, list->capacity) = (struct tp_counter_series){
		.name = name,
		.is_iterator = is_position(text, analysis->patterns),
		.is_down = strstr(text, " for loop down ") != NULL,
		.is_number = strstr(text, " over a range of numbers ") != NULL,
	};
	return &list->items[list->n - 1];
}

/* ---- collecting ---- */

/* Iterates over the samples of the main thread at which counters were read. */
struct looks {
	const struct tp_analysis *analysis;
	size_t at; /* index of a sample */
	size_t end;
	uint64_t last_ns;
	uint64_t before_ns;
};

/* Counters are read in Python frames, at timer samples and at probes. */
static bool is_reading(const struct tp_analysis *analysis, const struct tp_sample *sample)
{
	return analysis->classes[sample->stack].has_python;
}

static void advance(struct looks *looks, uint64_t time_ns)
{
	const struct tp_sample *samples = looks->analysis->trace->samples;
	for (; looks->at < looks->end && samples[looks->at].time_ns <= time_ns; looks->at++) {
		if (!is_reading(looks->analysis, &samples[looks->at]))
			continue;
		looks->before_ns = looks->last_ns;
		looks->last_ns = samples[looks->at].time_ns;
	}
}

static uint64_t next_sample_ns(const struct looks *looks)
{
	const struct tp_trace *trace = looks->analysis->trace;
	size_t n = 0;
	for (size_t i = looks->at; i < looks->end; i++) {
		n += is_reading(looks->analysis, &trace->samples[i]);
		if (n == TP_COUNTER_LOOKS)
			return trace->samples[i].time_ns;
	}
	uint64_t task_ns = trace->tasks[looks->analysis->main_task].end_ns;
	return task_ns && task_ns < trace->end_ns ? task_ns : trace->end_ns;
}

/* Adds a reading, or extends the previous one if the value is the same. Readings do not overlap. */
static void push_reading(struct tp_counter_series *series, const struct tp_mark *mark,
			 const struct looks *looks)
{
	/* A counter whose frames have moved may have no sample with Python frames. */
	bool has_sample =
		looks->last_ns > 0 && mark->time_ns - looks->last_ns <= TP_COUNTER_LATE_NS;
	uint64_t before_ns = has_sample ? looks->before_ns : looks->last_ns;
	uint64_t time_ns = has_sample ? looks->last_ns : mark->time_ns;
	struct tp_counter_reading *last = series->n ? &series->readings[series->n - 1] : NULL;
	if (last && last->value == mark->value) {
		uint64_t gap_ns = time_ns > last->seen_ns ? time_ns - last->seen_ns : 0;
		last->gap_ns = gap_ns > last->gap_ns ? gap_ns : last->gap_ns;
		last->seen_ns += gap_ns;
		last->next_ns = next_sample_ns(looks);
		last->ended_ns = 0;
		return;
	}
	uint64_t seen_ns = last ? last->time_ns : 0;
	uint64_t total = last ? last->total : 0;
	before_ns = before_ns > seen_ns ? before_ns : seen_ns;
	time_ns = time_ns > before_ns ? time_ns : before_ns;
	TP_ARRAY_PUSH(series->readings, series->n, series->capacity) =
		(struct tp_counter_reading){.value = mark->value,
					    .total = total,
					    .before_ns = before_ns,
					    .time_ns = time_ns,
					    .seen_ns = time_ns,
					    .next_ns = next_sample_ns(looks),
					    .mark_ns = mark->time_ns};
}

/* A total belongs to the value read before it, the end of a loop to the last value that was
 * read. */
static void push_fact(struct tp_counter_series *series, const struct tp_mark *mark,
		      const struct looks *looks)
{
	struct tp_counter_reading *last = series->n ? &series->readings[series->n - 1] : NULL;
	if (!last)
		return;
	if (mark->kind == TP_MARK_TOTAL)
		last->total = mark->value;
	else
		last->ended_ns = looks->last_ns > last->seen_ns ? looks->last_ns : mark->time_ns;
}

static void collect(struct tp_counter_list *list, const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct looks looks = {.analysis = analysis,
			      .at = trace->sample_index[analysis->main_task],
			      .end = trace->sample_index[analysis->main_task + 1]};
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		bool is_value = mark->kind == TP_MARK_COUNTER;
		bool is_fact = mark->kind == TP_MARK_TOTAL || mark->kind == TP_MARK_LOOP_END;
		if ((!is_value && !is_fact) || mark->task != analysis->main_task)
			continue;
		struct tp_counter_series *series = series_of(list, analysis, mark->name);
		advance(&looks, mark->time_ns);
		if (is_value)
			push_reading(series, mark, &looks);
		else
			push_fact(series, mark, &looks);
	}
}

/* A dead frame can leave any number behind: returns how many readings from `i` on do not follow
 * `last`, while one soon after does. A counter that restarts stays below `last` for longer. */
static size_t invalid_length(const struct tp_counter_series *series, size_t i,
			     const struct tp_counter_reading *last)
{
	const struct tp_counter_reading *r = series->readings;
	if (is_growth(series, r[i].value, last->value))
		return 0;
	for (size_t n = 1; n <= TP_COUNTER_GLITCH_MAX && i + n < series->n; n++) {
		if (is_growth(series, r[i + n].value, last->value))
			return n;
		if (r[i + n].value < last->value)
			break;
	}
	return 0;
}

/* Drops invalid readings; the increments during them may have begun at any time since the reading
 * before. */
static void drop_invalid(struct tp_counter_series *series)
{
	size_t kept = 0;
	struct tp_counter_reading *r = series->readings;
	for (size_t i = 0; i < series->n; i++) {
		size_t n = kept > 0 ? invalid_length(series, i, &r[kept - 1]) : 0;
		if (n > 0) {
			series->n_odd++;
			r[i + n].before_ns = r[i].before_ns;
			i += n;
		}
		r[kept++] = r[i];
	}
	series->n = kept;
}

/* ---- borders ---- */

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
	if (i > 0 && is_growth(series, value, series->readings[i - 1].value))
		return value - series->readings[i - 1].value;
	if (i == 0)
		return value >= first_value;
	if (value < first_value)
		return 0; /* an iterator that has not returned anything yet */
	return is_growth(series, value, first_value) ? value - first_value + 1 : 0;
}

/* Returns the usual length of a round, from the rounds between the first and the last reading of
 * each period of growth; 0 = not known. */
static double find_period(const struct tp_counter_series *series)
{
	double *lengths = tp_alloc((series->n + 1) * sizeof(*lengths));
	size_t n = 0;
	for (size_t i = 1; i < series->n; i++) {
		const struct tp_counter_reading *r = &series->readings[i];
		if (r->value > r[-1].value && is_growth(series, r->value, r[-1].value))
			lengths[n++] = (double)(r->time_ns - r[-1].time_ns) /
				       (double)(r->value - r[-1].value);
	}
	double period = n >= TP_LOOP_ROUNDS_MIN / 2 ? tp_stats_median(lengths, n) : 0;
	free(lengths);
	return period;
}

/* Returns the minimal length of a round: that of the shortest few in a row. Readings show when a
 * value was first read, so a single round may look shorter than it was. */
static double find_min_length(const struct tp_counter_series *series, double period_ns)
{
	double *lengths = tp_alloc((series->n + 1) * sizeof(*lengths));
	size_t n = 0;
	size_t first = 0;
	for (size_t i = 1; i < series->n; i++) {
		const struct tp_counter_reading *r = series->readings;
		if (!is_growth(series, r[i].value, r[i - 1].value))
			first = i;
		if (i - first >= TP_LOOP_ROUNDS_MIN)
			lengths[n++] = (double)(r[i].time_ns - r[i - TP_LOOP_ROUNDS_MIN].time_ns) /
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

/* The known lengths of rounds while borders are searched. */
struct round_lengths {
	double period_ns;     /* usual length; 0 = not known, and nothing is inferred */
	double shortest_ns;   /* minimal length of a round that was not read */
	bool is_length_known; /* of epochs whose iterator does not report it */
	bool is_complete;     /* loops of this counter reached their total more than once */
};

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
			       has_room(n, TP_COUNTER_ROOM_MIN * lengths->period_ns, r->before_ns,
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

/* Returns how many rounds may have passed without a reading, in addition to the n_counted ones. */
static size_t n_in_room(double length_ns, uint64_t from_ns, uint64_t to_ns, uint64_t n_counted)
{
	double n =
		to_ns > from_ns && length_ns > 0 ? floor((double)(to_ns - from_ns) / length_ns) : 0;
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
static bool is_length_known(const struct tp_counter_series *series, double shortest_ns)
{
	for (size_t i = 0; series->n_full >= 2 && i < series->n; i++) {
		const struct tp_counter_reading *r = &series->readings[i];
		bool is_last = i + 1 == series->n || is_restart(series, i + 1);
		if (is_last && r->value == r->total &&
		    n_in_room(shortest_ns, r->seen_ns, tail_end_ns(series, i), 0) == 0)
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
	size_t n_hidden = n_in_room(lengths->shortest_ns, r->seen_ns, until_ns, 0);
	uint64_t needed_ns = (uint64_t)((double)n * lengths->period_ns);
	uint64_t room_ns = until_ns > r->seen_ns ? until_ns - r->seen_ns : 0;
	spread(out, n, r->seen_ns, r->seen_ns + (needed_ns < room_ns ? needed_ns : room_ns));
	series->n_inferred += n;
	if (n_left > 0 && n == n_left && (!fits || !is_total_known))
		series->n_unknown += n;
	else if (!is_total_known || n < n_left)
		series->n_unknown += n_left > 0 && n_left < n_hidden ? n_left
				     : is_open && n_hidden == 0      ? 1
								     : n_hidden;
}

/* A variable that exists after its loop has the number of a round that never took place. */
static void check_last(struct tp_counter_series *series, uint64_t end_ns, double period_ns)
{
	const struct tp_counter_reading *r = &series->readings[series->n - 1];
	if (first_round_value(series) == 0 &&
	    (double)r->time_ns + TP_COUNTER_PAUSE_MIN * period_ns < (double)end_ns)
		series->n_unknown++;
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
static void add_hidden_epochs(struct tp_counter_series *series, double shortest_ns)
{
	uint64_t shortest_epoch = min_epoch(series);
	for (size_t i = 0; i < series->n; i++) {
		const struct tp_counter_reading *r = &series->readings[i];
		size_t n_equal = n_in_room(shortest_ns, 0, r->gap_ns, 0);
		if (n_equal >= shortest_epoch)
			series->n_unknown += n_equal;
		if (i == 0 || r->value <= r[-1].value)
			continue;
		uint64_t n_grown = r->value - r[-1].value;
		size_t n_more = n_in_room(shortest_ns, r[-1].seen_ns, r->time_ns, n_grown);
		if (n_more >= shortest_epoch)
			series->n_unknown += n_more;
	}
}

/* Returns the rounds since the start of recording that the first reading implies, including its
 * own. The start value of a variable or a range is known only if it was read at its beginning. */
static uint64_t count_first(struct tp_counter_series *series, const struct tp_analysis *analysis,
			    uint64_t n_own, const struct round_lengths *lengths)
{
	const struct tp_counter_reading *r = &series->readings[0];
	uint64_t n = n_before_first(series, analysis, lengths);
	uint64_t lowest = first_round_value(series);
	size_t n_hidden = n_in_room(lengths->shortest_ns, r->before_ns, r->time_ns, n_own + n);
	series->n_inferred += n;
	if (analysis->trace->run.mode == TP_MODE_ATTACH)
		return n_own + n;
	if (series->is_down || r->value != n + lowest)
		series->n_unknown += n_hidden; /* it started at another value */
	else if (n_hidden >= min_epoch(series))
		series->n_unknown += n_hidden; /* epochs without any reading */
	if (r->value > lowest && (!series->is_iterator || series->is_number))
		series->n_unknown++;
	return n_own + n;
}

static void find_borders(struct tp_counter_series *series, const struct tp_analysis *analysis)
{
	struct border_list out = {0};
	size_t restarts_capacity = 0;
	series->first_value = find_first_value(series);
	double period_ns = find_period(series);
	infer_totals(series);
	double shortest_ns = find_min_length(series, period_ns);
	const struct round_lengths lengths = {period_ns, shortest_ns,
					      is_length_known(series, shortest_ns),
					      reaches_total(series)};
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
		if (i == 0 && period_ns > 0) {
			n = count_first(series, analysis, n, &lengths);
			uint64_t needed_ns = (uint64_t)((double)n * period_ns);
			if (r->time_ns - from_ns > needed_ns)
				from_ns = r->time_ns - needed_ns;
		}
		if (out.n && from_ns < out.items[out.n - 1])
			from_ns = out.items[out.n - 1];
		spread(&out, n, from_ns, r->time_ns);
		r->n_borders = out.n;
	}
	if (series->n && period_ns > 0) {
		add_hidden_epochs(series, shortest_ns);
		add_tail(series, &out, series->n - 1, &lengths);
		check_last(series, analysis->trace->end_ns, period_ns);
	}
	series->borders = out.items;
	series->n_borders = out.n;
}

void tp_counter_list_collect(struct tp_counter_list *out, const struct tp_analysis *analysis)
{
	*out = (struct tp_counter_list){0};
	collect(out, analysis);
	for (size_t i = 0; i < out->n; i++) {
		drop_invalid(&out->items[i]);
		find_borders(&out->items[i], analysis);
	}
}

void tp_counter_list_release(struct tp_counter_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].readings);
		free(list->items[i].restarts);
		free(list->items[i].borders);
	}
	free(list->items);
	tp_map_release(&list->by_name);
}
