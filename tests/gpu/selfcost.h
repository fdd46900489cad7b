/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of the process so far: its threads' CPU time and its resident memory. */
#ifndef TRAINPROF_TESTS_GPU_SELFCOST_H
#define TRAINPROF_TESTS_GPU_SELFCOST_H

enum { SELFCOST_TEXT = 4096 };

/* Writes members of a JSON object: "resident_bytes" and "threads", a list of {name, cpu_s} with as
 * many threads as fit. */
void selfcost_read(char out[SELFCOST_TEXT]);

#endif
