/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how alike the rounds of a loop are. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_REGULAR_ROUNDS_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_REGULAR_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the share of the n - 1 rounds between n >= 2 borders, in ns or in any other unit, whose
 * length is near the median of its neighbours: of single rounds, of every second to fourth round,
 * or of the sums of four, whichever is most regular. Sets the median length of a round. */
double tp_regular_share(const uint64_t *borders, size_t n, double *median);
/* Sets usual[i] to the usual length around round i, for each of the n - 1 rounds. */
void tp_local_lengths(const uint64_t *borders, size_t n, double *usual);

#endif
