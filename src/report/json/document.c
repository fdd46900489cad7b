/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the run and its summary figures: the first half of the JSON report. */
#include "document.h"
#include "report/digest/gain_text.h"
#include "report/digest/verdict.h"
#include "trainprof/report/own_cpu.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/map.h"
#include "trainprof/model/fact.h"

#include <string.h>

static void put_quantity(struct tp_json_writer *w, const char *key,
			 const struct tp_quantity *quantity)
{
	tp_json_write_key(w, key);
	tp_report_json_quantity(w, quantity);
}

/* ---- run ----------------------------------------------------------------------------------- */

static void write_end(struct tp_json_writer *w, const struct tp_run_info *run)
{
	char name[24];
	tp_json_write_key(w, "end");
	tp_json_open(w, '{');
	tp_json_put_string(w, "kind", tp_end_name(run->end));
	if (run->end == TP_END_EXITED)
		tp_json_put_uint(w, "code", (uint64_t)run->end_code);
	if (run->end == TP_END_SIGNALED)
		tp_json_put_string(w, "signal",
				   tp_report_signal_name(run->end_code, name, sizeof(name)));
	tp_json_close(w, '}');
}

static void write_window(struct tp_json_writer *w, const struct tp_profile *profile)
{
	tp_json_write_key(w, "window");
	tp_json_open(w, '{');
	tp_json_put_uint(w, "start_ns", profile->window_start_ns);
	tp_json_put_uint(w, "end_ns", profile->window_end_ns);
	tp_report_json_text(w, "reason", profile->window_reason);
	tp_json_close(w, '}');
}

void tp_report_json_run(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_run_info *run = doc->digest->run;
	char started[32];
	tp_clock_format_utc(run->started_wall_ns, started, sizeof(started));
	tp_json_write_key(w, "run");
	tp_json_open(w, '{');
	tp_json_put_string(w, "id", run->id);
	tp_report_json_text(w, "label", run->label);
	tp_json_write_key(w, "command");
	tp_json_open(w, '[');
	for (size_t i = 0; i < run->n_command; i++)
		tp_json_write_string(w, run->command[i]);
	tp_json_close(w, ']');
	tp_json_put_string(w, "mode", tp_run_mode_name(run->mode));
	/* An import needs no permissions, so it has no level. */
	if (!doc->digest->is_import)
		tp_json_put_string(w, "tier", tp_tier_name(run->tier));
	tp_json_put_string(w, "started_at", started);
	tp_json_put_uint(w, "duration_ns", doc->digest->trace->end_ns);
	write_end(w, run);
	tp_json_put_bool(w, "is_partial", doc->digest->trace->is_partial);
	write_window(w, doc->digest->profile);
	tp_report_json_text(w, "written_by", run->written_by);
	if (run->n_ranks)
		tp_report_json_ranks(doc);
	tp_json_close(w, '}');
}

/* ---- environment --------------------------------------------------------------------------- */

static void write_fingerprint(struct tp_json_writer *w, const struct tp_run_info *run)
{
	uint64_t workload = 0;
	for (size_t i = 0; i < run->n_command; i++)
		workload = tp_hash_mix(workload,
				       tp_hash_bytes(run->command[i], strlen(run->command[i])));
	const char *model = run->host.cpu_model ? run->host.cpu_model : "";
	const char *kernel = run->host.kernel ? run->host.kernel : "";
	uint64_t machine = tp_hash_mix(tp_hash_bytes(model, strlen(model)), run->host.n_allowed);
	machine = tp_hash_mix(machine, run->host.memory_bytes);
	uint64_t software = tp_hash_bytes(kernel, strlen(kernel));
	char text[24];
	tp_json_write_key(w, "fingerprint");
	tp_json_open(w, '{');
	snprintf(text, sizeof(text), "w-%08x", (unsigned)workload);
	tp_json_put_string(w, "workload", text);
	snprintf(text, sizeof(text), "m-%08x", (unsigned)machine);
	tp_json_put_string(w, "machine", text);
	snprintf(text, sizeof(text), "s-%08x", (unsigned)software);
	tp_json_put_string(w, "software", text);
	tp_json_close(w, '}');
}

