/* SPDX-License-Identifier: Apache-2.0 */
/* Reliability of the measurement, and the warnings for the reader. Needs: window, labels,
 * timelines, cpu.allowed_cpus. Gives: run.overhead_*, run.stopped_ns, run.unwatched_ns,
 * run.records_lost_ratio, run.accounted_ratio, run.complete_stacks_ratio, run.unknown_ratio,
 * run.n_samples, run.switches_off_ratio, run.thinned_ratio, run.sample_rate_ratio, warnings. */
#include "analyze/numeric/stats.h"
#include "analyze/thresholds.h"
#include "analyze/timeline/undersampled_runs.h"
#include "window_gauges.h"

#include "trainprof/base/memory.h"
#include "trainprof/model/fact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cost --------------------------------------------------------------------------------- */

static double last_value(const struct tp_trace *trace, enum tp_metric metric)
{
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(trace, metric, TP_NO_TASK, &n);
	return n ? readings[n - 1].value : 0;
}

/* For trainprof's CPU time: the time used before the program began. */
static double first_value(const struct tp_trace *trace, enum tp_metric metric)
{
	size_t n;
	const struct tp_gauge *readings = tp_trace_gauges(trace, metric, TP_NO_TASK, &n);
	return n ? readings[0].value : 0;
}

static bool delta_of_run(const struct tp_trace *trace, enum tp_metric metric, double *out)
{
	*out = 0;
	return tp_trace_counter_delta(trace, metric, TP_NO_TASK, 0, trace->end_ns + 1, out);
}

/* CPU time of the whole program over the run, by the kernel's accounting if that was read. */
static double program_cpu_ns(const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	double sum = 0;
	for (uint32_t leader = 0; leader < trace->n_tasks; leader++) {
		if (analysis->threads[leader].leader != leader)
			continue;
		const struct tp_task *task = &trace->tasks[leader];
		double user = 0;
		double system = 0;
		(void)tp_trace_counter_delta(trace, TP_METRIC_PROC_UTIME, leader, 0,
					     trace->end_ns + 1, &user);
		(void)tp_trace_counter_delta(trace, TP_METRIC_PROC_STIME, leader, 0,
					     trace->end_ns + 1, &system);
		double on_cpu = 0;
		for (uint32_t i = leader; i != TP_NO_TASK; i = analysis->threads[i].next)
			on_cpu += (double)analysis->threads[i].on_cpu_ns;
		double account = fmax(user + system, (double)(task->utime_ns + task->stime_ns));
		sum += account > 0 ? account : on_cpu;
	}
	return sum;
}

/* Computes the median cost of an interval between readings, times the length of the run: this
 * excludes single costs such as resolving the first samples and closing the recording. Returns
 * false if there are too few readings. */
static bool find_steady_cost(const struct tp_trace *trace, double *out)
{
	size_t n;
	const struct tp_gauge *readings =
		tp_trace_gauges(trace, TP_METRIC_SELF_CPU, TP_NO_TASK, &n);
	double *rates = tp_alloc((n + 1) * sizeof(*rates));
	size_t n_rates = 0;
	for (size_t i = 1; i < n; i++) {
		double length_ns = (double)(readings[i].time_ns - readings[i - 1].time_ns);
		if (length_ns >= TP_COST_INTERVAL_MIN_NS)
			rates[n_rates++] = (readings[i].value - readings[i - 1].value) / length_ns;
	}
	bool is_known = n_rates >= TP_COST_INTERVALS_MIN;
	if (is_known)
		*out = tp_stats_median(rates, n_rates) *
		       (double)(readings[n - 1].time_ns - readings[0].time_ns);
	free(rates);
	return is_known;
}

/* Wall time times the CPUs that the program could use. */
static double possible_cpu_ns(const struct tp_analysis *analysis)
{
	const struct tp_quantity *cpus = &analysis->profile->facts[TP_FACT_CPU_ALLOWED];
	double n = cpus->is_known && cpus->value > 0 ? cpus->value : 1;
	return n * (double)analysis->trace->end_ns;
}

