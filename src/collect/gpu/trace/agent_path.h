/* SPDX-License-Identifier: Apache-2.0 */
/* Where the library is that is put into programs that use a GPU. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_PATH_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_PATH_H

#define TP_AGENT_LIBRARY "libtrainprof-agent.so"
/* Where it is instead of beside us. */
#define TP_AGENT_ENV "TRAINPROF_AGENT"

/* Beside the program, as it is built, or in the lib of the bin in which it is installed. Heap; NULL
 * when it is nowhere. */
char *tp_agent_path(void);

#endif
