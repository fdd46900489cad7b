/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a stream of JSON into events. */
#include "json_scan.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/stream.h"

#include <stdlib.h>
#include <string.h>

/* May precede the first value: RFC 8259, section 8.1 lets a reader ignore it. */
static const char byte_order_mark[] = "\xef\xbb\xbf";
enum { MARK_BYTES = 3 };

void tp_json_scan_init(struct tp_json_scan *scan, struct tp_stream *stream)
{
	*scan = (struct tp_json_scan){.stream = stream, .capacity = TP_JSON_SCAN_WINDOW};
	scan->window = tp_alloc(TP_JSON_SCAN_WINDOW + TP_JSON_WALK_SLACK);
}

void tp_json_scan_release(struct tp_json_scan *scan)
{
	free(scan->window);
	*scan = (struct tp_json_scan){0};
}

/* ---- the window ---- */

/* Moves the unread bytes to the front and reads more after them. Returns false if nothing was
 * read. */
static bool window_fill(struct tp_json_scan *scan)
{
	size_t left = scan->end - scan->at;
	if (scan->is_drained || left == scan->capacity)
		return false;
	memmove(scan->window, scan->window + scan->at, left);
	size_t room = scan->capacity - left;
	size_t n = tp_stream_read(scan->stream, scan->window + left, room);
	scan->at = 0;
	scan->end = left + n;
	scan->is_drained = n < room;
	memset(scan->window + scan->end, 0, TP_JSON_WALK_SLACK);
	return n > 0;
}

/* The same, in a larger window if needed. */
static bool window_grow(struct tp_json_scan *scan)
{
	if (scan->end - scan->at == scan->capacity && scan->capacity < TP_JSON_SCAN_WINDOW_MAX) {
		scan->capacity *= 2;
		scan->window = tp_realloc(scan->window, scan->capacity + TP_JSON_WALK_SLACK);
	}
	return window_fill(scan);
}

/* Returns the next byte that is not a space; 0 at the end of the text. */
static char skip_space(struct tp_json_scan *scan)
{
	for (;;) {
		const char *end = scan->window + scan->end;
		const char *at = tp_json_walk_space(scan->window + scan->at, end);
		scan->at = (size_t)(at - scan->window);
		if (at < end)
			return *at;
		if (!window_fill(scan))
			return '\0';
	}
}

static char skip_commas(struct tp_json_scan *scan)
{
	const char *at = scan->window + scan->at;
	/* Most values follow one comma and no space. */
	if (scan->end - scan->at >= 2 && at[0] == ',' && (unsigned char)at[1] > ',') {
		scan->at++;
		return at[1];
	}
	char c = skip_space(scan);
	while (c == ',') {
		scan->at++;
		c = skip_space(scan);
	}
	return c;
}

/* ---- the ends of values ---- */

/* One value and how much of it has been scanned. */
struct extent {
	enum tp_json_slice_type type;
	size_t size;              /* scanned, from scan->at on */
	struct tp_json_skip skip; /* state within brackets */
	bool is_escaped;          /* for a text: it contains a backslash */
};

static bool text_go_on(struct extent *extent, const char *from, const char *end)
{
	const char *at = from + extent->size;
	bool is_whole = false;
	while (at < end && !is_whole) {
		unsigned ends = tp_byte_mask_text_end(at);
		at += ends ? __builtin_ctz(ends) : TP_BYTE_MASK_BYTES;
		if (!ends || at >= end)
			continue;
		is_whole = *at == '"';
		/* A backslash and the next byte are scanned together or not yet. */
		if (!is_whole && end - at < 2)
			break;
		extent->is_escaped |= !is_whole;
		at += is_whole ? 1 : 2;
	}
	extent->size = (size_t)((at < end ? at : end) - from);
	return is_whole;
}

static bool word_go_on(struct extent *extent, const char *from, const char *end)
{
	const char *at = from + extent->size;
	while (at < end) {
		unsigned ends = tp_byte_mask_word_end(at);
		at += ends ? __builtin_ctz(ends) : TP_BYTE_MASK_BYTES;
		if (ends)
			break;
	}
	extent->size = (size_t)((at < end ? at : end) - from);
	return at < end;
}

static bool extent_go_on(struct extent *extent, const struct tp_json_scan *scan)
{
	const char *from = scan->window + scan->at;
	const char *end = scan->window + scan->end;
	if (extent->type == TP_JSON_SLICE_TEXT)
		return text_go_on(extent, from, end);
	if (extent->type == TP_JSON_SLICE_WORD)
		return word_go_on(extent, from, end) || scan->is_drained;
	const char *at = from + extent->size;
	bool is_whole = tp_json_skip_run(&extent->skip, &at, end, scan->is_drained);
	extent->size = (size_t)(at - from);
	return is_whole;
}

static enum tp_json_slice_type type_of(char first)
{
	switch (first) {
	case '"':
		return TP_JSON_SLICE_TEXT;
	case '{':
		return TP_JSON_SLICE_OBJECT;
	case '[':
		return TP_JSON_SLICE_LIST;
	default:
		return TP_JSON_SLICE_WORD;
	}
}

