/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how alike the rounds of a loop are. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_REGULAR_ROUNDS_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_REGULAR_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the share of the n - 1 rounds between n >= 2 borders, in ns or in any other unit, whose
 * length is near the median: of single rounds, of every second to fourth round, or of the sums of
 * four, whichever is most regular. If they may change with time, as those of one loop whose batches
 * grow, each is compared with the median of its neighbours, otherwise with that of all: two loops
 * that take turns are not one. Sets the median length of all rounds. */
double tp_regular_share(const uint64_t *borders, size_t n, bool may_change, double *median);
/* Sets usual[i] to the usual length around round i, for each of the n - 1 rounds. */
void tp_local_lengths(const uint64_t *borders, size_t n, double *usual);

#endif
