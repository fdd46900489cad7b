/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the sections that --full adds to the summary. */
#include "device_tables.h"
#include "gap_table.h"
#include "gpu_table.h"
#include "line_tables.h"
#include "own_cpu_table.h"
#include "report/digest/frame_name.h"
#include "report/digest/source_lines.h"
#include "report/digest/step_counts.h"
#include "summary.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"
#include "trainprof/report/explain.h"

#include <stdio.h>
#include <string.h>

enum {
	N_STACKS_PER_PART = 3,
	N_STACK_FRAMES = 8,
	N_PROCESSES_SHOWN = 40,
	N_SLOWEST = 5,
	PART_TEXT = 38,       /* column after the share of a part */
	PART_TEXT_NARROW = 4, /* column on the next line, if the room is below PART_ROOM_MIN */
	PART_ROOM_MIN = 24,
};

static void print_line(struct tp_page *page, size_t column, const char *text)
{
	tp_page_column(page, column);
	tp_page_wrap(page, column + 2, TP_PAINT_NONE, text, 0);
}

/* ---- parts --------------------------------------------------------------------------------- */

static void print_part_labels(struct tp_page *page, const struct tp_report_digest *digest,
			      enum tp_part part)
{
	const struct tp_profile *profile = digest->profile;
	for (int l = 0; l < TP_N_LABELS; l++) {
		if (tp_label_part((enum tp_label)l) != part || !profile->label_ns[l])
			continue;
		double ns = (double)profile->label_ns[l];
		tp_page_column(page, 4);
		tp_page_add(page, TP_PAINT_NONE, tp_label_name((enum tp_label)l));
		tp_page_column(page, 18);
		tp_page_add(
			page, TP_PAINT_NONE,
			tp_unit_right(tp_unit_scaled(digest->scale, ns / digest->divisor), 9).text);
		tp_page_addf(page, TP_PAINT_NONE, "  %6s",
			     tp_unit_percent(ns / (double)profile->total_ns).text);
		tp_page_end(page);
	}
}

/* Writes how long the step would take without a part. */
static void add_without(struct tp_buf *out, const struct tp_report_digest *digest,
			const struct tp_part_result *part)
{
	struct tp_unit_text low = tp_unit_scaled(digest->scale, part->without_low_ns);
	struct tp_unit_text high = tp_unit_scaled(digest->scale, part->without_high_ns);
	tp_buf_puts(out, "step without it ");
	if (strcmp(low.text, high.text) != 0)
		tp_buf_printf(out, "%.*f–", digest->scale.decimals,
			      part->without_low_ns / digest->scale.ns);
	tp_buf_puts(out, high.text);
}

static void print_part(struct tp_page *page, const struct tp_report_digest *digest, enum tp_part id)
{
	const struct tp_part_result *part = &digest->profile->parts[id];
	struct tp_buf text = {0};
	double ns = (double)part->time_ns;
	tp_page_column(page, 2);
	tp_page_add(page, TP_PAINT_PART + id, tp_profile_part_name(digest->profile, id));
	tp_page_column(page, 18);
	tp_page_add(page, TP_PAINT_NONE,
		    tp_unit_right(tp_unit_scaled(digest->scale, ns / digest->divisor), 9).text);
	tp_page_addf(page, TP_PAINT_NONE, "  %6s  ",
		     tp_unit_percent(ns / (double)digest->profile->total_ns).text);
	struct tp_unit_text interval = {""};
	if (part->share.has_interval)
		interval = tp_unit_interval(part->share.value, part->share.low, part->share.high);
	if (interval.text[0])
		tp_buf_printf(&text, "%s %%, ", interval.text);
	if (part->hidden_ns)
		tp_buf_printf(&text, "plus %s overlapped, ",
			      tp_unit_scaled(digest->scale,
					     (double)part->hidden_ns / digest->divisor)
				      .text);
	if (part->without_high_ns > 0)
		add_without(&text, digest, part);
	size_t column = PART_TEXT;
	if (text.len && tp_page_room(page) < PART_ROOM_MIN) {
		tp_page_end(page);
		column = PART_TEXT_NARROW;
		tp_page_column(page, column);
	}
	tp_page_wrap(page, column, TP_PAINT_NONE, tp_buf_text(&text), 0);
	tp_buf_release(&text);
	print_part_labels(page, digest, id);
}

