/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names in tables of importers: '*' matches any text, '%' a run of digits. */
#ifndef TRAINPROF_SRC_IMPORT_READER_TEXT_PATTERN_H
#define TRAINPROF_SRC_IMPORT_READER_TEXT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PATTERN_NUMBERS = 2 };

/* Returns true if the whole text matches. The first numbers are written to `numbers` (may be NULL),
 * in order; a number of 2^31 or more matches without being written. */
bool tp_text_pattern_match(const char *pattern, const char *text, size_t len,
			   int64_t numbers[TP_PATTERN_NUMBERS]);

#endif
