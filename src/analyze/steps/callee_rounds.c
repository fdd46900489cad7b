/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how regularly a function recurs. There is one sample per time slot, at a random place in
 * it, so an interval of g slots (1 <= g <= 2) is missed with probability (2-g)^3/6 and usually
 * sampled twice or more: at g = 1.7, 0.5 % are missed and 35 % are sampled once, which is the limit
 * used. If intervals are far too short, their samples look like coin flips, of which 40 to 50 % are
 * single.
 */
#include "callee_rounds.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A single stack that is not below the level, between two that are, is an unwinding error. */
static bool is_single_error(const struct tp_call_tree *tree, uint32_t level, size_t i)
{
	const struct tp_call_hit *s = tree->sightings;
	return i > 0 && i + 1 < tree->n_sightings && s[i].hits < 2 &&
	       !tp_call_tree_is_within(tree, s[i].node, level) &&
	       tp_call_tree_is_within(tree, s[i - 1].node, level) &&
	       tp_call_tree_is_within(tree, s[i + 1].node, level);
}

static void collect_intervals(struct tp_callee *callee, const struct tp_call_tree *tree,
			      uint32_t level)
{
	size_t capacity = 0;
	bool inside = false;
	double gap_hits = 0;
	double gap_work = 0;
	size_t gap = 0;
	for (size_t i = 0; i < tree->n_sightings; i++) {
		const struct tp_call_hit *s = &tree->sightings[i];
		if (!tp_call_tree_is_within(tree, s->node, callee->node)) {
			if (is_single_error(tree, level, i))
				continue;
			gap_hits += s->hits;
			gap_work += s->is_special ? 0 : s->hits;
			gap++;
			inside = false;
			continue;
		}
		if (!inside) {
			TP_ARRAY_PUSH(callee->stays, callee->n, capacity) =
				(struct tp_callee_interval){.start_ns = s->start_ns,
							    .gap_hits = callee->n ? gap_hits : 0,
							    .gap_work = gap_work,
							    .gap = gap,
							    .first = i,
							    .piece = s->piece};
			gap_hits = 0;
			gap_work = 0;
			gap = 0;
			inside = true;
		}
		callee->stays[callee->n - 1].end_ns = s->end_ns;
		callee->stays[callee->n - 1].hits += s->hits;
	}
}

/* If gaps usually have four samples or more, one odd stack inside an interval must not split it. */
static void join_intervals(struct tp_callee *callee)
{
	if (callee->n < 3)
		return;
	double *gaps = tp_alloc(callee->n * sizeof(*gaps));
	for (size_t i = 1; i < callee->n; i++)
		gaps[i - 1] = callee->stays[i].gap_hits;
	double median = tp_stats_median(gaps, callee->n - 1);
	free(gaps);
	if (median < 4)
		return;
	size_t kept = 0;
	for (size_t i = 0; i < callee->n; i++) {
		if (i && callee->stays[i].gap == 1 && callee->stays[i].gap_hits < 2) {
			callee->stays[kept - 1].end_ns = callee->stays[i].end_ns;
			callee->stays[kept - 1].hits += callee->stays[i].hits;
			continue;
		}
		callee->stays[kept++] = callee->stays[i];
	}
	callee->n = kept;
}

static double share_within_median(const double *values, size_t n, double *median)
{
	*median = tp_stats_median(values, n);
	size_t near = 0;
	for (size_t i = 0; i < n; i++)
		near += fabs(values[i] - *median) <= TP_ROUND_ALIKE_MAX * *median;
	return n ? (double)near / (double)n : 0;
}

