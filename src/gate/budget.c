/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a budget strictly, so that a misspelt limit is an error and not a limit that always
 * passes. */
#include "json_member.h"

#include "trainprof/gate/budget.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "trainprof-budget/1."

struct budget_reader {
	struct tp_budget *out;
	struct tp_arena *arena;
	const struct tp_json_doc *doc;
	struct tp_error *err;
	struct tp_assertion *items;
};

#define REFUSE(r, at, ...) refuse((r), (at), tp_arena_printf((r)->arena, __VA_ARGS__))

static enum tp_status refuse(const struct budget_reader *r, const struct tp_json *at,
			     const char *text)
{
	return tp_fail(r->err, TP_PARSE, "%s:%u: %s", tp_json_name(r->doc), tp_json_line(at), text);
}

/* ---- names ------------------------------------------------------------------------------- */

static enum tp_status check_member(const struct budget_reader *r, const struct tp_json *member,
				   const char *const *names, size_t n)
{
	const char *key = tp_json_key(member);
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], key) == 0)
			return TP_OK;
	const char *near = tp_text_closest(key, names, n);
	return REFUSE(r, member, "unknown member '%.40s'%s%s", key, near ? "; nearest: " : "",
		      near ? near : "");
}

static enum tp_status check_members(const struct budget_reader *r, const struct tp_json *object,
				    const char *const *names, size_t n)
{
	if (object && tp_json_type(object) != TP_JSON_OBJECT)
		return REFUSE(r, object, "%s: expected an object",
			      tp_json_key(object) ? tp_json_key(object) : "the budget");
	TP_JSON_EACH (member, object) {
		enum tp_status status = check_member(r, member, names, n);
		if (status != TP_OK)
			return status;
	}
	return TP_OK;
}

static enum tp_status check_choice(const struct budget_reader *r, const struct tp_json *value,
				   const char *const *names, size_t n)
{
	const char *text = tp_json_string(value);
	if (!value)
		return TP_OK;
	for (size_t i = 0; i < n && text; i++)
		if (strcmp(names[i], text) == 0)
			return TP_OK;
	struct tp_buf known = {0};
	for (size_t i = 0; i < n; i++)
		tp_buf_printf(&known, "%s%s", i ? ", " : "", names[i]);
	enum tp_status status =
		REFUSE(r, value, "%s: not one of %s", tp_json_key(value), tp_buf_text(&known));
	tp_buf_release(&known);
	return status;
}

/* ---- amounts ----------------------------------------------------------------------------- */

static bool parse_limit(const char *text, const char *unit, double *out)
{
	uint64_t n = 0;
	char compact[40];
	size_t len = 0;
	for (; *text && len + 1 < sizeof(compact); text++)
		if (*text != ' ')
			compact[len++] = *text;
	compact[len] = '\0';
	bool ok = false;
	if (strcmp(unit, "ratio") == 0)
		return tp_text_parse_percent(compact, out);
	if (strcmp(unit, "ns") == 0)
		ok = tp_text_parse_duration(compact, &n);
	else if (strcmp(unit, "bytes") == 0)
		ok = tp_text_parse_size(compact, &n);
	*out = (double)n;
	return ok;
}

/* A bare 50 is meant as 50 %, and would be a limit that always holds. */
static enum tp_status check_ratio(const struct budget_reader *r, const struct tp_json *value,
				  double ratio)
{
	if (ratio <= 2)
		return TP_OK;
	return REFUSE(r, value,
		      "%s: %g is %.0f %%; write %g or \"%g%%\", or \"%.0f%%\" if so meant",
		      tp_json_key(value), ratio, 100 * ratio, ratio / 100, ratio, 100 * ratio);
}

/* Ratios of two amounts, such as threads per CPU, may well be above 2. */
static bool is_share(tp_fact_id fact)
{
	return strstr(tp_fact_desc(fact)->text, "share") != NULL;
}

