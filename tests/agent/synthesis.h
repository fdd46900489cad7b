/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic capture: every kind of record in every variant, in one version's lengths. The decoded
 * events must be the same for every version. */
#ifndef TRAINPROF_TESTS_AGENT_SYNTHESIS_H
#define TRAINPROF_TESTS_AGENT_SYNTHESIS_H

#include <stdint.h>
#include <stdio.h>

/* Writes the format of capture.h. */
void synthesise_capture(FILE *out, uint32_t version);

#endif
