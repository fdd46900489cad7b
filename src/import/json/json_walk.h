/*
 * Takes apart JSON that lies whole in memory, without a tree: one member after the other, each
 * value as the piece of text that it is. Whoever owns the text keeps TP_WALK_SLACK readable bytes
 * behind it.
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

enum { TP_WALK_SLACK = TP_SKIP_BYTES };

enum tp_piece_type {
	TP_PIECE_NONE, /* not there */
	TP_PIECE_TEXT, /* what stands between the quotes */
	TP_PIECE_OBJECT,
	TP_PIECE_LIST,
	TP_PIECE_WORD, /* a number, true, null, or what should be one */
};

struct tp_piece {
	const char *text; /* objects and lists: with their brackets */
	size_t len;
	enum tp_piece_type type;
	bool is_escaped; /* a text with backslashes */
};

/* Members of an object, or elements of a list (their key is TP_PIECE_NONE). */
struct tp_walk {
	const char *at;
	const char *end; /* the closing bracket */
	bool is_object;
	bool is_malformed; /* why there is no next one */
};

static inline struct tp_walk tp_walk_into(const struct tp_piece *piece)
{
	bool is_parent = piece->type == TP_PIECE_OBJECT || piece->type == TP_PIECE_LIST;
	struct tp_walk walk = {.is_object = piece->type == TP_PIECE_OBJECT};
	walk.at = is_parent ? piece->text + 1 : piece->text;
	walk.end = is_parent ? piece->text + piece->len - 1 : piece->text;
	return walk;
}

/* The end of a run of blanks, or `end`. Most often there is none or one: a branch that is foreseen
 * costs less than waiting for a mask. */
static inline const char *tp_walk_space(const char *at, const char *end)
{
	if (end - at >= 2) {
		if ((unsigned char)at[0] > ' ')
			return at;
		if ((unsigned char)at[1] > ' ')
			return at + 1;
	}
	while (at < end) {
		unsigned ink = tp_mask_ink(at);
		if (ink) {
			at += __builtin_ctz(ink);
			break;
		}
		at += TP_MASK_BYTES;
	}
	return at < end ? at : end;
}

/* From behind the first quote to behind the second; false when that is beyond `end`. */
static inline bool tp_walk_text(struct tp_walk *walk, struct tp_piece *out)
{
	const char *at = walk->at;
	out->text = at;
	out->is_escaped = false;
	while (at < walk->end) {
		unsigned ends = tp_mask_text_end(at);
		if (!ends) {
			at += TP_MASK_BYTES;
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
	out->type = TP_PIECE_TEXT;
	walk->at = at + 1;
	return true;
}

static inline bool tp_walk_bracket(struct tp_walk *walk, struct tp_piece *out)
{
	struct tp_skip skip = {0};
	out->type = *walk->at == '{' ? TP_PIECE_OBJECT : TP_PIECE_LIST;
	out->text = walk->at;
	if (!tp_skip_on(&skip, &walk->at, walk->end, true))
		return false;
	out->len = (size_t)(walk->at - out->text);
	return true;
}

static inline void tp_walk_word(struct tp_walk *walk, struct tp_piece *out)
{
	const char *at = walk->at;
	out->text = at;
	while (at < walk->end) {
		unsigned ends = tp_mask_word_end(at);
		if (ends) {
			at += __builtin_ctz(ends);
			break;
		}
		at += TP_MASK_BYTES;
	}
	walk->at = at < walk->end ? at : walk->end;
	out->len = (size_t)(walk->at - out->text);
	out->type = out->len ? TP_PIECE_WORD : TP_PIECE_NONE;
}

static inline bool tp_walk_value(struct tp_walk *walk, struct tp_piece *out)
{
	out->is_escaped = false;
	if (walk->at < walk->end && *walk->at == '"') {
		walk->at++;
		return tp_walk_text(walk, out);
	}
	if (walk->at < walk->end && (*walk->at == '{' || *walk->at == '['))
		return tp_walk_bracket(walk, out);
	tp_walk_word(walk, out);
	return true;
}

static inline bool tp_walk_key(struct tp_walk *walk, struct tp_piece *key)
{
	if (*walk->at != '"')
		return false;
	walk->at++;
	if (!tp_walk_text(walk, key))
		return false;
	walk->at = tp_walk_space(walk->at, walk->end);
	if (walk->at >= walk->end || *walk->at != ':')
		return false;
	walk->at = tp_walk_space(walk->at + 1, walk->end);
	return true;
}

/* Go to the next value and tell its key; false at the end, and when what comes is no member. */
static inline bool tp_walk_to_value(struct tp_walk *walk, struct tp_piece *key)
{
	walk->at = tp_walk_space(walk->at, walk->end);
	while (walk->at < walk->end && *walk->at == ',')
		walk->at = tp_walk_space(walk->at + 1, walk->end);
	*key = (struct tp_piece){.text = walk->at};
	if (walk->at >= walk->end)
		return false;
	walk->is_malformed = walk->is_object && !tp_walk_key(walk, key);
	return !walk->is_malformed;
}

/* The value at which it stands; false when it is none. */
static inline bool tp_walk_take_value(struct tp_walk *walk, struct tp_piece *value)
{
	const char *before = walk->at;
	bool is_value = tp_walk_value(walk, value) && (walk->is_object || walk->at > before);
	walk->is_malformed = !is_value;
	return is_value;
}

/* The next member; false at the end, and when what comes is none. */
static inline bool tp_walk_next(struct tp_walk *walk, struct tp_piece *key, struct tp_piece *value)
{
	return tp_walk_to_value(walk, key) && tp_walk_take_value(walk, value);
}

/* Of a key: as many bytes as the literal has. */
#define TP_PIECE_IS(piece, literal)                                                                \
	((piece)->len == sizeof(literal) - 1 &&                                                    \
	 __builtin_memcmp((piece)->text, literal, sizeof(literal) - 1) == 0)

/* The same without escapes: the piece itself where it has none, else in `scratch`, with slack. */
struct tp_piece tp_piece_plain(const struct tp_piece *piece, struct tp_buf *scratch);
/* The member of that key (the last of several); type TP_PIECE_NONE when there is none. */
struct tp_piece tp_piece_find(const struct tp_piece *object, const char *key);

/* A whole number, also one in quotes, or written as a decimal (7.0, 1e3). */
bool tp_piece_integer(const struct tp_piece *piece, int64_t *out);
/* The same, from 0 to `most`; 0 when it is none. */
uint64_t tp_piece_count(const struct tp_piece *piece, uint64_t most);
/* A decimal number of microseconds, also in quotes, as ns: the digits are taken, no double in
 * between; what is smaller than a nanosecond is cut off. False when it is none, below 0, or 2^63
 * ns and more. */
bool tp_piece_time_ns(const struct tp_piece *piece, uint64_t *out);
/* The same of seconds. */
bool tp_piece_seconds_ns(const struct tp_piece *piece, uint64_t *out);
/* The text without escapes and as UTF-8 (what is none becomes U+FFFD), control characters as
 * blanks: the piece itself where nothing is to be changed, else in `scratch`. "" for what is no
 * text. */
const char *tp_piece_text(const struct tp_piece *piece, struct tp_buf *scratch, size_t *len);

#endif
