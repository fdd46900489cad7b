/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the records of each version of CUPTI are, and a reader that steps by that: for captures
 * where no CUPTI is that could step itself. The agent has no such table, and must not.
 */
#ifndef TRAINPROF_TESTS_AGENT_STRIDES_H
#define TRAINPROF_TESTS_AGENT_STRIDES_H

#include <stddef.h>
#include <stdint.h>

struct cupti_record;

/* Bytes of a record of that kind in that version; 0: the kind is not known. */
size_t stride_of(uint32_t version, uint32_t kind);

/* The version from which on lengths are those of row `i`, the oldest first; 0: there are no more.
 */
uint32_t stride_version(size_t i);

/* As cuptiActivityGetNextRecord: the record behind *record, or the first for NULL. Also ends at a
 * record of a kind that is not known. */
int stride_next(uint32_t version, uint8_t *buffer, size_t valid, struct cupti_record **record);

#endif
