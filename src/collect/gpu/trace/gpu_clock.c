/* SPDX-License-Identifier: Apache-2.0 */
/* Stores clock pairs and interpolates between them. */
#include "gpu_clock.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/search.h"

#include <stdlib.h>
#include <string.h>

/* Five pairs per second arrive, and events arrive at most seconds after they happened. */
enum { PAIRS_KEPT = 1 << 12 };

/* Larger changes mean that a clock was set: crystals differ by less than 0.01 %, and pairs are
 * about 200 ms apart. */
static const int64_t JUMP_NS = INT64_C(1000000);

void tp_gpu_clocks_release(struct tp_gpu_clocks *clocks)
{
	free(clocks->pairs);
	free(clocks->lows);
	*clocks = (struct tp_gpu_clocks){0};
}

static void note_low(struct tp_gpu_clocks *clocks, uint32_t pair)
{
	uint64_t at_ns = clocks->pairs[pair].cupti_ns;
	while (clocks->n_lows && clocks->pairs[clocks->lows[clocks->n_lows - 1]].cupti_ns >= at_ns)
		clocks->n_lows--;
	TP_ARRAY_PUSH(clocks->lows, clocks->n_lows, clocks->lows_capacity) = pair;
}

void tp_gpu_clocks_add(struct tp_gpu_clocks *clocks, const struct tp_gpu_clock *pair)
{
	if (clocks->n >= (size_t)2 * PAIRS_KEPT) {
		memmove(clocks->pairs, clocks->pairs + clocks->n - PAIRS_KEPT,
			PAIRS_KEPT * sizeof(*clocks->pairs));
		clocks->n = PAIRS_KEPT;
		clocks->n_lows = 0;
		for (uint32_t i = 0; i < PAIRS_KEPT; i++)
			note_low(clocks, i);
	}
	TP_ARRAY_PUSH(clocks->pairs, clocks->n, clocks->capacity) = *pair;
	note_low(clocks, (uint32_t)clocks->n - 1);
}

/* Wraps around for a date before 1970 or a damaged file; adding it wraps back. */
static uint64_t offset_of(const struct tp_gpu_clock *pair)
{
	return pair->host_ns - pair->cupti_ns;
}

/* Interpolates from the pair before the time. */
static uint64_t offset_at(const struct tp_gpu_clocks *clocks, size_t before, uint64_t cupti_ns)
{
	const struct tp_gpu_clock *pair = &clocks->pairs[before];
	uint64_t offset = offset_of(pair);
	if (before + 1 == clocks->n || pair[1].cupti_ns <= cupti_ns)
		return offset;
	int64_t change = (int64_t)(offset_of(&pair[1]) - offset);
	if (change > JUMP_NS || change < -JUMP_NS)
		return offset;
	double part =
		(double)(cupti_ns - pair->cupti_ns) / (double)(pair[1].cupti_ns - pair->cupti_ns);
	return offset + (uint64_t)(int64_t)((double)change * part);
}

/* Returns the last pair that is not after the time; the first one if all are. */
static size_t last_before(const struct tp_gpu_clocks *clocks, uint64_t cupti_ns)
{
	size_t at;
	TP_FIND_FIRST(at, 0, clocks->n_lows, clocks->pairs[clocks->lows[at]].cupti_ns > cupti_ns);
	return at ? clocks->lows[at - 1] : 0;
}

bool tp_gpu_clocks_host(const struct tp_gpu_clocks *clocks, uint64_t cupti_ns, uint64_t *host_ns)
{
	if (!clocks->n)
		return false;
	size_t before = last_before(clocks, cupti_ns);
	/* Times before all pairs use the difference of the first pair. */
	bool is_earlier = clocks->pairs[before].cupti_ns > cupti_ns;
	uint64_t host = cupti_ns + (is_earlier ? offset_of(&clocks->pairs[before])
					       : offset_at(clocks, before, cupti_ns));
	if (!host || host > INT64_MAX)
		return false;
	*host_ns = host;
	return true;
}
