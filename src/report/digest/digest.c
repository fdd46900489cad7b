/* SPDX-License-Identifier: Apache-2.0 */
/* Derives from a report the data that all writers share. */
#include "digest.h"

#include "gain_text.h"
#include "step_counts.h"
#include "verdict.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"
#include "trainprof/model/verdict_words.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A sampling rate below this ratio of the requested rate is reported. Periods are rounded to whole
 * ns and randomised, so a smaller difference means nothing. */
static const double RATE_KEPT = 0.98;

/* Sorts the parts by time, largest first; equal parts keep their fixed order. */
static void order_parts(struct tp_report_digest *digest)
{
	const struct tp_part_result *parts = digest->profile->parts;
	for (int p = 0; p < TP_N_PARTS; p++) {
		if (!parts[p].time_ns)
			continue;
		size_t at = digest->n_shown++;
		for (; at && parts[digest->order[at - 1]].time_ns < parts[p].time_ns; at--)
			digest->order[at] = digest->order[at - 1];
		digest->order[at] = (enum tp_part)p;
	}
}

/* The command as it was typed; a long path is shortened to its end. */
static const char *program_name(const struct tp_run_info *run)
{
	enum { LONG_PATH = 24 };
	if (!run->n_command)
		return "the program";
	const char *typed = run->command[0];
	const char *slash = strrchr(typed, '/');
	return slash && slash[1] && strlen(typed) > LONG_PATH ? slash + 1 : typed;
}

/* With devices, the step is the mean over all devices: the means of the parts add up to it. */
static double device_average_ns(const struct tp_profile *profile, const struct tp_report_job *job)
{
	double sum_ns = 0;
	for (int p = 0; p < TP_N_PARTS; p++)
		sum_ns += profile->is_of_steps && profile->parts[p].per_step.n
				  ? profile->parts[p].per_step.mean
				  : 0;
	return sum_ns > 0 ? sum_ns : (double)job->window_ns / (double)profile->n_devices;
}

static void set_averages(struct tp_report_digest *out)
{
	const struct tp_profile *profile = out->profile;
	double total_ns = (double)profile->total_ns;
	if (out->job.window_ns && profile->total_ns) {
		out->mean_ns = device_average_ns(profile, &out->job);
		out->divisor = total_ns / out->mean_ns;
	} else {
		bool has_steps = profile->is_of_steps && profile->n_steady;
		out->divisor = has_steps ? (double)profile->n_steady : 1;
		out->mean_ns = total_ns / out->divisor;
	}
	out->scale = tp_unit_scale_for(out->mean_ns);
}

static bool is_verdict(const struct tp_findings *findings, const char *verdict)
{
	return findings && findings->verdict && strcmp(findings->verdict, verdict) == 0;
}

/* Returns false if the parts have no basis: they are not shown then, and there is no advice. For
 * devices every ns is known, so a few steps are enough. */
static bool can_be_judged(const struct tp_report_digest *digest)
{
	const struct tp_findings *findings = digest->report->findings;
	bool is_too_short = is_verdict(findings, "too_short") && !digest->has_devices;
	return digest->profile->total_ns > 0 && !is_too_short &&
	       !is_verdict(findings, "own_overhead") && !is_verdict(findings, "blocked") &&
	       !tp_report_capture_is_short(findings);
}

void tp_report_digest_make(struct tp_report_digest *out, const struct tp_report *report)
{
	const struct tp_profile *profile = report->profile;
	*out = (struct tp_report_digest){
		.report = report,
		.profile = profile,
		.trace = profile->trace,
		.run = &profile->trace->run,
		.program = program_name(&profile->trace->run),
		.lines_each = 2,
		.max_advice = 3,
		.max_notes = SIZE_MAX,
		.is_import = profile->trace->run.mode == TP_MODE_IMPORT,
		.has_devices = profile->n_devices != 0,
		.has_step_line = tp_report_has_step_line(profile),
		.n_lost = tp_trace_n_lost(profile->trace),
	};
	for (int p = 0; p < TP_N_PARTS; p++)
		out->percent[p] =
			tp_unit_whole_percent(profile->parts[p].time_ns, profile->total_ns);
	order_parts(out);
	tp_report_job_sum(&out->job, profile);
	set_averages(out);
	out->is_judgeable = can_be_judged(out);
	out->is_hang = is_verdict(report->findings, "blocked");
}

