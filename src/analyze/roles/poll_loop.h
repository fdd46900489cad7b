/* SPDX-License-Identifier: Apache-2.0 */
/* Distinguishes sleeps of a polling loop from voluntary sleeps of the program. */
#ifndef TRAINPROF_SRC_ANALYZE_ROLES_POLL_LOOP_H
#define TRAINPROF_SRC_ANALYZE_ROLES_POLL_LOOP_H

#include "analyze/analysis.h"

/* Returns true if a sleep (a segment of the timeline) has another sleep just before or after it. */
bool tp_poll_loop_is_sleep(const struct tp_timeline *timeline, const struct tp_segment *sleep);

#endif