static void print_parts(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->total_ns)
		return;
	tp_page_add_section(page, profile->is_of_steps ? "Parts of a step" : "Parts of the window");
	for (size_t i = 0; i < digest->n_shown; i++)
		print_part(page, digest, digest->order[i]);
	struct tp_buf text = {0};
	tp_buf_printf(&text, "covers %s, from %s to %s of the run",
		      tp_unit_elapsed(profile->total_ns).text,
		      tp_unit_elapsed(profile->window_start_ns).text,
		      tp_unit_elapsed(profile->window_end_ns).text);
	if (profile->window_reason)
		tp_buf_printf(&text, ": %s", profile->window_reason);
	print_line(page, 2, tp_buf_text(&text));
	tp_buf_release(&text);
}

/* ---- steps and phases ---------------------------------------------------------------------- */

static void print_step_kinds(struct tp_page *page, const struct tp_profile *profile)
{
	struct tp_buf text = {0};
	tp_report_add_step_counts(&text, profile);
	print_line(page, 2, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_step_times(struct tp_page *page, const struct tp_stat *time)
{
	if (!time->n)
		return;
	const struct {
		const char *name;
		double ns;
	} rows[] = {{"mean", time->mean}, {"median", time->median}, {"p05", time->p05},
		    {"p95", time->p95},   {"p99", time->p99},       {"min", time->min},
		    {"max", time->max}};
	struct tp_buf text = {0};
	for (size_t i = 0; i < TP_ARRAY_LEN(rows); i++)
		tp_buf_printf(&text, "%s%s %s", i ? ", " : "steady steps: ", rows[i].name,
			      tp_unit_time(rows[i].ns).text);
	print_line(page, 2, tp_buf_text(&text));
	tp_buf_release(&text);
}

/* The largest part of a step. */
static enum tp_part step_cause(const struct tp_step *step)
{
	int best = 0;
	for (int p = 1; p < TP_N_PARTS; p++)
		if (step->part_ns[p] > step->part_ns[best])
			best = p;
	return (enum tp_part)best;
}

static void print_slow_steps(struct tp_page *page, const struct tp_profile *profile)
{
	const struct tp_step *worst[N_SLOWEST] = {0};
	size_t n = 0;
	for (size_t i = 0; i < profile->n_steps; i++) {
		const struct tp_step *step = &profile->steps[i];
		if (step->kind == TP_STEP_CUT)
			continue;
		uint64_t length = step->end_ns - step->start_ns;
		size_t at = n < N_SLOWEST ? n++ : N_SLOWEST;
		for (; at && worst[at - 1]->end_ns - worst[at - 1]->start_ns < length; at--)
			if (at < N_SLOWEST)
				worst[at] = worst[at - 1];
		if (at < N_SLOWEST)
			worst[at] = step;
	}
	struct tp_buf text = {0};
	for (size_t i = 0; i < n; i++)
		tp_buf_printf(&text, "%sstep %zu %s (%s, mostly %s)",
			      i ? ", " : "slowest of all steps: ",
			      (size_t)(worst[i] - profile->steps),
			      tp_unit_time((double)(worst[i]->end_ns - worst[i]->start_ns)).text,
			      tp_step_kind_text(worst[i]->kind),
			      tp_part_name(step_cause(worst[i])));
	if (n)
		print_line(page, 2, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_steps(struct tp_page *page, const struct tp_report_digest *digest)
{
	static const char *const ways[TP_N_STEPS_FOUND_BY] = {
		[TP_STEPS_NONE] = "not found",
		[TP_STEPS_MARKER] = "found by step marks that the program sets",
		[TP_STEPS_PERIOD] = "found by the period of the calls",
		[TP_STEPS_COUNTER] = "counted from samples",
		[TP_STEPS_WATCH] = "exact",
	};
	const struct tp_profile *profile = digest->profile;
	tp_page_add_section(page, "Steps");
	struct tp_buf text = {0};
	tp_buf_puts(&text, ways[profile->steps_found_by]);
	if (profile->steps_found_by != TP_STEPS_NONE)
		tp_buf_printf(&text, ", confidence %s",
			      tp_unit_number(profile->steps_confidence).text);
	if (profile->steps_reason)
		tp_buf_printf(&text, ": %s", profile->steps_reason);
	print_line(page, 2, tp_buf_text(&text));
	tp_buf_clear(&text);
	tp_report_add_loop(&text, profile);
	if (text.len)
		print_line(page, 2, tp_buf_text(&text));
	tp_buf_release(&text);
	if (!profile->n_steps)
		return;
	print_step_kinds(page, profile);
	print_step_times(page, &profile->step_time);
	print_slow_steps(page, profile);
}

/* Imported traces have no phases. */
static bool has_phases(const struct tp_profile *profile)
{
	for (int p = 0; p < TP_N_RUN_PHASES; p++)
		if (profile->run_phase_ns[p])
			return true;
	return false;
}

static void print_phases(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!has_phases(profile))
		return;
	tp_page_add_section(page, "Phases of the run");
	for (int p = 0; p < TP_N_RUN_PHASES; p++) {
		if (!profile->run_phase_ns[p])
			continue;
		tp_page_column(page, 2);
		tp_page_add(page, TP_PAINT_NONE, tp_run_phase_name((enum tp_phase_kind)p));
		tp_page_column(page, 14);
		tp_page_addf(page, TP_PAINT_NONE, "%12s",
			     tp_unit_elapsed(profile->run_phase_ns[p]).text);
		if (profile->run_phase_count[p])
			tp_page_addf(page, TP_PAINT_NONE, "  %s",
				     tp_unit_counted(profile->run_phase_count[p], "step").text);
		tp_page_end(page);
	}
}

/* ---- processes and stacks ------------------------------------------------------------------ */

/* "on CPU 52 %, futex 41 %": states of at least one percent, the largest causes in their order. */
static void add_states(struct tp_buf *out, const struct tp_process_result *process)
{
	double lived = (double)process->lived_ns;
	if (process->lived_ns == 0)
		return;
	tp_buf_printf(out, "on CPU %s", tp_unit_percent((double)process->on_cpu_ns / lived).text);
	if ((double)process->runnable_ns / lived >= 0.01)
		tp_buf_printf(out, ", waits for a CPU %s",
			      tp_unit_percent((double)process->runnable_ns / lived).text);
	for (int c = 0; c < TP_N_CAUSES; c++)
		if ((double)process->blocked_ns[c] / lived >= 0.01)
			tp_buf_printf(out, ", %s %s", tp_cause_name((enum tp_cause)c),
				      tp_unit_percent((double)process->blocked_ns[c] / lived).text);
}

static void print_process(struct tp_page *page, const struct tp_trace *trace,
			  const struct tp_process_result *process)
{
	const struct tp_task *task = &trace->tasks[process->task];
	struct tp_buf text = {0};
	tp_page_addf(page, TP_PAINT_NONE, "  %7d  %-8s  %s", (int)task->pid,
		     tp_role_name(process->role), tp_trace_string(trace, task->comm));
	tp_buf_printf(&text, "%s CPU, %s, %s", tp_unit_elapsed(process->cpu_ns).text,
		      tp_unit_counted(process->n_threads, "thread").text,
		      tp_unit_bytes((double)process->rss_peak_bytes).text);
	tp_page_right(page, TP_PAINT_NONE, tp_buf_text(&text));
	tp_buf_clear(&text);
	add_states(&text, process);
	if (text.len)
		print_line(page, 11, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_processes(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_processes)
		return;
	tp_page_add_section(page, "Processes");
	for (size_t i = 0; i < profile->n_processes && i < N_PROCESSES_SHOWN; i++)
		print_process(page, digest->trace, &profile->processes[i]);
	if (profile->n_processes > N_PROCESSES_SHOWN) {
		tp_page_addf(page, TP_PAINT_DIM, "  and %zu more",
			     profile->n_processes - N_PROCESSES_SHOWN);
		tp_page_end(page);
	}
}

static void print_hot_stack(struct tp_page *page, const struct tp_report_digest *digest,
			    const struct tp_hot_stack *hot)
{
	struct tp_buf text = {0};
	tp_page_addf(page, TP_PAINT_NONE, "  %s  ",
		     tp_unit_right(tp_unit_time((double)hot->time_ns), 9).text);
	if (hot->state != TP_STATE_ON_CPU)
		tp_buf_puts(&text, hot->state == TP_STATE_BLOCKED ? "(blocked) " : "(runnable) ");
	tp_report_add_stack(&text, digest->trace, hot->stack, N_STACK_FRAMES);
	tp_page_wrap(page, 15, TP_PAINT_NONE, tp_buf_text(&text), 4);
	tp_buf_release(&text);
}

static void print_stacks_of(struct tp_page *page, const struct tp_report_digest *digest,
			    enum tp_part part, const char *title)
{
	const struct tp_profile *profile = digest->profile;
	size_t shown = 0;
	for (size_t i = 0; i < profile->n_hot && shown < N_STACKS_PER_PART; i++) {
		if (profile->hot[i].part != part || !profile->hot[i].time_ns)
			continue;
		if (!shown++) {
			tp_page_addf(page, TP_PAINT_NONE, "  %s", title);
			tp_page_end(page);
		}
		print_hot_stack(page, digest, &profile->hot[i]);
	}
}

static void print_stacks(struct tp_page *page, const struct tp_report_digest *digest)
{
	if (!digest->profile->n_hot)
		return;
	tp_page_add_section(page, "Where the time goes");
	for (size_t i = 0; i < digest->n_shown; i++)
		print_stacks_of(page, digest, digest->order[i], tp_part_name(digest->order[i]));
	print_stacks_of(page, digest, TP_N_PARTS, "in other threads and processes");
}

/* ---- findings, sources, facts -------------------------------------------------------------- */

static void print_findings(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_findings *findings = digest->report->findings;
	if (!findings)
		return;
	size_t n_quiet = 0;
	tp_page_add_section(page, "Findings");
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct tp_finding *finding = &findings->items[i];
		if (finding->state == TP_FINDING_FIRED) {
			tp_page_end(page);
			tp_report_explain(page, digest->report, finding);
		}
		n_quiet += finding->state == TP_FINDING_QUIET;
	}
	tp_page_end(page);
	tp_page_addf(page, TP_PAINT_NONE, "  %s not applying, %zu not checked%s",
		     tp_unit_counted(n_quiet, "rule").text, findings->n_not_judged,
		     findings->n_not_judged ? ":" : "");
	tp_page_end(page);
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct tp_finding *finding = &findings->items[i];
		if (finding->state != TP_FINDING_NOT_JUDGED)
			continue;
		struct tp_buf text = {0};
		tp_buf_printf(&text, "%s: %s", finding->rule,
			      finding->not_judged_because ? finding->not_judged_because
							  : "data are missing");
		print_line(page, 4, tp_buf_text(&text));
		tp_buf_release(&text);
	}
}

static void print_source(struct tp_page *page, const struct tp_trace *trace,
			 const struct tp_source *source)
{
	struct tp_buf text = {0};
	const char *reason = tp_trace_string(trace, source->reason);
	const char *remedy = tp_trace_string(trace, source->remedy);
	tp_buf_printf(&text, "%s  %s: %s", tp_trace_string(trace, source->name),
		      tp_trace_string(trace, source->summary),
		      tp_source_state_text(source->presence));
	if (*reason)
		tp_buf_printf(&text, " (%s)", reason);
	if (source->n_records || source->n_lost)
		tp_buf_printf(&text, ", %s, %s lost",
			      tp_unit_counted(source->n_records, "record").text,
			      tp_unit_count(source->n_lost).text);
	print_line(page, 2, tp_buf_text(&text));
	tp_buf_clear(&text);
	tp_buf_printf(&text, "next: %s", remedy);
	if (*remedy)
		print_line(page, 4, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_tier(struct tp_page *page, const struct tp_report_digest *digest)
{
	struct tp_buf text = {0};
	tp_buf_printf(&text, "detail: %s", tp_tier_name(digest->run->tier));
	if (digest->run->sample_rate_hz > 0)
		tp_buf_printf(&text, ", %s samples per second and thread",
			      tp_unit_number(digest->run->sample_rate_hz).text);
	const struct tp_quantity *rate = &digest->profile->facts[TP_FACT_RUN_RATE_RATIO];
	if (rate->is_known && rate->value < 1)
		tp_buf_printf(&text, ", asked for %s",
			      tp_unit_number(digest->run->asked_rate_hz).text);
	print_line(page, 2, tp_buf_text(&text));
	tp_buf_release(&text);
}

static void print_sources(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_trace *trace = digest->trace;
	if (digest->is_import && !trace->n_sources)
		return;
	tp_page_add_section(page, "Sources");
	if (!digest->is_import)
		print_tier(page, digest);
	for (size_t i = 0; i < trace->n_sources; i++)
		print_source(page, trace, &trace->sources[i]);
}

static void print_warnings(struct tp_page *page, const struct tp_report_digest *digest)
{
	const struct tp_profile *profile = digest->profile;
	if (!profile->n_warnings)
		return;
	tp_page_add_section(page, "Warnings");
	for (size_t i = 0; i < profile->n_warnings; i++) {
		const struct tp_warning *warning = &profile->warnings[i];
		struct tp_buf text = {0};
		tp_buf_puts(&text, warning->text);
		if (warning->effect)
			tp_buf_printf(&text, "; %s", warning->effect);
		print_line(page, 2, tp_buf_text(&text));
		tp_buf_clear(&text);
		tp_buf_printf(&text, "next: %s", warning->remedy ? warning->remedy : "");
		if (warning->remedy)
			print_line(page, 4, tp_buf_text(&text));
		tp_buf_release(&text);
	}
}

static void print_facts(struct tp_page *page, const struct tp_report_digest *digest)
{
	tp_page_add_section(page, "Facts");
	for (int f = 0; f < TP_N_FACTS; f++)
		if (digest->profile->facts[f].is_known)
			tp_report_explain_fact(page, digest->report, (tp_fact_id)f);
}

/* Name, writer; in the order of the page. */
#define SECTION_MAP(X)                                                                             \
	X("parts", print_parts)                                                                    \
	X("steps", print_steps)                                                                    \
	X("phases", print_phases)                                                                  \
	X("lines", tp_report_line_tables)                                                          \
	X("processes", print_processes)                                                            \
	X("functions", tp_report_function_table)                                                   \
	X("workers", tp_report_worker_table)                                                       \
	X("stacks", print_stacks)                                                                  \
	X("gpus", tp_report_gpu_table)                                                             \
	X("devices", tp_report_device_tables)                                                      \
	X("findings", print_findings)                                                              \
	X("files", tp_report_file_table)                                                           \
	X("sources", print_sources)                                                                \
	X("gaps", tp_report_gap_table)                                                             \
	X("own cpu", tp_report_own_cpu_table)                                                      \
	X("warnings", print_warnings)                                                              \
	X("facts", print_facts)

static const struct {
	const char *name;
	void (*print)(struct tp_page *page, const struct tp_report_digest *digest);
} sections[] = {
#define X(name, writer) {name, writer},
	SECTION_MAP(X)
#undef X
};

const char *const tp_report_sections[] = {
#define X(name, writer) name,
	SECTION_MAP(X)
#undef X
		NULL};

void tp_report_details(struct tp_page *page, const struct tp_report_digest *digest)
{
	const char *wanted = page->style->section;
	for (size_t i = 0; i < TP_ARRAY_LEN(sections); i++)
		if (!wanted || strcmp(wanted, sections[i].name) == 0)
			sections[i].print(page, digest);
}
