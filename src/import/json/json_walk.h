/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes apart JSON that lies whole in memory, without a tree: one member after the other, each
 * value as the piece of text that it is. Whoever owns the text keeps TP_JSON_WALK_SLACK readable
 * bytes behind it.
 *
 * Lenient where traces of real programs are wrong: control characters and bytes that are no UTF-8
 * in strings, NaN and Infinity, a value that is missing ("a": ,), commas too many. What is not
 * wanted is not looked into, so it may be anything that has its brackets and quotes. Whatever a
 * strict parser accepts is accepted, with the same values. Of a key that comes twice the last
 * counts.
 */
#ifndef TRAINPROF_SRC_IMPORT_JSON_JSON_WALK_H
#define TRAINPROF_SRC_IMPORT_JSON_JSON_WALK_H

#include "byte_mask.h"
#include "json_skip.h"

#include "trainprof/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TP_JSON_WALK_SLACK = TP_JSON_SKIP_BYTES };

enum tp_json_slice_type {
	TP_JSON_SLICE_NONE, /* not there */
	TP_JSON_SLICE_TEXT, /* what stands between the quotes */
	TP_JSON_SLICE_OBJECT,
	TP_JSON_SLICE_LIST,
	TP_JSON_SLICE_WORD, /* a number, true, null, or what should be one */
};

struct tp_json_slice {
	const char *text; /* objects and lists: with their brackets */
	size_t len;
	enum tp_json_slice_type type;
	bool is_escaped; /* a text with backslashes */
};

/* Members of an object, or elements of a list (their key is TP_JSON_SLICE_NONE). */
struct tp_json_walk {
	const char *at;
	const char *end; /* the closing bracket */
	bool is_object;
	bool is_malformed; /* why there is no next one */
};

static inline struct tp_json_walk tp_json_walk_init(const struct tp_json_slice *piece)
{
	bool is_parent = piece->type == TP_JSON_SLICE_OBJECT || piece->type == TP_JSON_SLICE_LIST;
	struct tp_json_walk walk = {.is_object = piece->type == TP_JSON_SLICE_OBJECT};
	walk.at = is_parent ? piece->text + 1 : piece->text;
	walk.end = is_parent ? piece->text + piece->len - 1 : piece->text;
	return walk;
}

/* The end of a run of blanks, or `end`. Most often there is none or one: a branch that is foreseen
 * costs less than waiting for a mask. */
static inline const char *tp_json_walk_space(const char *at, const char *end)
{
	if (end - at >= 2) {
		if ((unsigned char)at[0] > ' ')
			return at;
		if ((unsigned char)at[1] > ' ')
			return at + 1;
	}
	while (at < end) {
		unsigned ink = tp_byte_mask_not_space(at);
		if (ink) {
			at += __builtin_ctz(ink);
			break;
		}
		at += TP_BYTE_MASK_BYTES;
	}
	return at < end ? at : end;
}

/* From behind the first quote to behind the second; false when that is beyond `end`. */
static inline bool tp_json_walk_text(struct tp_json_walk *walk, struct tp_json_slice *out)
{
	const char *at = walk->at;
	out->text = at;
	out->is_escaped = false;
	while (at < walk->end) {
		unsigned ends = tp_byte_mask_text_end(at);
		if (!ends) {
			at += TP_BYTE_MASK_BYTES;
			continue;
		}
		at += __builtin_ctz(ends);
		if (*at == '"')
			break;
		out->is_escaped = true;
		at += 2;
	}
	if (at >= walk->end)
		return false;
	out->len = (size_t)(at - out->text);
	out->type = TP_JSON_SLICE_TEXT;
	walk->at = at + 1;
	return true;
}

static inline bool tp_json_walk_bracket(struct tp_json_walk *walk, struct tp_json_slice *out)
{
	struct tp_json_skip skip = {0};
	out->type = *walk->at == '{' ? TP_JSON_SLICE_OBJECT : TP_JSON_SLICE_LIST;
	out->text = walk->at;
	if (!tp_json_skip_run(&skip, &walk->at, walk->end, true))
		return false;
	out->len = (size_t)(walk->at - out->text);
	return true;
}

