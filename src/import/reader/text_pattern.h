/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names in tables of importers: '*' is any text, '%' a number of digits. */
#ifndef TRAINPROF_SRC_IMPORT_READER_TEXT_PATTERN_H
#define TRAINPROF_SRC_IMPORT_READER_TEXT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_PATTERN_NUMBERS = 2 };

/* Whether all of the text matches. The first numbers go to `numbers` (may be NULL), in order; those
 * of 2^31 and more match and leave what was there. */
bool tp_text_pattern_match(const char *pattern, const char *text, size_t len,
			   int64_t numbers[TP_PATTERN_NUMBERS]);

#endif
