/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which libcupti of a process is used. Two copies in a process have two sets of callbacks, and the
 * second takes records away from the first, unnoticed. So the one that the program has, or will
 * load, is taken before any other:
 *
 *   1. one that is mapped
 *   2. $TRAINPROF_CUPTI
 *   3. beside a mapped CUDA runtime (as in Python wheels), of its major version
 *   4. the loader's, that of the runtime's major version first
 *   5. a toolkit's, likewise
 *
 * A CUPTI newer than the driver fails at its first call, so one of a later major version is not
 * tried. A file that is cut or is another architecture's is passed over: the loader would die of
 * SIGBUS in the first. What is opened is never unloaded, however often the program closes it.
 *
 * Only the agent's own thread calls this.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_COPY_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_COPY_H

#include <stddef.h>
#include <stdint.h>

enum { TP_CUPTI_PATH_BYTES = 512 };

/* The handle of the copy to use; NULL: none is found. `path`: as it was opened, or as it is mapped.
 * `driver_version`: of cuDriverGetVersion, 0 = unknown. May take seconds. */
void *tp_cupti_copy_open(char path[TP_CUPTI_PATH_BYTES], uint32_t driver_version);

/* Is another libcupti mapped besides the one that has `address` in it? Its path goes to `out`; ""
 * where there is none. Holds the loader's lock for a moment. */
void tp_cupti_copy_find_other(char out[TP_CUPTI_PATH_BYTES], const void *address);

#endif
