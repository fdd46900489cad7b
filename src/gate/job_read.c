/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a job of several ranks from its report. */
#include "job_read.h"
#include "json_member.h"

#include "trainprof/base/text.h"
#include "trainprof/model/fact.h"

#include <string.h>

#define SCHEMA "trainprof-job/1."

bool tp_job_values_are_of(const struct tp_json *root)
{
	const char *schema = tp_json_string(tp_json_get(root, "schema"));
	return schema && tp_text_starts_with(schema, SCHEMA);
}

static void set_fact(struct tp_run_values *out, tp_fact_id fact, double value)
{
	if (fact < tp_n_facts)
		out->facts[fact] =
			(struct tp_quantity){.is_known = true, .value = value, .coverage = 1};
}

/* Times are of one step unless shares of the whole run are all that the ranks have in common. */
static bool has_joined_steps(const struct tp_json *root)
{
	const char *how = tp_json_string(tp_json_get(root, "joined_by"));
	return how && strcmp(how, "none") != 0 && strcmp(how, "shares") != 0 &&
	       tp_member_count(root, "steps") > 0;
}

static void read_steps(struct tp_run_values *out, const struct tp_json *root)
{
	if (!has_joined_steps(root))
		return;
	out->has_steps = true;
	out->n_steps = tp_member_count(root, "steps");
	set_fact(out, TP_FACT_STEP_TIME, tp_member_number(root, "step_ns"));
	set_fact(out, TP_FACT_COMM_LATE, tp_member_number(root, "wait_ratio"));
}

/* Adds up the parts of the ranks whose steps were joined; returns the number of these ranks. */
static size_t add_parts(struct tp_run_values *out, const struct tp_json *ranks)
{
	size_t n = 0;
	TP_JSON_EACH (rank, ranks) {
		const struct tp_json *parts = tp_json_get(rank, "parts_ns");
		if (!parts || !tp_json_bool(tp_json_get(rank, "is_joined"), false))
			continue;
		n++;
		for (int part = 0; part < TP_N_PARTS; part++)
			out->part_ns[part] +=
				tp_member_number(parts, tp_part_name((enum tp_part)part));
	}
	return n;
}

static void read_parts(struct tp_run_values *out, const struct tp_json *ranks,
		       struct tp_arena *arena)
{
	size_t n = add_parts(out, ranks);
	double whole = out->facts[TP_FACT_STEP_TIME].value;
	out->has_parts = n > 0 && out->has_steps;
	for (int part = 0; part < TP_N_PARTS; part++) {
		out->part_ns[part] = out->has_parts ? out->part_ns[part] / (double)n : 0;
		const char *fact =
			tp_arena_printf(arena, "step.%s_ratio", tp_part_name((enum tp_part)part));
		if (out->has_parts && whole > 0)
			set_fact(out, tp_fact_find(fact), out->part_ns[part] / whole);
	}
}

/* The first rank that ended badly stands for the job. */
static void read_ends(struct tp_run_values *out, const struct tp_json *ranks,
		      struct tp_arena *arena)
{
	bool has_bad = false;
	TP_JSON_EACH (rank, ranks) {
		const char *end = tp_json_string(tp_json_get(rank, "end"));
		uint64_t code = tp_member_count(rank, "end_code");
		bool is_bad = code || (end && strcmp(end, "signaled") == 0);
		out->is_partial |= tp_json_bool(tp_json_get(rank, "is_cut"), false);
		if (has_bad || (out->end && !is_bad))
			continue;
		out->end = tp_arena_strdup(arena, end);
		out->end_code = code;
		has_bad = is_bad;
	}
}

static void read_advice(struct tp_run_values *out, const struct tp_json *advice,
			struct tp_arena *arena)
{
	struct tp_value_finding *items =
		tp_arena_array(arena, tp_json_count(advice) + 1, sizeof(*items));
	TP_JSON_EACH (item, advice) {
		const struct tp_json *speedup = tp_json_get(item, "speedup");
		struct tp_value_finding *finding = &items[out->n_findings++];
		*finding = (struct tp_value_finding){
			.rule = tp_member_text(item, "rule", arena),
			.state = TP_FINDING_FIRED,
			.title = tp_member_text(item, "headline", arena),
			.headline = tp_member_text(item, "headline", arena),
			.because = tp_member_text(item, "because", arena),
			.is_advice = true,
			.gain_value = tp_member_number(speedup, "value"),
			.moves = tp_n_facts,
		};
		finding->has_gain = tp_member_interval(tp_json_get(speedup, "ci95"),
						       &finding->gain_low, &finding->gain_high) &&
				    finding->gain_low > 0 &&
				    finding->gain_high >= finding->gain_low;
	}
	out->findings = items;
}

/* The line in which the late rank spends its extra time. */
static void read_place(struct tp_run_values *out, const struct tp_json *late,
		       struct tp_arena *arena)
{
	const struct tp_json *from = tp_json_get(late, "place");
	struct tp_value_place *place = tp_arena_alloc(arena, sizeof(*place));
	if (!tp_json_string(tp_json_get(from, "file")))
		return;
	tp_member_place(place, from, arena);
	place->is_own = true;
	place->per_step_ns = tp_member_number(from, "step_ns");
	out->places = (struct tp_value_places){place, 1};
}

enum tp_status tp_job_values_read(struct tp_run_values *out, const struct tp_json *root,
				  const char *name, struct tp_arena *arena, struct tp_error *err)
{
	const struct tp_json *ranks = tp_json_get(root, "ranks");
	uint64_t n_ranks = tp_member_count(root, "ranks_of_job");
	if (tp_json_type(ranks) != TP_JSON_ARRAY)
		return tp_fail(err, TP_PARSE, "%s: the report of a job without ranks", name);
	for (tp_fact_id fact = 0; fact < tp_n_facts; fact++)
		out->facts[fact].missing = "the report of a job has its steps and their parts only";
	out->is_job = true;
	out->mode = "job";
	out->label = tp_member_text(root, "label", arena);
	out->version = tp_member_text(root, "version", arena);
	out->n_ranks = n_ranks ? n_ranks : tp_json_count(ranks);
	read_steps(out, root);
	read_parts(out, ranks, arena);
	out->is_partial = tp_json_count(tp_json_get(root, "missing_ranks")) > 0;
	read_ends(out, ranks, arena);
	read_advice(out, tp_json_get(root, "advice"), arena);
	read_place(out, tp_json_get(root, "late"), arena);
	return TP_OK;
}
