/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates how long each step exchanges data with other ranks. */
#ifndef TRAINPROF_SRC_ANALYZE_FACTS_EXCHANGE_TIMES_H
#define TRAINPROF_SRC_ANALYZE_FACTS_EXCHANGE_TIMES_H

#include "analyze/analysis.h"

/* Replaces peer_ns of the judged steps if their borders are exact and enough samples exist.
 * `halves`: by segment of the timeline, how many halves of it are exchange. */
void tp_exchange_times_estimate(struct tp_profile *profile, const struct tp_timeline *timeline,
				const uint8_t *halves);

#endif
