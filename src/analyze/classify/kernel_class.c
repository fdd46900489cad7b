/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rows for names of device kernels and finds the one that matches a name. */
#include "kernel_class.h"
#include "pattern_tables.h"

#include "frame_class.h"
#include "kernel_name.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <string.h>

static const char *const class_names[] = {"compute", "memory", "communication", "other"};
static const char *const bound_names[] = {"unknown", "compute", "memory"};
static const char *const tensor_names[] = {"maybe", "yes", "no"};
static const char *const keys[] = {"id",    "base",   "head", "not",      "class",  "family",
				   "bound", "tensor", "weak", "examples", "because"};

static const struct tp_kernel_row unknown = {.id = "unknown",
					     .family = "unknown",
					     .class = TP_KERNEL_OTHER,
					     .is_weak = true};

bool tp_kernel_pattern_is(const struct tp_pattern_row *row)
{
	return tp_pattern_row_has(row, "base") || tp_pattern_row_has(row, "head") ||
	       tp_pattern_row_has(row, "family") || tp_pattern_row_has(row, "class");
}

/* Texts that must all match are joined by &. */
static size_t count_tokens(const char *const *texts)
{
	size_t n = 0;
	for (; *texts; texts++) {
		n++;
		for (const char *p = *texts; *p; p++)
			n += *p == '&';
	}
	return n;
}

/* Splits "^a&b" into two tokens at out; returns NULL if one of them is empty. */
static struct tp_kernel_token *split_tokens(struct tp_arena *arena, const char *text,
					    struct tp_kernel_token *out)
{
	bool has_more;
	do {
		bool is_start = *text == '^';
		text += is_start;
		size_t length = strcspn(text, "&");
		has_more = text[length] == '&';
		if (!length)
			return NULL;
		*out++ = (struct tp_kernel_token){tp_arena_strndup(arena, text, length), is_start,
						  has_more};
		text += length + has_more;
	} while (has_more);
	return out;
}

static enum tp_status read_tokens(const struct tp_pattern_row *row, const char *key,
				  const struct tp_kernel_token **out, struct tp_error *err)
{
	const char **texts = NULL;
	enum tp_status status = tp_pattern_row_globs(row, key, &texts, err);
	if (status || !texts)
		return status;
	struct tp_kernel_token *tokens =
		tp_arena_array(row->arena, count_tokens(texts) + 1, sizeof(*tokens));
	struct tp_kernel_token *end = tokens;
	for (; *texts; texts++) {
		end = split_tokens(row->arena, *texts, end);
		if (!end)
			return tp_pattern_row_fail(row, tp_json_get(row->json, key),
						   "empty text in", *texts, NULL, err);
	}
	if (end == tokens)
		return tp_pattern_row_fail(row, tp_json_get(row->json, key), "empty list:", key,
					   NULL, err);
	*out = tokens;
	return TP_OK;
}

static enum tp_status read_lists(struct tp_kernel_pattern *pattern,
				 const struct tp_pattern_row *row, struct tp_error *err)
{
	enum tp_status status = read_tokens(row, "base", &pattern->base, err);
	if (!status)
		status = read_tokens(row, "head", &pattern->head, err);
	if (!status)
		status = read_tokens(row, "not", &pattern->without, err);
	if (!status)
		status = tp_pattern_row_texts(row, "examples", &pattern->examples, err);
	if (!status && !pattern->base && !pattern->head)
		status = tp_pattern_row_fail(row, row->json, "neither base nor head in",
					     pattern->says.id, NULL, err);
	return status;
}

/* Missing values follow from the class: compute kernels are bound by compute, memory kernels by
 * memory, others by nothing known; only compute and other kernels may use tensor cores. */