/* Sets trainprof's own CPU time plus the cost of interrupts and switch records in the program,
 * relative to the CPU time that was available to the program: relative to the used CPU time, the
 * percentage would be meaningless for a program that hardly computes. */
static void set_overhead(struct tp_analysis *analysis)
{
	static const enum tp_fact facts[] = {TP_FACT_RUN_OVERHEAD_RATIO, TP_FACT_RUN_OVERHEAD_TIME,
					     TP_FACT_RUN_OVERHEAD_STARTUP,
					     TP_FACT_RUN_OVERHEAD_RUNNING};
	struct tp_profile *profile = analysis->profile;
	const struct tp_trace *trace = analysis->trace;
	double self_ns;
	double samples;
	double switches;
	double steady_ns;
	double possible_ns = possible_cpu_ns(analysis);
	if (!delta_of_run(trace, TP_METRIC_SELF_CPU, &self_ns) || possible_ns <= 0) {
		for (size_t i = 0; i < TP_ARRAY_LEN(facts); i++)
			tp_profile_set_missing(profile, facts[i],
					       "trainprof's own CPU time was not recorded");
		return;
	}
	double before_ns = first_value(trace, TP_METRIC_SELF_CPU);
	(void)delta_of_run(trace, TP_METRIC_SELF_SAMPLES, &samples);
	(void)delta_of_run(trace, TP_METRIC_SELF_SWITCHES, &switches);
	double inside_ns = samples * last_value(trace, TP_METRIC_SELF_SAMPLE_COST) +
			   switches * last_value(trace, TP_METRIC_SELF_SWITCH_COST);
	tp_profile_set(profile, TP_FACT_RUN_OVERHEAD_RATIO, (self_ns + inside_ns) / possible_ns,
		       TP_ORIGIN_MEASURED, 1);
	tp_profile_set(profile, TP_FACT_RUN_OVERHEAD_TIME, before_ns + self_ns + inside_ns,
		       TP_ORIGIN_MEASURED, 1);
	if (find_steady_cost(trace, &steady_ns) && steady_ns <= self_ns) {
		tp_profile_set(profile, TP_FACT_RUN_OVERHEAD_STARTUP,
			       before_ns + self_ns - steady_ns, TP_ORIGIN_DERIVED, 1);
		tp_profile_set(profile, TP_FACT_RUN_OVERHEAD_RUNNING,
			       (steady_ns + inside_ns) / possible_ns, TP_ORIGIN_DERIVED, 1);
		return;
	}
	tp_profile_set_missing(profile, TP_FACT_RUN_OVERHEAD_STARTUP,
			       "the run was too short to distinguish it");
	tp_profile_set_missing(profile, TP_FACT_RUN_OVERHEAD_RUNNING,
			       "the run was too short to distinguish it");
}

/* ---- stops -------------------------------------------------------------------------------- */

static void set_stops(struct tp_analysis *analysis)
{
	const uint64_t *left_out_ns = analysis->trace->left_out_ns;
	uint64_t stopped_ns = 0;
	uint64_t unwatched_ns = 0;
	for (int kind = 0; kind < TP_N_STOP_KINDS; kind++)
		*(tp_stop_is_of_program((enum tp_stop_kind)kind) ? &stopped_ns : &unwatched_ns) +=
			left_out_ns[kind];
	tp_profile_set(analysis->profile, TP_FACT_RUN_STOPPED, (double)stopped_ns,
		       TP_ORIGIN_MEASURED, 1);
	tp_profile_set(analysis->profile, TP_FACT_RUN_UNWATCHED, (double)unwatched_ns,
		       TP_ORIGIN_MEASURED, 1);
}

/* ---- completeness ------------------------------------------------------------------------- */

static uint64_t count_kept(const struct tp_trace *trace)
{
	uint64_t n = 0;
	for (size_t i = 0; i < trace->n_sources; i++)
		n += trace->sources[i].n_records;
	return n ? n : trace->n_runs + trace->n_samples + trace->n_gauges + trace->n_marks;
}

/* CPU time with a name: segments that have a stack of their own or of a similar segment, and
 * threads too short to be sampled. Without switch records each sample represents its period, and
 * the kernel's part counts as named if it could not be sampled. */
