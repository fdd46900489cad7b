/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the recordings of a job's ranks and joins them. */
#include "job_session.h"

#include "inner_ranks.h"
#include "job_folder.h"
#include "rules_dir.h"

#include "trainprof/analyze/job_join.h"
#include "trainprof/base/memory.h"
#include "trainprof/report/job_text.h"
#include "trainprof/store/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which job ------------------------------------------------------------------------------- */

static bool has_id(const struct tp_job_member *member, const char *id)
{
	return member->run.job.launcher &&
	       strcmp(member->run.job.id ? member->run.job.id : "", id) == 0;
}

/* One recording of the job that is meant; NULL when there is none. */
static const struct tp_job_member *choose_job(const struct tp_job_members *members, const char *id)
{
	const struct tp_job_member *best = NULL;
	for (size_t i = 0; i < members->n; i++) {
		const struct tp_job_member *member = &members->items[i];
		if (member->unreadable.status != TP_OK || (id && !has_id(member, id)))
			continue;
		if (!best || member->run.started_wall_ns > best->run.started_wall_ns)
			best = member;
	}
	return best;
}

static enum tp_status fail_no_job(const struct tp_job_members *members, const char *id,
				  struct tp_error *err)
{
	if (!id && members->n) {
		if (err)
			*err = members->items[0].unreadable;
		return members->items[0].unreadable.status;
	}
	tp_fail(err, TP_ABSENT, "no recording of job '%.80s' here", id ? id : "");
	for (size_t i = 0; i < members->n; i++) {
		const char *other = members->items[i].run.job.id;
		if (!other)
			continue;
		tp_error_next(err, "--job=%.100s", other);
		break;
	}
	return TP_ABSENT;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum tp_steps_choice steps_choice(const char *word)
{
	if (word && strcmp(word, "marker") == 0)
		return TP_STEPS_ONLY_MARKER;
	return word && strcmp(word, "none") == 0 ? TP_STEPS_OFF : TP_STEPS_AUTO;
}

static struct tp_job_source source_of(const struct tp_job_member *member)
{
	return (struct tp_job_source){.directory = member->directory,
				      .run = &member->run,
				      .place = &member->run.job,
				      .pid = member->run.pid,
				      .is_cut = !member->is_closed};
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

/* A recording of a launcher and all ranks that it started here. False: it is of one program. */
static bool add_inner_ranks(struct tp_job *job, const struct tp_job_member *member,
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
		struct tp_job_source source = source_of(member);
		struct tp_analyze_options of_rank = *how;
		of_rank.rank = &scope;
		source.place = &place;
		source.pid = ranks[i].pid;
		source.is_cut = trace->is_partial;
		source.is_inner = true;
		source.ended_ns = trace->tasks[ranks[i].root].end_ns;
		add_profile(job, &source, trace, patterns, &of_rank);
	}
	tp_arena_release(&arena);
	return n > 0;
}

static void add_rank(struct tp_job *job, const struct tp_job_member *member,
		     const struct tp_patterns *patterns,
		     const struct tp_analysis_session_options *options)
{
	const struct tp_analyze_options how = {.steps = steps_choice(options->steps),
					       .skip_steps = options->skip};
	struct tp_job_source source = source_of(member);
	struct tp_trace trace;
	struct tp_error err = {0};
	if (member->run.mode == TP_MODE_IMPORT) {
		tp_job_add(job, &source, NULL, "it was imported: import all ranks at once");
		return;
	}
	if (tp_store_load(&trace, member->directory, &err) != TP_OK) {
		tp_job_add(job, &source, NULL, err.text);
		return;
	}
	source.is_cut = trace.is_partial;
	if (!add_inner_ranks(job, member, &trace, patterns, &how))
		add_profile(job, &source, &trace, patterns, &how);
	tp_trace_release(&trace);
}

static void add_failed(struct tp_job *job, const struct tp_job_member *member)
{
	struct tp_job_place place = {.launcher = "unknown", .local_rank = -1};
	struct tp_job_source source = {.directory = member->directory};
	if (tp_job_folder_number(member->directory, &place.rank))
		source.place = &place;
	tp_job_add(job, &source, NULL, member->unreadable.text);
}

static enum tp_status read_ranks(struct tp_job *job, const struct tp_job_members *members,
				 const struct tp_job_member *chosen,
				 const struct tp_analysis_session_options *options,
				 struct tp_error *err)
{
	struct tp_rules_dirs dirs = {0};
	struct tp_patterns *patterns = NULL;
	enum tp_status status = tp_rules_dir_find(&dirs, &options->rules, err);
	if (status == TP_OK)
		status = tp_rules_dir_load_patterns(&patterns, &dirs, err);
	for (size_t i = 0; status == TP_OK && i < members->n; i++) {
		const struct tp_job_member *member = &members->items[i];
		if (member->unreadable.status != TP_OK)
			add_failed(job, member);
		else if (tp_job_is_same(&member->run.job, &chosen->run.job))
			add_rank(job, member, patterns, options);
		else
			job->n_other_jobs++;
	}
	if (patterns)
		tp_patterns_free(patterns);
	tp_rules_dir_release(&dirs);
	return status;
}

/* ---- advice ---------------------------------------------------------------------------------- */

/* What helps the late rank helps the job, but at most until the next rank is the last. */
static void add_advice(struct tp_job *job, const struct tp_finding *finding)
{
	struct tp_job_advice *advice = &job->advice[job->n_advice++];
	double high = fmin(finding->gain_high, job->gain_high);
	*advice = (struct tp_job_advice){
		.rule = tp_arena_strdup(&job->arena, finding->rule),
		.headline = tp_arena_strdup(&job->arena, finding->headline),
		.because = tp_arena_strdup(&job->arena, finding->because),
		.gain_low = 1, /* how much of the surplus it removes is not known */
		.gain_value = fmin(finding->gain_value, high),
		.gain_high = high,
	};
}

/* In a recording of several ranks it has to be named. */
static void name_late_rank(const struct tp_job *job, struct tp_analysis_session_options *how,
			   char *number, size_t size)
{
	const struct tp_job_rank *late = &job->ranks[job->late];
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++)
		n += strcmp(job->ranks[i].directory, late->directory) == 0;
	how->rank = NULL;
	if (n > 1) {
		snprintf(number, size, "%lld",
			 late->number < 0 ? (long long)late->pid : (long long)late->number);
		how->rank = number;
	}
}