static void add_command(struct tp_buf *out, const struct tp_run_info *run)
{
	for (size_t i = 0; i < run->n_command; i++)
		tp_buf_printf(out, "%s%s", i ? " " : "", run->command[i]);
}

/* True if the run has a label that was not derived from the file name. */
static bool has_user_label(const struct tp_run_info *run)
{
	if (!run->label || !*run->label || !run->n_ranks)
		return false;
	const char *name = tp_report_base_name(run->ranks[0].path);
	size_t len = strlen(run->label);
	return strncmp(name, run->label, len) != 0 || (name[len] && name[len] != '.');
}

void tp_report_add_subject(struct tp_buf *out, const struct tp_report_digest *digest)
{
	if (!digest->is_import) {
		add_command(out, digest->run);
		return;
	}
	if (has_user_label(digest->run))
		tp_buf_printf(out, "%s: ", digest->run->label);
	tp_report_add_files(out, digest->run);
}

static void add_devices(struct tp_buf *out, const struct tp_report_digest *digest)
{
	size_t n_ranks = digest->job.n_ranks;
	size_t n_devices = digest->profile->n_devices;
	if (n_ranks > 1)
		tp_buf_printf(out, ", %zu ranks", n_ranks);
	if (n_devices > n_ranks)
		tp_buf_printf(out, ", %zu devices", n_devices);
}

void tp_report_add_extent(struct tp_buf *out, const struct tp_report_digest *digest,
			  enum tp_extent_detail detail)
{
	const struct tp_profile *profile = digest->profile;
	double rate = tp_report_step_rate(profile);
	tp_buf_puts(out, tp_unit_elapsed(digest->trace->end_ns).text);
	if (profile->steps_found_by == TP_STEPS_NONE)
		tp_buf_puts(out, ", no steps");
	else
		tp_buf_printf(out, ", %s%s", tp_report_count_words(profile),
			      tp_unit_counted(tp_profile_all_steps(profile), "step").text);
	if (rate > 0 && detail == TP_EXTENT_STEP_RATE) {
		tp_buf_printf(out, ", %s steps/s", tp_unit_number(rate).text);
	} else if (rate > 0 && detail > TP_EXTENT_STEP_RATE) {
		tp_buf_puts(out, ", ");
		tp_report_add_step_rate(out, profile);
	}
	if (detail == TP_EXTENT_ALL && profile->n_processes > 1)
		tp_buf_printf(out, ", %s processes", tp_unit_count(profile->n_processes).text);
	add_devices(out, digest);
}