void tp_report_json_environment(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_run_info *run = doc->digest->run;
	tp_json_write_key(w, "environment");
	tp_json_open(w, '{');
	/* An import has no fingerprint: two imports with unknown machines must not look alike. */
	if (!doc->digest->is_import)
		write_fingerprint(w, run);
	tp_report_json_host(w, &run->host);
	tp_json_write_key(w, "variables");
	tp_json_open(w, '{');
	for (size_t i = 0; i < run->n_environment; i++)
		tp_json_put_string(w, run->environment[i].name, run->environment[i].value);
	tp_json_close(w, '}');
	if (run->commit) {
		tp_json_write_key(w, "vcs");
		tp_json_open(w, '{');
		tp_json_put_string(w, "commit", run->commit);
		tp_json_close(w, '}');
	}
	tp_json_close(w, '}');
}

/* ---- collection ---------------------------------------------------------------------------- */

static const char *source_state(enum tp_presence presence)
{
	if (presence == TP_PRESENCE_PRESENT)
		return "used";
	if (presence == TP_PRESENCE_DEGRADED)
		return "degraded";
	return presence == TP_PRESENCE_OFF ? "off" : "absent";
}

static void write_source(struct tp_json_writer *w, const struct tp_trace *trace,
			 const struct tp_source *source)
{
	const char *reason = tp_trace_string(trace, source->reason);
	tp_json_open(w, '{');
	tp_json_put_string(w, "id", tp_trace_string(trace, source->name));
	tp_report_json_text(w, "title", tp_trace_string(trace, source->summary));
	tp_json_put_string(w, "state", source_state(source->presence));
	if (source->presence != TP_PRESENCE_PRESENT)
		tp_json_put_string(w, "reason",
				   *reason ? reason : tp_source_state_text(source->presence));
	tp_report_json_text(w, "remedy", tp_trace_string(trace, source->remedy));
	tp_json_put_uint(w, "records", source->n_records);
	tp_json_put_uint(w, "lost", source->n_lost);
	tp_json_close(w, '}');
}

