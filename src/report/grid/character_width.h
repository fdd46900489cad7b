/* SPDX-License-Identifier: Apache-2.0 */
/* Number of terminal columns of a character, independent of the locale. */
#ifndef TRAINPROF_SRC_REPORT_GRID_CHARACTER_WIDTH_H
#define TRAINPROF_SRC_REPORT_GRID_CHARACTER_WIDTH_H

#include <stddef.h>

/* Width of the character at `text`, which is valid UTF-8: 0, 1 or 2. */
size_t tp_character_width(const char *text);

#endif