enum whole { WHOLE, WHOLE_CUT, WHOLE_HUGE };

/* Skips a value that does not fit into the window. */
static enum whole extent_drop(struct tp_json_scan *scan, struct extent *extent)
{
	for (;;) {
		scan->at += extent->size;
		extent->size = 0;
		if (!window_fill(scan) && !scan->is_drained)
			return WHOLE_CUT;
		bool is_over = scan->is_drained;
		if (extent_go_on(extent, scan)) {
			scan->at += extent->size;
			return WHOLE_HUGE;
		}
		if (is_over)
			return WHOLE_CUT;
	}
}

/* Reads the value that begins at scan->at. A complete one is returned in `out` and consumed. */
static enum whole value_read(struct tp_json_scan *scan, struct tp_json_slice *out)
{
	struct extent extent = {.type = type_of(scan->window[scan->at])};
	extent.size = extent.type == TP_JSON_SLICE_TEXT;
	while (!extent_go_on(&extent, scan)) {
		bool was_drained = scan->is_drained;
		if (window_grow(scan) || scan->is_drained != was_drained)
			continue;
		if (!scan->is_drained)
			return extent_drop(scan, &extent);
		scan->at = scan->end;
		return WHOLE_CUT;
	}
	bool is_text = extent.type == TP_JSON_SLICE_TEXT;
	*out = (struct tp_json_slice){.text = scan->window + scan->at + is_text,
				      .len = extent.size - (is_text ? 2 : 0),
				      .type = extent.type,
				      .is_escaped = extent.is_escaped};
	if (extent.type == TP_JSON_SLICE_WORD && !extent.size)
		out->type = TP_JSON_SLICE_NONE;
	scan->at += extent.size;
	return WHOLE;
}

/* ---- the document ---- */

static enum tp_json_scan_item scan_stop(struct tp_json_scan *scan, bool is_cut)
{
	scan->place = TP_JSON_SCAN_PLACE_END;
	scan->is_cut |= is_cut;
	return TP_JSON_SCAN_END;
}

/* Returns false if the text is not a trace. */
static bool trace_begin(struct tp_json_scan *scan)
{
	(void)window_fill(scan);
	if (scan->end >= MARK_BYTES && memcmp(scan->window, byte_order_mark, MARK_BYTES) == 0)
		scan->at = MARK_BYTES;
	char c = skip_space(scan);
	if (c != '{' && c != '[')
		return false;
	scan->at++;
	scan->is_bare = c == '[';
	scan->has_list = scan->is_bare;
	scan->place = scan->is_bare ? TP_JSON_SCAN_PLACE_LIST : TP_JSON_SCAN_PLACE_OBJECT;
	return true;
}

static enum tp_json_scan_item item_of(enum whole whole, enum tp_json_scan_item item,
				      struct tp_json_scan *scan)
{
	if (whole == WHOLE_CUT)
		return scan_stop(scan, true);
	return whole == WHOLE_HUGE ? TP_JSON_SCAN_HUGE : item;
}

/* ---- members that are entered ---- */

static const struct tp_json_scan_enter *enter_find(const struct tp_json_scan *scan,
						   const struct tp_json_slice *key)
{
	for (size_t i = 0; i < scan->n_enter; i++)
		if (strlen(scan->enter[i].key) == key->len &&
		    memcmp(scan->enter[i].key, key->text, key->len) == 0)
			return &scan->enter[i];
	return NULL;
}

/* Enters the bracket at scan->at. Returns false if there is none, or if it is too deep. */
static bool frame_push(struct tp_json_scan *scan, const struct tp_json_scan_enter *entered)
{
	char c = scan->window[scan->at];
	if ((c != '[' && c != '{') || scan->depth == TP_JSON_SCAN_DEPTH_MAX)
		return false;
	scan->frames[scan->depth++] = (struct tp_json_scan_frame){scan->place, scan->entered};
	scan->entered = entered;
	scan->place = c == '[' ? TP_JSON_SCAN_PLACE_LIST : TP_JSON_SCAN_PLACE_OBJECT;
	scan->at++;
	return true;
}

/* Leaves the innermost entered bracket. Returns false at the outermost level. */
static bool frame_pop(struct tp_json_scan *scan)
{
	if (!scan->depth)
		return false;
	scan->at++;
	scan->depth--;
	scan->place = scan->frames[scan->depth].place;
	scan->entered = scan->frames[scan->depth].entered;
	return true;
}

/* Lets the reader read the object at scan->at. Returns false if it does not. */
static bool object_read(struct tp_json_scan *scan)
{
	if (!scan->reader.read)
		return false;
	const char *after = scan->reader.read(scan->reader.self, scan->window + scan->at,
					      scan->window + scan->end);
	if (after)
		scan->at = (size_t)(after - scan->window);
	return after;
}