const char *tp_report_signal_name(int number, char *out, size_t size)
{
	/* A table, because glibc has had names of signals only since 2.32. */
	static const char *const names[] = {
		[SIGHUP] = "HUP",       [SIGINT] = "INT",       [SIGQUIT] = "QUIT",
		[SIGILL] = "ILL",       [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT",
		[SIGBUS] = "BUS",       [SIGFPE] = "FPE",       [SIGKILL] = "KILL",
		[SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM",     [SIGTERM] = "TERM",
		[SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT",
		[SIGSTOP] = "STOP",     [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",
		[SIGTTOU] = "TTOU",     [SIGURG] = "URG",       [SIGXCPU] = "XCPU",
		[SIGXFSZ] = "XFSZ",     [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",
		[SIGWINCH] = "WINCH",   [SIGIO] = "POLL",       [SIGPWR] = "PWR",
		[SIGSYS] = "SYS",
	};
	size_t i = number > 0 ? (size_t)number : 0;
	if (i < TP_ARRAY_LEN(names) && names[i])
		snprintf(out, size, "SIG%s", names[i]);
	else
		snprintf(out, size, "signal %d", number);
	return out;
}

void tp_report_add_end(struct tp_buf *out, const struct tp_report_digest *digest)
{
	char name[24];
	switch (digest->run->end) {
	case TP_END_EXITED:
		tp_buf_printf(out, "%s: exit status %d", digest->program, digest->run->end_code);
		break;
	case TP_END_SIGNALED:
		tp_buf_printf(out, "%s was killed by %s", digest->program,
			      tp_report_signal_name(digest->run->end_code, name, sizeof(name)));
		break;
	case TP_END_DETACHED:
	case TP_END_RUNNING:
		tp_buf_printf(out, "%s kept running", digest->program);
		break;
	case TP_END_UNKNOWN:
		tp_buf_printf(out, "the exit status of %s was not recorded", digest->program);
		break;
	}
	if (digest->run->mode == TP_MODE_ATTACH)
		tp_buf_printf(out, " (attached to pid %d after %s)", (int)digest->run->pid,
			      tp_unit_clock(digest->run->attached_after_ns).text);
	if (digest->report->exit_note)
		tp_buf_printf(out, "; %s", digest->report->exit_note);
}

/* True if the machine is the reason why the source is absent; a source that the user left out does
 * not count. On a machine without a GPU the GPU sources are not missing. */
static bool is_missing(const struct tp_trace *trace, const struct tp_source *source)
{
	const char *name = tp_trace_string(trace, source->name);
	if (source->presence == TP_PRESENCE_NO_DEVICE &&
	    (strcmp(name, "nvml") == 0 || strcmp(name, "cupti") == 0))
		return false;
	return source->presence != TP_PRESENCE_PRESENT &&
	       source->presence != TP_PRESENCE_DEGRADED && source->presence != TP_PRESENCE_OFF;
}

/* Appends "CPU stacks (not permitted)"; a long summary is cut at its first comma. */
static void add_missing(struct tp_buf *out, const struct tp_trace *trace,
			const struct tp_source *source, bool with_reason)
{
	const char *name = tp_trace_string(trace, source->summary);
	const char *reason = tp_trace_string(trace, source->reason);
	if (!*name)
		name = tp_trace_string(trace, source->name);
	tp_buf_add(out, name, strcspn(name, ","));
	if (with_reason)
		tp_buf_printf(out, " (%s)",
			      *reason ? reason : tp_source_state_text(source->presence));
}

static void add_left_out(struct tp_buf *out, const struct tp_trace *trace)
{
	const char *separator = out->len ? "; left out: " : "Left out: ";
	for (size_t i = 0; i < trace->n_sources; i++) {
		if (trace->sources[i].presence != TP_PRESENCE_OFF)
			continue;
		tp_buf_printf(out, "%s%s", separator,
			      tp_trace_string(trace, trace->sources[i].name));
		separator = ", ";
	}
}

static void add_all_missing(struct tp_buf *out, const struct tp_trace *trace, bool with_reasons)
{
	const char *separator = "Not measured: ";
	for (size_t i = 0; i < trace->n_sources; i++) {
		if (!is_missing(trace, &trace->sources[i]))
			continue;
		tp_buf_puts(out, separator);
		add_missing(out, trace, &trace->sources[i], with_reasons);
		separator = ", ";
	}
	add_left_out(out, trace);
}

/* Appends what the imported format does not contain, from the reasons of the sources. Text in
 * parentheses or after a semicolon is only for longer texts. */
static void add_not_seen(struct tp_buf *out, const struct tp_trace *trace)
{
	const char *separator = out->len ? "; not seen: " : "Not seen: ";
	for (size_t i = 0; i < trace->n_sources; i++) {
		const char *reason = tp_trace_string(trace, trace->sources[i].reason);
		size_t len = strcspn(reason, "(;");
		while (len && reason[len - 1] == ' ')
			len--;
		if (!len)
			continue;
		tp_buf_printf(out, "%s%.*s", separator, (int)len, reason);
		separator = "; ";
	}
}

static void add_not_judged(struct tp_buf *out, const struct tp_report_digest *digest,
			   bool with_reasons)
{
	const struct tp_findings *findings = digest->report->findings;
	if (!findings || !findings->n_not_judged)
		return;
	struct tp_unit_text rules = tp_unit_counted(findings->n_not_judged, "rule");
	if (out->len)
		tp_buf_printf(out, "; %s unjudged", rules.text);
	else
		tp_buf_printf(out, "Not judged: %s%s", rules.text,
			      with_reasons ? " (trainprof explain --not-judged)" : "");
}

void tp_report_add_missing(struct tp_buf *out, const struct tp_report_digest *digest,
			   bool with_reasons)
{
	if (!digest->is_import) {
		add_all_missing(out, digest->trace, with_reasons);
		add_not_judged(out, digest, with_reasons);
		return;
	}
	/* The longer text comes last: it may be cut. */
	add_not_judged(out, digest, false);
	add_not_seen(out, digest->trace);
}

/* ---- less detail ---- */

static uint64_t gap_length(const struct tp_trace *trace, const struct tp_gap *gap)
{
	uint64_t end_ns = gap->end_ns < trace->end_ns ? gap->end_ns : trace->end_ns;
	return end_ns > gap->start_ns ? end_ns - gap->start_ns : 0;
}

static bool is_same_gap(const struct tp_gap *a, const struct tp_gap *b)
{
	return a->source == b->source && a->reason == b->reason;
}

static void add_item(struct tp_buf *out, const char *text)
{
	tp_buf_printf(out, "%s%s", out->len ? "; " : "", text);
}

/* Each reason is printed once, with the summed length of its gaps; lost records are counted
 * elsewhere. */
static void add_gap(struct tp_buf *out, const struct tp_trace *trace, size_t index)
{
	const struct tp_gap *gap = &trace->gaps[index];
	uint64_t length_ns = 0;
	for (size_t i = 0; i < trace->n_gaps; i++) {
		if (!is_same_gap(&trace->gaps[i], gap))
			continue;
		if (i < index)
			return;
		length_ns += gap_length(trace, &trace->gaps[i]);
	}
	add_item(out, tp_trace_string(trace, gap->reason));
	double ratio = trace->end_ns ? (double)length_ns / (double)trace->end_ns : 0;
	if (ratio >= 0.0005)
		tp_buf_printf(out, " for %s of the run", tp_unit_percent(ratio).text);
}

/* Decimals of a large rate are noise. */
static struct tp_unit_text sample_rate(double hz)
{
	return hz < 10 ? tp_unit_number(hz) : tp_unit_count((uint64_t)(hz + 0.5));
}

void tp_report_add_reduced(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_trace *trace = digest->trace;
	const struct tp_quantity *facts = digest->profile->facts;
	const struct tp_quantity *thinned = &facts[TP_FACT_RUN_THINNED_RATIO];
	const struct tp_quantity *rate = &facts[TP_FACT_RUN_RATE_RATIO];
	struct tp_buf items = {0};
	for (size_t i = 0; i < trace->n_gaps; i++)
		if (!trace->gaps[i].n_lost)
			add_gap(&items, trace, i);
	bool is_slower = rate->is_known && rate->value < RATE_KEPT;
	if (is_slower)
		tp_buf_printf(&items, "%s%s of %s samples per second", items.len ? "; " : "",
			      sample_rate(digest->run->sample_rate_hz).text,
			      sample_rate(digest->run->asked_rate_hz).text);
	if (thinned->is_known && thinned->value > 0)
		tp_buf_printf(&items, "%s%s of %s without a stack",
			      is_slower   ? ", "
			      : items.len ? "; "
					  : "",
			      tp_unit_percent(thinned->value).text,
			      is_slower ? "them" : "the samples");
	for (size_t i = 0; i < trace->n_sources; i++)
		if (trace->sources[i].presence == TP_PRESENCE_DEGRADED && !digest->is_import)
			add_item(&items, tp_trace_string(trace, trace->sources[i].reason));
	tp_buf_puts(out, tp_buf_text(&items));
	tp_buf_release(&items);
}

static void add_share(struct tp_buf *out, const struct tp_quantity *share)
{
	tp_buf_puts(out, share->is_known ? tp_unit_percent(share->value).text : "unknown");
	if (!share->is_known || !share->has_interval)
		return;
	struct tp_unit_text interval = tp_unit_interval(share->value, share->low, share->high);
	if (interval.text[0])
		tp_buf_printf(out, " (%s)", interval.text);
}

void tp_report_add_stops(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const uint64_t *left_out_ns = digest->trace->left_out_ns;
	const char *between = "";
	for (int kind = 0; kind < TP_N_STOP_KINDS; kind++) {
		if (!left_out_ns[kind])
			continue;
		bool is_of_program =
			kind != TP_STOP_SUSPENDED && tp_stop_is_of_program((enum tp_stop_kind)kind);
		tp_buf_printf(out, "%s%s%s for %s", between,
			      is_of_program ? "the program was " : "", tp_stop_kind_text(kind),
			      tp_unit_elapsed(left_out_ns[kind]).text);
		between = ", ";
	}
}

void tp_report_add_overhead(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_quantity *facts = digest->profile->facts;
	const struct tp_quantity *start = &facts[TP_FACT_RUN_OVERHEAD_STARTUP];
	const struct tp_quantity *all = &facts[TP_FACT_RUN_OVERHEAD_TIME];
	if (start->is_known) {
		tp_buf_printf(out, "%s to start and end, ", tp_unit_time(start->value).text);
		add_share(out, &facts[TP_FACT_RUN_OVERHEAD_RUNNING]);
		tp_buf_puts(out, " while running");
	} else if (all->is_known) {
		tp_buf_printf(out, "%s of CPU time", tp_unit_time(all->value).text);
	} else {
		add_share(out, &facts[TP_FACT_RUN_OVERHEAD_RATIO]);
	}
	tp_report_add_tracing_cost(out, digest);
}

void tp_report_add_tracing_cost(struct tp_buf *out, const struct tp_report_digest *digest)
{
	const struct tp_quantity *cost = &digest->profile->facts[TP_FACT_WINDOWS_COST];
	if (!cost->is_known)
		return;
	tp_buf_puts(out, " and GPU tracing ");
	add_share(out, cost);
}

void tp_report_add_next_limit(struct tp_buf *out, const struct tp_findings *findings)
{
	if (!findings->then_limit)
		return;
	tp_buf_printf(out, "; next limit: %s",
		      tp_verdict_words_limit(tp_part_find(findings->then_limit)));
	double now = findings->action_plan.step_ns > 0 ? 1e9 / findings->action_plan.step_ns : 0;
	/* A rate below the expected one would contradict it. */
	if (findings->then_steps_per_s > 0 &&
	    !tp_report_gain_is_above(findings->combined_low, findings->combined_high,
				     findings->then_steps_per_s / (now > 0 ? now : 1e-9)))
		tp_buf_printf(out, ", %s steps/s", tp_unit_number(findings->then_steps_per_s).text);
}

size_t tp_report_n_advice(const struct tp_report *report)
{
	return report->findings ? report->findings->n_fired : 0;
}

/* ---- origin of an imported trace ---- */

static void add_lost(struct tp_buf *out, const struct tp_run_info *run)
{
	uint64_t n_skipped = 0;
	size_t n_cut = 0;
	for (size_t i = 0; i < run->n_ranks; i++) {
		n_skipped += run->ranks[i].n_skipped;
		n_cut += run->ranks[i].is_cut;
	}
	if (n_skipped)
		tp_buf_printf(out, ", %s malformed", tp_unit_count(n_skipped).text);
	if (n_cut && run->n_ranks == 1)
		tp_buf_puts(out, ", cut at its end");
	else if (n_cut)
		tp_buf_printf(out, ", %zu of %zu traces cut at their end", n_cut, run->n_ranks);
}

/* share of the time in the trace; a smaller judged share is mentioned */
static const double LITTLE_JUDGED = 0.5;

void tp_report_add_origin(struct tp_buf *out, const struct tp_report_digest *digest)
{
	/* Enough digits to identify a file among those at hand; --full and JSON have all digits. */
	enum { SHOWN_DIGITS = 12 };
	const struct tp_run_info *run = digest->run;
	size_t n_files = tp_report_n_files(run);
	uint64_t n_events = 0;
	for (size_t i = 0; i < run->n_ranks; i++)
		n_events += run->ranks[i].n_events;
	tp_buf_printf(out, "Imported %s: %s", tp_unit_counted(n_files, "file").text,
		      tp_unit_counted(n_events, "event").text);
	add_lost(out, run);
	uint64_t judged_ns = digest->profile->window_end_ns - digest->profile->window_start_ns;
	if (digest->is_judgeable &&
	    (double)judged_ns < LITTLE_JUDGED * (double)digest->trace->end_ns)
		tp_buf_printf(out, ", judged %s of %s", tp_unit_time((double)judged_ns).text,
			      tp_unit_time((double)digest->trace->end_ns).text);
	if (n_files == 1)
		tp_buf_printf(out, ", SHA-256 %.*s…", SHOWN_DIGITS,
			      tp_report_known(run->ranks[0].sha256));
}
