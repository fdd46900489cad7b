/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rows that recognise settings, and matches them. */
#include "setting_class.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact_id.h"

#include <stdlib.h>
#include <string.h>

/* In names of kernels with all template arguments the number type may come late. */
enum { MAX_TEXT = 4096 };

/* By enum tp_setting_source: the key, the key of the second text, and their separator in
 * examples. */
static const struct {
	const char *key;
	const char *further;
	char joint;
} sources[TP_N_SETTING_SOURCES] = {
	[TP_SETTING_IN_VARIABLE] = {"variable", "value", '='},
	[TP_SETTING_IN_ARGUMENT] = {"argument", NULL, 0},
	[TP_SETTING_IN_PROGRAM] = {"program", NULL, 0},
	[TP_SETTING_IN_THREAD] = {"thread", NULL, 0},
	[TP_SETTING_IN_SOURCE] = {"source", "symbol", ':'},
	[TP_SETTING_IN_MODULE] = {"module", "symbol", ':'},
	[TP_SETTING_IN_KERNEL] = {"kernel", NULL, 0},
	[TP_SETTING_IN_SPAN] = {"span", NULL, 0},
};

static const char *const keys[] = {"setting", "variable", "value",    "argument", "program",
				   "thread",  "source",   "symbol",   "module",   "kernel",
				   "span",    "not",      "examples", "because"};

bool tp_setting_pattern_is(const struct tp_pattern_row *row)
{
	return tp_pattern_row_has(row, "setting");
}

/* ---- reading ---- */

static enum tp_status read_fact(const struct tp_pattern_row *row, struct tp_setting_pattern *out,
				struct tp_error *err)
{
	const struct tp_json *value = tp_json_get(row->json, "setting");
	const char *name = tp_json_string(value);
	tp_fact_id fact = name ? tp_fact_find(name) : tp_n_facts;
	if (fact == tp_n_facts)
		return tp_pattern_row_fail(row, value, "unknown fact", name ? name : "(no text)",
					   name ? tp_fact_closest(name) : NULL, err);
	const char *unit = tp_fact_desc(fact)->unit;
	bool is_share = out->look == TP_SETTING_IN_KERNEL && strcmp(unit, "ratio") == 0;
	if (strcmp(unit, "bool") != 0 && !is_share)
		return tp_pattern_row_fail(row, value,
					   "neither yes or no nor a share of kernels:", name, NULL,
					   err);
	out->fact = fact;
	return TP_OK;
}

/* Exactly one key selects the source, and the second key must belong to it. */
static enum tp_status find_source(const struct tp_pattern_row *row, enum tp_setting_source *out,
				  struct tp_error *err)
{
	size_t n = 0;
	for (size_t i = 0; i < TP_N_SETTING_SOURCES; i++) {
		if (!tp_pattern_row_has(row, sources[i].key))
			continue;
		*out = (enum tp_setting_source)i;
		n++;
	}
	if (n != 1)
		return tp_pattern_row_fail(row, row->json, "a row of settings looks at one of",
					   "variable, argument, program, thread, source, module, "
					   "kernel, span",
					   NULL, err);
	const char *const further[] = {"value", "symbol"};
	for (size_t i = 0; i < TP_ARRAY_LEN(further); i++)
		if (tp_pattern_row_has(row, further[i]) &&
		    (!sources[*out].further || strcmp(sources[*out].further, further[i]) != 0))
			return tp_pattern_row_fail(row, row->json,
						   "does not go with the rest:", further[i],
						   sources[*out].further, err);
	return TP_OK;
}

enum tp_status tp_setting_pattern_read(struct tp_setting_patterns *out,
				       const struct tp_pattern_row *row, struct tp_error *err)
{
	struct tp_setting_pattern pattern = {.file = row->file, .line = tp_pattern_row_line(row)};
	enum tp_status status = tp_pattern_row_check_keys(row, keys, TP_ARRAY_LEN(keys), err);
	if (!status)
		status = find_source(row, &pattern.look, err);
	if (!status)
		status = read_fact(row, &pattern, err);
	if (!status)
		status = tp_pattern_row_globs(row, sources[pattern.look].key, &pattern.names, err);
	if (!status && sources[pattern.look].further)
		status = tp_pattern_row_globs(row, sources[pattern.look].further, &pattern.further,
					      err);
	if (!status)
		status = tp_pattern_row_globs(row, "not", &pattern.without, err);
	if (!status)
		status = tp_pattern_row_texts(row, "examples", &pattern.examples, err);
	if (!status)
		TP_ARRAY_PUSH(out->items, out->n_items, out->capacity) = pattern;
	return status;
}

/* ---- matching ---- */

static bool any_glob(const char *const *globs, const char *text)
{
	char lower[MAX_TEXT];
	return tp_pattern_any_glob(globs, tp_pattern_lower(lower, sizeof(lower), text));
}

bool tp_setting_can_match(const struct tp_setting_pattern *row, const char *name)
{
	bool is_path = row->look == TP_SETTING_IN_PROGRAM || row->look == TP_SETTING_IN_MODULE ||
		       row->look == TP_SETTING_IN_ARGUMENT;
	return any_glob(row->names, is_path ? tp_text_base_name(name) : name);
}

bool tp_setting_match(const struct tp_setting_pattern *row, const char *name, const char *further)
{
	if (row->look == TP_SETTING_IN_SOURCE && strcmp(further, "<module>") == 0)
		return false;
	if (row->without && any_glob(row->without, sources[row->look].further ? further : name))
		return false;
	if (!tp_setting_can_match(row, name))
		return false;
	const char *dot = row->look == TP_SETTING_IN_SOURCE ? strrchr(further, '.') : NULL;
	return !row->further || any_glob(row->further, further) ||
	       (dot && any_glob(row->further, dot + 1));
}

bool tp_setting_match_example(const struct tp_setting_pattern *row, const char *example)
{
	char joint = sources[row->look].joint;
	const char *at = joint ? strchr(example, joint) : NULL;
	if (!at)
		return tp_setting_match(row, example, "");
	char *name = tp_asprintf("%.*s", (int)(at - example), example);
	bool fits = tp_setting_match(row, name, at + 1);
	free(name);
	return fits;
}
