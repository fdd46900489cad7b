/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses which libcupti of a process to use. Two copies in one process have two sets of callbacks,
 * and the second silently takes records away from the first. The copy that the program has loaded,
 * or will load, therefore comes first:
 *
 *   1. one that is mapped
 *   2. $TRAINPROF_CUPTI
 *   3. one next to a mapped CUDA runtime (as in Python wheels), of the same major version
 *   4. the loader's, preferably of the runtime's major version
 *   5. a toolkit's, preferably of the runtime's major version
 *
 * A CUPTI that is newer than the driver fails at its first call, so copies of a later major version
 * are not tried. A truncated file, or one for another architecture, is skipped: the loader would
 * die of SIGBUS on the former. A library that was opened is never unloaded, however often the
 * program closes it.
 *
 * Only the agent's own thread calls this.
 */
#ifndef TRAINPROF_SRC_AGENT_CUPTI_CUPTI_COPY_H
#define TRAINPROF_SRC_AGENT_CUPTI_CUPTI_COPY_H

#include <stddef.h>
#include <stdint.h>

enum { TP_CUPTI_PATH_BYTES = 512 };

/* Returns the handle of the copy to use, or NULL if none is found. `path` receives the path by
 * which it was opened or mapped. `driver_version` is the result of cuDriverGetVersion, 0 = unknown.
 * May take seconds. */
void *tp_cupti_copy_open(char path[TP_CUPTI_PATH_BYTES], uint32_t driver_version);

/* Writes into `out` the path of another mapped libcupti than the one that contains `address`, or ""
 * if there is none. Holds the loader's lock for a moment. */
void tp_cupti_copy_find_other(char out[TP_CUPTI_PATH_BYTES], const void *address);

#endif
