/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal sends for a key, as one number. */
#ifndef TRAINPROF_SRC_CLI_TERMINAL_KEY_DECODE_H
#define TRAINPROF_SRC_CLI_TERMINAL_KEY_DECODE_H

#include <stddef.h>

/*
 * The first key of n > 0 bytes, TP_KEY_... of trainprof/report/view.h or a byte; TP_KEY_NONE for a
 * sequence that is none of ours. *used is how many bytes it was; 0 when the bytes may be the begin
 * of a longer sequence: wait a moment, and what is still alone is the Escape key.
 */
int tp_key_decode(const char *bytes, size_t n, size_t *used);

#endif