/* A number is in the unit of the fact; a string includes its own unit. */
static enum tp_status read_limit(const struct budget_reader *r, const struct tp_json *value,
				 tp_fact_id fact, bool *has, double *out)
{
	const char *text = tp_json_string(value);
	if (!value)
		return TP_OK;
	*has = true;
	if (tp_json_type(value) == TP_JSON_NUMBER) {
		*out = tp_json_number(value, 0);
		/* Only ratios, such as that of a drift, can be negative: of other facts such a
		 * limit always holds, or never. */
		bool is_ratio = fact < tp_n_facts && strcmp(tp_fact_desc(fact)->unit, "ratio") == 0;
		if (is_ratio)
			return is_share(fact) ? check_ratio(r, value, *out) : TP_OK;
		return *out >= 0 ? TP_OK : REFUSE(r, value, "%s: below zero", tp_json_key(value));
	}
	if (text && fact < tp_n_facts && parse_limit(text, tp_fact_desc(fact)->unit, out))
		return TP_OK;
	return REFUSE(r, value, "%s: neither a number nor one with a unit of %s",
		      tp_json_key(value), fact < tp_n_facts ? tp_fact_desc(fact)->unit : "a count");
}

static enum tp_status read_ratio(const struct budget_reader *r, const struct tp_json *value,
				 bool *has, double *out)
{
	if (!value)
		return TP_OK;
	*has = true;
	if (tp_json_string(value) && parse_limit(tp_json_string(value), "ratio", out))
		return TP_OK;
	*out = tp_json_number(value, -1);
	if (*out < 0)
		return REFUSE(r, value, "%s: a number of 0 or more, or a share such as \"3%%\"",
			      tp_json_key(value));
	return check_ratio(r, value, *out);
}

static enum tp_status read_count(const struct budget_reader *r, const struct tp_json *value,
				 bool *has, double *out)
{
	if (!value)
		return TP_OK;
	*has = true;
	*out = tp_json_number(value, -1);
	return *out >= 0 ? TP_OK
			 : REFUSE(r, value, "%s: a number of 0 or more", tp_json_key(value));
}

static enum tp_status read_flag(const struct budget_reader *r, const struct tp_json *value,
				bool *out)
{
	*out = tp_json_bool(value, false);
	return !value || tp_json_type(value) == TP_JSON_BOOL
		       ? TP_OK
		       : REFUSE(r, value, "%s: true or false", tp_json_key(value));
}

/* ---- assertions -------------------------------------------------------------------------- */

/* Returns true if a larger value is worse: times, memory, and amounts per step; or a smaller one:
 * throughput. */
static bool has_direction(tp_fact_id fact)
{
	const struct tp_fact_desc *desc = tp_fact_desc(fact);
	size_t len = strlen(desc->name);
	const char *ending = "_per_step";
	return tp_fact_is_throughput(fact) || strcmp(desc->unit, "ns") == 0 ||
	       strcmp(desc->unit, "bytes") == 0 ||
	       (len > strlen(ending) && strcmp(desc->name + len - strlen(ending), ending) == 0);
}

static enum tp_status check_fact(const struct budget_reader *r, const struct tp_assertion *a,
				 const struct tp_json *member)
{
	if (!a->has_max && !a->has_min && !a->has_worse && !a->equals_baseline)
		return REFUSE(r, member,
			      "%s: it limits nothing: max, min, max_worse_ratio or "
			      "equal_baseline",
			      a->name);
	if (a->has_max && a->has_min && a->min > a->max)
		return REFUSE(r, member, "%s: min is above max", a->name);
	if (a->has_worse && a->equals_baseline)
		return REFUSE(r, member,
			      "%s: equal_baseline and max_worse_ratio contradict each other",
			      a->name);
	if (a->has_worse && !has_direction(a->fact))
		return REFUSE(r, member, "%s: neither more nor less of it is worse; use max or min",
			      a->name);
	if (a->has_count || a->min_confidence)
		return REFUSE(r, member, "%s: max_count and min_confidence are of findings",
			      a->name);
	return TP_OK;
}

static enum tp_status check_pattern(const struct budget_reader *r, const struct tp_assertion *a,
				    const struct tp_json *member)
{
	if (!a->has_count)
		return REFUSE(r, member, "%s: a finding needs max_count", a->name);
	if (a->has_max || a->has_min || a->has_worse || a->equals_baseline)
		return REFUSE(r, member, "%s: of findings only max_count and min_confidence",
			      a->name);
	return TP_OK;
}