static enum tp_json_scan_item list_next(struct tp_json_scan *scan, struct tp_json_slice *value)
{
	char c = skip_commas(scan);
	if (c == ']' && frame_pop(scan))
		return TP_JSON_SCAN_END;
	if (c == '{' && scan->entered && scan->entered->is_deep && frame_push(scan, NULL))
		return TP_JSON_SCAN_END;
	if (c == ']') {
		scan->at++;
		scan->place = scan->is_bare ? TP_JSON_SCAN_PLACE_END : TP_JSON_SCAN_PLACE_OBJECT;
		return TP_JSON_SCAN_END;
	}
	/* The closing bracket of a bare list may be missing: Trace Event Format, "JSON Array
	 * Format", read 2026-11-22. */
	if (!c)
		return scan_stop(scan, !scan->is_bare);
	if (c == '{' && object_read(scan))
		return TP_JSON_SCAN_READ;
	enum tp_json_scan_item item = c == '{' ? TP_JSON_SCAN_EVENT : TP_JSON_SCAN_JUNK;
	size_t before = scan->at;
	enum whole whole = value_read(scan, value);
	if (whole == WHOLE && scan->at == before)
		scan->at++; /* a bracket that closes nothing */
	return item_of(whole, item, scan);
}

/* Reads the key at scan->at and the separator after it, which may move the window: the text of the
 * key is copied to scan->key. A longer key counts as empty. */
static enum whole key_read(struct tp_json_scan *scan, size_t *len)
{
	struct tp_json_slice piece = {0};
	enum whole whole = value_read(scan, &piece);
	if (whole)
		return whole;
	struct tp_buf scratch = {0};
	piece = tp_json_slice_unescape(&piece, &scratch);
	*len = piece.len <= sizeof(scan->key) ? piece.len : 0;
	if (*len)
		memcpy(scan->key, piece.text, *len);
	tp_buf_release(&scratch);
	if (skip_space(scan) == ':') {
		scan->at++;
		(void)skip_space(scan);
	}
	return scan->at < scan->end ? WHOLE : WHOLE_CUT;
}

static enum tp_json_scan_item object_next(struct tp_json_scan *scan, struct tp_json_slice *key,
					  struct tp_json_slice *value)
{
	char c = skip_commas(scan);
	if (c == '}' && frame_pop(scan))
		return TP_JSON_SCAN_END;
	if (c == '}')
		return scan_stop(scan, false);
	if (c != '"')
		return scan_stop(scan, true);
	size_t len = 0;
	enum whole whole = key_read(scan, &len);
	if (whole)
		return item_of(whole, TP_JSON_SCAN_MEMBER, scan);
	*key = (struct tp_json_slice){.text = scan->key, .len = len, .type = TP_JSON_SLICE_TEXT};
	const struct tp_json_scan_enter *entered = scan->n_enter ? enter_find(scan, key) : NULL;
	if (entered && frame_push(scan, entered))
		return TP_JSON_SCAN_END;
	if (TP_JSON_SLICE_IS(key, "traceEvents") && scan->window[scan->at] == '[') {
		scan->at++;
		scan->has_list = true;
		scan->place = TP_JSON_SCAN_PLACE_LIST;
		return TP_JSON_SCAN_END;
	}
	whole = value_read(scan, value);
	if (whole == WHOLE_HUGE)
		*value = (struct tp_json_slice){0};
	return whole == WHOLE_CUT ? scan_stop(scan, true) : TP_JSON_SCAN_MEMBER;
}

enum tp_json_scan_item tp_json_scan_next(struct tp_json_scan *scan, struct tp_json_slice *key,
					 struct tp_json_slice *value)
{
	enum tp_json_scan_item item = TP_JSON_SCAN_END;
	if (scan->place == TP_JSON_SCAN_PLACE_START && !trace_begin(scan))
		return scan_stop(scan, false);
	/* When one place is finished, scanning continues with the next. */
	while (item == TP_JSON_SCAN_END && scan->place != TP_JSON_SCAN_PLACE_END)
		item = scan->place == TP_JSON_SCAN_PLACE_LIST ? list_next(scan, value)
							      : object_next(scan, key, value);
	if (item == TP_JSON_SCAN_EVENT && scan->entered)
		*key = (struct tp_json_slice){.text = scan->entered->key,
					      .len = strlen(scan->entered->key),
					      .type = TP_JSON_SLICE_TEXT};
	return item;
}

static size_t skip_blanks(const unsigned char *head, size_t size, size_t at)
{
	while (at < size && head[at] <= ' ' && head[at])
		at++;
	return at;
}

bool tp_json_scan_probe(const unsigned char *head, size_t size)
{
	size_t i = size >= MARK_BYTES && memcmp(head, byte_order_mark, MARK_BYTES) == 0 ? MARK_BYTES
											: 0;
	i = skip_blanks(head, size, i);
	if (i == size || (head[i] != '{' && head[i] != '['))
		return false;
	/* Python's marshalled dictionaries begin with the same byte as JSON's objects. */
	size_t next = skip_blanks(head, size, i + 1);
	return head[i] == '[' || next == size || head[next] == '"' || head[next] == '}';
}
