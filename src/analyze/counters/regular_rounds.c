/* SPDX-License-Identifier: Apache-2.0 */
#include "regular_rounds.h"

#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"

#include "trainprof/base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { GROUP_ROUNDS = 4 }; /* rounds that are compared as a group */

/* Returns how many lengths are near the median of n_together consecutive ones. */
static size_t count_similar(const double *lengths, size_t n, size_t n_together, double within)
{
	double *medians = tp_alloc((n + 1) * sizeof(*medians));
	size_t near = 0;
	tp_stats_local_medians(lengths, n, n_together, medians);
	for (size_t i = 0; i < n; i++)
		near += fabs(lengths[i] - medians[i]) <= within * medians[i];
	free(medians);
	return near;
}

/* Returns the share of similar lengths among sums of `n_in_group` consecutive rounds; the scatter
 * of such a mean is smaller by the square root. */
static double similar_share(const uint64_t *borders, size_t n_borders, size_t n_in_group,
			    size_t n_together, double *median)
{
	size_t n = (n_borders - 1) / n_in_group;
	double *lengths = tp_alloc((n + 1) * sizeof(*lengths));
	for (size_t i = 0; i < n; i++)
		lengths[i] = (double)(borders[(i + 1) * n_in_group] - borders[i * n_in_group]);
	*median = tp_stats_median(lengths, n);
	size_t near = count_similar(lengths, n, n_together,
				    TP_ROUND_ALIKE_MAX / sqrt((double)n_in_group));
	free(lengths);
	return n ? (double)near / (double)n : 0;
}

/* Returns how many of the rounds first, first + n_turns, ... have a similar length. */
static size_t count_similar_in_cycle(const uint64_t *borders, size_t n_borders, size_t first,
				     size_t n_turns, size_t n_together)
{
	double *lengths = tp_alloc((n_borders / n_turns + 1) * sizeof(*lengths));
	size_t n = 0;
	for (size_t i = first; i + 1 < n_borders; i += n_turns)
		lengths[n++] = (double)(borders[i + 1] - borders[i]);
	size_t near = count_similar(lengths, n, n_together, TP_ROUND_ALIKE_MAX);
	free(lengths);
	return near;
}

/* Every other round may save a checkpoint: compares each round with those n_turns apart. */
static double similar_share_in_cycle(const uint64_t *borders, size_t n_borders, size_t n_turns,
				     size_t n_together)
{
	size_t near = 0;
	for (size_t first = 0; first < n_turns; first++)
		near += count_similar_in_cycle(borders, n_borders, first, n_turns, n_together);
	return (double)near / (double)(n_borders - 1);
}

/* Compares single rounds, cycles of a few rounds, and groups of a few, because rare events need not
 * be periodic. */
double tp_regular_share(const uint64_t *borders, size_t n, bool may_change, double *median)
{
	double of_fours;
	size_t n_together = may_change ? TP_ROUND_NEIGHBOURS : SIZE_MAX;
	double best = similar_share(borders, n, 1, n_together, median);
	if (n <= (size_t)TP_LOOP_ROUNDS_MIN * GROUP_ROUNDS)
		return best;
	for (size_t n_turns = 2; n_turns <= GROUP_ROUNDS; n_turns++)
		best = fmax(best, similar_share_in_cycle(borders, n, n_turns, n_together));
	return fmax(best, similar_share(borders, n, GROUP_ROUNDS, n_together, &of_fours));
}

void tp_local_lengths(const uint64_t *borders, size_t n, double *usual)
{
	size_t n_rounds = n > 0 ? n - 1 : 0;
	double *lengths = tp_alloc((n + 1) * sizeof(*lengths));
	for (size_t i = 0; i < n_rounds; i++)
		lengths[i] = (double)(borders[i + 1] - borders[i]);
	tp_stats_local_medians(lengths, n_rounds, TP_ROUND_NEIGHBOURS, usual);
	free(lengths);
}
