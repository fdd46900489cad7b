/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has cost so far, of itself: its threads' CPU time and its resident memory. */
#ifndef TRAINPROF_TESTS_GPU_SELFCOST_H
#define TRAINPROF_TESTS_GPU_SELFCOST_H

enum { SELFCOST_TEXT = 4096 };

/* Members of a JSON object: "resident_bytes" and "threads", a list of {name, cpu_s}, the first of
 * them that fit. */
void selfcost_read(char out[SELFCOST_TEXT]);

#endif
