/* SPDX-License-Identifier: Apache-2.0 */
/* Parses idioms of rules/idioms/ and rows that name work. */
#include "stack_idiom.h"

#include "trainprof/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	MIN_LITERALS = 3, /* of a variant: shorter ones match nearly every stack */
	MAX_WAYS = 4000,
};

static void add_glob(struct tp_idiom_patterns *out, const struct tp_frame_glob *frame,
		     enum tp_idiom_glob_use use, size_t owner, size_t position)
{
	TP_ARRAY_PUSH(out->globs, out->n_globs, out->globs_capacity) =
		(struct tp_idiom_glob){.frame = *frame,
				       .use = use,
				       .owner = (uint16_t)owner,
				       .position = (uint16_t)position};
}

/* ---- work ---- */

bool tp_work_pattern_is(const struct tp_pattern_row *row)
{
	return tp_pattern_row_has(row, "work");
}

enum tp_status tp_work_pattern_read(struct tp_idiom_patterns *out, const struct tp_pattern_row *row,
				    struct tp_error *err)
{
	static const char *const keys[] = {"work", "kind", "frames", "because"};
	static const char *const kinds[TP_N_WORK_KINDS] = {"other", "decode", "augment", "collate"};
	struct tp_work_row work = {0};
	unsigned kind = TP_WORK_OTHER;
	enum tp_status status = tp_pattern_row_check_keys(row, keys, TP_ARRAY_LEN(keys), err);
	if (!status)
		status = tp_pattern_row_name(row, "work", &work.name, err);
	if (!status)
		status = tp_pattern_row_word(row, "kind", kinds, TP_N_WORK_KINDS, &kind, err);
	work.kind = (enum tp_work_kind)kind;
	const struct tp_json *frames = tp_json_get(row->json, "frames");
	if (!status && !tp_json_count(frames))
		status = tp_pattern_row_fail(row, row->json, "no frames:", work.name, NULL, err);
	TP_JSON_EACH (frame, frames) {
		struct tp_frame_glob glob;
		if (!status)
			status = tp_frame_glob_read(&glob, row, frame, err);
		if (!status)
			add_glob(out, &glob, TP_IDIOM_GLOB_WORK, out->n_works, 0);
	}
	if (!status)
		TP_ARRAY_PUSH(out->works, out->n_works, out->works_capacity) = work;
	return status;
}

/* ---- idioms ---- */

static enum tp_status read_frames(struct tp_idiom_patterns *out, const struct tp_pattern_row *row,
				  const char *key, enum tp_idiom_glob_use use, unsigned *n_literal,
				  struct tp_error *err)
{
	const struct tp_json *list = tp_json_get(row->json, key);
	size_t position = 0;
	if (list && tp_json_type(list) != TP_JSON_ARRAY)
		return tp_pattern_row_fail(row, list, "not a list:", key, NULL, err);
	TP_JSON_EACH (item, list) {
		struct tp_frame_glob glob;
		enum tp_status status = tp_frame_glob_read(&glob, row, item, err);
		if (status)
			return status;
		*n_literal += glob.n_literal;
		add_glob(out, &glob, use, out->n_ways, position++);
	}
	return TP_OK;
}

static unsigned code_literals(const char *const *code)
{
	unsigned least = 0;
	for (size_t i = 0; code && code[i]; i++) {
		unsigned n = 0;
		for (const char *p = code[i]; *p; p++)
			n += *p != '*' && *p != '?' && *p != ' ';
		least = i && least < n ? least : n;
	}
	return least;
}

/* For a variant without "code": returns the message about a key that needs it; NULL if none does.
 */
static const char *key_without_code(const struct tp_idiom_way *way)
{
	return way->is_growth                       ? "'grows' needs"
	       : way->has_capitals                  ? "'capitals' needs"
	       : way->is_poll                       ? "'polls' needs"
	       : way->is_caller                     ? "'caller' needs"
	       : way->not_code && !way->is_by_index ? "'not_code' needs"
						    : NULL;
}

