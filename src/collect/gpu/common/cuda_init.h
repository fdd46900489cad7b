/* SPDX-License-Identifier: Apache-2.0 */
/* Starting CUDA in a child of ours; in trainprof itself it is never started. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_COMMON_CUDA_INIT_H
#define TRAINPROF_SRC_COLLECT_GPU_COMMON_CUDA_INIT_H

enum { TP_CUDA_NO_DRIVER = -1 }; /* libcuda.so.1 cannot be loaded, or is none */

/* What cuInit() returns: 0 when CUDA has started; or TP_CUDA_NO_DRIVER. The driver stays loaded.
 * May take many seconds. */
int tp_cuda_init(void);

#endif
