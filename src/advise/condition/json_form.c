/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON strictly: refuses unknown words and names the most similar known one. */
#include "json_form.h"

#include "trainprof/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tp_json_form_fail(struct tp_json_form *form, const struct tp_json *at, const char *format, ...)
{
	if (form->status)
		return;
	char what[180];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	form->status = tp_fail(form->err, TP_PARSE, "%s:%u: %s", tp_json_name(form->doc),
			       tp_json_line(at), what);
}

static struct tp_expr_scope form_scope(const struct tp_json_form *form, const struct tp_json *at)
{
	return (struct tp_expr_scope){.file = tp_json_name(form->doc),
				      .line = tp_json_line(at),
				      .thresholds = form->thresholds,
				      .locals = form->locals,
				      .n_locals = form->n_locals,
				      .arena = form->arena};
}

/* `keys` ends with NULL. */
void tp_json_form_check_keys(struct tp_json_form *form, const struct tp_json *object,
			     const char *what, const char *const *keys)
{
	if (tp_json_type(object) != TP_JSON_OBJECT)
		tp_json_form_fail(form, object, "%s must be an object", what);
	size_t n = 0;
	while (keys[n])
		n++;
	TP_JSON_EACH (member, object) {
		const char *key = tp_json_key(member);
		size_t i = 0;
		while (key && i < n && strcmp(key, keys[i]) != 0)
			i++;
		if (!key || i < n)
			continue;
		const char *nearest = tp_text_closest(key, keys, n);
		tp_json_form_fail(form, member, "%s has no key '%s'%s%s", what, key,
				  nearest ? "; nearest: " : "", nearest ? nearest : "");
	}
}

/* NULL if absent and not required. */
const char *tp_json_form_text(struct tp_json_form *form, const struct tp_json *object,
			      const char *key, bool is_required)
{
	const struct tp_json *member = tp_json_get(object, key);
	const char *text = tp_json_string(member);
	if (member && (!text || !*text))
		tp_json_form_fail(form, member, "'%s' must be a text", key);
	if (text && strlen(text) > TP_JSON_FORM_MAX_TEXT)
		tp_json_form_fail(form, member, "'%s' has %zu bytes, %d are allowed", key,
				  strlen(text), TP_JSON_FORM_MAX_TEXT);
	if (!member && is_required)
		tp_json_form_fail(form, object, "'%s' is missing", key);
	return form->status ? NULL : tp_arena_strdup(form->arena, text);
}

const char *tp_json_form_short_text(struct tp_json_form *form, const struct tp_json *object,
				    const char *key, bool is_required, size_t columns)
{
	const char *text = tp_json_form_text(form, object, key, is_required);
	if (text && tp_text_width(text) > columns)
		tp_json_form_fail(form, tp_json_get(object, key),
				  "'%s' has %zu columns, %zu are allowed", key, tp_text_width(text),
				  columns);
	return text;
}

