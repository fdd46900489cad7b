/* Reads JSON through cJSON with lines and strictness added; writes it by hand. */
#include "trainprof/base/json.h"

#include "json_text.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/strtab.h"
#include "trainprof/base/text.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value's line stands in its valueint, which cJSON sets for numbers only and reads for none. */
struct tp_json_doc {
	cJSON *root;
	struct tp_arena arena; /* root and all below it, name */
	char *name;
};

/* Where cJSON's allocations go: it has no word for whose they are. */
static _Thread_local struct tp_arena *parsed;

static void *parsed_alloc(size_t size)
{
	return tp_arena_alloc(parsed, size);
}

/* All at once, with the document. */
static void parsed_free(void *at)
{
	(void)at;
}

/* cJSON's values are handed out under our own name, so that only this file knows cJSON. */
static const cJSON *json_inside(const struct tp_json *value)
{
	return (const cJSON *)(const void *)value;
}

static const struct tp_json *json_outside(const cJSON *value)
{
	return (const struct tp_json *)(const void *)value;
}

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

/* A byte order mark and comment lines become blanks; the rest keeps its place, so lines stay right.
 */
static void blank_unread(char *text)
{
	if (tp_text_starts_with(text, "\xef\xbb\xbf"))
		memset(text, ' ', 3);
	char *end;
	for (char *line = text; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		size_t indent = strspn(line, " \t");
		if (strncmp(line + indent, "//", 2) != 0)
			continue;
		memset(line, ' ', (size_t)(end - line));
	}
}

/* Walk the values of the text in the order in which cJSON links them. */
struct line_walk {
	const char *at;
	unsigned line;
	const char *duplicate;
};

static bool is_between(char c)
{
	return c == ' ' || c == '\n' || c == ',' || c == ':' || c == '\t' || c == '\r';
}

static void walk_space(struct line_walk *walk)
{
	for (; is_between(*walk->at); walk->at++)
		walk->line += *walk->at == '\n';
}

static void walk_string(struct line_walk *walk)
{
	walk->at++;
	while (*walk->at && *walk->at != '"')
		walk->at += walk->at[0] == '\\' && walk->at[1] ? 2 : 1;
	walk->at += *walk->at == '"';
}

/* Few members are compared with each other; many would take hours in a document made to. */
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

/* The first member whose key was there before. */
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

/* The text is known to be valid here. False at a key that was there before: the walk stands at it.
 */
static bool walk_value(struct line_walk *walk, cJSON *value)
{
	walk_space(walk);
	value->valueint = (int)walk->line;
	if (cJSON_IsString(value)) {
		walk_string(walk);
		return true;
	}
	if (!cJSON_IsArray(value) && !cJSON_IsObject(value)) {
		walk->at += strcspn(walk->at, " \t\r\n,]}");
		return true;
	}
	const cJSON *duplicate = duplicate_member(value);
	walk->at++;
	for (cJSON *item = value->child; item; item = item->next) {
		walk_space(walk);
		if (item == duplicate) {
			walk->duplicate = item->string;
			return false;
		}
		if (cJSON_IsObject(value))
			walk_string(walk);
		if (!walk_value(walk, item))
			return false;
	}
	walk_space(walk);
	walk->at += *walk->at != '\0';
	return true;
}

static enum tp_status json_check_text(const char *text, size_t len, const char *name,
				      struct tp_error *err)
{
	struct tp_json_fault fault;
	if (len > TP_JSON_MAX_BYTES)
		return tp_fail(err, TP_PARSE, "%s: larger than %d bytes", name, TP_JSON_MAX_BYTES);
	if (strlen(text) != len)
		return json_fail(text, strlen(text), name, "a NUL byte", err);
	if (!tp_json_text_is_valid(text, len, &fault))
		return json_fail(text, fault.offset, name, fault.what, err);
	return TP_OK;
}

static cJSON *parse_into(struct tp_arena *arena, const char *text, size_t size)
{
	cJSON_Hooks hooks = {.malloc_fn = parsed_alloc, .free_fn = parsed_free};
	parsed = arena;
	cJSON_InitHooks(&hooks);
	return cJSON_ParseWithLengthOpts(text, size, NULL, 1);
}

