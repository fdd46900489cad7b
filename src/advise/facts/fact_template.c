/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a file of facts as a starting point, and the JSON schema of such files. */
#include "trainprof/advise/fact_file.h"

#include "advise/condition/fact_value.h"
#include "advise/judge/missing_facts.h"
#include "layer_list.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <stdio.h>
#include <string.h>

enum { MAX_FAMILIES = 32, MAX_FAMILY_LENGTH = 24 };

/* The first component of a rule's id: "input". There are few of them and they arrive sorted. */
struct families {
	char names[MAX_FAMILIES][MAX_FAMILY_LENGTH];
	size_t n;
};

static size_t family_length(const char *id)
{
	return strcspn(id, "/");
}

static void find_families(struct families *out, const struct tp_rulebook *book)
{
	for (size_t i = 0; i < book->n_rules; i++) {
		const char *id = book->rules[i].id;
		size_t len = family_length(id);
		bool is_new = !out->n || strncmp(out->names[out->n - 1], id, len) != 0 ||
			      out->names[out->n - 1][len];
		if (!is_new || len >= MAX_FAMILY_LENGTH || out->n == MAX_FAMILIES)
			continue;
		memcpy(out->names[out->n++], id, len);
	}
}

static enum tp_status check_family(const struct families *families, const char *topic,
				   struct tp_error *err)
{
	const char *names[MAX_FAMILIES];
	for (size_t i = 0; i < families->n; i++) {
		names[i] = families->names[i];
		if (strcmp(names[i], topic) == 0)
			return TP_OK;
	}
	const char *near = tp_text_closest(topic, names, families->n);
	struct tp_buf list = {0};
	for (size_t i = 0; i < families->n; i++)
		tp_buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
	enum tp_status status =
		near ? tp_fail(err, TP_USAGE, "no topic '%s'; nearest: %s", topic, near)
		     : tp_fail(err, TP_USAGE, "no topic '%s', there are: %s", topic,
			       families->n ? tp_buf_text(&list) : "none");
	if (families->n)
		tp_error_next_word(err, "trainprof advise --template ", near ? near : names[0], "");
	tp_buf_release(&list);
	return status;
}

/* Number of rules of each family that use each fact. */
struct fact_usage {
	unsigned rules[TP_MAX_FACTS][MAX_FAMILIES];
};

static void count_usage(struct fact_usage *out, const struct tp_rulebook *book,
			const struct families *families)
{
	for (size_t i = 0; i < book->n_rules; i++) {
		const char *id = book->rules[i].id;
		size_t len = family_length(id);
		bool used[TP_MAX_FACTS] = {false};
		size_t k = 0;
		while (k < families->n &&
		       (strncmp(families->names[k], id, len) != 0 || families->names[k][len]))
			k++;
		if (k == families->n)
			continue;
		tp_rule_mark_facts(&book->rules[i], used);
		for (int f = 0; f < TP_N_FACTS; f++)
			out->rules[f][k] += used[f];
	}
}