static enum tp_status read_way(struct tp_idiom_patterns *out, const struct tp_pattern_row *row,
			       struct tp_error *err)
{
	static const char *const keys[] = {"stack",    "code",    "not_code", "capitals",
					   "mentions", "in_loop", "by_index", "polls",
					   "caller",   "grows",   "not",      "not_caller"};
	struct tp_idiom_way way = {.idiom = (uint16_t)out->n_idioms};
	unsigned ignored = 0;
	enum tp_status status = tp_pattern_row_check_keys(row, keys, TP_ARRAY_LEN(keys), err);
	if (!status)
		status = tp_pattern_row_bool(row, "capitals", &way.has_capitals, err);
	if (!status)
		status = way.has_capitals ? tp_pattern_row_texts(row, "code", &way.code, err)
					  : tp_pattern_row_globs(row, "code", &way.code, err);
	if (!status)
		status = tp_pattern_row_texts(row, "mentions", &way.mentions, err);
	if (!status)
		status = tp_pattern_row_bool(row, "in_loop", &way.is_in_loop, err);
	if (!status)
		status = tp_pattern_row_bool(row, "by_index", &way.is_by_index, err);
	if (!status)
		status = tp_pattern_row_bool(row, "polls", &way.is_poll, err);
	if (!status)
		status = tp_pattern_row_bool(row, "caller", &way.is_caller, err);
	if (!status)
		status = tp_pattern_row_bool(row, "grows", &way.is_growth, err);
	if (!status)
		status = tp_pattern_row_globs(row, "not_code", &way.not_code, err);
	const char *lacks = way.code ? NULL : key_without_code(&way);
	if (!status && lacks)
		status = tp_pattern_row_fail(row, row->json, lacks, "code", NULL, err);
	if (!status)
		status = read_frames(out, row, "stack", TP_IDIOM_GLOB_STACK, &way.n_literal, err);
	if (!status)
		status = read_frames(out, row, "not", TP_IDIOM_GLOB_NOT, &ignored, err);
	if (!status)
		status = read_frames(out, row, "not_caller", TP_IDIOM_GLOB_NOT_CALLER, &ignored,
				     err);
	if (status)
		return status;
	way.n_frames = (uint16_t)tp_json_count(tp_json_get(row->json, "stack"));
	way.is_direct = !way.n_frames || way.is_by_index;
	way.n_literal += code_literals(way.code) + code_literals(way.mentions);
	if (way.n_literal < MIN_LITERALS || (way.code && !code_literals(way.code)))
		return tp_pattern_row_fail(row, row->json, "fits nearly every stack:", "match",
					   NULL, err);
	if (out->n_ways >= MAX_WAYS)
		return tp_pattern_row_fail(row, row->json, "too many ways in all:", "match", NULL,
					   err);
	TP_ARRAY_PUSH(out->ways, out->n_ways, out->ways_capacity) = way;
	return TP_OK;
}

static enum tp_status read_example(struct tp_idiom_example *out, const struct tp_pattern_row *row,
				   struct tp_error *err)
{
	static const char *const keys[] = {"stack",    "code",  "mentions", "in_loop",
					   "by_index", "polls", "fits"};
	enum tp_status status = tp_pattern_row_check_keys(row, keys, TP_ARRAY_LEN(keys), err);
	*out = (struct tp_idiom_example){.code = "",
					 .mentions = "",
					 .fits = true,
					 .line = tp_pattern_row_line(row)};
	if (!status)
		status = tp_pattern_row_texts(row, "stack", &out->frames, err);
	if (!status && !out->frames)
		status = tp_pattern_row_fail(row, row->json, "no list", "stack", NULL, err);
	if (!status)
		status = tp_pattern_row_bool(row, "fits", &out->fits, err);
	if (!status)
		status = tp_pattern_row_bool(row, "in_loop", &out->is_in_loop, err);
	if (!status)
		status = tp_pattern_row_bool(row, "by_index", &out->is_by_index, err);
	if (!status)
		status = tp_pattern_row_bool(row, "polls", &out->is_poll, err);
	if (!status && tp_pattern_row_has(row, "code"))
		status = tp_pattern_row_name(row, "code", &out->code, err);
	if (!status && tp_pattern_row_has(row, "mentions"))
		status = tp_pattern_row_name(row, "mentions", &out->mentions, err);
	return status;
}

static enum tp_status read_examples(struct tp_idiom_row *idiom, const struct tp_pattern_row *row,
				    struct tp_error *err)
{
	const struct tp_json *list = tp_json_get(row->json, "examples");
	bool has_fit = false;
	idiom->examples =
		tp_arena_array(row->arena, tp_json_count(list) + 1, sizeof(*idiom->examples));
	TP_JSON_EACH (item, list) {
		const struct tp_pattern_row inner = {row->arena, item, row->file};
		struct tp_idiom_example *example = &idiom->examples[idiom->n_examples++];
		enum tp_status status = read_example(example, &inner, err);
		if (status)
			return status;
		has_fit |= example->fits;
	}
	if (!has_fit)
		return tp_pattern_row_fail(row, row->json, "no example that fits:", idiom->id, NULL,
					   err);
	return TP_OK;
}

enum tp_status tp_idiom_read(struct tp_idiom_patterns *out, const struct tp_pattern_row *row,
			     struct tp_error *err)
{
	struct tp_idiom_row idiom = {.file = row->file};
	const struct tp_json *match = tp_json_get(row->json, "match");
	enum tp_status status = tp_pattern_row_name(row, "id", &idiom.id, err);
	if (status || !match) /* recognised by facts alone */
		return status;
	if (tp_json_type(match) != TP_JSON_ARRAY || !tp_json_count(match))
		return tp_pattern_row_fail(row, match, "no list of stacks:", "match", NULL, err);
	status = read_examples(&idiom, row, err);
	TP_JSON_EACH (item, match) {
		const struct tp_pattern_row inner = {row->arena, item, row->file};
		if (!status)
			status = read_way(out, &inner, err);
	}
	if (status)
		return status;
	for (size_t i = 0; i < out->n_idioms; i++)
		out->idioms[i].is_replaced |= strcmp(out->idioms[i].id, idiom.id) == 0;
	TP_ARRAY_PUSH(out->idioms, out->n_idioms, out->idioms_capacity) = idiom;
	return TP_OK;
}

void tp_idiom_patterns_release(struct tp_idiom_patterns *rows)
{
	free(rows->idioms);
	free(rows->ways);
	free(rows->globs);
	free(rows->works);
}
