/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON through cJSON into values of our own, which know their lines; writes it by hand. */
#include "trainprof/base/json.h"

#include "json_text.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/strtab.h"
#include "trainprof/base/text.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tp_json {
	enum tp_json_type type;
	unsigned line;
	double number;
	bool is_true;
	const char *key;
	const char *string;
	struct tp_json *first; /* of array or object */
	struct tp_json *next;
};

struct tp_json_doc {
	cJSON *texts;           /* owns the keys and strings */
	struct tp_json *values; /* heap, in the order of the text: the root first */
	char *name;
};

static void position_of(const char *text, size_t offset, unsigned *line, unsigned *column)
{
	*line = 1;
	*column = 1;
	for (size_t i = 0; i < offset; i++) {
		(*column)++;
		if (text[i] == '\n') {
			(*line)++;
			*column = 1;
		}
	}
}

static enum tp_status json_fail(const char *text, size_t offset, const char *name, const char *what,
				struct tp_error *err)
{
	unsigned line;
	unsigned column;
	position_of(text, offset, &line, &column);
	return tp_fail(err, TP_PARSE, "%s:%u:%u: %s", name, line, column, what);
}

/* Turns a byte order mark and comments into blanks, so that line numbers stay right. A comment
 * begins with two slashes outside of strings and ends with its line. */
static void blank_comments(char *text)
{
	if (tp_text_starts_with(text, "\xef\xbb\xbf"))
		memset(text, ' ', 3);
	bool is_string = false;
	for (char *at = text; *at; at++) {
		if (is_string && *at == '\\' && at[1])
			at++;
		else if (*at == '"' || *at == '\n')
			is_string = *at == '"' && !is_string;
		else if (!is_string && at[0] == '/' && at[1] == '/') {
			size_t len = strcspn(at, "\n");
			memset(at, ' ', len);
			at += len - 1;
		}
	}
}

/* Few members are compared pairwise; for many, a crafted document could take hours. */
enum { FEW_MEMBERS = 16 };

static const cJSON *duplicate_of_many(const cJSON *object)
{
	struct tp_strtab keys;
	bool has_empty = false;
	const cJSON *item = object->child;
	tp_strtab_init(&keys);
	for (; item; item = item->next) {
		size_t before = keys.n;
		bool is_empty = !item->string[0];
		(void)tp_strtab_intern(&keys, item->string);
		if (is_empty ? has_empty : keys.n == before)
			break;
		has_empty |= is_empty;
	}
	tp_strtab_release(&keys);
	return item;
}

/* Returns the first member whose key occurred before. */
static const cJSON *duplicate_member(const cJSON *object)
{
	if (!cJSON_IsObject(object))
		return NULL;
	int n = 0;
	for (const cJSON *a = object->child; a; a = a->next) {
		if (++n > FEW_MEMBERS)
			return duplicate_of_many(object);
		for (const cJSON *b = object->child; b != a; b = b->next)
			if (a->string[0] == b->string[0] && strcmp(a->string, b->string) == 0)
				return a;
	}
	return NULL;
}

static enum tp_json_type type_of(const cJSON *value)
{
	if (cJSON_IsNull(value))
		return TP_JSON_NULL;
	if (cJSON_IsBool(value))
		return TP_JSON_BOOL;
	if (cJSON_IsNumber(value))
		return TP_JSON_NUMBER;
	if (cJSON_IsString(value))
		return TP_JSON_STRING;
	return cJSON_IsArray(value) ? TP_JSON_ARRAY : TP_JSON_OBJECT;
}

/* State of copying cJSON's values, which are linked in the order of the text. */
struct copying {
	struct tp_json *value; /* the next value to fill */
	const struct tp_json_place *place;
	const char *duplicate; /* a key that occurred before, and its line */
	unsigned duplicate_line;
};

static struct tp_json *copy_value(struct copying *copying, const cJSON *from);

static struct tp_json *copy_members(struct copying *copying, const cJSON *from)
{
	struct tp_json *first = NULL;
	struct tp_json **end = &first;
	const cJSON *duplicate = duplicate_member(from);
	for (const cJSON *item = from->child; item; item = item->next) {
		if (item == duplicate) {
			copying->duplicate = item->string;
			copying->duplicate_line = copying->place->key_line;
			break;
		}
		*end = copy_value(copying, item);
		if (copying->duplicate)
			break;
		end = &(*end)->next;
	}
	return first;
}

static struct tp_json *copy_value(struct copying *copying, const cJSON *from)
{
	struct tp_json *value = copying->value++;
	assert(copying->place);
	*value = (struct tp_json){
		.type = type_of(from),
		.line = (copying->place++)->line,
		.number = from->valuedouble,
		.is_true = cJSON_IsTrue(from),
		.key = from->string,
		.string = from->valuestring,
	};
	value->first = copy_members(copying, from);
	return value;
}

