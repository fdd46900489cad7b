/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the values of counters. */
#include "counter_readings.h"

#include "analyze/thresholds.h"
#include "counter_name.h"
#include "counter_stride.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

bool tp_counter_series_is_growth(const struct tp_counter_series *series, uint64_t value,
				 uint64_t before)
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
	size_t n_silent;  /* since the last mark of any counter */
	bool has_gap;     /* more of them in a row than reads fail */
	uint64_t mark_ns; /* of the last mark */
	bool is_over;     /* that look saw loops end and no other one run */
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
		looks->n_silent++;
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

static bool is_counter_mark(const struct tp_analysis *analysis, const struct tp_mark *mark)
{
	return mark->task == analysis->main_task &&
	       (mark->kind == TP_MARK_COUNTER || mark->kind == TP_MARK_TOTAL ||
		mark->kind == TP_MARK_LOOP_END);
}

/* Counters of a thread that is not the first one of its process are read only after it was found to
 * work: the samples before that were no readings, except the last one, which the first reading
 * belongs to. */
static void skip_unread(struct looks *looks)
{
	const struct tp_trace *trace = looks->analysis->trace;
	const struct tp_task *task = &trace->tasks[looks->analysis->main_task];
	size_t i = 0;
	if (task->tid == task->pid)
		return;
	while (i < trace->n_marks && !is_counter_mark(looks->analysis, &trace->marks[i]))
		i++;
	if (i == trace->n_marks)
		return;
	looks->last_ns = task->start_ns;
	uint64_t first_ns = trace->marks[i].time_ns;
	while (looks->at < looks->end && trace->samples[looks->at].time_ns <= first_ns)
		looks->at++;
	if (looks->at > trace->sample_index[looks->analysis->main_task] &&
	    trace->samples[looks->at - 1].time_ns + TP_COUNTER_LATE_NS >= first_ns)
		looks->at--;
}

static void close_gap(struct looks *looks)
{
	looks->has_gap |= looks->n_silent > TP_COUNTER_LOOKS;
	looks->n_silent = 0;
}

/* All marks of a look have its time. */
static void note_end(struct looks *looks, const struct tp_mark *mark)
{
	bool is_same_look = mark->time_ns == looks->mark_ns;
	looks->is_over = mark->kind == TP_MARK_LOOP_END && (looks->is_over || !is_same_look);
	looks->mark_ns = mark->time_ns;
}

/* A thread other than the first one is not read while another one seems to work. The loop that it
 * is in is put at each look, so that silence shows it. After the last loop there is nothing to
 * put. */
static void mark_gaps(struct tp_counter_list *list, struct looks *looks)
{
	const struct tp_task *task = &looks->analysis->trace->tasks[looks->analysis->main_task];
	if (task->tid == task->pid)
		return;
	if (!looks->is_over) {
		advance(looks, UINT64_MAX);
		close_gap(looks);
	}
	for (size_t i = 0; looks->has_gap && i < list->n; i++)
		list->items[i].n_unknown++;
}

static void collect(struct tp_counter_list *list, const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	struct looks looks = {.analysis = analysis,
			      .at = trace->sample_index[analysis->main_task],
			      .end = trace->sample_index[analysis->main_task + 1]};
	skip_unread(&looks);
	for (size_t i = 0; i < trace->n_marks; i++) {
		const struct tp_mark *mark = &trace->marks[i];
		if (!is_counter_mark(analysis, mark))
			continue;
		struct tp_counter_series *series = series_of(list, analysis, mark->name);
		advance(&looks, mark->time_ns);
		close_gap(&looks);
		note_end(&looks, mark);
		if (mark->kind == TP_MARK_COUNTER)
			push_reading(series, mark, &looks);
		else
			push_fact(series, mark, &looks);
	}
	mark_gaps(list, &looks);
}

/* A dead frame can leave any number behind: returns how many readings from `i` on do not follow
 * `last`, while one soon after does. A counter that restarts stays below `last` for longer. */
static size_t invalid_length(const struct tp_counter_series *series, size_t i,
			     const struct tp_counter_reading *last)
{
	const struct tp_counter_reading *r = series->readings;
	if (tp_counter_series_is_growth(series, r[i].value, last->value))
		return 0;
	for (size_t n = 1; n <= TP_COUNTER_GLITCH_MAX && i + n < series->n; n++) {
		if (tp_counter_series_is_growth(series, r[i + n].value, last->value))
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

void tp_counter_list_collect(struct tp_counter_list *out, const struct tp_analysis *analysis)
{
	*out = (struct tp_counter_list){0};
	collect(out, analysis);
	for (size_t i = 0; i < out->n; i++) {
		struct tp_counter_series *series = &out->items[i];
		if (!series->is_iterator && !series->is_down)
			tp_counter_stride_divide(series);
		drop_invalid(series);
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