static void advise(struct tp_job *job, const struct tp_analysis_session_options *options)
{
	struct tp_analysis_session reading;
	struct tp_analysis_session_options how = *options;
	char number[24];
	if (job->late == TP_JOB_NO_RANK || job->late_label == TP_N_LABELS)
		return;
	name_late_rank(job, &how, number, sizeof(number));
	if (tp_analysis_session_open(&reading, job->ranks[job->late].directory, &how, NULL) !=
	    TP_OK)
		return;
	const struct tp_findings *findings = reading.has_findings ? &reading.findings : NULL;
	for (size_t i = 0; findings && i < findings->n_items; i++) {
		const struct tp_finding *finding = &findings->items[i];
		if (finding->state == TP_FINDING_FIRED && !finding->suppressed &&
		    finding->level != TP_LEVEL_NOTE && finding->has_gain &&
		    strncmp(finding->rule, "communication/", 14) != 0 &&
		    job->n_advice < TP_JOB_ADVICE_MAX)
			add_advice(job, finding);
	}
	tp_analysis_session_close(&reading);
}

enum tp_status tp_job_session_read(struct tp_job *job, const char *const *words, size_t n_words,
				   const char *id,
				   const struct tp_analysis_session_options *options,
				   struct tp_error *err)
{
	struct tp_job_members members = {0};
	enum tp_status status = TP_OK;
	tp_job_init(job);
	for (size_t i = 0; i < n_words && status == TP_OK; i++)
		status = tp_job_members_add(&members, words[i], err);
	const struct tp_job_member *chosen = status == TP_OK ? choose_job(&members, id) : NULL;
	if (status == TP_OK && !chosen)
		status = fail_no_job(&members, id, err);
	if (status == TP_OK)
		status = read_ranks(job, &members, chosen, options, err);
	if (status == TP_OK) {
		tp_job_join(job);
		advise(job, options);
	} else {
		tp_job_release(job);
	}
	tp_job_members_release(&members);
	return status;
}

void tp_job_session_render(struct tp_buf *out, const struct tp_job *job, const char *format,
			   const struct tp_report_style *style, const char *shown)
{
	if (strcmp(format, "json") == 0) {
		struct tp_json_writer w = {0};
		tp_report_job_json(&w, job);
		tp_buf_puts(&w.out, "\n");
		tp_buf_add(out, w.out.data, w.out.len);
		tp_json_writer_release(&w);
	} else if (strcmp(format, "markdown") == 0) {
		tp_report_job_markdown(out, job);
	} else {
		struct tp_page page;
		tp_page_init(&page, style);
		tp_report_job_text(&page, job, shown);
		tp_buf_add(out, page.out.data, page.out.len);
		tp_page_release(&page);
	}
}
