/* SPDX-License-Identifier: Apache-2.0 */
/* The location of the library that is loaded into programs that use a GPU. */
#ifndef TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_PATH_H
#define TRAINPROF_SRC_COLLECT_GPU_TRACE_AGENT_PATH_H

#define TP_AGENT_LIBRARY "libtrainprof-agent.so"
/* Environment variable that overrides the location. */
#define TP_AGENT_ENV "TRAINPROF_AGENT"

/* Next to the program, as it is built, or in the lib folder that belongs to an installed bin. Heap;
 * NULL if it is not found. */
char *tp_agent_path(void);

#endif
