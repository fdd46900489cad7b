/* SPDX-License-Identifier: Apache-2.0 */
/* Small text functions: nearest name, parsing of numbers with units, UTF-8 repair. */
#ifndef TRAINPROF_BASE_TEXT_H
#define TRAINPROF_BASE_TEXT_H

#include "trainprof/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Optimal string alignment distance (insert, delete, replace, swap neighbours). */
unsigned tp_text_distance(const char *a, const char *b);

/* The name closest to `word` among n names (NULL entries skipped); NULL when none is within 2 or
 * within a third of the word's length, whichever is larger. */
const char *tp_text_closest(const char *word, const char *const *names, size_t n);

/* Parses "90ms" or "2m", but not "1h30m": one number, one unit of ns us ms s m h. A bare number is
 * refused. */
bool tp_text_parse_duration(const char *text, uint64_t *out_ns);
/* Parses "2GiB", "512MiB", "10kB", "64B". A bare number is refused. */
bool tp_text_parse_size(const char *text, uint64_t *out_bytes);
/* "1%", "0.5%". */
bool tp_text_parse_percent(const char *text, double *out_ratio);
/* "99Hz", "1kHz" or a bare number. */
bool tp_text_parse_rate(const char *text, double *out_hz);
/* A whole decimal number without sign. */
bool tp_text_parse_count(const char *text, uint64_t *out);
/* The number of a process: a count from 1 to INT_MAX. */
bool tp_text_parse_pid(const char *text, pid_t *out);

/* Length of the valid UTF-8 sequence that begins at `text`, 0 when there is none (RFC 3629). A NUL
 * is a sequence of one. */
size_t tp_text_utf8_length(const char *text);
/* Append `text`, every byte that is not part of valid UTF-8 replaced by U+FFFD. */
void tp_text_add_utf8(struct tp_buf *out, const char *text);
/* Returns the length of the character at `text` if a terminal must not receive it: control
 * characters (C1 too), and characters of Unicode that change the direction of the text or end its
 * line. Returns 0 for others. `text` is valid UTF-8. */
size_t tp_text_unsafe_length(const char *text);
/* Appends `text` for a terminal: valid UTF-8, with "?" for each such character except the
 * newline. */
void tp_text_add_safe(struct tp_buf *out, const char *text);
/* Appends a word so that a shell reads it back: quoted if it contains special characters, and with
 * "./" before a leading "-", so that no command reads it as an option. */
void tp_text_add_word(struct tp_buf *out, const char *word);
/* The same of an argument of a command, where a "-" at its begin belongs there. */
void tp_text_add_argument(struct tp_buf *out, const char *word);

/* Terminal columns of valid UTF-8 text (each code point counts one). */
size_t tp_text_width(const char *text);
/* Shell-style match: * and ? only; \* and \? are those characters themselves. */
bool tp_text_glob(const char *pattern, const char *text);
/* Returns the part after the last slash, or all of it if there is none. Borrowed from `path`. */
const char *tp_text_base_name(const char *path);
/* Returns the length in bytes of the name of the Python function that a generator expression, a
 * comprehension or a lambda is in: 7 for "prepare.<locals>.<genexpr>"; of any other, that of its
 * own name. */
size_t tp_text_function_length(const char *name);
bool tp_text_starts_with(const char *text, const char *prefix);

#endif
