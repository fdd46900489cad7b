/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a line of user code with an idiom. */
#ifndef TRAINPROF_SRC_ANALYZE_CLASSIFY_IDIOM_LINE_H
#define TRAINPROF_SRC_ANALYZE_CLASSIFY_IDIOM_LINE_H

#include "stack_idiom.h"

#include <stdbool.h>

/* Returns true if the line has the text that the variant of the idiom requires. `text` is the line
 * as it is written, `lower` the same in small letters. */
bool tp_idiom_line_fits(const struct tp_idiom_way *way, const char *text, const char *lower);
/* True for self.seen = cat((self.seen, new)). */
bool tp_idiom_line_is_growth(const char *code);
/* True if the line makes calls that cost time besides those of the idiom. */
bool tp_idiom_line_has_others(const struct tp_idiom_way *way, const char *code);

#endif