enum tp_status tp_json_parse(struct tp_json_doc **out, const char *text, size_t len,
			     const char *name, struct tp_error *err)
{
	char *copy = tp_strndup(text, len);
	struct tp_json_doc *doc = tp_alloc(sizeof(*doc));
	doc->name = tp_arena_strdup(&doc->arena, name);
	blank_unread(copy);
	enum tp_status status = json_check_text(copy, len, name, err);
	if (status)
		goto out;
	doc->root = parse_into(&doc->arena, copy, len + 1);
	if (!doc->root) {
		/* What we take for valid and cJSON does not would be a mistake of ours. */
		status = tp_fail(err, TP_PARSE, "%s: not readable", name);
		goto out;
	}
	struct line_walk walk = {.at = copy, .line = 1};
	if (!walk_value(&walk, doc->root))
		status = tp_fail(err, TP_PARSE, "%s:%u: key \"%s\" appears twice", name, walk.line,
				 walk.duplicate);
out:
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
	tp_arena_release(&doc->arena);
	free(doc);
}

const struct tp_json *tp_json_root(const struct tp_json_doc *doc)
{
	return json_outside(doc->root);
}

const char *tp_json_name(const struct tp_json_doc *doc)
{
	return doc->name;
}

unsigned tp_json_line(const struct tp_json *value)
{
	return value ? (unsigned)json_inside(value)->valueint : 0;
}

enum tp_json_type tp_json_type(const struct tp_json *value)
{
	const cJSON *inside = json_inside(value);
	if (!inside || cJSON_IsNull(inside))
		return TP_JSON_NULL;
	if (cJSON_IsBool(inside))
		return TP_JSON_BOOL;
	if (cJSON_IsNumber(inside))
		return TP_JSON_NUMBER;
	if (cJSON_IsString(inside))
		return TP_JSON_STRING;
	return cJSON_IsArray(inside) ? TP_JSON_ARRAY : TP_JSON_OBJECT;
}

const struct tp_json *tp_json_get(const struct tp_json *object, const char *key)
{
	if (tp_json_type(object) != TP_JSON_OBJECT)
		return NULL;
	return json_outside(cJSON_GetObjectItemCaseSensitive(json_inside(object), key));
}

const struct tp_json *tp_json_first(const struct tp_json *parent)
{
	enum tp_json_type type = tp_json_type(parent);
	bool is_parent = type == TP_JSON_ARRAY || type == TP_JSON_OBJECT;
	return is_parent ? json_outside(json_inside(parent)->child) : NULL;
}

const struct tp_json *tp_json_after(const struct tp_json *value)
{
	return value ? json_outside(json_inside(value)->next) : NULL;
}

const char *tp_json_key(const struct tp_json *member)
{
	return member ? json_inside(member)->string : NULL;
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
	return tp_json_type(value) == TP_JSON_STRING ? json_inside(value)->valuestring : NULL;
}

double tp_json_number(const struct tp_json *value, double otherwise)
{
	return tp_json_type(value) == TP_JSON_NUMBER ? json_inside(value)->valuedouble : otherwise;
}

bool tp_json_bool(const struct tp_json *value, bool otherwise)
{
	return tp_json_type(value) == TP_JSON_BOOL ? cJSON_IsTrue(json_inside(value)) : otherwise;
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

static void writer_quote(struct tp_json_writer *w, const char *text)
{
	struct tp_buf clean = {0};
	tp_text_add_utf8(&clean, text);
	tp_buf_putc(&w->out, '"');
	for (const char *p = tp_buf_text(&clean); *p; p++) {
		if (*p == '"' || *p == '\\')
			tp_buf_printf(&w->out, "\\%c", *p);
		else if ((unsigned char)*p < 0x20 || *p == 0x7f)
			tp_buf_printf(&w->out, "\\u%04x", (unsigned)(unsigned char)*p);
		else
			tp_buf_putc(&w->out, *p);
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
