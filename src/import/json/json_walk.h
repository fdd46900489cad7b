/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses JSON that is completely in memory, without building a tree: one member after the other,
 * each value as a slice of the text. The owner of the text keeps TP_JSON_WALK_SLACK readable bytes
 * after it.
 *
 * Lenient about errors that real programs make: control characters and invalid UTF-8 in strings,
 * NaN and Infinity, a missing value ("a": ,), too many commas. Unused values are not parsed, so
 * they may contain anything with matching brackets and quotes; a word without quotes ends at a
 * quote, a backslash or an opening bracket. Everything that a strict parser accepts is accepted,
 * with the same values. If a key occurs twice, the last one counts.
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
	TP_JSON_SLICE_NONE, /* missing */
	TP_JSON_SLICE_TEXT, /* the text between the quotes */
	TP_JSON_SLICE_OBJECT,
	TP_JSON_SLICE_LIST,
	TP_JSON_SLICE_WORD, /* a number, true, null, or a malformed one of these */
};

struct tp_json_slice {
	const char *text; /* objects and lists: with their brackets */
	size_t len;
	enum tp_json_slice_type type;
	bool is_escaped; /* a text with backslashes */
};

/* Iterates over the members of an object, or the elements of a list (their key is
 * TP_JSON_SLICE_NONE). */
struct tp_json_walk {
	const char *at;
	const char *end; /* the closing bracket */
	bool is_object;
	bool is_malformed; /* the reason why there is no next member */
};

static inline struct tp_json_walk tp_json_walk_init(const struct tp_json_slice *piece)
{
	bool is_parent = piece->type == TP_JSON_SLICE_OBJECT || piece->type == TP_JSON_SLICE_LIST;
	struct tp_json_walk walk = {.is_object = piece->type == TP_JSON_SLICE_OBJECT};
	walk.at = is_parent ? piece->text + 1 : piece->text;
	walk.end = is_parent ? piece->text + piece->len - 1 : piece->text;
	return walk;
}

/* Returns the end of a run of spaces, or `end`. Usually there is none or one: a predicted branch
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

/* Reads from after the first quote to after the second. Returns false if that is beyond `end`. */
static inline bool tp_json_walk_text(struct tp_json_walk *walk, struct tp_json_slice *out)
{
	const char *at = walk->at;
	out->text = at;
	out->is_escaped = false;
	/* Half of all texts are this short, and what follows waits for their end. */
	unsigned few = tp_byte_mask_text_length(at);
	if (few < sizeof(uint64_t) && at + few < walk->end && at[few] == '"') {
		out->len = few;
		out->type = TP_JSON_SLICE_TEXT;
		walk->at = at + few + 1;
		return true;
	}
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
	out->text = walk->at;
	const char *at = walk->at; /* a copy, so that the walk can stay in registers */
	if (!tp_json_skip_run(&skip, &at, walk->end, true))
		return false;
	walk->at = at;
	out->len = (size_t)(at - out->text);
	out->type = *out->text == '{' ? TP_JSON_SLICE_OBJECT : TP_JSON_SLICE_LIST;
	return true;
}

static inline void tp_json_walk_word(struct tp_json_walk *walk, struct tp_json_slice *out)
{
	const char *at = walk->at;
	out->text = at;
	unsigned few = tp_byte_mask_digits(at);
	if (few - 1 < sizeof(uint64_t) - 1 && at + few < walk->end &&
	    (at[few] == ',' || at[few] == '}')) {
		walk->at = at + few;
		out->len = few;
		out->type = TP_JSON_SLICE_WORD;
		return;
	}
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

/* Advances to the next value and returns its key. Returns false at the end, and if the next text is
 * not a member. */
static inline bool tp_json_walk_to_value(struct tp_json_walk *walk, struct tp_json_slice *key)
{
	walk->at = tp_json_walk_space(walk->at, walk->end);
	while (walk->at < walk->end && *walk->at == ',')
		walk->at = tp_json_walk_space(walk->at + 1, walk->end);
	*key = (struct tp_json_slice){.text = walk->at};
	/* The end may not be known yet. */
	if (walk->at >= walk->end || (walk->is_object && *walk->at == '}'))
		return false;
	walk->is_malformed = walk->is_object && !tp_json_walk_key(walk, key);
	return !walk->is_malformed;
}

/* Reads the value at the current position. Returns false if there is none. */
static inline bool tp_json_walk_read_value(struct tp_json_walk *walk, struct tp_json_slice *value)
{
	const char *before = walk->at;
	bool is_value = tp_json_walk_value(walk, value) && (walk->is_object || walk->at > before);
	walk->is_malformed = !is_value;
	return is_value;
}

/* Reads the next member. Returns false at the end, and if the next text is not a member. */
static inline bool tp_json_walk_next(struct tp_json_walk *walk, struct tp_json_slice *key,
				     struct tp_json_slice *value)
{
	return tp_json_walk_to_value(walk, key) && tp_json_walk_read_value(walk, value);
}

/* Compares a key with a literal of the same length. */
#define TP_JSON_SLICE_IS(piece, literal)                                                           \
	((piece)->len == sizeof(literal) - 1 &&                                                    \
	 __builtin_memcmp((piece)->text, literal, sizeof(literal) - 1) == 0)

/* Returns the slice without escapes: itself if it has none, otherwise in `scratch`, with slack. */
struct tp_json_slice tp_json_slice_unescape(const struct tp_json_slice *piece,
					    struct tp_buf *scratch);
/* Returns the member with that key (the last of several); type TP_JSON_SLICE_NONE if there is
 * none. */
struct tp_json_slice tp_json_slice_find(const struct tp_json_slice *object, const char *key);
enum { TP_JSON_KEYS_MAX = 8 };
/* The same for up to TP_JSON_KEYS_MAX keys in one pass; out[i] is the member with keys[i]. */
void tp_json_slice_find_each(const struct tp_json_slice *object, const char *const *keys, size_t n,
			     struct tp_json_slice *out);

/* Parses a whole number, also in quotes or written as a decimal (7.0, 1e3). */
bool tp_json_slice_integer(const struct tp_json_slice *piece, int64_t *out);
/* The same, from 0 to `most`; 0 for anything else. */
uint64_t tp_json_slice_count(const struct tp_json_slice *piece, uint64_t most);
/* Parses a decimal number of microseconds, also in quotes, to ns, from its digits and without a
 * double; fractions of a nanosecond are truncated. Returns false if it is not a number, below 0, or
 * at least 2^63 ns. */
bool tp_json_slice_time_ns(const struct tp_json_slice *piece, uint64_t *out);
/* The same for seconds. */
bool tp_json_slice_seconds_ns(const struct tp_json_slice *piece, uint64_t *out);
/* Returns the text without escapes, as UTF-8 (invalid bytes become U+FFFD) and with control
 * characters replaced by spaces: the text itself if nothing changes, otherwise in `scratch`. "" if
 * the slice is not a text. */
const char *tp_json_slice_text(const struct tp_json_slice *piece, struct tp_buf *scratch,
			       size_t *len);

#endif