static inline void tp_json_walk_word(struct tp_json_walk *walk, struct tp_json_slice *out)
{
	const char *at = walk->at;
	out->text = at;
	while (at < walk->end) {
		unsigned ends = tp_byte_mask_word_end(at);
		if (ends) {
			at += __builtin_ctz(ends);
			break;
		}
		at += TP_BYTE_MASK_BYTES;
	}
	walk->at = at < walk->end ? at : walk->end;
	out->len = (size_t)(walk->at - out->text);
	out->type = out->len ? TP_JSON_SLICE_WORD : TP_JSON_SLICE_NONE;
}

static inline bool tp_json_walk_value(struct tp_json_walk *walk, struct tp_json_slice *out)
{
	out->is_escaped = false;
	if (walk->at < walk->end && *walk->at == '"') {
		walk->at++;
		return tp_json_walk_text(walk, out);
	}
	if (walk->at < walk->end && (*walk->at == '{' || *walk->at == '['))
		return tp_json_walk_bracket(walk, out);
	tp_json_walk_word(walk, out);
	return true;
}

static inline bool tp_json_walk_key(struct tp_json_walk *walk, struct tp_json_slice *key)
{
	if (*walk->at != '"')
		return false;
	walk->at++;
	if (!tp_json_walk_text(walk, key))
		return false;
	walk->at = tp_json_walk_space(walk->at, walk->end);
	if (walk->at >= walk->end || *walk->at != ':')
		return false;
	walk->at = tp_json_walk_space(walk->at + 1, walk->end);
	return true;
}

/* Go to the next value and tell its key; false at the end, and when what comes is no member. */
static inline bool tp_json_walk_to_value(struct tp_json_walk *walk, struct tp_json_slice *key)
{
	walk->at = tp_json_walk_space(walk->at, walk->end);
	while (walk->at < walk->end && *walk->at == ',')
		walk->at = tp_json_walk_space(walk->at + 1, walk->end);
	*key = (struct tp_json_slice){.text = walk->at};
	if (walk->at >= walk->end)
		return false;
	walk->is_malformed = walk->is_object && !tp_json_walk_key(walk, key);
	return !walk->is_malformed;
}

/* The value at which it stands; false when it is none. */
static inline bool tp_json_walk_read_value(struct tp_json_walk *walk, struct tp_json_slice *value)
{
	const char *before = walk->at;
	bool is_value = tp_json_walk_value(walk, value) && (walk->is_object || walk->at > before);
	walk->is_malformed = !is_value;
	return is_value;
}

/* The next member; false at the end, and when what comes is none. */
static inline bool tp_json_walk_next(struct tp_json_walk *walk, struct tp_json_slice *key,
				     struct tp_json_slice *value)
{
	return tp_json_walk_to_value(walk, key) && tp_json_walk_read_value(walk, value);
}

/* Of a key: as many bytes as the literal has. */
#define TP_JSON_SLICE_IS(piece, literal)                                                           \
	((piece)->len == sizeof(literal) - 1 &&                                                    \
	 __builtin_memcmp((piece)->text, literal, sizeof(literal) - 1) == 0)

/* The same without escapes: the piece itself where it has none, else in `scratch`, with slack. */
struct tp_json_slice tp_json_slice_unescape(const struct tp_json_slice *piece,
					    struct tp_buf *scratch);
/* The member of that key (the last of several); type TP_JSON_SLICE_NONE when there is none. */
struct tp_json_slice tp_json_slice_find(const struct tp_json_slice *object, const char *key);

/* A whole number, also one in quotes, or written as a decimal (7.0, 1e3). */
bool tp_json_slice_integer(const struct tp_json_slice *piece, int64_t *out);
/* The same, from 0 to `most`; 0 when it is none. */
uint64_t tp_json_slice_count(const struct tp_json_slice *piece, uint64_t most);
/* A decimal number of microseconds, also in quotes, as ns: the digits are taken, no double in
 * between; what is smaller than a nanosecond is cut off. False when it is none, below 0, or 2^63
 * ns and more. */
bool tp_json_slice_time_ns(const struct tp_json_slice *piece, uint64_t *out);
/* The same of seconds. */
bool tp_json_slice_seconds_ns(const struct tp_json_slice *piece, uint64_t *out);
/* The text without escapes and as UTF-8 (what is none becomes U+FFFD), control characters as
 * blanks: the piece itself where nothing is to be changed, else in `scratch`. "" for what is no
 * text. */
const char *tp_json_slice_text(const struct tp_json_slice *piece, struct tp_buf *scratch,
			       size_t *len);

#endif
