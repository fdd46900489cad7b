/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that grow by the same number, such as the size of a batch, in each round. */
#ifndef TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_STRIDE_H
#define TRAINPROF_SRC_ANALYZE_COUNTERS_COUNTER_STRIDE_H

#include "counter_readings.h"

/* Divides the values by the number that nearly all growths are multiples of, so that the variable
 * grows by one per round. A smaller batch is a round, at the end of an epoch or of the run. A sum
 * over all epochs goes on after it: there the count may be wrong by one for each, so it is not
 * exact. */
void tp_counter_stride_divide(struct tp_counter_series *series);

#endif