static enum tp_status read_words(struct tp_kernel_row *says, const struct tp_pattern_row *row,
				 struct tp_error *err)
{
	unsigned class = 0;
	if (!tp_pattern_row_has(row, "class"))
		return tp_pattern_row_fail(row, row->json, "no class in", says->id, NULL, err);
	enum tp_status status = tp_pattern_row_word(row, "class", class_names,
						    TP_ARRAY_LEN(class_names), &class, err);
	if (status)
		return status;
	says->class = (enum tp_kernel_class) class;
	unsigned bound = class == TP_KERNEL_COMPUTE  ? TP_BOUND_COMPUTE
			 : class == TP_KERNEL_MEMORY ? TP_BOUND_MEMORY
						     : TP_BOUND_UNKNOWN;
	unsigned tensor = class == TP_KERNEL_COMPUTE || class == TP_KERNEL_OTHER ? TP_TENSOR_MAYBE
										 : TP_TENSOR_NO;
	status = tp_pattern_row_word(row, "bound", bound_names, TP_ARRAY_LEN(bound_names), &bound,
				     err);
	if (!status)
		status = tp_pattern_row_word(row, "tensor", tensor_names,
					     TP_ARRAY_LEN(tensor_names), &tensor, err);
	says->bound = (enum tp_kernel_bound)bound;
	says->tensor = (enum tp_tensor_use)tensor;
	return status;
}

static enum tp_status check_id(const struct tp_kernel_patterns *patterns, const char *id,
			       const struct tp_pattern_row *row, struct tp_error *err)
{
	bool is_taken = strcmp(id, unknown.id) == 0;
	for (size_t i = 0; i < patterns->n_items; i++)
		is_taken |= strcmp(patterns->items[i].says.id, id) == 0;
	return is_taken ? tp_pattern_row_fail(row, tp_json_get(row->json, "id"),
					      "taken already:", id, NULL, err)
			: TP_OK;
}

enum tp_status tp_kernel_pattern_read(struct tp_kernel_patterns *out,
				      const struct tp_pattern_row *row, struct tp_error *err)
{
	struct tp_kernel_pattern pattern = {.file = row->file, .line = tp_pattern_row_line(row)};
	enum tp_status status = tp_pattern_row_check_keys(row, keys, TP_ARRAY_LEN(keys), err);
	if (!status)
		status = tp_pattern_row_name(row, "id", &pattern.says.id, err);
	if (!status)
		status = tp_pattern_row_name(row, "family", &pattern.says.family, err);
	if (!status)
		status = check_id(out, pattern.says.id, row, err);
	if (!status)
		status = read_words(&pattern.says, row, err);
	if (!status)
		status = tp_pattern_row_bool(row, "weak", &pattern.says.is_weak, err);
	if (!status)
		status = read_lists(&pattern, row, err);
	if (!status)
		TP_ARRAY_PUSH(out->items, out->n_items, out->capacity) = pattern;
	return status;
}

static bool token_fits(const struct tp_kernel_token *token, const char *text)
{
	return token->is_start ? tp_text_starts_with(text, token->text)
			       : strstr(text, token->text) != NULL;
}

/* One list item is enough; tokens that are joined by & count as one item. */
static bool any_token(const struct tp_kernel_token *token, const char *text)
{
	while (token->text) {
		bool fits = token_fits(token, text);
		for (; token->has_more; token++)
			fits = fits && token_fits(token + 1, text);
		if (fits)
			return true;
		token++;
	}
	return false;
}

static bool pattern_fits(const struct tp_kernel_pattern *pattern, const struct tp_kernel_name *name)
{
	return (!pattern->base || any_token(pattern->base, name->base)) &&
	       (!pattern->head || any_token(pattern->head, name->head)) &&
	       !(pattern->without && any_token(pattern->without, name->head));
}

const struct tp_kernel_row *tp_kernel_row_find(const struct tp_patterns *patterns, const char *name)
{
	const struct tp_kernel_patterns *rows = &patterns->kernels;
	struct tp_kernel_name split;
	tp_kernel_name_parse(&split, name);
	for (size_t i = 0; i < rows->n_items; i++)
		if (pattern_fits(&rows->items[i], &split))
			return &rows->items[i].says;
	return &unknown;
}
