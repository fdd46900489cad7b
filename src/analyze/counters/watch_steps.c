/* SPDX-License-Identifier: Apache-2.0 */
/* Matches the writes that a breakpoint recorded with the values that were read meanwhile. */
#include "watch_steps.h"

#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

struct write {
	uint64_t time_ns;
	uint64_t number; /* counts since the breakpoint was set */
};

/* Writes with consecutive numbers: one setting of a breakpoint, none lost. */
struct piece {
	const struct write *writes;
	size_t n;
};

/* Consecutive readings with as many writes between them as the counter grew by. Value v was written
 * by write v - offset; several offsets may match all of them. */
struct agreement {
	size_t first; /* indices of readings */
	size_t last;
	int64_t low; /* range of matching offsets */
	int64_t high;
};

struct joined {
	const struct tp_watch_reading *readings;
	size_t n_readings;
	const struct tp_watch_borders *old;
	struct tp_watch_borders now;
	size_t capacity;
	size_t n_copied; /* number of old borders copied */
	size_t n_agree;  /* pairs of readings that agree */
	size_t n_differ;
};

static bool is_write(const struct tp_analysis *analysis, const struct tp_mark *mark, uint32_t name)
{
	return mark->kind == TP_MARK_WRITE && mark->name == name &&
	       mark->task == analysis->main_task;
}

bool tp_watch_steps_has_writes(const struct tp_analysis *analysis, uint32_t name)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = 0; i < trace->n_marks; i++)
		if (is_write(analysis, &trace->marks[i], name))
			return true;
	return false;
}

/* Returns heap memory. */
static struct write *collect_writes(const struct tp_analysis *analysis, uint32_t name, size_t *n)
{
	const struct tp_trace *trace = analysis->trace;
	struct write *writes = NULL;
	size_t capacity = 0;
	*n = 0;
	for (size_t i = 0; i < trace->n_marks; i++)
		if (is_write(analysis, &trace->marks[i], name))
			TP_ARRAY_PUSH(writes, *n, capacity) =
				(struct write){trace->marks[i].time_ns, trace->marks[i].value};
	return writes;
}

/* Returns how many of the writes are not after the time. */
static size_t n_until(const struct piece *piece, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, piece->n, piece->writes[at].time_ns > time_ns);
	return at;
}

static int64_t number_at(const struct piece *piece, uint64_t time_ns)
{
	return (int64_t)piece->writes[0].number - 1 + (int64_t)n_until(piece, time_ns);
}

/* Finds the offsets that match the reading, which was made shortly before its mark. */
static void find_offsets(const struct piece *piece, const struct tp_watch_reading *reading,
			 int64_t *low, int64_t *high)
{
	uint64_t late_ns = TP_WATCH_LATE_NS;
	uint64_t early_ns = reading->time_ns > late_ns ? reading->time_ns - late_ns : 0;
	*low = (int64_t)reading->value - number_at(piece, reading->time_ns);
	*high = (int64_t)reading->value - number_at(piece, early_ns);
}

static void push(struct joined *joined, uint64_t time_ns, bool is_exact)
{
	if (joined->now.n && time_ns <= joined->now.times_ns[joined->now.n - 1])
		time_ns = joined->now.times_ns[joined->now.n - 1] + 1;
	TP_ARRAY_PUSH(joined->now.times_ns, joined->now.n, joined->capacity) = time_ns;
	joined->now.n_exact += is_exact;
}

static void copy_old(struct joined *joined, size_t until)
{
	for (; joined->n_copied < until; joined->n_copied++)
		push(joined, joined->old->times_ns[joined->n_copied], false);
}

/* Replaces the old borders up to `until` by writes [from, to] of the piece. */
static void put_writes(struct joined *joined, const struct piece *piece, int64_t from, int64_t to,
		       size_t until)
{
	int64_t first = (int64_t)piece->writes[0].number;
	for (int64_t number = from < first ? first : from; number <= to; number++)
		push(joined, piece->writes[number - first].time_ns, true);
	joined->n_copied = until;
}

/* Returns true if the counter restarted between two agreements: there are as many writes as rounds
 * since the restart, plus those of the last rounds before it, which were not read. */
static bool is_restart(const struct joined *joined, const struct agreement *before,
		       const struct agreement *next, uint64_t base)
{
	const struct tp_watch_reading *a = &joined->readings[before->last];
	const struct tp_watch_reading *b = &joined->readings[next->first];
	int64_t n_writes = ((int64_t)b->value - next->low) - ((int64_t)a->value - before->low);
	int64_t n_rounds = (int64_t)(b->value - base) + 1;
	return next->first == before->last + 1 && b->value < a->value && n_writes >= n_rounds &&
	       n_writes - n_rounds <= (int64_t)TP_COUNTER_GROWTH_MAX;
}

static void put_matches(struct joined *joined, const struct piece *piece,
			const struct agreement *agreement, bool has_first)
{
	const struct tp_watch_reading *first = &joined->readings[agreement->first];
	const struct tp_watch_reading *last = &joined->readings[agreement->last];
	int64_t from = (int64_t)first->value - agreement->low;
	int64_t to = (int64_t)last->value - agreement->low;
	size_t begin = first->n_borders;
	/* The write of the first reading's value was recorded, too. After a disagreement it may be
	 * one that did not change the value. */
	if (has_first && from >= (int64_t)piece->writes[0].number && begin > joined->n_copied)
		begin--;
	else
		from++;
	copy_old(joined, begin);
	put_writes(joined, piece, from, to, last->n_borders);
}

