/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rows for names of spans on threads and finds the meaning of a name. */
#include "span_class.h"
#include "pattern_tables.h"

#include "frame_class.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NAME = 512 };

static const char *const sense_names[] = {
#define X(id, name) name,
	TP_SENSE_MAP(X)
#undef X
};
static const char *const keys[] = {"span", "kind", "sense", "examples", "because"};

const char *tp_span_sense_name(enum tp_span_sense sense)
{
	return sense < TP_N_SENSES ? sense_names[sense] : sense_names[TP_SENSE_NONE];
}

bool tp_span_pattern_is(const struct tp_pattern_row *row)
{
	return tp_pattern_row_has(row, "span") || tp_pattern_row_has(row, "sense");
}

static enum tp_status read_kinds(const struct tp_pattern_row *row, unsigned *out,
				 struct tp_error *err)
{
	const char *names[TP_N_SPAN_KINDS];
	for (unsigned i = 0; i < TP_N_SPAN_KINDS; i++)
		names[i] = tp_span_kind_name((enum tp_span_kind)i);
	const struct tp_json *list = tp_json_get(row->json, "kind");
	if (list && !tp_json_count(list))
		return tp_pattern_row_fail(row, list, "not a list:", "kind", NULL, err);
	*out = list ? 0 : ~0U;
	TP_JSON_EACH (item, list) {
		unsigned kind;
		enum tp_status status =
			tp_pattern_row_find_word(row, item, names, TP_N_SPAN_KINDS, &kind, err);
		if (status)
			return status;
		*out |= 1U << kind;
	}
	return TP_OK;
}

enum tp_status tp_span_pattern_read(struct tp_span_patterns *out, const struct tp_pattern_row *row,
				    struct tp_error *err)
{
	struct tp_span_pattern pattern = {.file = row->file, .line = tp_pattern_row_line(row)};
	unsigned sense = TP_SENSE_NONE;
	enum tp_status status = tp_pattern_row_check_keys(row, keys, TP_ARRAY_LEN(keys), err);
	if (!status)
		status = tp_pattern_row_globs(row, "span", &pattern.globs, err);
	if (!status)
		status = read_kinds(row, &pattern.kinds, err);
	if (!status)
		status = tp_pattern_row_word(row, "sense", sense_names, TP_N_SENSES, &sense, err);
	if (!status)
		status = tp_pattern_row_texts(row, "examples", &pattern.examples, err);
	if (!status && (!pattern.globs || !tp_pattern_row_has(row, "sense")))
		status = tp_pattern_row_fail(row, row->json, "a row of spans without",
					     pattern.globs ? "sense" : "span", NULL, err);
	pattern.sense = (enum tp_span_sense)sense;
	if (!status)
		TP_ARRAY_PUSH(out->items, out->n_items, out->capacity) = pattern;
	return status;
}

/* A name in lower case, and the same with {n} in place of each whole number. */
struct span_names {
	char plain[MAX_NAME];
	char numbered[2 * MAX_NAME];
};

/* Names of autograd ranges end with their arguments; names of calls end with the version of their
 * entry point: "aten::item, op_id = 4", "cudaMalloc_v3020", "cudaMemcpyAsync_ptsz". */
static void cut_tail(char *name, enum tp_span_kind kind)
{
	static const char *const tails[] = {", op_id = ", ", seq = ", "_ptsz", "_ptds"};
	for (size_t i = 0; i < TP_ARRAY_LEN(tails); i++) {
		char *tail = strstr(name, tails[i]);
		if (tail && (kind == TP_SPAN_CALL || tails[i][0] == ','))
			*tail = '\0';
	}
	char *version = kind == TP_SPAN_CALL ? strrchr(name, '_') : NULL;
	if (version && version[1] == 'v' && version[2] &&
	    !version[2 + strspn(version + 2, "0123456789")])
		*version = '\0';
}

static void replace_numbers(const char *plain, char out[2 * MAX_NAME])
{
	static const char mark[] = "{n}";
	size_t n = 0;
	for (const char *p = plain; *p && n + sizeof(mark) < (size_t)2 * MAX_NAME;) {
		if (isdigit((unsigned char)*p)) {
			memcpy(out + n, mark, sizeof(mark) - 1);
			n += sizeof(mark) - 1;
			p += strspn(p, "0123456789");
		} else {
			out[n++] = *p++;
		}
	}
	out[n] = '\0';
}

static bool any_glob(const char *const *globs, const struct span_names *names)
{
	for (; *globs; globs++)
		if (tp_text_glob(*globs, strstr(*globs, "{n}") ? names->numbered : names->plain))
			return true;
	return false;
}

enum tp_span_sense tp_span_sense_find(const struct tp_patterns *patterns, enum tp_span_kind kind,
				      const char *name)
{
	const struct tp_span_patterns *rows = &patterns->spans;
	struct span_names names;
	tp_pattern_lower(names.plain, sizeof(names.plain), name);
	cut_tail(names.plain, kind);
	replace_numbers(names.plain, names.numbered);
	for (size_t i = 0; i < rows->n_items; i++) {
		const struct tp_span_pattern *row = &rows->items[i];
		if ((row->kinds & 1U << kind) && any_glob((const char *const *)row->globs, &names))
			return row->sense;
	}
	return TP_SENSE_NONE;
}
