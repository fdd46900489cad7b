/* SPDX-License-Identifier: Apache-2.0 */
/* Converts recordings to ranks of a job and their digests. */
#include "job_ranks.h"

#include "cli/session/inner_ranks.h"

#include "trainprof/analyze/job_join.h"
#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/store/rank_digest.h"
#include "trainprof/store/recording.h"

#include <stdlib.h>
#include <string.h>

static struct tp_job_source source_of(const char *directory, const struct tp_trace *trace,
				      const struct tp_run_info *run)
{
	return (struct tp_job_source){.directory = directory,
				      .run = run,
				      .place = &run->job,
				      .pid = run->pid,
				      .is_cut = trace && trace->is_partial};
}

static void add_profile(struct tp_job *job, const struct tp_job_source *source,
			const struct tp_trace *trace, const struct tp_patterns *patterns,
			const struct tp_analyze_options *how)
{
	struct tp_profile profile;
	struct tp_error err = {0};
	if (tp_analyze(&profile, trace, patterns, how, &err) != TP_OK) {
		tp_job_add(job, source, NULL, err.text);
		return;
	}
	tp_job_add(job, source, &profile, NULL);
	tp_profile_release(&profile);
}

/* Adds the ranks that a launcher started here, from its recording. False if the recording is of one
 * program. */
static bool add_inner_ranks(struct tp_job *job, const struct tp_job_source *of_all,
			    const struct tp_trace *trace, const struct tp_patterns *patterns,
			    const struct tp_analyze_options *how)
{
	struct tp_arena arena = {0};
	struct tp_inner_rank *ranks;
	size_t n = tp_inner_ranks_find(&ranks, trace, patterns, how, &arena);
	uint32_t *roots = tp_arena_array(&arena, n + 1, sizeof(*roots));
	for (size_t i = 0; i < n; i++)
		roots[i] = ranks[i].root;
	for (size_t i = 0; i < n; i++) {
		const struct tp_rank_scope scope = {.root = roots[i], .all = roots, .n_all = n};
		const struct tp_job_place place = {.launcher = ranks[i].number < 0
								       ? "no launcher"
								       : "one recording",
						   .rank = ranks[i].number,
						   .n_ranks = ranks[i].n_ranks,
						   .local_rank = -1};
		struct tp_job_source source = *of_all;
		struct tp_analyze_options of_rank = *how;
		of_rank.rank = &scope;
		source.place = &place;
		source.pid = ranks[i].pid;
		source.is_inner = true;
		source.n_sharing = n;
		source.ended_ns = trace->tasks[ranks[i].root].end_ns;
		add_profile(job, &source, trace, patterns, &of_rank);
	}
	tp_arena_release(&arena);
	return n > 0;
}

static struct tp_analyze_options analysis_of(const char *steps, uint64_t skip)
{
	bool is_marker = steps && strcmp(steps, "marker") == 0;
	bool is_off = steps && strcmp(steps, "none") == 0;
	return (struct tp_analyze_options){.steps = is_marker ? TP_STEPS_ONLY_MARKER
						    : is_off  ? TP_STEPS_OFF
							      : TP_STEPS_AUTO,
					   .skip_steps = skip};
}

void tp_job_ranks_add(struct tp_job *job, const struct tp_job_member *member,
		      const struct tp_patterns *patterns,
		      const struct tp_analysis_session_options *options)
{
	const struct tp_analyze_options how = analysis_of(options->steps, options->skip);
	struct tp_job_source source = source_of(member->directory, NULL, &member->run);
	struct tp_trace trace;
	struct tp_error err = {0};
	source.is_cut = !member->is_closed;
	if (member->run.mode == TP_MODE_IMPORT) {
		tp_job_add(job, &source, NULL, "it was imported: import all ranks at once");
		return;
	}
	if (tp_store_load(&trace, member->directory, &err) != TP_OK) {
		tp_job_add(job, &source, NULL, err.text);
		return;
	}
	source.is_cut = trace.is_partial;
	if (!add_inner_ranks(job, &source, &trace, patterns, &how))
		add_profile(job, &source, &trace, patterns, &how);
	tp_trace_release(&trace);
}

void tp_job_ranks_add_failed(struct tp_job *job, const char *directory, const char *why)
{
	struct tp_job_place place = {.launcher = "unknown", .local_rank = -1};
	struct tp_job_source source = {.directory = directory};
	if (tp_job_folder_number(directory, &place.rank))
		source.place = &place;
	tp_job_add(job, &source, NULL, why);
}

/* ---- digests --------------------------------------------------------------------------------- */

size_t tp_job_ranks_advice(struct tp_job_advice out[TP_JOB_ADVICE_MAX],
			   const struct tp_findings *findings)
{
	size_t n = 0;
	for (size_t i = 0; findings && i < findings->n_items && n < TP_JOB_ADVICE_MAX; i++) {
		const struct tp_finding *finding = &findings->items[i];
		if (finding->state != TP_FINDING_FIRED || finding->suppressed ||
		    finding->level == TP_LEVEL_NOTE || !finding->has_gain ||
		    strncmp(finding->rule, "communication/", 14) == 0)
			continue;
		out[n++] = (struct tp_job_advice){.rule = finding->rule,
						  .headline = finding->headline,
						  .because = finding->because,
						  .gain_low = finding->gain_low,
						  .gain_value = finding->gain_value,
						  .gain_high = finding->gain_high};
	}
	return n;
}

enum tp_status tp_job_ranks_save_digest(const struct tp_analysis_session *reading,
					const struct tp_analysis_session_options *options,
					struct tp_error *err)
{
	const struct tp_analyze_options how = analysis_of(options->steps, options->skip);
	const struct tp_trace *trace = &reading->trace;
	const struct tp_job_source source =
		source_of(reading->report.directory, trace, &trace->run);
	struct tp_job_advice advice[TP_JOB_ADVICE_MAX];
	size_t n_advice = 0;
	struct tp_buf out = {0};
	struct tp_job job;
	tp_job_init(&job);
	if (!reading->n_ranks) {
		tp_job_add(&job, &source, &reading->profile, NULL);
		if (reading->has_findings)
			n_advice = tp_job_ranks_advice(advice, &reading->findings);
	} else {
		add_inner_ranks(&job, &source, trace, reading->patterns, &how);
	}
	tp_digest_put_header(&out);
	for (size_t i = 0; i < job.n_ranks; i++)
		tp_digest_put_rank(&out, &job.ranks[i], advice, n_advice);
	tp_digest_put_end(&out, &(struct tp_digest_counts){.n_ranks = job.n_ranks});
	char *path = tp_asprintf("%s/" TP_DIGEST_NAME, reading->report.directory);
	enum tp_status status = tp_file_replace(path, out.data, out.len, err);
	free(path);
	tp_buf_release(&out);
	tp_job_release(&job);
	return status;
}