/* Facts about how trainprof measured: a user cannot know them. */
static bool is_of_measuring(tp_fact_id fact)
{
	static const tp_fact_id list[] = {
		TP_FACT_RUN_RECORDS_LOST_RATIO,
		TP_FACT_RUN_SWITCHES_OFF_RATIO,
		TP_FACT_RUN_THINNED_RATIO,
		TP_FACT_RUN_ACCOUNTED_RATIO,
		TP_FACT_RUN_UNKNOWN_RATIO,
		TP_FACT_RUN_N_SAMPLES,
		TP_FACT_RUN_OVERHEAD_RATIO,
		TP_FACT_RUN_OVERHEAD_TIME,
		TP_FACT_RUN_OVERHEAD_STARTUP,
		TP_FACT_RUN_OVERHEAD_RUNNING,
		TP_FACT_RUN_STOPPED,
		TP_FACT_RUN_UNWATCHED,
		TP_FACT_TRACE_CUT,
		TP_FACT_TRACE_SKIPPED,
		TP_FACT_TRACE_OPS,
		TP_FACT_TRACE_SPANS,
		TP_FACT_TRACE_RECOGNISED,
		TP_FACT_TRACE_DEVICE_LOST,
		TP_FACT_TRACE_ONLY_RANGES,
		TP_FACT_TRACE_JUDGED_OPS,
		TP_FACT_TRACE_COLD,
		TP_FACT_ADVICE_SHOWN,
		TP_FACT_IDIOM_HELD,
		TP_FACT_IDIOM_TIME,
		TP_FACT_IDIOM_LOADING,
		TP_FACT_IDIOM_LATE,
		TP_FACT_IDIOM_SHARED,
		TP_FACT_IDIOM_SAMPLES,
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (fact == list[i])
			return true;
	return (int)fact >= TP_FACT_WINDOWS_FIRST && (int)fact <= TP_FACT_WINDOWS_LAST;
}

static bool is_in_template(const struct fact_usage *fact_usage, const struct families *families,
			   const char *topic, tp_fact_id fact)
{
	if (is_of_measuring(fact))
		return false;
	for (size_t k = 0; k < families->n; k++)
		if (fact_usage->rules[fact][k] &&
		    (!topic || strcmp(topic, families->names[k]) == 0))
			return true;
	return false;
}

static void add_comment(struct tp_buf *out, const struct fact_usage *fact_usage,
			const struct families *families, tp_fact_id fact)
{
	const char *separator = "; for ";
	tp_buf_printf(out, "    // %s, as %s", tp_fact_desc(fact)->text,
		      tp_fact_value_example(fact));
	for (size_t k = 0; k < families->n; k++) {
		if (!fact_usage->rules[fact][k] || strcmp(families->names[k], "run") == 0)
			continue;
		tp_buf_printf(out, "%s%s", separator, families->names[k]);
		separator = ", ";
	}
	tp_buf_putc(out, '\n');
}

/* Adds a blank line where the first word of the names changes. */
static void add_facts(struct tp_buf *out, const struct fact_usage *fact_usage,
		      const struct families *families, const char *topic)
{
	const char *before = NULL;
	for (int f = 0; f < TP_N_FACTS; f++) {
		tp_fact_id fact = (tp_fact_id)f;
		const char *name = tp_fact_desc(fact)->name;
		if (!is_in_template(fact_usage, families, topic, fact))
			continue;
		size_t group = strcspn(name, ".");
		if (before)
			tp_buf_puts(out, ",\n");
		if (before && strncmp(before, name, group + 1) != 0)
			tp_buf_putc(out, '\n');
		add_comment(out, fact_usage, families, fact);
		tp_buf_printf(out, "    \"%s\": null", name);
		before = name;
	}
	tp_buf_putc(out, '\n');
}

enum tp_status tp_fact_file_template(struct tp_buf *out, const struct tp_rulebook *book,
				     const char *topic, struct tp_error *err)
{
	struct families families = {.n = 0};
	struct fact_usage fact_usage = {{{0}}};
	find_families(&families, book);
	if (topic && check_family(&families, topic, err) != TP_OK)
		return TP_USAGE;
	count_usage(&fact_usage, book, &families);
	tp_buf_puts(
		out,
		"{\n"
		"  // Put numbers where null stands, as far as you know them: null is unknown.\n"
		"  // Then: trainprof advise FILE. It says which facts to find out next.\n"
		"  // A share is of each step; the six parts of a step add up to 100 %.\n"
		"  // With an interval: { \"value\": \"35%\", \"low\": \"30%\", \"high\": \"40%\" "
		"}\n"
		"  // model.* may also come from a list of layers: trainprof guide predictions\n"
		"  \"schema\": \"trainprof-facts/1\",\n"
		"  \"name\": \"my training\",\n"
		"  \"facts\": {\n");
	add_facts(out, &fact_usage, &families, topic);
	tp_buf_puts(out, "  }\n}\n");
	return TP_OK;
}

/* ---- schema ---- */

/* Instead of a number a value may be a text in its unit. */
static const struct {
	const char *unit;
	const char *pattern;
} kinds[] = {
	{"ratio", "^[0-9]+([.][0-9]+)?%?$"},
	{"ns", "^[0-9]+([.][0-9]+)?(ns|us|ms|s|min|h)$"},
	{"bytes", "^[0-9]+([.][0-9]+)?(B|[kMG]B|[KMGT]iB)$"},
	{"per_s", "^[0-9]+([.][0-9]+)?/s$"},
	{"bytes_per_s", "^[0-9]+([.][0-9]+)?(B|[kMG]B|[KMGT]iB)/s$"},
	{"number", "^[0-9]+([.][0-9]+)?$"}, /* all other units */
};

static const char *kind_of(const char *unit)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(unit, kinds[i].unit) == 0)
			return unit;
	return strcmp(unit, "bool") == 0 ? unit : "number";
}

static void put_ref(struct tp_json_writer *w, const char *definition)
{
	char path[32];
	snprintf(path, sizeof(path), "#/$defs/%s", definition);
	tp_json_put_string(w, "$ref", path);
}

static void write_type(struct tp_json_writer *w, const char *type)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "type", type);
	tp_json_close(w, '}');
}