static void write_gaps(struct tp_json_writer *w, const struct tp_trace *trace)
{
	tp_json_write_key(w, "gaps");
	tp_json_open(w, '[');
	for (size_t i = 0; i < trace->n_timed_gaps; i++) {
		const struct tp_timed_gap *gap = &trace->timed_gaps[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "source", gap->source);
		tp_json_put_string(w, "reason", gap->reason);
		tp_json_put_uint(w, "start_ns", gap->start_ns);
		tp_json_put_uint(w, "end_ns", gap->end_ns);
		tp_json_put_uint(w, "lost", gap->n_lost);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

/* The member is absent if the recording does not contain it. */
static void write_own_cpu(struct tp_json_writer *w, const struct tp_trace *trace)
{
	struct tp_own_cpu own;
	if (!tp_own_cpu_read(&own, trace))
		return;
	tp_json_write_key(w, "own_cpu_ns");
	tp_json_open(w, '{');
	for (size_t i = 0; i < own.n; i++)
		tp_json_put_number(w, own.rows[i].id, own.rows[i].cpu_ns);
	tp_json_put_number(w, "all", own.cpu_ns);
	tp_json_close(w, '}');
}

static void write_others(struct tp_json_writer *w, const struct tp_profile *profile)
{
	tp_json_write_key(w, "other_programs");
	tp_json_open(w, '[');
	for (size_t i = 0; i < profile->n_others; i++) {
		tp_json_open(w, '{');
		tp_json_put_uint(w, "pid", (uint64_t)profile->others[i].pid);
		tp_json_put_string(w, "name", profile->others[i].comm);
		tp_json_put_number(w, "cpus", profile->others[i].cpus);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

void tp_report_json_collection(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_trace *trace = doc->digest->trace;
	tp_json_write_key(w, "collection");
	tp_json_open(w, '{');
	tp_json_write_key(w, "sources");
	tp_json_open(w, '[');
	for (size_t i = 0; i < trace->n_sources; i++)
		write_source(w, trace, &trace->sources[i]);
	tp_json_close(w, ']');
	put_quantity(w, "overhead_ratio", &doc->digest->profile->facts[TP_FACT_RUN_OVERHEAD_RATIO]);
	write_own_cpu(w, trace);
	write_others(w, doc->digest->profile);
	tp_json_put_uint(w, "records_lost", doc->digest->n_lost);
	write_gaps(w, trace);
	tp_json_put_number(w, "sample_rate_hz", doc->digest->run->sample_rate_hz);
	if (doc->digest->run->asked_rate_hz > 0)
		tp_json_put_number(w, "asked_rate_hz", doc->digest->run->asked_rate_hz);
	struct tp_buf reduced = {0};
	tp_report_add_reduced(&reduced, doc->digest);
	tp_report_json_text(w, "reduced", tp_buf_text(&reduced));
	tp_buf_release(&reduced);
	tp_json_close(w, '}');
}

/* ---- summary ------------------------------------------------------------------------------- */

static void write_combined(struct tp_json_writer *w, const struct tp_findings *findings)
{
	if (!findings || !findings->has_combined || findings->n_fired < 2)
		return;
	tp_json_write_key(w, "combined_gain");
	tp_json_open(w, '{');
	tp_json_put_string(w, "kind",
			   tp_report_gain_kind(findings->combined_low, findings->combined_high));
	tp_json_put_number(w, "speedup", findings->combined_value);
	tp_report_json_interval(w, "bracket", findings->combined_low, findings->combined_high);
	tp_json_close(w, '}');
}

/* The advice in the order in which every page shows it; its number is its place here. */
static void write_order(struct tp_json_writer *w, const struct tp_findings *findings)
{
	tp_json_write_key(w, "shown");
	tp_json_open(w, '[');
	w->is_flat = true;
	for (size_t i = 0; findings && i < findings->n_fired; i++)
		tp_json_write_string(w, findings->items[i].rule);
	tp_json_close(w, ']');
	w->is_flat = false;
}

static const char *reason_of(const struct tp_quantity *fact)
{
	return fact->missing ? fact->missing : "not measured";
}

static bool is_first_of_reason(const struct tp_profile *profile, int fact)
{
	for (int f = 0; f < fact; f++)
		if (!profile->facts[f].is_known &&
		    strcmp(reason_of(&profile->facts[f]), reason_of(&profile->facts[fact])) == 0)
			return false;
	return true;
}

/* Unknown facts stand together with those that are unknown for the same reason. */
static void write_missing(struct tp_json_writer *w, const struct tp_profile *profile)
{
	tp_json_write_key(w, "missing");
	tp_json_open(w, '[');
	for (int f = 0; f < TP_N_FACTS; f++) {
		if (profile->facts[f].is_known || !is_first_of_reason(profile, f))
			continue;
		const char *reason = reason_of(&profile->facts[f]);
		tp_json_open(w, '{');
		tp_json_put_string(w, "because", reason);
		tp_json_write_key(w, "metrics");
		tp_json_open(w, '[');
		w->is_flat = true;
		for (int g = f; g < TP_N_FACTS; g++)
			if (!profile->facts[g].is_known &&
			    strcmp(reason_of(&profile->facts[g]), reason) == 0)
				tp_json_write_string(w, tp_fact_desc((tp_fact_id)g)->name);
		tp_json_close(w, ']');
		w->is_flat = false;
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

void tp_report_json_summary(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	const struct tp_findings *findings = doc->digest->report->findings;
	tp_json_write_key(w, "summary");
	tp_json_open(w, '{');
	tp_json_put_string(w, "verdict", tp_report_verdict_id(doc->digest->report));
	tp_report_json_text(w, "cause", tp_report_verdict_cause(doc->digest->report));
	tp_json_put_string(w, "title", tp_report_verdict_title(doc->digest->report));
	struct tp_buf sentence = {0};
	tp_report_add_verdict(&sentence, doc->digest->report);
	tp_json_put_string(w, "sentence", tp_buf_text(&sentence));
	tp_buf_release(&sentence);
	tp_json_put_string(w, "limiter",
			   profile->limiter < TP_N_PARTS ? tp_part_name(profile->limiter) : NULL);
	if (doc->digest->has_devices)
		tp_json_put_string(w, "largest_loss",
				   profile->largest_loss < TP_N_PARTS
					   ? tp_part_name(profile->largest_loss)
					   : "none");
	tp_json_put_string(w, "next_limiter", findings ? findings->then_limit : NULL);
	if (findings && findings->then_steps_per_s > 0)
		tp_json_put_number(w, "next_limiter_steps_per_s", findings->then_steps_per_s);
	write_combined(w, findings);
	write_order(w, findings);
	tp_json_write_key(w, "metrics");
	tp_json_open(w, '{');
	for (int f = 0; f < TP_N_FACTS; f++)
		if (profile->facts[f].is_known)
			put_quantity(w, tp_fact_desc((tp_fact_id)f)->name, &profile->facts[f]);
	tp_json_close(w, '}');
	write_missing(w, profile);
	tp_json_close(w, '}');
}

/* ---- partition ----------------------------------------------------------------------------- */

static void write_labels(struct tp_json_writer *w, const struct tp_profile *profile,
			 enum tp_part part)
{
	tp_json_write_key(w, "labels");
	tp_json_open(w, '[');
	for (int l = 0; l < TP_N_LABELS; l++) {
		if (tp_label_part((enum tp_label)l) != part || !profile->label_ns[l])
			continue;
		tp_json_open(w, '{');
		tp_json_put_string(w, "id", tp_label_name((enum tp_label)l));
		tp_json_put_uint(w, "time_ns", profile->label_ns[l]);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static void write_part(struct tp_json_writer *w, const struct tp_profile *profile, enum tp_part id)
{
	const struct tp_part_result *part = &profile->parts[id];
	tp_json_open(w, '{');
	tp_json_put_string(w, "id", tp_part_name(id));
	bool is_unknown = id == TP_PART_IDLE && profile->is_idle_unknown;
	tp_json_put_string(w, "title", is_unknown ? "Unknown" : tp_part_title(id));
	if (is_unknown)
		tp_json_put_bool(w, "is_unknown", true);
	tp_json_put_uint(w, "time_ns", part->time_ns);
	tp_json_put_uint(w, "hidden_ns", part->hidden_ns);
	tp_json_put_uint(w, "solo_ns", part->solo_ns);
	put_quantity(w, "share_ratio", &part->share);
	if (part->per_step.n)
		tp_report_json_stat(w, "per_step_ns", &part->per_step);
	write_labels(w, profile, id);
	tp_json_close(w, '}');
}

void tp_report_json_partition(struct tp_report_document *doc)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	tp_json_write_key(w, "partition");
	tp_json_open(w, '{');
	tp_json_put_string(w, "of", profile->is_of_steps ? "step" : "window");
	tp_json_put_string(w, "clock", "wall");
	tp_json_put_uint(w, "total_ns", profile->total_ns);
	tp_json_write_key(w, "parts");
	tp_json_open(w, '[');
	for (int p = 0; p < TP_N_PARTS; p++)
		write_part(w, profile, (enum tp_part)p);
	tp_json_close(w, ']');
	tp_report_json_lines(w, profile);
	tp_json_close(w, '}');
}

void tp_report_json_phases(struct tp_report_document *doc)
{
	/* The names of phases in the document may cover more than the names in our code. */
	static const char *const ids[TP_N_RUN_PHASES] = {"startup",    "warmup", "train",   "eval",
							 "checkpoint", "other",  "shutdown"};
	struct tp_json_writer *w = doc->w;
	const struct tp_profile *profile = doc->digest->profile;
	tp_json_write_key(w, "phases");
	tp_json_open(w, '[');
	for (int p = 0; p < TP_N_RUN_PHASES; p++) {
		if (!profile->run_phase_ns[p])
			continue;
		tp_json_open(w, '{');
		tp_json_put_string(w, "id", ids[p]);
		tp_json_put_uint(w, "time_ns", profile->run_phase_ns[p]);
		if (profile->run_phase_count[p])
			tp_json_put_uint(w, "count", profile->run_phase_count[p]);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}
