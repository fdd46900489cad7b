/* SPDX-License-Identifier: Apache-2.0 */
/* Compares cJSON's result for an event with the scanner's. */
#ifndef TRAINPROF_TESTS_UNIT_IMPORT_STRICTPARSER_H
#define TRAINPROF_TESTS_UNIT_IMPORT_STRICTPARSER_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if cJSON accepts the text as one object. Then the scanner has to find the same event
 * in a document around it, its members with the same keys, texts and numbers, and those of objects
 * and lists in it; a difference fails the test. */
bool strictparser_agrees(const char *text, size_t len);

#endif
