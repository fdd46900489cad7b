/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries, once, what `run` would do to trace GPUs: a child starts CUDA, whose driver loads the
 * agent, which finds CUPTI and switches it on. Nothing is computed and no context is made. For
 * doctor: to be called while there is one thread, for it forks.
 */
#ifndef TRAINPROF_SRC_COLLECT_GPU_SELFTEST_CUPTI_SELFTEST_H
#define TRAINPROF_SRC_COLLECT_GPU_SELFTEST_CUPTI_SELFTEST_H

#include "trainprof/collect/gpu_selftest.h"

/* One row, whatever comes of it, after `seconds` at most. */
void tp_cupti_selftest(struct tp_gpu_selftest_row *row, double seconds);

#endif
