/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON documents under 1 MiB: rules, patterns, configuration, manifests, reports.
 *
 * Reading keeps the line of every value, so that a message can name it; lines that start with //
 * count as blank. Writing goes straight into a buffer, integers exact, text repaired to UTF-8.
 */
#ifndef TRAINPROF_BASE_JSON_H
#define TRAINPROF_BASE_JSON_H

#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_json_type {
	TP_JSON_NULL,
	TP_JSON_BOOL,
	TP_JSON_NUMBER,
	TP_JSON_STRING,
	TP_JSON_ARRAY,
	TP_JSON_OBJECT,
};

struct tp_json_doc;
struct tp_json; /* one value, owned by its document */

enum { TP_JSON_MAX_BYTES = 8 << 20, TP_JSON_MAX_DEPTH = 32 };

/*
 * Parse a document. `name` is used in messages: "budget.json:12:31: expected ',' or '}'".
 * Refuses: trailing text, duplicate keys, invalid UTF-8, deeper than TP_JSON_MAX_DEPTH.
 * Errors  TP_PARSE. The document is freed with tp_json_free().
 */
TP_MUST_CHECK enum tp_status tp_json_parse(struct tp_json_doc **out, const char *text, size_t len,
					   const char *name, struct tp_error *err);
/* The same from a file. Errors  TP_ABSENT, TP_DENIED, TP_IO, TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_json_load(struct tp_json_doc **out, const char *path,
					  struct tp_error *err);
void tp_json_free(struct tp_json_doc *doc);

const struct tp_json *tp_json_root(const struct tp_json_doc *doc);
const char *tp_json_name(const struct tp_json_doc *doc);
/* 1-based line of a value (of its first character). */
unsigned tp_json_line(const struct tp_json *value);

/* All borrow; all accept NULL (which has type TP_JSON_NULL and no members). */
enum tp_json_type tp_json_type(const struct tp_json *value);
const struct tp_json *tp_json_get(const struct tp_json *object, const char *key);
const struct tp_json *tp_json_first(const struct tp_json *parent); /* of array or object */
const struct tp_json *tp_json_after(const struct tp_json *value);  /* next sibling */
const char *tp_json_key(const struct tp_json *member);             /* NULL in an array */
size_t tp_json_count(const struct tp_json *parent);
const char *tp_json_string(const struct tp_json *value); /* NULL unless a string */
double tp_json_number(const struct tp_json *value, double otherwise);
bool tp_json_bool(const struct tp_json *value, bool otherwise);
/* A whole number 0 <= n <= 2^53; false otherwise. */
bool tp_json_uint(const struct tp_json *value, uint64_t *out);

/* NOLINTBEGIN(bugprone-macro-parentheses): a name cannot stand in parentheses */
#define TP_JSON_EACH(item, parent)                                                                 \
	for (const struct tp_json *item = tp_json_first(parent); item; item = tp_json_after(item))
/* NOLINTEND(bugprone-macro-parentheses) */

/* Writer: two-space indentation, members in the order written. Zero-initialise, then use. */
struct tp_json_writer {
	struct tp_buf out;
	int depth;
	bool needs_comma;
	bool after_key;
	bool is_flat; /* set by the caller: later members stay on one line */
};

void tp_json_open(struct tp_json_writer *w, char bracket);  /* '{' or '[' */
void tp_json_close(struct tp_json_writer *w, char bracket); /* '}' or ']' */
void tp_json_write_key(struct tp_json_writer *w, const char *key);
void tp_json_write_string(struct tp_json_writer *w, const char *text); /* NULL writes null */
void tp_json_write_uint(struct tp_json_writer *w, uint64_t value);
void tp_json_write_int(struct tp_json_writer *w, int64_t value);
/* Shortest text that reads back within 1e-9 relative; NaN and infinities write null. */
void tp_json_write_number(struct tp_json_writer *w, double value);
void tp_json_write_bool(struct tp_json_writer *w, bool value);
void tp_json_write_null(struct tp_json_writer *w);
/* key and value in one call */
void tp_json_put_string(struct tp_json_writer *w, const char *key, const char *text);
/* Writes the member only if the text is known (not NULL). */
void tp_json_put_known_string(struct tp_json_writer *w, const char *key, const char *text);
void tp_json_put_uint(struct tp_json_writer *w, const char *key, uint64_t value);
void tp_json_put_int(struct tp_json_writer *w, const char *key, int64_t value);
void tp_json_put_number(struct tp_json_writer *w, const char *key, double value);
void tp_json_put_bool(struct tp_json_writer *w, const char *key, bool value);
void tp_json_writer_release(struct tp_json_writer *w);

#endif
