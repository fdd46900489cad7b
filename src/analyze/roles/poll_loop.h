/* SPDX-License-Identifier: Apache-2.0 */
/* Tells sleeps of a polling loop from sleeps by the program's own wish. */
#ifndef TRAINPROF_SRC_ANALYZE_ROLES_POLL_LOOP_H
#define TRAINPROF_SRC_ANALYZE_ROLES_POLL_LOOP_H

#include "analyze/analysis.h"

/* Whether a sleep (a piece of the timeline) has another one just before or after it. */
bool tp_poll_loop_is_sleep(const struct tp_timeline *timeline, const struct tp_segment *sleep);

#endif
