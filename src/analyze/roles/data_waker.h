/* SPDX-License-Identifier: Apache-2.0 */
/* Finds threads that sleep nearly always, and whose short work ends the main thread's waits for
 * data. */
#ifndef TRAINPROF_SRC_ANALYZE_ROLES_DATA_WAKER_H
#define TRAINPROF_SRC_ANALYZE_ROLES_DATA_WAKER_H

#include "analyze/analysis.h"

/* Returns true if a thread that is hardly ever on a CPU is on one whenever a data wait of the
 * main thread ends, and not when other waits end: it fetches data from a remote place. Its little
 * CPU work could be mistaken for that of a compute team, since it happens while the main thread
 * waits. */
bool tp_data_waker_is(const struct tp_analysis *analysis, uint32_t task);

#endif