static double named_cpu_ns(const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	double sum = 0;
	for (uint32_t id = 0; id < trace->n_tasks && analysis->has_runs; id++) {
		const struct tp_timeline *timeline = &analysis->timelines[id];
		for (size_t i = 0; i < timeline->n; i++) {
			const struct tp_segment *piece = &timeline->segments[i];
			bool is_named = piece->sample == TP_NO_SAMPLE ||
					trace->samples[piece->sample].stack != 0;
			if (piece->state == TP_STATE_ON_CPU && is_named)
				sum += (double)(piece->end_ns - piece->start_ns);
		}
	}
	if (analysis->has_runs)
		return sum;
	double period_ns = trace->run.sample_rate_hz > 0 ? 1e9 / trace->run.sample_rate_hz : 0;
	bool has_kernel = false;
	for (size_t i = 0; i < trace->n_samples; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		has_kernel |= (sample->flags & TP_SAMPLE_KERNEL) != 0;
		if (sample->state == TP_STATE_ON_CPU && sample->stack &&
		    !(sample->flags & TP_SAMPLE_POLLED))
			sum += period_ns;
	}
	for (uint32_t id = 0; id < trace->n_tasks && !has_kernel; id++)
		if (analysis->threads[id].leader == id)
			sum += (double)trace->tasks[id].stime_ns;
	return sum;
}

static void set_accounted(struct tp_analysis *analysis, double program_ns)
{
	struct tp_profile *profile = analysis->profile;
	bool has_stacks = false;
	for (size_t i = 0; i < analysis->trace->n_samples && !has_stacks; i++)
		has_stacks = analysis->trace->samples[i].stack != 0;
	if (!has_stacks || program_ns <= 0)
		tp_profile_set_missing(
			profile, TP_FACT_RUN_ACCOUNTED_RATIO,
			has_stacks ? "the program's CPU time is unknown"
				   : tp_window_gauges_reason(analysis, "perf",
							     "no stacks were recorded"));
	else
		tp_profile_set(profile, TP_FACT_RUN_ACCOUNTED_RATIO,
			       fmin(1, named_cpu_ns(analysis) / program_ns), TP_ORIGIN_DERIVED, 1);
}

static bool has_native_frame(const struct tp_trace *trace, const struct tp_stack *stack)
{
	for (uint32_t i = 0; i < stack->n_frames; i++)
		if (trace->frames[stack->frames[i]].kind != TP_FRAME_KERNEL)
			return true;
	return false;
}

static void set_stacks(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	const struct tp_trace *trace = analysis->trace;
	uint64_t n = 0;
	uint64_t whole = 0;
	for (size_t i = 0; i < trace->n_samples; i++) {
		const struct tp_stack *stack = tp_trace_stack(trace, trace->samples[i].stack);
		if (!has_native_frame(trace, stack))
			continue;
		n++;
		whole += !(stack->flags & TP_STACK_TRUNCATED);
	}
	if (n) {
		tp_profile_set(profile, TP_FACT_RUN_COMPLETE_STACKS_RATIO,
			       (double)whole / (double)n, TP_ORIGIN_MEASURED, 1);
		profile->facts[TP_FACT_RUN_COMPLETE_STACKS_RATIO].n = n;
	} else {
		tp_profile_set_missing(profile, TP_FACT_RUN_COMPLETE_STACKS_RATIO,
				       tp_window_gauges_reason(analysis, "perf",
							       "no stacks were recorded"));
	}
}

/* ---- detail ------------------------------------------------------------------------------- */

static bool is_of_switches(const struct tp_trace *trace, const struct tp_gap *gap)
{
	return strncmp(tp_trace_string(trace, gap->reason), TP_GAP_SWITCHES_OFF,
		       strlen(TP_GAP_SWITCHES_OFF)) == 0;
}

