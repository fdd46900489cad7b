/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the bytes that a terminal sends for a key into one number. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_KEY_DECODE_H
#define TRAINPROF_SRC_CLI_TERMINAL_KEY_DECODE_H

#include <stddef.h>

/* Returns the first key of n > 0 bytes, TP_KEY_... of trainprof/report/view.h or a byte;
 * TP_KEY_NONE for an unknown sequence. *used is its number of bytes; 0 if the bytes may be the
 * beginning of a longer sequence: the caller waits a moment, and bytes that are still alone are the
 * Escape key. */
int tp_key_decode(const char *bytes, size_t n, size_t *used);

#endif
