/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a run from its report.json. */
#include "job_read.h"
#include "json_member.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "trainprof-report/"

struct reader {
	struct tp_run_values *out;
	struct tp_arena *arena;
};

/* Half of a 95 % interval from ten batches, in standard errors: Student's t with 9 degrees of
 * freedom. */
#define ERRORS_IN_HALF 2.262

static bool is_text(const struct tp_json *parent, const char *key, const char *text)
{
	const char *is = tp_json_string(tp_json_get(parent, key));
	return is && strcmp(is, text) == 0;
}

/* ---- quantities -------------------------------------------------------------------------- */

static void read_interval(struct tp_quantity *out, const struct tp_json *ci95)
{
	out->has_interval =
		tp_member_interval(ci95, &out->low, &out->high) && out->low <= out->high;
}

static struct tp_quantity read_quantity(const struct reader *r, const struct tp_json *from)
{
	struct tp_quantity out = {0};
	const struct tp_json *value = tp_json_get(from, "value");
	if (tp_json_type(value) != TP_JSON_NUMBER) {
		out.missing = tp_member_text(from, "missing", r->arena);
		return out;
	}
	out.is_known = true;
	out.value = tp_json_number(value, 0);
	out.coverage = tp_json_number(tp_json_get(from, "coverage_ratio"), 1);
	out.n = tp_member_count(from, "n");
	read_interval(&out, tp_json_get(from, "ci95"));
	return out;
}

static void read_facts(const struct reader *r, const struct tp_json *metrics)
{
	TP_JSON_EACH (item, metrics) {
		tp_fact_id fact = tp_fact_find(tp_json_key(item));
		if (fact < tp_n_facts)
			r->out->facts[fact] = read_quantity(r, item);
	}
}

/* Since version 1.1 unknown facts are listed by reason; 1.0 had nulls among the others. */
static void read_missing(const struct reader *r, const struct tp_json *missing)
{
	TP_JSON_EACH (group, missing) {
		const char *because = tp_member_text(group, "because", r->arena);
		TP_JSON_EACH (item, tp_json_get(group, "metrics")) {
			const char *name = tp_json_string(item);
			tp_fact_id fact = name ? tp_fact_find(name) : tp_n_facts;
			if (fact < tp_n_facts && !r->out->facts[fact].is_known)
				r->out->facts[fact].missing = because;
		}
	}
}

/* ---- parts ------------------------------------------------------------------------------- */

/* Reads shares of the mean step, or of the window if there are no steps, so that they sum to it. */
static void read_parts(const struct reader *r, const struct tp_json *partition)
{
	struct tp_run_values *out = r->out;
	double total = tp_member_number(partition, "total_ns");
	tp_fact_id of = out->has_steps ? TP_FACT_STEP_TIME : TP_FACT_RUN_WINDOW;
	double whole = out->facts[of].value;
	if (total <= 0 || !out->facts[of].is_known)
		return;
	TP_JSON_EACH (item, tp_json_get(partition, "parts")) {
		const char *id = tp_json_string(tp_json_get(item, "id"));
		enum tp_part part = id ? tp_part_find(id) : TP_N_PARTS;
		if (part >= TP_N_PARTS)
			continue;
		struct tp_quantity share = read_quantity(r, tp_json_get(item, "share_ratio"));
		out->part_ns[part] = tp_member_number(item, "time_ns") / total * whole;
		if (share.has_interval)
			out->part_error_ns[part] =
				(share.high - share.low) / 2 / ERRORS_IN_HALF * whole;
		out->has_parts = true;
	}
}

/* ---- findings ---------------------------------------------------------------------------- */

/* Returns the first word of the sentence that is the name of a fact. */
static tp_fact_id fact_in(const char *sentence)
{
	char word[64];
	while (sentence && *sentence) {
		size_t len = strcspn(sentence, " ,;:()");
		if (len && len < sizeof(word)) {
			memcpy(word, sentence, len);
			word[len] = '\0';
			tp_fact_id fact = tp_fact_find(word);
			if (fact < tp_n_facts)
				return fact;
		}
		sentence += len + (sentence[len] != '\0');
	}
	return tp_n_facts;
}