/* A busy machine stretches periods but not the work in them, and samples of CPU time count work. */
static void measure_periods(struct tp_callee *callee)
{
	size_t n = callee->n - 1;
	double *lengths = tp_alloc((n + 1) * sizeof(*lengths));
	double *work = tp_alloc((n + 1) * sizeof(*work));
	for (size_t i = 0; i < n; i++) {
		const struct tp_callee_interval *stay = &callee->stays[i];
		lengths[i] = (double)(stay[1].start_ns - stay->start_ns);
		work[i] = stay->hits + stay[1].gap_work;
	}
	double usual;
	double by_time = share_within_median(lengths, n, &callee->period_ns);
	double by_work = share_within_median(work, n, &usual);
	callee->regularity = fmax(by_time, by_work);
	for (size_t i = 0; i < n; i++)
		callee->missed += fmax(0, floor(work[i] / usual + 0.5) - 1) / (double)n;
	free(lengths);
	free(work);
}

static void measure_intervals(struct tp_callee *callee)
{
	if (callee->n < 2)
		return;
	size_t single = 0;
	size_t gap_single = 0;
	for (size_t i = 0; i < callee->n; i++) {
		single += callee->stays[i].hits < TP_SINGLE_HITS_MAX;
		gap_single += i && callee->stays[i].gap_hits < TP_SINGLE_HITS_MAX;
	}
	callee->single = (double)single / (double)callee->n;
	callee->gap_single = (double)gap_single / (double)(callee->n - 1);
	measure_periods(callee);
}

void tp_callee_init(struct tp_callee *callee, const struct tp_call_tree *tree, uint32_t level,
		    uint32_t node)
{
	*callee = (struct tp_callee){.node = node};
	callee->is_special = tree->nodes[node].special_ns > tree->nodes[node].ns / 2;
	collect_intervals(callee, tree, level);
	join_intervals(callee);
	measure_intervals(callee);
}

void tp_callee_init_rounds(struct tp_callee *callee, uint32_t node,
			   struct tp_callee_interval *stays, size_t n)
{
	*callee = (struct tp_callee){.node = node, .stays = stays, .n = n};
	measure_periods(callee);
}

void tp_callee_release(struct tp_callee *callee)
{
	free(callee->stays);
	*callee = (struct tp_callee){0};
}

/* ---- waits ------------------------------------------------------------------ */

/* A wait of the thread below the callee, and its activity since the previous wait. */
struct callee_wait {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t piece;
	bool is_seen;      /* has a sample of its own */
	double between_ns; /* CPU time since the previous wait */
	size_t inside;     /* number of samples of that time below the callee */
	size_t outside;
};

struct wait_list {
	struct callee_wait *items; /* heap */
	size_t n;
	size_t capacity;
};

/* Returns a quarter of the usual length of waits with a sample of their own: a shorter inferred
 * wait may belong to another callee. */
static uint64_t min_inferred_ns(const struct tp_call_tree *tree, uint32_t node)
{
	double *lengths = tp_alloc((tree->n_pieces + 1) * sizeof(*lengths));
	size_t n = 0;
	for (size_t i = 0; i < tree->n_pieces; i++) {
		const struct tp_call_segment *piece = &tree->pieces[i];
		if (piece->state == TP_STATE_BLOCKED && !piece->is_inferred &&
		    piece->node != TP_NO_NODE && tp_call_tree_is_within(tree, piece->node, node))
			lengths[n++] = (double)(piece->end_ns - piece->start_ns);
	}
	double median = tp_stats_median(lengths, n);
	free(lengths);
	return (uint64_t)(median / 4);
}

static void collect_waits(struct wait_list *list, const struct tp_call_tree *tree, uint32_t node)
{
	uint64_t shortest_ns = min_inferred_ns(tree, node);
	struct callee_wait since = {0};
	for (size_t i = 0; i < tree->n_pieces; i++) {
		const struct tp_call_segment *piece = &tree->pieces[i];
		bool is_below = piece->node != TP_NO_NODE &&
				tp_call_tree_is_within(tree, piece->node, node);
		bool is_sure =
			!piece->is_inferred || piece->end_ns - piece->start_ns >= shortest_ns;
		if (piece->state == TP_STATE_BLOCKED && is_below && is_sure) {
			since.start_ns = piece->start_ns;
			since.end_ns = piece->end_ns;
			since.piece = (uint32_t)i;
			since.is_seen = !piece->is_inferred;
			TP_ARRAY_PUSH(list->items, list->n, list->capacity) = since;
			since = (struct callee_wait){0};
		} else if (piece->state == TP_STATE_ON_CPU) {
			since.between_ns += (double)(piece->end_ns - piece->start_ns);
			if (!piece->is_inferred && piece->node != TP_NO_NODE) {
				since.inside += is_below;
				since.outside += !is_below;
			}
		}
	}
}