static enum tp_status read_limits(const struct budget_reader *r, struct tp_assertion *a,
				  const struct tp_json *from)
{
	static const char *const members[] = {
		"level",          "max", "min", "max_worse_ratio", "equal_baseline", "max_count",
		"min_confidence", "note"};
	static const char *const levels[] = {"warn", "error"};
	static const char *const confidences[] = {"low", "medium", "high"};
	const struct tp_json *level = tp_json_get(from, "level");
	const struct tp_json *confidence = tp_json_get(from, "min_confidence");
	enum tp_status status = check_members(r, from, members, TP_ARRAY_LEN(members));
	if (status == TP_OK)
		status = check_choice(r, level, levels, 2);
	if (status == TP_OK)
		status = check_choice(r, confidence, confidences, 3);
	if (status == TP_OK)
		status = read_limit(r, tp_json_get(from, "max"), a->fact, &a->has_max, &a->max);
	if (status == TP_OK)
		status = read_limit(r, tp_json_get(from, "min"), a->fact, &a->has_min, &a->min);
	if (status == TP_OK)
		status = read_ratio(r, tp_json_get(from, "max_worse_ratio"), &a->has_worse,
				    &a->max_worse_ratio);
	if (status == TP_OK)
		status =
			read_count(r, tp_json_get(from, "max_count"), &a->has_count, &a->max_count);
	if (status == TP_OK)
		status = read_flag(r, tp_json_get(from, "equal_baseline"), &a->equals_baseline);
	if (status != TP_OK)
		return status;
	a->is_error = !level || strcmp(tp_json_string(level), "error") == 0;
	a->min_confidence = tp_arena_strdup(r->arena, tp_json_string(confidence));
	a->note = tp_member_text(from, "note", r->arena);
	return a->pattern ? check_pattern(r, a, from) : check_fact(r, a, from);
}

static enum tp_status read_assertion(const struct budget_reader *r, struct tp_assertion *a,
				     const struct tp_json *member)
{
	const char *word = tp_json_string(member);
	*a = (struct tp_assertion){.name = tp_arena_strdup(r->arena, tp_json_key(member)),
				   .line = tp_json_line(member),
				   .fact = tp_n_facts};
	if (tp_text_starts_with(a->name, "finding:")) {
		a->pattern = a->name + strlen("finding:");
	} else {
		a->fact = tp_fact_find(a->name);
		const char *near = tp_fact_closest(a->name);
		if (a->fact == tp_n_facts)
			return REFUSE(r, member, "unknown name '%.60s'%s%s", a->name,
				      near ? "; nearest: " : "", near ? near : "");
	}
	a->is_off = word && strcmp(word, "off") == 0;
	if (a->is_off)
		return TP_OK;
	if (tp_json_type(member) != TP_JSON_OBJECT)
		return REFUSE(r, member, "%s: expected an object or \"off\"", a->name);
	return read_limits(r, a, member);
}

/* ---- the document ------------------------------------------------------------------------ */

/* A preset's rows come first; the budget's own row of the same name replaces one of them. */
static void add_default_rows(struct budget_reader *r, const char *preset)
{
	const struct tp_assertion rows[] = {
		{.name = "step.time_ns",
		 .is_error = true,
		 .fact = TP_FACT_STEP_TIME,
		 .has_worse = true,
		 .max_worse_ratio = 0.03},
		{.name = "memory.rss_peak_bytes",
		 .is_error = strcmp(preset, "strict") == 0,
		 .fact = TP_FACT_MEM_RSS,
		 .has_worse = true,
		 .max_worse_ratio = 0.1},
	};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows) && strcmp(preset, "none") != 0; i++)
		r->items[r->out->n_assertions++] = rows[i];
}

static struct tp_assertion *row_of(struct budget_reader *r, const char *name)
{
	for (size_t i = 0; i < r->out->n_assertions; i++)
		if (strcmp(r->items[i].name, name) == 0)
			return &r->items[i];
	return &r->items[r->out->n_assertions++];
}