static void read_gain(struct tp_value_finding *out, const struct tp_json *gain)
{
	out->gain_value = tp_member_number(tp_json_get(gain, "speedup"), "value");
	out->is_gain_of_loop = is_text(gain, "of", "loop");
	out->has_gain =
		tp_member_interval(tp_json_get(gain, "bracket"), &out->gain_low, &out->gain_high) &&
		out->gain_low > 0 && out->gain_high >= out->gain_low;
}

static void read_finding(const struct reader *r, struct tp_value_finding *out,
			 const struct tp_json *from)
{
	/* Version 1.0 said "fired" of suppressed findings, too, with the member "suppressed". */
	bool is_fired = is_text(from, "state", "fired") || is_text(from, "state", "suppressed");
	*out = (struct tp_value_finding){
		.rule = tp_member_text(from, "rule", r->arena),
		.state = is_fired                          ? TP_FINDING_FIRED
			 : is_text(from, "state", "quiet") ? TP_FINDING_QUIET
							   : TP_FINDING_NOT_JUDGED,
		.title = tp_member_text(from, "title", r->arena),
		.headline = tp_member_text(from, "headline", r->arena),
		.because = tp_member_text(from, "because", r->arena),
		.verify = tp_member_text(from, "verify", r->arena),
		.confidence = tp_member_text(from, "confidence", r->arena),
		.fingerprint = tp_member_text(from, "fingerprint", r->arena),
		.is_advice = is_fired && !is_text(from, "level", "note") &&
			     !tp_json_get(from, "suppressed"),
	};
	read_gain(out, tp_json_get(from, "gain"));
	out->moves = fact_in(out->verify);
}

static void read_findings(const struct reader *r, const struct tp_json *findings)
{
	struct tp_value_finding *items =
		tp_arena_array(r->arena, tp_json_count(findings) + 1, sizeof(*items));
	TP_JSON_EACH (item, findings) {
		if (tp_json_string(tp_json_get(item, "rule")))
			read_finding(r, &items[r->out->n_findings++], item);
	}
	r->out->findings = items;
}

/* ---- places ------------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
	const struct tp_value_place *first = a;
	const struct tp_value_place *second = b;
	if (first->per_step_ns != second->per_step_ns)
		return first->per_step_ns < second->per_step_ns ? 1 : -1;
	return strcmp(first->text, second->text);
}

static void read_kernel(const struct reader *r, struct tp_value_place *out,
			const struct tp_json *from)
{
	const char *name = tp_json_string(tp_json_get(from, "name"));
	out->text = tp_arena_strdup(r->arena, name ? name : "?");
}

static double per_step_ns_of(const struct reader *r, const struct tp_json *from)
{
	double divisor = r->out->has_steps && r->out->n_steps ? (double)r->out->n_steps : 1;
	return tp_member_number(from, "time_ns") / divisor;
}

static struct tp_value_places sort_places(struct tp_value_place *items, size_t n)
{
	if (n)
		qsort(items, n, sizeof(*items), by_time);
	return (struct tp_value_places){items, n};
}

/* Reads lines of the user's own files if the report has them, otherwise of the loop; then
 * kernels. */
static void read_places(const struct reader *r, const struct tp_json *lines,
			const struct tp_json *kernels)
{
	size_t n = 0;
	size_t most = tp_json_count(lines) + tp_json_count(kernels) + 1;
	struct tp_value_place *items = tp_arena_array(r->arena, most, sizeof(*items));
	TP_JSON_EACH (item, lines) {
		struct tp_value_place *place = &items[n++];
		tp_member_place(place, item, r->arena);
		place->per_step_ns = per_step_ns_of(r, item);
		place->is_own = is_text(item, "of", "own");
	}
	TP_JSON_EACH (item, kernels) {
		struct tp_value_place *place = &items[n++];
		place->per_step_ns = per_step_ns_of(r, item);
		read_kernel(r, place, item);
	}
	r->out->places = sort_places(items, n);
}

static int by_place(const void *a, const void *b)
{
	const struct tp_value_place *x = a;
	const struct tp_value_place *y = b;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	int order = strcmp(x->file, y->file);
	return order ? order : strcmp(x->text, y->text);
}

/* Reads lines in which threads that make batches computed. The report has one row for each kind of
 * work in a line. */