/*
 * Returns the minimal CPU time between two waits that belong to different rounds; 0 if there is no
 * clear limit. A thread that is woken spuriously waits again at once, so times between waits are
 * either tiny or as long as a round, with hardly any within a factor of three of the limit. The
 * work between rounds is outside the callee, unlike the work between the waits of a callee that
 * waits for each of its parts. A single sample may be the only evidence: a thread that starts other
 * threads and waits for them is sampled too rarely; the kernel seems to swap the sampling periods
 * of the two.
 */
static double find_line_ns(const struct wait_list *list)
{
	if (list->n < TP_CALLEE_WAITS_MIN)
		return 0;
	double *between = tp_alloc(list->n * sizeof(*between));
	for (size_t i = 1; i < list->n; i++)
		between[i - 1] = list->items[i].between_ns;
	tp_stats_sort(between, list->n - 1);
	double line = TP_CALLEE_LINE_PART * tp_stats_quantile(between, list->n - 1, 0.9);
	free(between);
	size_t above = 0;
	size_t near = 0;
	size_t inside = 0;
	size_t outside = 0;
	for (size_t i = 1; i < list->n; i++) {
		const struct callee_wait *wait = &list->items[i];
		near += wait->between_ns > line / 3 && wait->between_ns < line * 3;
		if (wait->between_ns < line)
			continue;
		above++;
		inside += wait->inside;
		outside += wait->outside;
	}
	bool is_clear = line > TP_CALLEE_LINE_NS_MIN && near * 20 <= above;
	bool is_outside = outside > 0 && outside >= 4 * inside;
	return is_clear && is_outside ? line : 0;
}

/* Rounds that are separated by waits. */
struct callee_rounds {
	struct tp_callee_interval *stays; /* heap */
	size_t n;
	size_t capacity;
	size_t first_seen; /* first round with a sampled wait; those before it, and after last_seen,
			      have none */
	size_t last_seen;
};

static void collect_rounds(struct callee_rounds *rounds, const struct wait_list *list,
			   double line_ns)
{
	bool is_any_seen = false;
	for (size_t i = 0; i < list->n; i++) {
		const struct callee_wait *wait = &list->items[i];
		if (rounds->n && wait->between_ns < line_ns)
			rounds->stays[rounds->n - 1].end_ns = wait->end_ns;
		else
			TP_ARRAY_PUSH(rounds->stays, rounds->n, rounds->capacity) =
				(struct tp_callee_interval){.start_ns = wait->start_ns,
							    .end_ns = wait->end_ns,
							    .gap_work = wait->between_ns,
							    .first = 1,
							    .piece = wait->piece};
		if (!wait->is_seen)
			continue;
		rounds->last_seen = rounds->n - 1;
		rounds->first_seen = is_any_seen ? rounds->first_seen : rounds->last_seen;
		is_any_seen = true;
	}
}

static double round_ns(const struct callee_rounds *rounds, size_t i)
{
	return (double)(rounds->stays[i + 1].start_ns - rounds->stays[i].start_ns);
}

/* Rounds without a sample at either end count only while they continue at the usual interval: a
 * program that starts or ends also waits, and such a wait is inferred from a similar one. */
