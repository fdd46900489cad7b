/* SPDX-License-Identifier: Apache-2.0 */
/* Initialises CUDA in a child process of ours; trainprof itself never does. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COMMON_CUDA_INIT_H
#define TRAINPROF_SRC_COLLECT_GPU_COMMON_CUDA_INIT_H

enum { TP_CUDA_NO_DRIVER = -1 }; /* libcuda.so.1 cannot be loaded, or is not a driver */

/* Returns the result of cuInit(): 0 if CUDA was initialised; or TP_CUDA_NO_DRIVER. The driver stays
 * loaded. May take many seconds. */
int tp_cuda_init(void);

#endif