static void set_switches_off(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	double off_ns = 0;
	for (size_t i = 0; i < trace->n_gaps; i++) {
		const struct tp_gap *gap = &trace->gaps[i];
		uint64_t end_ns = gap->end_ns < trace->end_ns ? gap->end_ns : trace->end_ns;
		if (is_of_switches(trace, gap) && end_ns > gap->start_ns)
			off_ns += (double)(end_ns - gap->start_ns);
	}
	if (!analysis->has_runs)
		tp_profile_set_missing(analysis->profile, TP_FACT_RUN_SWITCHES_OFF_RATIO,
				       tp_window_gauges_reason(analysis, "perf",
							       "no switches were recorded"));
	else if (trace->end_ns)
		tp_profile_set(analysis->profile, TP_FACT_RUN_SWITCHES_OFF_RATIO,
			       fmin(1, off_ns / (double)trace->end_ns), TP_ORIGIN_MEASURED, 1);
}

static void set_leaf_only(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	uint64_t n = 0;
	uint64_t n_thinned = 0;
	for (size_t i = 0; i < trace->n_samples; i++) {
		uint32_t flags = trace->samples[i].flags;
		if (trace->samples[i].state != TP_STATE_ON_CPU || flags & TP_SAMPLE_POLLED)
			continue;
		n++;
		n_thinned += (flags & TP_SAMPLE_LEAF_ONLY) != 0;
	}
	if (!n)
		tp_profile_set_missing(analysis->profile, TP_FACT_RUN_THINNED_RATIO,
				       tp_window_gauges_reason(analysis, "perf",
							       "no stacks were recorded"));
	else
		tp_profile_set(analysis->profile, TP_FACT_RUN_THINNED_RATIO,
			       (double)n_thinned / (double)n, TP_ORIGIN_MEASURED, 1);
}

static void set_rate(struct tp_analysis *analysis)
{
	const struct tp_run_info *run = &analysis->trace->run;
	if (run->sample_rate_hz > 0 && run->asked_rate_hz > 0)
		tp_profile_set(analysis->profile, TP_FACT_RUN_RATE_RATIO,
			       fmin(1, run->sample_rate_hz / run->asked_rate_hz),
			       TP_ORIGIN_MEASURED, 1);
	else
		tp_profile_set_missing(
			analysis->profile, TP_FACT_RUN_RATE_RATIO,
			tp_window_gauges_reason(analysis, "perf",
						"the recording does not say what was requested"));
}

/* Returns true if a segment's activity is unknown: it has no sample, it ran but no stack was
 * recorded, or it was blocked and no cause was recorded. A wait for a CPU needs no sample to be
 * known. */
static bool is_unknown(const struct tp_trace *trace, const struct tp_segment *piece)
{
	if (piece->state == TP_STATE_RUNNABLE)
		return false;
	if (piece->sample == TP_NO_SAMPLE || piece->label == TP_LABEL_IDLE_UNKNOWN)
		return true;
	return piece->state == TP_STATE_ON_CPU && !trace->samples[piece->sample].stack;
}

static void set_unknown(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	double window_ns = tp_window_gauges_length_s(analysis) * 1e9;
	if (analysis->main_task == TP_NO_TASK || window_ns <= 0) {
		tp_profile_set_missing(profile, TP_FACT_RUN_UNKNOWN_RATIO, "there is no trainer");
		return;
	}
	const struct tp_timeline *timeline = tp_analysis_timeline(analysis, analysis->main_task);
	double known_ns = 0;
	for (size_t i = 0; i < timeline->n; i++) {
		const struct tp_segment *piece = &timeline->segments[i];
		uint64_t from = piece->start_ns > profile->window_start_ns
					? piece->start_ns
					: profile->window_start_ns;
		uint64_t to = piece->end_ns < profile->window_end_ns ? piece->end_ns
								     : profile->window_end_ns;
		if (to > from && !is_unknown(analysis->trace, piece))
			known_ns += (double)(to - from);
	}
	tp_profile_set(profile, TP_FACT_RUN_UNKNOWN_RATIO, fmax(0, 1 - known_ns / window_ns),
		       TP_ORIGIN_DERIVED, 1);
}