static void trim_rounds(struct callee_rounds *rounds)
{
	if (rounds->n < 2)
		return;
	double *lengths = tp_alloc(rounds->n * sizeof(*lengths));
	for (size_t i = 0; i + 1 < rounds->n; i++)
		lengths[i] = round_ns(rounds, i);
	double longest_ns = TP_ROUND_IN_STEP_MAX * tp_stats_median(lengths, rounds->n - 1);
	free(lengths);
	size_t first = rounds->first_seen;
	size_t last = rounds->last_seen;
	while (first > 0 && round_ns(rounds, first - 1) <= longest_ns)
		first--;
	while (last + 1 < rounds->n && round_ns(rounds, last) <= longest_ns)
		last++;
	rounds->n = last - first + 1;
	memmove(rounds->stays, rounds->stays + first, rounds->n * sizeof(*rounds->stays));
}

/* If the awaited data was ready there is no wait, and two rounds look like one with twice the work.
 * Programs whose rounds really differ also have rounds in between. */
static bool has_missing_rounds(const struct callee_rounds *rounds)
{
	size_t n = rounds->n - 1;
	double *work = tp_alloc((n + 1) * sizeof(*work));
	for (size_t i = 0; i < n; i++)
		work[i] = rounds->stays[i + 1].gap_work;
	double median = tp_stats_median(work, n);
	size_t twice = 0;
	size_t between = 0;
	for (size_t i = 0; i < n; i++) {
		twice += work[i] > TP_TWICE_MIN * median && work[i] < TP_TWICE_MAX * median;
		between += work[i] >= TP_ONCE_MAX * median && work[i] <= TP_TWICE_MIN * median;
	}
	free(work);
	return (double)twice > TP_ROUND_TWICE_MAX * (double)n && twice > 2 * between;
}

bool tp_callee_use_waits(struct tp_callee *callee, const struct tp_call_tree *tree)
{
	struct wait_list list = {0};
	if (!tree->is_exact)
		return false;
	collect_waits(&list, tree, callee->node);
	double line_ns = find_line_ns(&list);
	struct callee_rounds rounds = {0};
	if (line_ns > 0)
		collect_rounds(&rounds, &list, line_ns);
	trim_rounds(&rounds);
	free(list.items);
	/* With several loaders, the caller reports that rounds may be groups. */
	if (rounds.n < 2 || (tree->n_loaders < 2 && has_missing_rounds(&rounds))) {
		free(rounds.stays);
		return false;
	}
	struct tp_callee by_waits;
	tp_callee_init_rounds(&by_waits, callee->node, rounds.stays, rounds.n);
	by_waits.is_special = callee->is_special;
	by_waits.missed = 0;
	free(callee->stays);
	*callee = by_waits;
	return true;
}

void tp_callee_compare_order(struct tp_callee *callee, const struct tp_callee *const *others,
			     size_t n)
{
	if (callee->n < 2 || !n)
		return;
	size_t n_periods = callee->n - 1;
	bool *is_alike = tp_alloc(n_periods * sizeof(*is_alike));
	for (size_t i = 0; i < n_periods; i++)
		is_alike[i] = true;
	for (size_t other = 0; other < n; other++) {
		const struct tp_callee *o = others[other];
		size_t at = 0;
		for (size_t i = 0; i < n_periods; i++) {
			while (at < o->n && o->stays[at].start_ns < callee->stays[i].start_ns)
				at++;
			size_t from = at;
			while (at < o->n && o->stays[at].start_ns < callee->stays[i + 1].start_ns)
				at++;
			is_alike[i] &= at - from == 1;
		}
	}
	size_t alike = 0;
	for (size_t i = 0; i < n_periods; i++)
		alike += is_alike[i];
	free(is_alike);
	callee->regularity = fmax(callee->regularity, (double)alike / (double)n_periods);
}

bool tp_callee_is_resolved(const struct tp_callee *callee)
{
	if (callee->single > TP_CALLEE_SINGLE_MAX || callee->gap_single > TP_CALLEE_SINGLE_MAX)
		return false;
	/* Hardly any were sampled only once: none was missed, and twice the work is real. */
	return callee->single + callee->gap_single < TP_CALLEE_SINGLE_SURE ||
	       callee->missed <= TP_CALLEE_MISSED_MAX;
}
