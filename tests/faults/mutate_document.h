/* SPDX-License-Identifier: Apache-2.0 */
/* Changes JSON documents: other values, other types, members that are missing, duplicated or
 * moved. */
#ifndef TRAINPROF_TESTS_FAULTS_MUTATE_DOCUMENT_H
#define TRAINPROF_TESTS_FAULTS_MUTATE_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>

/* xorshift64*: the same numbers on every machine. */
uint64_t random_next(uint64_t *state);
/* Returns a number below n; 0 if n is 0. */
uint64_t random_below(uint64_t *state, uint64_t n);

/* Returns a changed copy of a JSON text, heap; NULL if it is no JSON. */
char *mutate_document(const char *text, size_t size, uint64_t *state);

#endif
