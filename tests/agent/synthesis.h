/* SPDX-License-Identifier: Apache-2.0 */
/* A capture of no GPU: every kind of record with every turn that it may take, in one version's
 * lengths. The same events must come of it whatever the version. */
#ifndef TRAINPROF_TESTS_AGENT_SYNTHESIS_H
#define TRAINPROF_TESTS_AGENT_SYNTHESIS_H

#include <stdint.h>
#include <stdio.h>

/* As capture.h has it. */
void synthesise_capture(FILE *out, uint32_t version);

#endif