static enum tp_status json_check_text(const char *text, size_t len, const char *name,
				      struct tp_json_places *places, struct tp_error *err)
{
	struct tp_json_fault fault;
	if (len > TP_JSON_MAX_BYTES)
		return tp_fail(err, TP_PARSE, "%s: larger than %d bytes", name, TP_JSON_MAX_BYTES);
	if (strlen(text) != len)
		return json_fail(text, strlen(text), name, "a NUL byte", err);
	if (!tp_json_text_is_valid(text, len, places, &fault))
		return json_fail(text, fault.offset, name, fault.what, err);
	return TP_OK;
}

static enum tp_status json_copy(struct tp_json_doc *doc, const struct tp_json_places *places,
				struct tp_error *err)
{
	doc->values = tp_alloc(places->n * sizeof(*doc->values));
	struct copying copying = {.value = doc->values, .place = places->items};
	(void)copy_value(&copying, doc->texts);
	if (copying.duplicate)
		return tp_fail(err, TP_PARSE, "%s:%u: key \"%s\" appears twice", doc->name,
			       copying.duplicate_line, copying.duplicate);
	return TP_OK;
}

enum tp_status tp_json_parse(struct tp_json_doc **out, const char *text, size_t len,
			     const char *name, struct tp_error *err)
{
	char *copy = tp_strndup(text, len);
	struct tp_json_doc *doc = tp_alloc(sizeof(*doc));
	struct tp_json_places places = {0};
	doc->name = tp_strdup(name);
	blank_comments(copy);
	enum tp_status status = json_check_text(copy, len, name, &places, err);
	if (status)
		goto out;
	doc->texts = cJSON_ParseWithLengthOpts(copy, len + 1, NULL, 1);
	if (doc->texts)
		status = json_copy(doc, &places, err);
	else /* valid to us but not to cJSON: out of memory, or a mistake of ours */
		status = tp_fail(err, TP_PARSE, "%s: not readable", name);
out:
	free(places.items);
	free(copy);
	if (status)
		tp_json_free(doc);
	else
		*out = doc;
	return status;
}

enum tp_status tp_json_load(struct tp_json_doc **out, const char *path, struct tp_error *err)
{
	struct tp_buf text = {0};
	enum tp_status status = tp_file_read(&text, path, TP_JSON_MAX_BYTES, err);
	if (!status)
		status = tp_json_parse(out, tp_buf_text(&text), text.len, path, err);
	tp_buf_release(&text);
	return status;
}

void tp_json_free(struct tp_json_doc *doc)
{
	if (!doc)
		return;
	cJSON_Delete(doc->texts);
	free(doc->values);
	free(doc->name);
	free(doc);
}

const struct tp_json *tp_json_root(const struct tp_json_doc *doc)
{
	return doc->values;
}

const char *tp_json_name(const struct tp_json_doc *doc)
{
	return doc->name;
}

unsigned tp_json_line(const struct tp_json *value)
{
	return value ? value->line : 0;
}

enum tp_json_type tp_json_type(const struct tp_json *value)
{
	return value ? value->type : TP_JSON_NULL;
}

const struct tp_json *tp_json_get(const struct tp_json *object, const char *key)
{
	if (tp_json_type(object) != TP_JSON_OBJECT)
		return NULL;
	const struct tp_json *member = object->first;
	while (member && strcmp(member->key, key) != 0)
		member = member->next;
	return member;
}

const struct tp_json *tp_json_first(const struct tp_json *parent)
{
	return parent ? parent->first : NULL;
}

const struct tp_json *tp_json_after(const struct tp_json *value)
{
	return value ? value->next : NULL;
}

const char *tp_json_key(const struct tp_json *member)
{
	return member ? member->key : NULL;
}

size_t tp_json_count(const struct tp_json *parent)
{
	size_t n = 0;
	TP_JSON_EACH (item, parent)
		n++;
	return n;
}

const char *tp_json_string(const struct tp_json *value)
{
	return value ? value->string : NULL;
}

double tp_json_number(const struct tp_json *value, double otherwise)
{
	return tp_json_type(value) == TP_JSON_NUMBER ? value->number : otherwise;
}

bool tp_json_bool(const struct tp_json *value, bool otherwise)
{
	return tp_json_type(value) == TP_JSON_BOOL ? value->is_true : otherwise;
}

bool tp_json_uint(const struct tp_json *value, uint64_t *out)
{
	double number = tp_json_number(value, -1);
	if (number < 0 || number > 9007199254740992.0 || number != floor(number))
		return false;
	*out = (uint64_t)number;
	return true;
}

