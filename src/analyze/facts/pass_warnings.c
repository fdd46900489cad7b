/* SPDX-License-Identifier: Apache-2.0 */
/* Warns the reader of what makes the measurement less certain. Needs: the facts of pass_quality.c.
 * Gives: warnings. */
#include "analyze/analysis.h"
#include "analyze/thresholds.h"
#include "analyze/timeline/undersampled_runs.h"

#include "trainprof/model/fact.h"

#include <stdio.h>
#include <string.h>

static void warn_lost(struct tp_analysis *analysis)
{
	struct tp_profile *profile = analysis->profile;
	uint64_t n_lost = tp_trace_n_lost(analysis->trace);
	double ratio = profile->facts[TP_FACT_RUN_RECORDS_LOST_RATIO].value;
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

static void warn_sample_count(struct tp_profile *profile)
{
	uint64_t n = (uint64_t)profile->facts[TP_FACT_RUN_N_SAMPLES].value;
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

enum tp_status tp_pass_warnings(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	warn_lost(analysis);
	warn_stops(analysis);
	warn_end(analysis);
	warn_no_stacks(analysis);
	warn_less_detail(analysis);
	warn_sample_count(analysis->profile);
	warn_undersampled_runs(analysis);
	return TP_OK;
}