const char *tp_json_form_date(struct tp_json_form *form, const struct tp_json *object,
			      const char *key)
{
	static const char shape[] = "dddd-dd-dd";
	const char *text = tp_json_form_text(form, object, key, true);
	bool is_date = text && strlen(text) == sizeof(shape) - 1;
	for (size_t i = 0; is_date && shape[i]; i++)
		is_date = shape[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == '-';
	if (text && !is_date)
		tp_json_form_fail(form, tp_json_get(object, key),
				  "'%s' is a day such as 2026-11-20", key);
	return text;
}

const struct tp_expr *tp_json_form_expr(struct tp_json_form *form, const struct tp_json *value,
					enum tp_expr_type want)
{
	const struct tp_expr *expr = NULL;
	const char *text = tp_json_string(value);
	if (!text)
		tp_json_form_fail(form, value, "an expression is a text");
	if (form->status)
		return NULL;
	struct tp_expr_scope place = form_scope(form, value);
	form->status = tp_expr_parse(&expr, text, want, &place, form->err);
	return expr;
}

const struct tp_sentence *tp_json_form_sentence(struct tp_json_form *form,
						const struct tp_json *object, const char *key,
						bool is_required)
{
	const char *text = tp_json_form_text(form, object, key, is_required);
	const struct tp_sentence *sentence = NULL;
	if (!text || form->status)
		return NULL;
	struct tp_expr_scope place = form_scope(form, tp_json_get(object, key));
	form->status = tp_sentence_parse(&sentence, text, &place, form->err);
	return sentence;
}

bool tp_json_form_bool(struct tp_json_form *form, const struct tp_json *object, const char *key)
{
	const struct tp_json *member = tp_json_get(object, key);
	if (member && tp_json_type(member) != TP_JSON_BOOL)
		tp_json_form_fail(form, member, "'%s' is true or false", key);
	return tp_json_bool(member, false);
}

/* "a, b or c" */
static void add_words(struct tp_buf *out, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *link = i == 0 ? "" : i + 1 == n ? " or " : ", ";
		tp_buf_printf(out, "%s%s", link, words[i]);
	}
}

int tp_json_form_choice(struct tp_json_form *form, const struct tp_json *object, const char *key,
			const char *const *words, int otherwise)
{
	const struct tp_json *member = tp_json_get(object, key);
	const char *text = tp_json_string(member);
	size_t n = 0;
	if (!member && otherwise < 0)
		tp_json_form_fail(form, object, "'%s' is missing", key);
	if (!member)
		return otherwise;
	for (; words[n]; n++)
		if (text && strcmp(text, words[n]) == 0)
			return (int)n;
	struct tp_buf list = {0};
	add_words(&list, words, n);
	tp_json_form_fail(form, member, "'%s' is %s", key, tp_buf_text(&list));
	tp_buf_release(&list);
	return otherwise;
}

/* Returns the list under a key; NULL if absent. Its length is limited. */
const struct tp_json *tp_json_form_list(struct tp_json_form *form, const struct tp_json *object,
					const char *key, bool is_required, size_t *n)
{
	const struct tp_json *list = tp_json_get(object, key);
	*n = 0;
	if (!list) {
		if (is_required)
			tp_json_form_fail(form, object, "'%s' is missing", key);
		return NULL;
	}
	*n = tp_json_count(list);
	if (tp_json_type(list) != TP_JSON_ARRAY || *n > TP_JSON_FORM_MAX_ITEMS)
		tp_json_form_fail(form, list, "'%s' is a list of at most %d", key,
				  TP_JSON_FORM_MAX_ITEMS);
	if (is_required && !*n)
		tp_json_form_fail(form, list, "'%s' is empty", key);
	return form->status ? NULL : list;
}

const char **tp_json_form_names(struct tp_json_form *form, const struct tp_json *object,
				const char *key, size_t *n)
{
	const struct tp_json *list = tp_json_form_list(form, object, key, false, n);
	if (!list)
		return NULL;
	const char **names = tp_arena_array(form->arena, *n, sizeof(*names));
	size_t i = 0;
	TP_JSON_EACH (item, list) {
		const char *text = tp_json_string(item);
		if (!text || strlen(text) > TP_JSON_FORM_MAX_TEXT)
			tp_json_form_fail(form, item, "'%s' holds texts", key);
		names[i++] = tp_arena_strdup(form->arena, text);
	}
	return names;
}

tp_fact_id tp_json_form_fact(struct tp_json_form *form, const struct tp_json *at, const char *name)
{
	tp_fact_id fact = name ? tp_fact_find(name) : tp_n_facts;
	if (fact != tp_n_facts)
		return fact;
	const char *nearest = name ? tp_fact_closest(name) : NULL;
	tp_json_form_fail(form, at, "no fact '%s'%s%s", name ? name : "",
			  nearest ? "; nearest: " : "", nearest ? nearest : "");
	return 0;
}