static void read_loader_lines(const struct reader *r, const struct tp_json *functions)
{
	size_t n = 0;
	size_t n_lines = 0;
	if (!functions)
		return;
	struct tp_value_place *items =
		tp_arena_array(r->arena, tp_json_count(functions) + 1, sizeof(*items));
	TP_JSON_EACH (item, functions) {
		if (!is_text(item, "of", "loading") || !tp_json_string(tp_json_get(item, "file")))
			continue;
		struct tp_value_place *place = &items[n++];
		tp_member_place(place, item, r->arena);
		place->is_own = true;
		place->per_step_ns = per_step_ns_of(r, item);
	}
	if (n)
		qsort(items, n, sizeof(*items), by_place);
	for (size_t i = 0; i < n; i++) {
		if (n_lines > 0 && by_place(&items[n_lines - 1], &items[i]) == 0)
			items[n_lines - 1].per_step_ns += items[i].per_step_ns;
		else
			items[n_lines++] = items[i];
	}
	r->out->loader_lines = sort_places(items, n_lines);
}

/* ---- the run ----------------------------------------------------------------------------- */

static void read_command(const struct reader *r, const struct tp_json *command)
{
	const char **words = tp_arena_array(r->arena, tp_json_count(command) + 1, sizeof(*words));
	TP_JSON_EACH (item, command) {
		const char *word = tp_json_string(item);
		words[r->out->n_command++] = tp_arena_strdup(r->arena, word ? word : "");
	}
	r->out->command = words;
}

static void read_run(const struct reader *r, const struct tp_json *run)
{
	struct tp_run_values *out = r->out;
	const struct tp_json *end = tp_json_get(run, "end");
	const struct tp_json *source = tp_json_first(tp_json_get(run, "sources"));
	out->id = tp_member_text(run, "id", r->arena);
	out->label = tp_member_text(run, "label", r->arena);
	out->mode = tp_member_text(run, "mode", r->arena);
	out->started_at = tp_member_text(run, "started_at", r->arena);
	out->is_partial = tp_json_bool(tp_json_get(run, "is_partial"), false);
	out->end = tp_member_text(end, "kind", r->arena);
	out->end_code = tp_member_count(end, "code");
	out->end_signal = tp_member_text(end, "signal", r->arena);
	out->n_ranks = tp_json_count(tp_json_get(run, "sources"));
	out->n_devices = tp_json_count(tp_json_get(source, "devices"));
	out->device =
		tp_member_text(tp_json_first(tp_json_get(source, "devices")), "name", r->arena);
	read_command(r, tp_json_get(run, "command"));
}

static void read_environment(const struct reader *r, const struct tp_json *environment)
{
	struct tp_run_values *out = r->out;
	const struct tp_json *host = tp_json_get(environment, "host");
	const struct tp_json *variables = tp_json_get(environment, "variables");
	struct tp_value_pair *pairs =
		tp_arena_array(r->arena, tp_json_count(variables) + 1, sizeof(*pairs));
	out->host = tp_member_text(host, "name", r->arena);
	out->kernel = tp_member_text(host, "kernel", r->arena);
	out->cpu_model = tp_member_text(host, "cpu_model", r->arena);
	out->n_allowed = tp_member_number(host, "allowed_cores");
	out->quota_cpus = tp_member_number(tp_json_get(environment, "limits"), "cgroup_cpus");
	TP_JSON_EACH (item, variables) {
		const char *value = tp_json_string(item);
		pairs[out->n_variables++] = (struct tp_value_pair){
			.name = tp_arena_strdup(r->arena, tp_json_key(item)),
			.value = tp_arena_strdup(r->arena, value ? value : ""),
		};
	}
	out->variables = pairs;
}

/* One beyond 30 years is no measurement. */
#define TIME_MAX_NS 1e18

/* The time of a step that is unknown is null, or is not there: a text is no report of ours. */
static enum tp_status check_step_type(const struct tp_json *metrics, const char *name,
				      struct tp_error *err)
{
	static const tp_fact_id times[] = {TP_FACT_STEP_TIME, TP_FACT_STEP_MEDIAN};
	for (size_t i = 0; i < TP_ARRAY_LEN(times); i++) {
		const char *fact = tp_fact_desc(times[i])->name;
		const struct tp_json *item = tp_json_get(metrics, fact);
		enum tp_json_type type = tp_json_type(
			tp_json_type(item) == TP_JSON_OBJECT ? tp_json_get(item, "value") : item);
		if (type != TP_JSON_NUMBER && type != TP_JSON_NULL)
			return tp_fail(err, TP_PARSE, "%s: %s is no number", name, fact);
	}
	return TP_OK;
}

