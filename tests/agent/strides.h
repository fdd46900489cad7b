/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of the records of each version of CUPTI, and an iterator that uses them: for captures on
 * machines without a CUPTI that could iterate itself. The agent has no such table, and must not. */
#ifndef TRAINPROF_TESTS_AGENT_STRIDES_H
#define TRAINPROF_TESTS_AGENT_STRIDES_H

#include <stddef.h>
#include <stdint.h>

struct cupti_record;

/* Returns the bytes of a record of that kind in that version; 0 = the kind is not known. */
size_t stride_of(uint32_t version, uint32_t kind);

/* Returns the first version that has the lengths of row `i`, the oldest first; 0 = no more rows. */
uint32_t stride_version(size_t i);

/* Works like cuptiActivityGetNextRecord: returns the record after *record, or the first one for
 * NULL. Also ends at a record of an unknown kind. */
int stride_next(uint32_t version, uint8_t *buffer, size_t valid, struct cupti_record **record);

#endif