static enum tp_status read_assertions(struct budget_reader *r, const struct tp_json *root)
{
	static const char *const presets[] = {"none", "recommended", "strict"};
	const struct tp_json *all = tp_json_get(root, "assert");
	const struct tp_json *extends = tp_json_get(root, "extends");
	enum tp_status status = check_choice(r, extends, presets, 3);
	if (status == TP_OK && all && tp_json_type(all) != TP_JSON_OBJECT)
		status = REFUSE(r, all, "assert: expected an object");
	if (status != TP_OK)
		return status;
	r->items = tp_arena_array(r->arena, tp_json_count(all) + 8, sizeof(*r->items));
	add_default_rows(r, extends ? tp_json_string(extends) : "none");
	TP_JSON_EACH (member, all) {
		status = read_assertion(r, row_of(r, tp_json_key(member)), member);
		if (status != TP_OK)
			return status;
	}
	r->out->assertions = r->items;
	size_t n = 0;
	for (size_t i = 0; i < r->out->n_assertions; i++)
		n += !r->items[i].is_off;
	return n ? TP_OK : REFUSE(r, root, "the budget asserts nothing");
}

static enum tp_status read_rest(struct budget_reader *r, const struct tp_json *root)
{
	static const char *const of_select[] = {"min_steps"};
	static const char *const of_runs[] = {"min"};
	static const char *const of_baseline[] = {"name", "file"};
	static const char *const of_noise[] = {"inconclusive"};
	static const char *const words[] = {"pass", "warn", "error"};
	const struct tp_json *select = tp_json_get(root, "select");
	const struct tp_json *runs = tp_json_get(root, "runs");
	const struct tp_json *baseline = tp_json_get(root, "baseline");
	const struct tp_json *noise = tp_json_get(root, "noise");
	bool has = false;
	enum tp_status status = check_members(r, select, of_select, 1);
	if (status == TP_OK)
		status = check_members(r, runs, of_runs, 1);
	if (status == TP_OK)
		status = check_members(r, baseline, of_baseline, 2);
	if (status == TP_OK)
		status = check_members(r, noise, of_noise, 1);
	if (status == TP_OK)
		status = check_choice(r, tp_json_get(noise, "inconclusive"), words, 3);
	if (status == TP_OK)
		status = read_count(r, tp_json_get(select, "min_steps"), &has, &r->out->min_steps);
	if (status == TP_OK)
		status = read_count(r, tp_json_get(runs, "min"), &has, &r->out->min_runs);
	if (status == TP_OK && tp_json_count(baseline) > 1)
		status = REFUSE(r, baseline, "baseline: either a name or a file");
	const char *name = tp_json_string(tp_json_first(baseline));
	if (status == TP_OK && baseline && !name)
		status = REFUSE(r, baseline, "baseline: a name or a file, as text");
	r->out->baseline = tp_arena_strdup(r->arena, name);
	r->out->inconclusive = tp_member_text(noise, "inconclusive", r->arena);
	return status;
}

enum tp_status tp_budget_read(struct tp_budget *out, const struct tp_json_doc *doc,
			      struct tp_arena *arena, struct tp_error *err)
{
	static const char *const members[] = {"schema", "note",     "extends", "select",
					      "runs",   "baseline", "noise",   "assert"};
	const struct tp_json *root = tp_json_root(doc);
	struct budget_reader r = {.out = out, .arena = arena, .doc = doc, .err = err};
	const char *schema = tp_json_string(tp_json_get(root, "schema"));
	*out = (struct tp_budget){.path = tp_arena_strdup(arena, tp_json_name(doc))};
	if (!schema)
		return tp_fail(err, TP_PARSE, "%s: a budget begins with \"schema\": \"%s0\"",
			       tp_json_name(doc), SCHEMA);
	if (!tp_text_starts_with(schema, SCHEMA))
		return tp_fail(err, TP_VERSION, "%s: its schema is %.60s; this reads %sx",
			       tp_json_name(doc), schema, SCHEMA);
	enum tp_status status = check_members(&r, root, members, TP_ARRAY_LEN(members));
	if (status == TP_OK)
		status = read_rest(&r, root);
	return status == TP_OK ? read_assertions(&r, root) : status;
}
