/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what needs perf events. */
#ifndef TRAINPROF_TESTS_UNIT_COLLECT_LACKS_PERF_H
#define TRAINPROF_TESTS_UNIT_COLLECT_LACKS_PERF_H

#include "collect/perf/perf_event.h"
#include "skip.h"

#include <stdbool.h>

/* Whether the kernel refuses them to us; the test is skipped then and returns. */
static inline bool lacks_perf(void)
{
	if (tp_perf_test_open(false) == 0)
		return false;
	test_skip("perf events are refused here");
	return true;
}

#endif
