/* SPDX-License-Identifier: Apache-2.0 */
/* Writes processes, stacks, findings and warnings: the second half of the JSON report. */
#include "document.h"
#include "report/digest/frame_name.h"
#include "report/digest/gain_text.h"

#include "trainprof/base/map.h"

#include <stdio.h>
#include <string.h>

/* ---- processes ----------------------------------------------------------------------------- */

/* "p3": the index in the profile. NULL if the task is not a listed process. */
static const char *process_id(const struct tp_profile *profile, uint32_t task, char *out,
			      size_t size)
{
	for (size_t i = 0; i < profile->n_processes; i++)
		if (profile->processes[i].task == task) {
			snprintf(out, size, "p%zu", i);
			return out;
		}
	return NULL;
}

/* The leader of the process that a task belongs to. */
static uint32_t main_thread_of(const struct tp_trace *trace, uint32_t task)
{
	for (uint32_t i = task + 1; i-- > 0;)
		if (trace->tasks[i].tid == trace->tasks[task].pid &&
		    trace->tasks[i].pid == trace->tasks[task].pid)
			return i;
	return task;
}

static void write_states(struct tp_json_writer *w, const struct tp_process_result *process)
{
	double lived = (double)process->lived_ns;
	tp_json_write_key(w, "states_ratio");
	tp_json_open(w, '{');
	if (process->lived_ns) {
		tp_json_put_number(w, "running", (double)process->on_cpu_ns / lived);
		tp_json_put_number(w, "runnable", (double)process->runnable_ns / lived);
		for (int c = 0; c < TP_N_CAUSES; c++)
			if (process->blocked_ns[c])
				tp_json_put_number(w, tp_cause_name((enum tp_cause)c),
						   (double)process->blocked_ns[c] / lived);
	}
	tp_json_close(w, '}');
}

static void write_process(struct tp_report_document *doc, size_t index)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_trace *trace = doc->digest->trace;
	const struct tp_profile *profile = doc->digest->profile;
	const struct tp_process_result *process = &profile->processes[index];
	const struct tp_task *task = &trace->tasks[process->task];
	char id[24];
	snprintf(id, sizeof(id), "p%zu", index);
	tp_json_open(w, '{');
	tp_json_put_string(w, "id", id);
	tp_json_put_int(w, "pid", task->pid);
	uint32_t parent =
		task->parent == TP_NO_TASK ? TP_NO_TASK : main_thread_of(trace, task->parent);
	tp_json_put_string(w, "parent", process_id(profile, parent, id, sizeof(id)));
	tp_json_put_string(w, "role", tp_role_name(process->role));
	tp_json_put_string(w, "name", tp_trace_string(trace, task->comm));
	tp_report_json_text(w, "command", tp_trace_string(trace, task->cmdline));
	tp_json_put_uint(w, "threads", process->n_threads);
	tp_json_put_uint(w, "cpu_time_ns", process->cpu_ns);
	tp_json_put_uint(w, "rss_peak_bytes", process->rss_peak_bytes);
	write_states(w, process);
	tp_json_close(w, '}');
}

void tp_report_json_processes(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	size_t n = profile->n_processes;
	if (n > doc->max_processes) {
		doc->cut_processes = n - doc->max_processes;
		n = doc->max_processes;
	}
	tp_json_write_key(doc->w, "processes");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < n; i++)
		write_process(doc, i);
	tp_json_close(doc->w, ']');
}

/* ---- stacks -------------------------------------------------------------------------------- */

static void write_frame(struct tp_json_writer *w, const struct tp_trace *trace, uint32_t id)
{
	const struct tp_frame *frame = &trace->frames[id];
	struct tp_buf name = {0};
	tp_report_add_frame(&name, trace, id);
	tp_json_open(w, '{');
	tp_json_put_string(w, "name", tp_buf_text(&name));
	tp_report_json_text(w, "module", tp_trace_string(trace, frame->module));
	tp_report_json_text(w, "file", tp_trace_string(trace, frame->file));
	if (frame->line)
		tp_json_put_uint(w, "line", frame->line);
	tp_json_close(w, '}');
	tp_buf_release(&name);
}

