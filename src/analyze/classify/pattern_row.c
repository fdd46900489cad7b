/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the values of one row of patterns; each message names the file, the line and the nearest
 * word. */
#include "pattern_row.h"

#include "trainprof/base/text.h"

#include <ctype.h>
#include <string.h>

enum tp_status tp_pattern_row_fail(const struct tp_pattern_row *row, const struct tp_json *at,
				   const char *what, const char *word, const char *nearest,
				   struct tp_error *err)
{
	return tp_fail(err, TP_PARSE, "%s:%u: %s '%s'%s%s", row->file, tp_json_line(at), what, word,
		       nearest ? "; nearest: " : "", nearest ? nearest : "");
}

bool tp_pattern_row_has(const struct tp_pattern_row *row, const char *key)
{
	return tp_json_get(row->json, key) != NULL;
}

unsigned tp_pattern_row_line(const struct tp_pattern_row *row)
{
	return tp_json_line(row->json);
}

static bool find_text(const char *text, const char *const *among, size_t n, unsigned *out)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(text, among[i]) == 0) {
			*out = (unsigned)i;
			return true;
		}
	}
	return false;
}

enum tp_status tp_pattern_row_check_keys(const struct tp_pattern_row *row, const char *const *keys,
					 size_t n, struct tp_error *err)
{
	unsigned found;
	TP_JSON_EACH (member, row->json) {
		const char *key = tp_json_key(member);
		if (!key)
			return tp_pattern_row_fail(row, member, "not an object:", "patterns", NULL,
						   err);
		if (!find_text(key, keys, n, &found))
			return tp_pattern_row_fail(row, member, "unknown key", key,
						   tp_text_closest(key, keys, n), err);
	}
	return TP_OK;
}

enum tp_status tp_pattern_row_find_word(const struct tp_pattern_row *row,
					const struct tp_json *value, const char *const *words,
					size_t n, unsigned *out, struct tp_error *err)
{
	const char *word = tp_json_string(value);
	if (word && find_text(word, words, n, out))
		return TP_OK;
	return tp_pattern_row_fail(row, value, "unknown word", word ? word : "(not a string)",
				   word ? tp_text_closest(word, words, n) : NULL, err);
}

enum tp_status tp_pattern_row_word(const struct tp_pattern_row *row, const char *key,
				   const char *const *words, size_t n, unsigned *out,
				   struct tp_error *err)
{
	const struct tp_json *value = tp_json_get(row->json, key);
	return value ? tp_pattern_row_find_word(row, value, words, n, out, err) : TP_OK;
}

enum tp_status tp_pattern_row_bool(const struct tp_pattern_row *row, const char *key, bool *out,
				   struct tp_error *err)
{
	const struct tp_json *value = tp_json_get(row->json, key);
	if (value && tp_json_type(value) != TP_JSON_BOOL)
		return tp_pattern_row_fail(row, value, "neither true nor false:", key, NULL, err);
	*out = tp_json_bool(value, *out);
	return TP_OK;
}

enum tp_status tp_pattern_row_texts(const struct tp_pattern_row *row, const char *key,
				    const char ***out, struct tp_error *err)
{
	const struct tp_json *list = tp_json_get(row->json, key);
	if (!list)
		return TP_OK;
	if (tp_json_type(list) != TP_JSON_ARRAY)
		return tp_pattern_row_fail(row, list, "not a list:", key, NULL, err);
	const char **texts = tp_arena_array(row->arena, tp_json_count(list) + 1, sizeof(*texts));
	size_t n = 0;
	TP_JSON_EACH (item, list) {
		const char *text = tp_json_string(item);
		if (!text)
			return tp_pattern_row_fail(row, item, "not a string in", key, NULL, err);
		texts[n++] = tp_arena_strdup(row->arena, text);
	}
	*out = texts;
	return TP_OK;
}

static char *lower_copy(struct tp_arena *arena, const char *text)
{
	char *copy = tp_arena_strdup(arena, text);
	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return copy;
}

enum tp_status tp_pattern_row_globs(const struct tp_pattern_row *row, const char *key,
				    const char ***out, struct tp_error *err)
{
	const char **globs = NULL;
	enum tp_status status = tp_pattern_row_texts(row, key, &globs, err);
	if (status || !globs)
		return status;
	for (size_t i = 0; globs[i]; i++)
		globs[i] = lower_copy(row->arena, globs[i]);
	*out = globs;
	return TP_OK;
}

enum tp_status tp_pattern_row_name(const struct tp_pattern_row *row, const char *key,
				   const char **out, struct tp_error *err)
{
	const struct tp_json *value = tp_json_get(row->json, key);
	const char *text = tp_json_string(value);
	if (!text || !text[0])
		return tp_pattern_row_fail(row, value ? value : row->json, "no text:", key, NULL,
					   err);
	*out = tp_arena_strdup(row->arena, text);
	return TP_OK;
}

const char *tp_pattern_lower(char *out, size_t size, const char *text)
{
	size_t i = 0;
	for (; text[i] && i + 1 < size; i++)
		out[i] = (char)tolower((unsigned char)text[i]);
	out[i] = '\0';
	return out;
}

bool tp_pattern_any_glob(const char *const *globs, const char *text)
{
	for (; *globs; globs++)
		if (tp_pattern_may_match(*globs, text) && tp_text_glob(*globs, text))
			return true;
	return false;
}