static uint64_t count_samples(const struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	const struct tp_profile *profile = analysis->profile;
	uint64_t n = 0;
	for (size_t i = 0; i < trace->n_samples; i++) {
		const struct tp_sample *sample = &trace->samples[i];
		n += analysis->threads[sample->task].leader == profile->trainer &&
		     sample->time_ns >= profile->window_start_ns &&
		     sample->time_ns < profile->window_end_ns;
	}
	return n;
}

/* ---- warnings ----------------------------------------------------------------------------- */

static void warn_lost(struct tp_profile *profile, uint64_t n_lost, double ratio)
{
	char text[120];
	if (!n_lost)
		return;
	snprintf(text, sizeof(text), "%llu record%s lost (%.2g %% of all)",
		 (unsigned long long)n_lost, n_lost == 1 ? " was" : "s were", 100 * ratio);
	tp_profile_warn(profile, "records-lost", text,
			"times near the losses are less certain; findings are weakened",
			"trainprof run --rate=49 -- ...");
}

static void warn_stops(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	char text[160];
	for (int kind = 0; kind < TP_N_STOP_KINDS; kind++) {
		if (!trace->left_out_ns[kind])
			continue;
		snprintf(text, sizeof(text), "%s for %.1f s", tp_stop_kind_text(kind),
			 (double)trace->left_out_ns[kind] / 1e9);
		tp_profile_warn(analysis->profile, "stopped", text,
				"this time is left out of all figures", NULL);
	}
	for (size_t i = 0; i < trace->n_stops; i++) {
		const struct tp_stopped_time *stop = &trace->stops[i];
		if (stop->is_left_out)
			continue;
		snprintf(text, sizeof(text), "process %d was %s for %.1f s", (int)stop->pid,
			 tp_stop_kind_text(stop->kind), (double)stop->length_ns / 1e9);
		tp_profile_warn(analysis->profile, "process-stopped", text,
				"the program kept running without it: this time is not left out",
				NULL);
	}
}

static void warn_end(struct tp_analysis *analysis)
{
	if (analysis->trace->is_end_cut)
		tp_profile_warn(analysis->profile, "end-cut",
				"the recording claims an end that is long after its last record",
				"the last record counts as the end", NULL);
}

/* Without this source neither stacks nor switches are known: the reader needs the reason. */
static void warn_no_stacks(struct tp_analysis *analysis)
{
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = 0; i < trace->n_sources; i++) {
		const struct tp_source *source = &trace->sources[i];
		char text[240];
		if (strcmp(tp_trace_string(trace, source->name), "perf") != 0 ||
		    source->presence == TP_PRESENCE_PRESENT ||
		    source->presence == TP_PRESENCE_DEGRADED)
			continue;
		const char *reason = tp_trace_string(trace, source->reason);
		const char *remedy = tp_trace_string(trace, source->remedy);
		snprintf(text, sizeof(text), "running threads were not sampled: %s",
			 *reason ? reason : tp_source_state_text(source->presence));
		tp_profile_warn(analysis->profile, "perf-off", text,
				"what the CPUs did is known only from looks at /proc",
				*remedy ? remedy : NULL);
	}
}

/* Warns of detail that the governor dropped to stay below --max-overhead. */
static void warn_less_detail(struct tp_analysis *analysis)
{
	static const char dearer[] = "trainprof run --max-overhead=2% -- ...";
	const struct tp_quantity *facts = analysis->profile->facts;
	const struct tp_run_info *run = &analysis->trace->run;
	const struct tp_quantity *off = &facts[TP_FACT_RUN_SWITCHES_OFF_RATIO];
	const struct tp_quantity *thinned = &facts[TP_FACT_RUN_THINNED_RATIO];
	const struct tp_quantity *rate = &facts[TP_FACT_RUN_RATE_RATIO];
	/* At the full rate nothing was saved: stacks without Python frames were not readable at
	 * that moment, and a larger budget would not change that. */
	const char *remedy = rate->is_known && rate->value < TP_RATE_KEPT_MIN ? dearer : NULL;
	char text[120];
	if (off->is_known && off->value > 0) {
		snprintf(text, sizeof(text),
			 "threads switched too often: switch records were off for %.2g %% of the "
			 "run",
			 100 * off->value);
		tp_profile_warn(analysis->profile, "switches-off", text,
				"who ran then is known from samples only; findings are weakened",
				NULL);
	}
	if (thinned->is_known && thinned->value > 0) {
		snprintf(text, sizeof(text),
			 "%.2g %% of the samples were taken without their stack",
			 100 * thinned->value);
		tp_profile_warn(analysis->profile, "stacks-thinned", text,
				"of those only the running function is known", remedy);
	}
	if (rate->is_known && rate->value < TP_RATE_KEPT_MIN) {
		snprintf(text, sizeof(text), "%.3g of %.3g samples per second were kept up",
			 run->sample_rate_hz, run->asked_rate_hz);
		tp_profile_warn(analysis->profile, "rate-lowered", text,
				"short phases are distinguished less well", dearer);
	}
}

