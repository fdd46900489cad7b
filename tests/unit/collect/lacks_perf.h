/* SPDX-License-Identifier: Apache-2.0 */
/* Skips tests that need perf events. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_LACKS_PERF_H
#define TRAINPROF_TESTS_UNIT_COLLECT_LACKS_PERF_H

#include "collect/perf/perf_event.h"
#include "skip.h"

#include <stdbool.h>

/* Returns true if the kernel refuses perf events to us; the test counts as skipped and must
 * return. */
static inline bool lacks_perf(void)
{
	if (tp_perf_test_open(false) == 0)
		return false;
	test_skip("perf events are refused here");
	return true;
}

#endif
