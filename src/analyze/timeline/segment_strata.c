/* SPDX-License-Identifier: Apache-2.0 */
/* Stores segments with samples by kind and by power of two of their length. */
#include "segment_strata.h"

#include "analyze/analysis.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>

static int stratum_of(uint64_t length_ns)
{
	int stratum = 0;
	while (length_ns >>= 1)
		stratum++;
	return stratum;
}

enum tp_segment_kind tp_segment_kind_other(enum tp_segment_kind kind)
{
	static const enum tp_segment_kind others[TP_N_SEGMENT_KINDS] = {
		[TP_SEGMENT_RUN] = TP_SEGMENT_RUN_PREEMPTED,
		[TP_SEGMENT_RUN_PREEMPTED] = TP_SEGMENT_RUN,
		[TP_SEGMENT_WAIT] = TP_SEGMENT_WAIT_NO_STACK,
		[TP_SEGMENT_WAIT_NO_STACK] = TP_SEGMENT_WAIT,
	};
	return others[kind];
}

void tp_strata_add(struct tp_strata *strata, const struct tp_segment_key *stay, uint32_t sample)
{
	struct tp_segment_hits *hits =
		&strata->hits[stay->kind][stay->group][stratum_of(stay->length_ns)];
	TP_ARRAY_PUSH(hits->items, hits->n, hits->capacity) =
		(struct tp_segment_hit){stay->start_ns, sample};
	strata->n_hits[stay->kind][stay->group]++;
}

/* Returns how many of them began before that time. */
static size_t count_before(const struct tp_segment_hit *hits, size_t n, uint64_t time_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, n, hits[at].time_ns >= time_ns);
	return at;
}

static uint64_t distance_ns(const struct tp_segment_hit *hit, uint64_t time_ns)
{
	return hit->time_ns > time_ns ? hit->time_ns - time_ns : time_ns - hit->time_ns;
}

/* Returns the nearer one of two that may be missing; the later one on a tie. */
static const struct tp_segment_hit *closer_of(const struct tp_segment_hit *earlier,
					      const struct tp_segment_hit *later, uint64_t time_ns)
{
	if (!earlier || !later)
		return earlier ? earlier : later;
	return distance_ns(earlier, time_ns) < distance_ns(later, time_ns) ? earlier : later;
}

/* Searches on the same side of the border as `time_ns`, or on both sides if `any`. Returns NULL if
 * there is none. */
static const struct tp_segment_hit *nearest(const struct tp_segment_hits *hits, uint64_t border_ns,
					    uint64_t time_ns, bool any)
{
	if (!hits->n)
		return NULL;
	size_t border = any ? 0 : count_before(hits->items, hits->n, border_ns);
	bool is_early = !any && time_ns < border_ns;
	size_t first = is_early ? 0 : border;
	size_t end = is_early ? border : hits->n;
	size_t at = first + count_before(hits->items + first, end - first, time_ns);
	return closer_of(at > first ? &hits->items[at - 1] : NULL,
			 at < end ? &hits->items[at] : NULL, time_ns);
}

bool tp_strata_has(const struct tp_strata *strata, enum tp_segment_kind kind, int group)
{
	return strata->n_hits[kind][group] > 0;
}

static const struct tp_segment_hit *nearest_in(const struct tp_strata *strata,
					       const struct tp_segment_key *stay, int group, int s,
					       bool any)
{
	if (s < 0 || s >= TP_N_STRATA)
		return NULL;
	return nearest(&strata->hits[stay->kind][group][s], strata->border_ns, stay->start_ns, any);
}

/* Searches `distance` powers of two away in length; a different group counts as TP_STRATA_FOREIGN
 * more. */
static const struct tp_segment_hit *hit_at(const struct tp_strata *strata,
					   const struct tp_segment_key *stay, int distance,
					   int sign, bool any)
{
	int s = stratum_of(stay->length_ns);
	const struct tp_segment_hit *own = NULL;
	const struct tp_segment_hit *foreign = NULL;
	for (int group = 0; group < TP_N_SEGMENT_GROUPS; group++) {
		if (!tp_strata_has(strata, stay->kind, group))
			continue;
		if (group == stay->group || stay->group == TP_ANY_SEGMENT_GROUP)
			own = closer_of(own,
					nearest_in(strata, stay, group, s + sign * distance, any),
					stay->start_ns);
		else if (distance >= TP_STRATA_FOREIGN)
			foreign = closer_of(foreign,
					    nearest_in(strata, stay, group,
						       s + sign * (distance - TP_STRATA_FOREIGN),
						       any),
					    stay->start_ns);
	}
	return own ? own : foreign;
}

static bool has_any(const struct tp_strata *strata, enum tp_segment_kind kind)
{
	int group = 0;
	while (group < TP_N_SEGMENT_GROUPS && !tp_strata_has(strata, kind, group))
		group++;
	return group < TP_N_SEGMENT_GROUPS;
}

uint32_t tp_strata_find_similar(const struct tp_strata *strata, const struct tp_segment_key *stay)
{
	if (!has_any(strata, stay->kind))
		return TP_NO_SAMPLE;
	/* Segments after the border never represent segments before it. */
	int widest = stay->start_ns >= strata->border_ns;
	for (int any = 0; any <= widest; any++) {
		for (int distance = 0; distance < TP_N_STRATA; distance++) {
			for (int sign = -1; sign <= 1; sign += 2) {
				const struct tp_segment_hit *hit =
					hit_at(strata, stay, distance, sign, any);
				if (hit)
					return hit->sample;
			}
		}
	}
	return TP_NO_SAMPLE;
}

void tp_strata_release(struct tp_strata *strata)
{
	for (int kind = 0; kind < TP_N_SEGMENT_KINDS; kind++)
		for (int group = 0; group < TP_N_SEGMENT_GROUPS; group++)
			for (int s = 0; s < TP_N_STRATA; s++)
				free(strata->hits[kind][group][s].items);
	*strata = (struct tp_strata){0};
}