static void warn_sample_count(struct tp_profile *profile, uint64_t n)
{
	char text[120];
	if (n >= TP_SAMPLES_MIN || profile->trainer == TP_NO_TASK)
		return;
	snprintf(text, sizeof(text), "only %llu sample%s of the trainer in the judged part",
		 (unsigned long long)n, n == 1 ? "" : "s");
	tp_profile_warn(profile, "few-samples", text, "shares are rough",
			"let it run longer, or: trainprof run --rate=499 -- ...");
}

static void warn_undersampled_runs(const struct tp_analysis *analysis)
{
	uint64_t below_ns;
	double share = tp_undersampled_runs_share(analysis, &below_ns);
	if (share < TP_BLIND_MUCH)
		return;
	char text[200];
	snprintf(text, sizeof(text),
		 "%.0f %% of the main thread's CPU time lies in stays of less than %.0f µs, into "
		 "which no sample falls here",
		 100 * share, (double)below_ns / 1e3);
	tp_profile_warn(analysis->profile, "blind-stays", text,
			"parts that work in such stays may be too small by that much, others too "
			"large",
			NULL);
}

/* Rules out the facts of spans: all if no device was traced, else those that the devices pass has
 * not set. */
static void rule_out_spans(struct tp_profile *profile)
{
	for (int fact = TP_FACT_SPANS_FIRST; fact <= TP_FACT_SPANS_LAST; fact++) {
		const struct tp_quantity *known = &profile->facts[fact];
		if (!profile->n_devices || (!known->is_known && !known->missing))
			tp_profile_rule_out(profile, (enum tp_fact)fact,
					    "only traces of devices have it");
	}
	for (int fact = TP_FACT_WINDOWS_FIRST; fact <= TP_FACT_WINDOWS_LAST; fact++)
		if (!profile->facts[TP_FACT_WINDOWS_COUNT].is_known)
			tp_profile_rule_out(profile, (enum tp_fact)fact,
					    "no GPU was traced in windows");
}

enum tp_status tp_pass_quality(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	double program_ns = program_cpu_ns(analysis);
	uint64_t n_lost = tp_trace_n_lost(analysis->trace);
	uint64_t n_samples = count_samples(analysis);
	double all = (double)count_kept(analysis->trace) + (double)n_lost;
	double lost_ratio = all > 0 ? (double)n_lost / all : 0;
	set_overhead(analysis);
	set_stops(analysis);
	tp_profile_set(profile, TP_FACT_RUN_RECORDS_LOST_RATIO, lost_ratio, TP_ORIGIN_MEASURED, 1);
	set_accounted(analysis, program_ns);
	set_stacks(analysis);
	set_switches_off(analysis);
	set_leaf_only(analysis);
	set_rate(analysis);
	set_unknown(analysis);
	tp_profile_set(profile, TP_FACT_RUN_N_SAMPLES, (double)n_samples, TP_ORIGIN_MEASURED, 1);
	rule_out_spans(profile);
	warn_lost(profile, n_lost, lost_ratio);
	warn_stops(analysis);
	warn_end(analysis);
	warn_no_stacks(analysis);
	warn_less_detail(analysis);
	warn_sample_count(profile, n_samples);
	warn_undersampled_runs(analysis);
	return TP_OK;
}
