/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks: processes that train the same network on different pictures and sum their gradients. */
#ifndef TRAINER_RANKS_H
#define TRAINER_RANKS_H

#include <stddef.h>
#include <stdint.h>

struct ranks;

/* Forks ranks 1 to n-1; returns in each. n = 1 forks no process. */
struct ranks *ranks_open(int n, int is_tcp, int payload_kb);
/* In rank 0: waits for the others and returns 0 if all ended well. */
int ranks_close(struct ranks *ranks);

int ranks_index(const struct ranks *ranks);

/* Sums `values` over all ranks, and sets `is_over` in all if it is set in one: ranks that stop
 * after a time limit have to stop after the same step. Returns the time until the last rank
 * arrived. */
uint64_t ranks_sum(struct ranks *ranks, float *values, size_t n, int *is_over);

#endif