static enum tp_status check(const struct tp_run_values *out, const char *name, struct tp_error *err)
{
	static const tp_fact_id times[] = {TP_FACT_STEP_TIME, TP_FACT_STEP_MEDIAN,
					   TP_FACT_RUN_DURATION, TP_FACT_RUN_WINDOW};
	for (size_t i = 0; i < TP_ARRAY_LEN(times); i++) {
		const struct tp_quantity *time = &out->facts[times[i]];
		if (time->is_known && !(time->value >= 0 && time->value <= TIME_MAX_NS))
			return tp_fail(err, TP_PARSE, "%s: %s is %s", name,
				       tp_fact_desc(times[i])->name,
				       time->value < 0 ? "below zero" : "beyond 30 years");
		bool is_of_step = times[i] == TP_FACT_STEP_TIME || times[i] == TP_FACT_STEP_MEDIAN;
		/* A comparison divides by the time of the step. */
		if (is_of_step && time->is_known && time->value == 0)
			return tp_fail(err, TP_PARSE, "%s: %s is zero", name,
				       tp_fact_desc(times[i])->name);
	}
	for (int part = 0; part < TP_N_PARTS; part++)
		if (!(out->part_ns[part] >= 0 && out->part_ns[part] <= TIME_MAX_NS))
			return tp_fail(err, TP_PARSE, "%s: the time of %s is %s", name,
				       tp_part_name((enum tp_part)part),
				       out->part_ns[part] < 0 ? "below zero" : "beyond 30 years");
	return TP_OK;
}

static enum tp_status check_schema(const struct tp_json *root, const char *name,
				   struct tp_error *err)
{
	const char *schema = tp_json_string(tp_json_get(root, "schema"));
	if (!schema || !tp_text_starts_with(schema, SCHEMA))
		return tp_fail(err, TP_PARSE, "%s: no report of trainprof: %s%.60s", name,
			       schema ? "its schema is " : "it names no schema",
			       schema ? schema : "");
	if (!tp_text_starts_with(schema, SCHEMA "1."))
		return tp_fail(err, TP_VERSION, "%s: its schema is %.60s; this reads %s1.x", name,
			       schema, SCHEMA);
	if (tp_json_type(tp_json_get(tp_json_get(root, "summary"), "metrics")) != TP_JSON_OBJECT)
		return tp_fail(err, TP_PARSE, "%s: a report without summary.metrics", name);
	return TP_OK;
}

enum tp_status tp_run_values_read(struct tp_run_values *out, const struct tp_json_doc *report,
				  const char *name, struct tp_arena *arena, struct tp_error *err)
{
	const struct tp_json *root = tp_json_root(report);
	const struct tp_json *steps = tp_json_get(root, "steps");
	const struct tp_json *partition = tp_json_get(root, "partition");
	const struct reader r = {out, arena};
	*out = (struct tp_run_values){.name = tp_arena_strdup(arena, name)};
	enum tp_status status = TP_OK;
	if (tp_job_values_are_of(root)) {
		status = tp_job_values_read(out, root, name, arena, err);
		return status == TP_OK ? check(out, name, err) : status;
	}
	status = check_schema(root, name, err);
	if (status != TP_OK)
		return status;
	out->version = tp_member_text(tp_json_get(root, "tool"), "version", arena);
	out->verdict_title = tp_member_text(tp_json_get(root, "summary"), "title", arena);
	out->has_steps = is_text(partition, "of", "step");
	out->n_steps = tp_member_count(steps, "count");
	out->commit = tp_member_text(tp_json_get(tp_json_get(root, "environment"), "vcs"), "commit",
				     arena);
	read_run(&r, tp_json_get(root, "run"));
	read_environment(&r, tp_json_get(root, "environment"));
	read_facts(&r, tp_json_get(tp_json_get(root, "summary"), "metrics"));
	read_missing(&r, tp_json_get(tp_json_get(root, "summary"), "missing"));
	read_parts(&r, partition);
	read_findings(&r, tp_json_get(root, "findings"));
	read_places(&r, tp_json_get(partition, "lines"), tp_json_get(root, "kernels"));
	read_loader_lines(&r, tp_json_get(root, "functions"));
	status = check_step_type(tp_json_get(tp_json_get(root, "summary"), "metrics"), name, err);
	return status == TP_OK ? check(out, name, err) : status;
}