/* A value of this kind, null, or an interval. Without a pattern: a boolean. */
static void put_kind(struct tp_json_writer *w, const char *name, const char *pattern)
{
	tp_json_write_key(w, name);
	tp_json_open(w, '{');
	tp_json_write_key(w, "anyOf");
	tp_json_open(w, '[');
	write_type(w, pattern ? "number" : "boolean");
	if (pattern) {
		tp_json_open(w, '{');
		tp_json_put_string(w, "type", "string");
		tp_json_put_string(w, "pattern", pattern);
		tp_json_close(w, '}');
	}
	write_type(w, "null");
	tp_json_open(w, '{');
	put_ref(w, "interval");
	tp_json_close(w, '}');
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}

/* Writes a line for each fact: its kind is defined once, below. */
static void write_facts(struct tp_json_writer *w)
{
	tp_json_write_key(w, "facts");
	tp_json_open(w, '{');
	tp_json_put_string(w, "type", "object");
	tp_json_put_bool(w, "additionalProperties", false);
	tp_json_write_key(w, "properties");
	tp_json_open(w, '{');
	for (int f = 0; f < TP_N_FACTS; f++) {
		const struct tp_fact_desc *fact = tp_fact_desc((tp_fact_id)f);
		if (f >= TP_FACT_RULES_OWN_FIRST)
			continue;
		tp_json_write_key(w, fact->name);
		w->is_flat = true;
		tp_json_open(w, '{');
		put_ref(w, kind_of(fact->unit));
		tp_json_put_string(w, "description", fact->text);
		tp_json_close(w, '}');
		w->is_flat = false;
	}
	tp_json_close(w, '}');
	tp_json_close(w, '}');
}

/* An interval has both ends or none. */
static void write_ends(struct tp_json_writer *w)
{
	static const char *const ends[][2] = {{"low", "high"}, {"high", "low"}};
	tp_json_write_key(w, "dependentRequired");
	tp_json_open(w, '{');
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		tp_json_write_key(w, ends[i][0]);
		tp_json_open(w, '[');
		tp_json_write_string(w, ends[i][1]);
		tp_json_close(w, ']');
	}
	tp_json_close(w, '}');
}

static void write_interval(struct tp_json_writer *w)
{
	static const char *const keys[] = {"value", "low", "high"};
	tp_json_write_key(w, "interval");
	tp_json_open(w, '{');
	tp_json_put_string(w, "type", "object");
	tp_json_put_bool(w, "additionalProperties", false);
	tp_json_write_key(w, "required");
	tp_json_open(w, '[');
	tp_json_write_string(w, "value");
	tp_json_close(w, ']');
	write_ends(w);
	tp_json_write_key(w, "properties");
	tp_json_open(w, '{');
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		tp_json_write_key(w, keys[i]);
		tp_json_open(w, '{');
		tp_json_close(w, '}');
	}
	tp_json_write_key(w, "coverage");
	tp_json_open(w, '{');
	tp_json_put_string(w, "type", "number");
	tp_json_put_uint(w, "minimum", 0);
	tp_json_put_uint(w, "maximum", 1);
	tp_json_close(w, '}');
	tp_json_close(w, '}');
	tp_json_close(w, '}');
}

void tp_fact_file_schema(struct tp_buf *out)
{
	static const char *const texts[] = {"name", "note", "source"};
	struct tp_json_writer w = {0};
	tp_json_open(&w, '{');
	tp_json_put_string(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	tp_json_put_string(&w, "$id", "urn:trainprof:schema:facts:1");
	tp_json_put_string(&w, "title", "trainprof facts, version 1");
	tp_json_put_string(&w, "$comment",
			   "Generated by `trainprof advise --schema`: do not edit.");
	tp_json_put_string(&w, "type", "object");
	tp_json_put_bool(&w, "additionalProperties", false);
	tp_json_write_key(&w, "required");
	tp_json_open(&w, '[');
	tp_json_write_string(&w, "facts");
	tp_json_close(&w, ']');
	tp_json_write_key(&w, "properties");
	tp_json_open(&w, '{');
	tp_json_write_key(&w, "schema");
	tp_json_open(&w, '{');
	tp_json_put_string(&w, "const", "trainprof-facts/1");
	tp_json_close(&w, '}');
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		tp_json_write_key(&w, texts[i]);
		write_type(&w, "string");
	}
	tp_json_write_key(&w, "expect");
	write_type(&w, "object");
	write_facts(&w);
	tp_layer_list_schema(&w);
	tp_json_close(&w, '}');
	tp_json_write_key(&w, "$defs");
	tp_json_open(&w, '{');
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		put_kind(&w, kinds[i].unit, kinds[i].pattern);
	put_kind(&w, "bool", NULL);
	write_interval(&w);
	tp_layer_list_definitions(&w);
	tp_json_close(&w, '}');
	tp_json_close(&w, '}');
	tp_buf_puts(out, tp_buf_text(&w.out));
	tp_json_writer_release(&w);
}