/* Returns the agreements of a piece in order; heap. */
static struct agreement *find_matches(struct joined *joined, const struct piece *piece,
				      size_t begin, size_t end, size_t *n)
{
	struct agreement *found = NULL;
	size_t capacity = 0;
	*n = 0;
	for (size_t i = begin; i < end; i++) {
		int64_t low;
		int64_t high;
		struct agreement *last = *n ? &found[*n - 1] : NULL;
		find_offsets(piece, &joined->readings[i], &low, &high);
		if (last && low <= last->high && high >= last->low) {
			last->low = low > last->low ? low : last->low;
			last->high = high < last->high ? high : last->high;
			last->last = i;
			continue;
		}
		TP_ARRAY_PUSH(found, *n, capacity) =
			(struct agreement){.first = i, .last = i, .low = low, .high = high};
	}
	return found;
}

/* Finds the readings during the piece, plus the last one before it and the first one after it,
 * which may agree or not. */
static void find_readings(const struct joined *joined, const struct piece *piece, size_t *begin,
			  size_t *end)
{
	uint64_t first_ns = piece->writes[0].time_ns;
	uint64_t last_ns = piece->writes[piece->n - 1].time_ns;
	*begin = 0;
	while (*begin < joined->n_readings && joined->readings[*begin].time_ns < first_ns)
		++*begin;
	*end = *begin;
	while (*end < joined->n_readings && joined->readings[*end].time_ns <= last_ns)
		++*end;
	*begin -= *begin > 0;
	*end += *end < joined->n_readings;
}

/* Adds the last rounds before a restart, as many as the counter's total shows, and those after
 * it. A new iterator that replaces the old one is written when it is created: that write is no
 * round. */
static void put_restart(struct joined *joined, const struct piece *piece,
			const struct agreement *before, const struct agreement *next, uint64_t base)
{
	const struct tp_watch_reading *a = &joined->readings[before->last];
	const struct tp_watch_reading *b = &joined->readings[next->first];
	int64_t from = (int64_t)a->value - before->low + 1;
	int64_t to = (int64_t)b->value - next->low;
	int64_t n_new = (int64_t)(b->value - base) + 1;
	int64_t n_old = (int64_t)(b->n_borders - a->n_borders) - n_new;
	if (n_old < 0)
		return; /* rounds that were not counted have no borders to replace */
	if (n_old > 0 && from + n_old - 1 <= to - n_new)
		put_writes(joined, piece, from, from + n_old - 1, a->n_borders + (size_t)n_old);
	copy_old(joined, b->n_borders - (size_t)n_new);
	put_writes(joined, piece, to - n_new + 1, to, b->n_borders);
}

/* Adds the rounds after the last reading that follow from the counter's total, if as many writes
 * follow. */
static void put_tail(struct joined *joined, const struct piece *piece, const struct agreement *last)
{
	const struct tp_watch_reading *reading = &joined->readings[last->last];
	int64_t from = (int64_t)reading->value - last->low + 1;
	int64_t end = (int64_t)piece->writes[0].number + (int64_t)piece->n;
	int64_t n = (int64_t)(joined->old->n - reading->n_borders);
	if (last->last + 1 == joined->n_readings && n > 0 && from + n <= end &&
	    joined->n_copied == reading->n_borders)
		put_writes(joined, piece, from, from + n - 1, joined->old->n);
}

static void join_run(struct joined *joined, const struct piece *piece, uint64_t base)
{
	size_t begin;
	size_t end;
	size_t n;
	find_readings(joined, piece, &begin, &end);
	struct agreement *found = find_matches(joined, piece, begin, end, &n);
	for (size_t i = 0; i < n; i++) {
		struct agreement *now = &found[i];
		bool goes_on = i > 0 && is_restart(joined, &found[i - 1], now, base);
		size_t n_pairs = now->last - now->first;
		/* A single one at either end is outside of the piece. */
		bool is_at_end = n_pairs == 0 && (i == 0 || i + 1 == n);
		joined->n_agree += n_pairs + goes_on;
		joined->n_differ += i > 0 && !goes_on && !is_at_end &&
				    !(i == 1 && found[0].first == found[0].last);
		if (goes_on && found[i - 1].last > found[i - 1].first && n_pairs > 0)
			put_restart(joined, piece, &found[i - 1], now, base);
		if (n_pairs > 0)
			put_matches(joined, piece, now, i == 0);
	}
	if (n > 0 && found[n - 1].last > found[n - 1].first)
		put_tail(joined, piece, &found[n - 1]);
	free(found);
}

static bool is_valid(const struct joined *joined)
{
	size_t n = joined->n_agree + joined->n_differ;
	return joined->n_agree >= TP_WATCH_READINGS_MIN &&
	       (double)joined->n_agree >= TP_WATCH_AGREE_MIN * (double)n;
}

bool tp_watch_steps_join(struct tp_watch_borders *borders, const struct tp_analysis *analysis,
			 uint32_t name, const struct tp_watch_reading *readings, size_t n_readings,
			 uint64_t first_value, size_t *n_writes)
{
	struct joined joined = {.readings = readings, .n_readings = n_readings, .old = borders};
	struct write *writes = collect_writes(analysis, name, n_writes);
	for (size_t i = 0; i < *n_writes;) {
		struct piece piece = {.writes = &writes[i], .n = 1};
		while (i + piece.n < *n_writes &&
		       writes[i + piece.n].number == writes[i + piece.n - 1].number + 1)
			piece.n++;
		join_run(&joined, &piece, first_value);
		i += piece.n;
	}
	copy_old(&joined, borders->n);
	free(writes);
	if (!is_valid(&joined)) {
		free(joined.now.times_ns);
		return false;
	}
	free(borders->times_ns);
	*borders = joined.now;
	return true;
}