/* Writes the frames of the stacks that are written, numbered in order of appearance. */
static void write_frames(struct tp_report_document *doc, size_t n_stacks, struct tp_map *numbers)
{
	const struct tp_trace *trace = doc->digest->trace;
	const struct tp_profile *profile = doc->digest->profile;
	tp_json_write_key(doc->w, "frames");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < n_stacks; i++) {
		const struct tp_stack *stack = tp_trace_stack(trace, profile->hot[i].stack);
		for (uint32_t f = stack->n_frames; f-- > 0;) {
			if (tp_map_get(numbers, stack->frames[f], NULL))
				continue;
			tp_map_set(numbers, stack->frames[f], numbers->n);
			write_frame(doc->w, trace, stack->frames[f]);
		}
	}
	tp_json_close(doc->w, ']');
}

static void write_stack(struct tp_report_document *doc, const struct tp_hot_stack *hot,
			const struct tp_map *numbers)
{
	static const char *const states[] = {"running", "runnable", "blocked"};
	struct tp_json_writer *w = doc->w;
	const struct tp_stack *stack = tp_trace_stack(doc->digest->trace, hot->stack);
	char id[24];
	tp_json_open(w, '{');
	tp_json_write_key(w, "frames");
	tp_json_open(w, '[');
	w->is_flat = true;
	for (uint32_t f = stack->n_frames; f-- > 0;) {
		uint64_t number = 0;
		tp_map_get(numbers, stack->frames[f], &number);
		tp_json_write_uint(w, number);
	}
	tp_json_close(w, ']');
	w->is_flat = false;
	tp_json_put_uint(w, "self", hot->time_ns);
	tp_json_put_string(w, "state", states[hot->state]);
	if (hot->part < TP_N_PARTS)
		tp_json_put_string(w, "part", tp_part_name(hot->part));
	tp_report_json_text(w, "process",
			    process_id(doc->digest->profile, hot->task, id, sizeof(id)));
	tp_json_close(w, '}');
}

void tp_report_json_stacks(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	struct tp_map numbers = {0};
	size_t n = profile->n_hot;
	if (n > doc->max_stacks) {
		doc->cut_stacks = n - doc->max_stacks;
		n = doc->max_stacks;
	}
	tp_json_write_key(doc->w, "stacks");
	tp_json_open(doc->w, '{');
	tp_json_put_string(doc->w, "value", "wall_time_ns");
	write_frames(doc, n, &numbers);
	tp_json_write_key(doc->w, "stacks");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; i < n; i++)
		write_stack(doc, &profile->hot[i], &numbers);
	tp_json_close(doc->w, ']');
	tp_json_close(doc->w, '}');
	tp_map_release(&numbers);
}

/* ---- findings ------------------------------------------------------------------------------ */

static void write_evidence(struct tp_json_writer *w, const struct tp_evidence *evidence)
{
	const struct tp_quantity *value = &evidence->value;
	tp_json_open(w, '{');
	tp_json_put_string(w, "fact", tp_fact_desc(evidence->fact)->name);
	tp_json_write_key(w, "value");
	if (value->is_known)
		tp_json_write_number(w, value->value);
	else
		tp_json_write_null(w);
	if (value->is_known && value->has_interval)
		tp_report_json_interval(w, "ci95", value->low, value->high);
	tp_report_json_text(w, "op", evidence->op);
	if (evidence->has_threshold)
		tp_json_put_number(w, "threshold", evidence->threshold);
	if (evidence->holds >= 0)
		tp_json_put_bool(w, "holds", evidence->holds);
	if (value->is_known) {
		tp_json_put_string(w, "origin", tp_origin_name(value->origin));
		tp_json_put_number(w, "coverage_ratio", value->coverage);
	} else {
		tp_json_put_string(w, "missing", value->missing ? value->missing : "not measured");
	}
	tp_json_close(w, '}');
}

