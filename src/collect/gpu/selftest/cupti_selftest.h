/* SPDX-License-Identifier: Apache-2.0 */
/* Tries once what `run` does to trace GPUs: a child initialises CUDA, whose driver loads the agent,
 * which finds CUPTI and enables it. Nothing is computed and no context is created. For doctor: call
 * it while there is only one thread, because it forks. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_SELFTEST_CUPTI_SELFTEST_H
#define TRAINPROF_SRC_COLLECT_GPU_SELFTEST_CUPTI_SELFTEST_H

#include "trainprof/collect/gpu_selftest.h"

/* Fills one row in any case, after `seconds` at most. */
void tp_cupti_selftest(struct tp_gpu_selftest_row *row, double seconds);

#endif
