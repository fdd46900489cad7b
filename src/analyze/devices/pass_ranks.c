/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a trace of spans, as importers create them: ranks, steps, parts, waits between ranks,
 * devices, kernels, and the reader's warnings about the trace. */
#include "analyze/analysis.h"
#include "analyze/thresholds.h"
#include "capture_facts.h"
#include "rank_data.h"

#include "trainprof/model/capture_words.h"
#include "trainprof/model/fact.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void warn_steps(struct tp_profile *profile)
{
	if (profile->is_of_steps)
		return;
	char text[400];
	char remedy[400];
	snprintf(text, sizeof(text), "steps were not resolved: %s", profile->steps_reason);
	snprintf(remedy, sizeof(remedy), "mark each step: %s",
		 tp_capture_words(&profile->trace->run, TP_CAPTURE_MARKS));
	tp_profile_warn(
		profile, "no-steps", text,
		profile->facts[TP_FACT_DEVICE_BUSY].is_known
			? "shares are of the time from the first to the last work of devices"
			: "shares are of the whole trace, its start and end included",
		remedy);
}

/* Warns of devices without steps if other ranks of the job have steps. */
static void warn_without_steps(struct tp_profile *profile)
{
	size_t n = 0;
	for (size_t i = 0; i < profile->n_devices; i++)
		n += !profile->devices[i].n_steps;
	if (!profile->is_of_steps || !n)
		return;
	char text[100];
	snprintf(text, sizeof(text), "%zu of %zu devices have no steps", n, profile->n_devices);
	tp_profile_warn(profile, "devices-without-steps", text, "they are not judged", NULL);
}

static void warn_rank(struct tp_profile *profile, const struct tp_rank_info *rank)
{
	char text[400];
	const char *name = rank->member ? rank->member : rank->path;
	if (rank->is_cut) {
		snprintf(text, sizeof(text), "'%s' ends in the middle", name ? name : "");
		tp_profile_warn(profile, "trace-cut", text, "what follows is not judged", NULL);
	}
	if ((double)rank->n_skipped > TP_SKIPPED_WARN * (double)(rank->n_kept + rank->n_skipped)) {
		snprintf(text, sizeof(text), "%" PRIu64 " events of '%s' were skipped: %s",
			 rank->n_skipped, name ? name : "",
			 rank->skipped_because ? rank->skipped_because : "malformed");
		tp_profile_warn(profile, "trace-skipped", text, NULL, NULL);
	}
}

static bool differs(uint64_t written_ns, uint64_t read_ns)
{
	double difference = fabs((double)written_ns - (double)read_ns);
	return written_ns && difference > TP_MAKER_DIFFERS * (double)written_ns;
}

/* A tool's own sums differ if it counts other work than what was read, or if work is missing. */
static void warn_sums(struct tp_profile *profile, const struct tp_rank_info *rank)
{
	char text[400];
	if (!differs(rank->maker_computing_ns, rank->read_computing_ns) &&
	    !differs(rank->maker_communication_ns, rank->read_communication_ns) &&
	    !differs(rank->maker_exposed_ns, rank->read_exposed_ns))
		return;
	snprintf(text, sizeof(text),
		 "the tool that wrote '%s' sums up %.3f ms of computing and %.3f ms of "
		 "communication, trainprof reads %.3f and %.3f ms",
		 rank->member ? rank->member : rank->path, (double)rank->maker_computing_ns / 1e6,
		 (double)rank->maker_communication_ns / 1e6, (double)rank->read_computing_ns / 1e6,
		 (double)rank->read_communication_ns / 1e6);
	tp_profile_warn(profile, "maker-differs", text, NULL, NULL);
}

void tp_ranks_warn_links(struct tp_profile *profile)
{
	const struct tp_quantity *unlinked = &profile->facts[TP_FACT_DEVICE_UNLINKED];
	if (!unlinked->is_known || unlinked->value < TP_UNLINKED_WARN)
		return;
	char text[200];
	snprintf(text, sizeof(text),
		 "%.0f %% of the device's work has no call in the trace that launched it",
		 100 * unlinked->value);
	tp_profile_warn(profile, "unlinked", text, "it counts as device time, but for no step",
			NULL);
}

static void warn_all(struct tp_profile *profile)
{
	const struct tp_run_info *run = &profile->trace->run;
	if (!profile->total_ns) {
		tp_profile_warn(profile, "empty-trace",
				"the trace holds no work of any device or thread",
				"nothing can be judged", NULL);
		return;
	}
	warn_steps(profile);
	warn_without_steps(profile);
	for (size_t i = 0; i < run->n_ranks; i++) {
		warn_rank(profile, &run->ranks[i]);
		warn_sums(profile, &run->ranks[i]);
	}
	tp_ranks_warn_links(profile);
	if (profile->not_joined)
		tp_profile_warn(profile, "not-joined", profile->not_joined,
				"waits for late ranks cannot be separated from transfers there",
				NULL);
}

static void set_run_facts(struct tp_profile *profile)
{
	double run_ns = (double)profile->trace->end_ns;
	double window_ns = (double)(profile->window_end_ns - profile->window_start_ns);
	tp_profile_set(profile, TP_FACT_RUN_DURATION, run_ns, TP_ORIGIN_MEASURED, 1);
	tp_profile_set(profile, TP_FACT_RUN_WINDOW, window_ns, TP_ORIGIN_MEASURED, 1);
	if (run_ns > 0)
		tp_profile_set(profile, TP_FACT_RUN_WINDOW_RATIO, window_ns / run_ns,
			       TP_ORIGIN_MEASURED, 1);
}

enum tp_status tp_pass_ranks(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	struct tp_profile *profile = analysis->profile;
	struct tp_rank_analysis ranks = {
		.trace = analysis->trace,
		.patterns = analysis->patterns,
		.options = analysis->options,
		.profile = profile,
		.arena = analysis->arena,
		.hot = {.trace = analysis->trace},
		.main_task = TP_NO_TASK,
		.own = TP_NO_TASK,
	};
	/* Facts that are not set below only exist for sampled programs. */
	for (int fact = 0; fact < TP_N_FACTS; fact++)
		tp_profile_rule_out(profile, (enum tp_fact)fact, "imported traces do not have it");
	if (!tp_capture_is_known(&ranks)) {
		set_run_facts(profile);
		return TP_OK;
	}
	tp_ranks_build(&ranks);
	for (uint32_t i = 0; i < ranks.n_ranks; i++)
		tp_rank_host_build(&ranks, i, analysis);
	tp_ranks_find_steps(&ranks);
	tp_ranks_find_steady(&ranks, analysis);
	tp_ranks_partition(&ranks);
	tp_ranks_join(&ranks);
	tp_capture_find_host(&ranks);
	tp_ranks_sum(&ranks);
	tp_ranks_describe_devices(&ranks);
	tp_ranks_set_facts(&ranks, tp_ranks_describe_kernels(&ranks));
	tp_capture_facts_set(&ranks);
	tp_hot_table_finish(&ranks.hot, profile);
	tp_ranks_release(&ranks);
	set_run_facts(profile);
	warn_all(profile);
	return TP_OK;
}
