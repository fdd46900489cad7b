/* SPDX-License-Identifier: Apache-2.0 */
/* cJSON's opinion of an event beside the scanner's. */
#ifndef TRAINPROF_TESTS_UNIT_IMPORT_STRICTPARSER_H
#define TRAINPROF_TESTS_UNIT_IMPORT_STRICTPARSER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether cJSON accepts the text as one object. If it does, the scanner has to find the same event
 * in a document around it, its members with the same keys, texts and numbers, and those of objects
 * and lists in it; what differs fails the test.
 */
bool strictparser_agrees(const char *text, size_t len);

#endif