static void write_gain(struct tp_json_writer *w, const struct tp_finding *finding)
{
	tp_json_write_key(w, "gain");
	tp_json_open(w, '{');
	tp_json_put_string(w, "kind", tp_report_gain_kind(finding->gain_low, finding->gain_high));
	tp_json_write_key(w, "speedup");
	const struct tp_quantity speedup = {
		.is_known = true,
		.origin = TP_ORIGIN_ESTIMATED,
		.value = finding->gain_value,
		.coverage = 1,
	};
	tp_report_json_quantity(w, &speedup);
	tp_report_json_interval(w, "bracket", finding->gain_low, finding->gain_high);
	tp_json_put_string(w, "of", finding->is_gain_of_loop ? "loop" : "step");
	tp_report_json_text(w, "method", finding->gain_method);
	tp_json_close(w, '}');
}

static void write_sources(struct tp_json_writer *w, const struct tp_finding *finding)
{
	tp_json_write_key(w, "sources");
	tp_json_open(w, '[');
	for (size_t i = 0; i < finding->n_sources; i++) {
		tp_json_open(w, '{');
		tp_report_json_text(w, "title", finding->sources[i].title);
		tp_report_json_text(w, "where", finding->sources[i].where);
		tp_report_json_text(w, "checked", finding->sources[i].checked);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}

static void write_fired(struct tp_json_writer *w, const struct tp_finding *finding,
			const char *process)
{
	tp_json_put_string(w, "level", tp_finding_level_name(finding->level));
	tp_json_put_string(w, "kind", tp_advice_kind_name(finding->kind));
	tp_json_put_string(w, "confidence", tp_confidence_name(finding->confidence));
	if (finding->n_actions)
		tp_json_put_string(w, "how_sure", tp_sureness_name(finding->sureness));
	tp_report_json_text(w, "doubts", finding->doubts);
	tp_report_json_text(w, "headline", finding->headline);
	tp_json_put_string(w, "because", finding->because ? finding->because : "");
	if (finding->place) {
		tp_json_write_key(w, "place");
		tp_json_open(w, '{');
		tp_json_put_string(w, "file", finding->place_file);
		tp_json_put_uint(w, "line", finding->place_line);
		tp_json_close(w, '}');
	}
	tp_report_json_actions(w, finding);
	if (finding->has_gain)
		write_gain(w, finding);
	tp_report_json_text(w, "price", finding->price);
	tp_report_json_text(w, "verify", finding->verify);
	tp_report_json_text(w, "refute", finding->refute);
	tp_report_json_text(w, "done", finding->done);
	tp_report_json_text(w, "suppressed", finding->suppressed);
	write_sources(w, finding);
	/* The fingerprint contains no figures, so that a CI system recognises the finding in later
	 * runs. */
	struct tp_buf print = {0};
	tp_buf_printf(&print, "%s@%s", finding->rule, process ? process : "run");
	tp_json_put_string(w, "fingerprint", tp_buf_text(&print));
	tp_buf_release(&print);
}

void tp_report_json_finding(struct tp_json_writer *w, const struct tp_finding *finding,
			    const char *process)
{
	tp_json_open(w, '{');
	tp_json_put_string(w, "rule", finding->rule);
	/* Scripts that count what fired count what is shown. */
	tp_json_put_string(w, "state",
			   finding->state == TP_FINDING_FIRED && finding->suppressed
				   ? "suppressed"
				   : tp_finding_state_name(finding->state));
	tp_json_put_string(w, "title", finding->title);
	tp_report_json_text(w, "not_judged_because", finding->not_judged_because);
	tp_report_json_text(w, "quiet_because", finding->quiet_because);
	tp_json_write_key(w, "evidence");
	tp_json_open(w, '[');
	for (size_t i = 0; i < finding->n_evidence; i++)
		write_evidence(w, &finding->evidence[i]);
	tp_json_close(w, ']');
	if (finding->state == TP_FINDING_FIRED)
		write_fired(w, finding, process);
	tp_json_close(w, '}');
}

void tp_report_json_findings(struct tp_report_document *doc)
{
	const struct tp_findings *findings = doc->digest->report->findings;
	const struct tp_profile *profile = doc->digest->profile;
	char id[24];
	const char *process = process_id(profile, profile->trainer, id, sizeof(id));
	tp_json_write_key(doc->w, "findings");
	tp_json_open(doc->w, '[');
	for (size_t i = 0; findings && i < findings->n_items; i++)
		tp_report_json_finding(doc->w, &findings->items[i], process);
	tp_json_close(doc->w, ']');
}

/* ---- what if ------------------------------------------------------------------------------- */

static void write_without_part(struct tp_report_document *doc, enum tp_part id)
{
	struct tp_json_writer *w = doc->w;
	const struct tp_part_result *part = &doc->digest->profile->parts[id];
	double width = part->without_high_ns - part->without_low_ns;
	char text[64];
	tp_json_open(w, '{');
	snprintf(text, sizeof(text), "without_%s", tp_part_name(id));
	tp_json_put_string(w, "id", text);
	snprintf(text, sizeof(text), "%s costs nothing", tp_part_title(id));
	tp_json_put_string(w, "title", text);
	tp_json_write_key(w, "applies");
	tp_json_open(w, '[');
	tp_json_close(w, ']');
	/* The midpoint is meaningful only for a narrow bracket (docs/design/waits.md#brackets). */
	bool is_narrow = width <= 0.05 * doc->digest->mean_ns;
	const struct tp_quantity step = {
		.is_known = is_narrow,
		.value = (part->without_low_ns + part->without_high_ns) / 2,
		.origin = TP_ORIGIN_ESTIMATED,
		.coverage = 1,
		.missing = "the bracket is wider than 5 % of the step",
	};
	tp_json_write_key(w, "step_ns");
	tp_report_json_quantity(w, &step);
	tp_report_json_interval(w, "bracket_ns", part->without_low_ns, part->without_high_ns);
	tp_json_write_key(w, "assumes");
	tp_json_open(w, '[');
	tp_json_write_string(w, "all other work costs what it costs now");
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}

void tp_report_json_without(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	struct tp_json_writer *w = doc->w;
	if (!profile->total_ns)
		return;
	tp_json_write_key(w, "what_if");
	tp_json_open(w, '{');
	tp_json_put_uint(w, "base_step_ns", (uint64_t)(doc->digest->mean_ns + 0.5));
	tp_json_write_key(w, "scenarios");
	tp_json_open(w, '[');
	for (int p = 0; p < TP_N_PARTS; p++)
		if (profile->parts[p].time_ns && profile->parts[p].without_high_ns > 0)
			write_without_part(doc, (enum tp_part)p);
	tp_json_close(w, ']');
	tp_json_close(w, '}');
}

/* ---- warnings ------------------------------------------------------------------------------ */

void tp_report_json_warnings(struct tp_report_document *doc)
{
	const struct tp_profile *profile = doc->digest->profile;
	struct tp_json_writer *w = doc->w;
	tp_json_write_key(w, "warnings");
	tp_json_open(w, '[');
	for (size_t i = 0; i < profile->n_warnings; i++) {
		const struct tp_warning *warning = &profile->warnings[i];
		tp_json_open(w, '{');
		tp_json_put_string(w, "id", warning->id);
		tp_json_put_string(w, "text", warning->text);
		tp_report_json_text(w, "effect", warning->effect);
		tp_report_json_text(w, "remedy", warning->remedy);
		tp_json_close(w, '}');
	}
	tp_json_close(w, ']');
}
