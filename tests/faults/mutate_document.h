/* SPDX-License-Identifier: Apache-2.0 */
/* Changes JSON documents: other values, other types, members that are gone, twice or moved. */
#ifndef TRAINPROF_TESTS_FAULTS_MUTATE_DOCUMENT_H
#define TRAINPROF_TESTS_FAULTS_MUTATE_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>

/* xorshift64*: the same numbers on every machine. */
uint64_t random_next(uint64_t *state);
/* Below n; 0 when n is 0. */
uint64_t random_below(uint64_t *state, uint64_t n);

/* A changed copy of a JSON text, heap; NULL when it is no JSON. */
char *mutate_document(const char *text, size_t size, uint64_t *state);

#endif
