/* SPDX-License-Identifier: Apache-2.0 */
/* The test doubles of CUDA for tests that sample hardware counters. */
#ifndef TRAINPROF_TESTS_COLLECT_PMDOUBLE_H
#define TRAINPROF_TESTS_COLLECT_PMDOUBLE_H

#include "agent/cudadouble.h"

#define PM_PEAK ".avg.pct_of_peak_sustained_elapsed"
#define PM_CORE                                                                                    \
	"sm__cycles_active" PM_PEAK " 80\n"                                                        \
	"sm__pipe_tensor_cycles_active_realtime" PM_PEAK " 30\n"                                   \
	"dram__read_throughput" PM_PEAK " 20\n"                                                    \
	"dram__write_throughput" PM_PEAK " 5\n"

/* Sets the script of the CUPTI double that is loaded next, in a folder that only this test uses. */
static inline void pm_script(const char *text)
{
	char directory[] = "/tmp/trainprof-pm-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(directory));
	cuda_doubles_load("whole");
	cupti_script(directory, text);
}

/* Removes the script and its folder at the end of a test. */
static inline void pm_double_reset(void)
{
	const char *path = getenv("CUPTI_SCRIPT");
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

#endif