static void writer_begin_value(struct tp_json_writer *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->needs_comma)
		tp_buf_puts(&w->out, w->is_flat ? ", " : ",");
	if (w->depth && !w->is_flat) {
		tp_buf_putc(&w->out, '\n');
		tp_buf_pad(&w->out, ' ', (size_t)w->depth * 2);
	}
}

void tp_json_open(struct tp_json_writer *w, char bracket)
{
	writer_begin_value(w);
	tp_buf_putc(&w->out, bracket);
	w->depth++;
	w->needs_comma = false;
}

void tp_json_close(struct tp_json_writer *w, char bracket)
{
	w->depth--;
	if (w->needs_comma && !w->is_flat) {
		tp_buf_putc(&w->out, '\n');
		tp_buf_pad(&w->out, ' ', (size_t)w->depth * 2);
	}
	tp_buf_putc(&w->out, bracket);
	w->needs_comma = true;
	if (!w->depth)
		tp_buf_putc(&w->out, '\n');
}

/* Escapes characters that a terminal must not receive as \u numbers, which readers treat alike.
 * Returns the number of bytes consumed, 0 for none. */
static size_t writer_escape(struct tp_json_writer *w, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = tp_text_unsafe_length(text);
	if (len == 1)
		tp_buf_printf(&w->out, "\\u%04x", (unsigned)p[0]);
	else if (len == 2)
		tp_buf_printf(&w->out, "\\u%04x", (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU));
	else if (len)
		tp_buf_printf(&w->out, "\\u%04x",
			      (p[0] & 0xfU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU));
	return len;
}

static void writer_quote(struct tp_json_writer *w, const char *text)
{
	struct tp_buf clean = {0};
	tp_text_add_utf8(&clean, text);
	tp_buf_putc(&w->out, '"');
	for (const char *p = tp_buf_text(&clean); *p;) {
		size_t escaped = writer_escape(w, p);
		p += escaped;
		if (escaped)
			continue;
		if (*p == '"' || *p == '\\')
			tp_buf_putc(&w->out, '\\');
		tp_buf_putc(&w->out, *p++);
	}
	tp_buf_putc(&w->out, '"');
	tp_buf_release(&clean);
}

void tp_json_write_key(struct tp_json_writer *w, const char *key)
{
	writer_begin_value(w);
	writer_quote(w, key);
	tp_buf_puts(&w->out, ": ");
	w->after_key = true;
}

void tp_json_write_string(struct tp_json_writer *w, const char *text)
{
	if (!text) {
		tp_json_write_null(w);
		return;
	}
	writer_begin_value(w);
	writer_quote(w, text);
	w->needs_comma = true;
}

void tp_json_write_uint(struct tp_json_writer *w, uint64_t value)
{
	writer_begin_value(w);
	tp_buf_printf(&w->out, "%llu", (unsigned long long)value);
	w->needs_comma = true;
}

void tp_json_write_int(struct tp_json_writer *w, int64_t value)
{
	writer_begin_value(w);
	tp_buf_printf(&w->out, "%lld", (long long)value);
	w->needs_comma = true;
}

void tp_json_write_number(struct tp_json_writer *w, double value)
{
	if (!isfinite(value)) {
		tp_json_write_null(w);
		return;
	}
	writer_begin_value(w);
	tp_buf_printf(&w->out, "%.10g", value);
	w->needs_comma = true;
}

void tp_json_write_bool(struct tp_json_writer *w, bool value)
{
	writer_begin_value(w);
	tp_buf_puts(&w->out, value ? "true" : "false");
	w->needs_comma = true;
}

void tp_json_write_null(struct tp_json_writer *w)
{
	writer_begin_value(w);
	tp_buf_puts(&w->out, "null");
	w->needs_comma = true;
}

void tp_json_put_string(struct tp_json_writer *w, const char *key, const char *text)
{
	tp_json_write_key(w, key);
	tp_json_write_string(w, text);
}

void tp_json_put_known_string(struct tp_json_writer *w, const char *key, const char *text)
{
	if (text)
		tp_json_put_string(w, key, text);
}

void tp_json_put_int(struct tp_json_writer *w, const char *key, int64_t value)
{
	tp_json_write_key(w, key);
	tp_json_write_int(w, value);
}

void tp_json_put_uint(struct tp_json_writer *w, const char *key, uint64_t value)
{
	tp_json_write_key(w, key);
	tp_json_write_uint(w, value);
}

void tp_json_put_number(struct tp_json_writer *w, const char *key, double value)
{
	tp_json_write_key(w, key);
	tp_json_write_number(w, value);
}

void tp_json_put_bool(struct tp_json_writer *w, const char *key, bool value)
{
	tp_json_write_key(w, key);
	tp_json_write_bool(w, value);
}

void tp_json_writer_release(struct tp_json_writer *w)
{
	tp_buf_release(&w->out);
	*w = (struct tp_json_writer){0};
}
