/* Keeps sampled stays by kind and power of two of their length. */
#include "strata.h"

#include "analysis.h"

#include "trainprof/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

static int stratum_of(uint64_t length_ns)
{
	int stratum = 0;
	while (length_ns >>= 1)
		stratum++;
	return stratum;
}

enum tp_stay_kind tp_stay_other(enum tp_stay_kind kind)
{
	static const enum tp_stay_kind others[TP_N_STAY_KINDS] = {
		[TP_STAY_RUNS] = TP_STAY_RUNS_PREEMPTED,
		[TP_STAY_RUNS_PREEMPTED] = TP_STAY_RUNS,
		[TP_STAY_WAITS] = TP_STAY_WAITS_BARE,
		[TP_STAY_WAITS_BARE] = TP_STAY_WAITS,
	};
	return others[kind];
}

void tp_strata_add(struct tp_strata *strata, enum tp_stay_kind kind, uint64_t start_ns,
		   uint64_t length_ns, uint32_t sample)
{
	int s = stratum_of(length_ns);
	TP_ARRAY_PUSH(strata->hits[kind][s], strata->n[kind][s], strata->capacity[kind][s]) =
		(struct tp_stay_hit){start_ns, sample};
}

/* How many of them began before that time. */
static size_t count_before(const struct tp_stay_hit *hits, size_t n, uint64_t time_ns)
{
	size_t low = 0;
	size_t high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (hits[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* n > 0 */
static uint32_t nearest(const struct tp_stay_hit *hits, size_t n, uint64_t time_ns)
{
	size_t at = count_before(hits, n, time_ns);
	if (at == n)
		return hits[n - 1].sample;
	bool is_before = at > 0 && time_ns - hits[at - 1].time_ns < hits[at].time_ns - time_ns;
	return hits[is_before ? at - 1 : at].sample;
}

/* Of one stratum, on the same side of the border as `time_ns`; with `any`, on both. */
static uint32_t nearest_in(const struct tp_strata *strata, enum tp_stay_kind kind, int s,
			   uint64_t time_ns, bool any)
{
	if (s < 0 || s >= TP_N_STRATA || !strata->n[kind][s])
		return NO_SAMPLE;
	const struct tp_stay_hit *hits = strata->hits[kind][s];
	size_t n = strata->n[kind][s];
	size_t before = any ? 0 : count_before(hits, n, strata->border_ns);
	if (!any && time_ns < strata->border_ns)
		n = before;
	else if (!any) {
		hits += before;
		n -= before;
	}
	return n ? nearest(hits, n, time_ns) : NO_SAMPLE;
}

uint32_t tp_strata_like(const struct tp_strata *strata, enum tp_stay_kind kind, uint64_t start_ns,
			uint64_t length_ns)
{
	int stratum = stratum_of(length_ns);
	/* What comes after the border says nothing of what was before it. */
	int widest = start_ns >= strata->border_ns;
	for (int any = 0; any <= widest; any++) {
		for (int distance = 0; distance < TP_N_STRATA; distance++) {
			for (int sign = -1; sign <= 1; sign += 2) {
				uint32_t sample =
					nearest_in(strata, kind, stratum + sign * distance,
						   start_ns, any);
				if (sample != NO_SAMPLE)
					return sample;
			}
		}
	}
	return NO_SAMPLE;
}

void tp_strata_release(struct tp_strata *strata)
{
	for (int kind = 0; kind < TP_N_STAY_KINDS; kind++)
		for (int s = 0; s < TP_N_STRATA; s++)
			free(strata->hits[kind][s]);
	*strata = (struct tp_strata){0};
}
