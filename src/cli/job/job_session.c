/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the recordings of a job's ranks and joins them. */
#include "job_session.h"

#include "cli/session/job_folder.h"
#include "cli/session/rules_dir.h"
#include "job_ranks.h"

#include "trainprof/analyze/job_join.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/version.h"
#include "trainprof/report/job_text.h"
#include "trainprof/store/rank_digest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which job ------------------------------------------------------------------------------- */

static struct tp_job_place place_of(const struct tp_job_rank *rank)
{
	return (struct tp_job_place){.launcher = rank->launcher,
				     .id = rank->job_id,
				     .rank = rank->number,
				     .n_ranks = rank->n_ranks,
				     .attempt = rank->attempt};
}

static bool has_id(const struct tp_job_place *place, const char *id)
{
	return !id || (place->launcher && strcmp(place->id ? place->id : "", id) == 0);
}

/* Selects the job that started last among those with that id. False if there is none. */
static bool choose_job(struct tp_job_place *out, const struct tp_job *job,
		       const struct tp_job_members *members, const char *id)
{
	uint64_t last_ns = 0;
	bool is_found = false;
	for (size_t i = 0; i < members->n; i++) {
		const struct tp_job_member *member = &members->items[i];
		if (member->is_loaded || member->unreadable.status != TP_OK ||
		    !has_id(&member->run.job, id) ||
		    (is_found && member->run.started_wall_ns <= last_ns))
			continue;
		is_found = true;
		last_ns = member->run.started_wall_ns;
		*out = member->run.job;
	}
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_rank *rank = &job->ranks[i];
		const struct tp_job_place place = place_of(rank);
		if (rank->unreadable || !has_id(&place, id) ||
		    (is_found && rank->started_wall_ns <= last_ns))
			continue;
		is_found = true;
		last_ns = rank->started_wall_ns;
		*out = place;
	}
	return is_found;
}

static enum tp_status fail_no_job(const struct tp_job *job, const struct tp_job_members *members,
				  const char *id, struct tp_error *err)
{
	const char *other = NULL;
	/* A digest that cannot be read says more than that there is no recording beside it. */
	if (!id && job->n_ranks && job->ranks[0].unreadable)
		return tp_fail(err, TP_PARSE, "%s", job->ranks[0].unreadable);
	if (!id && members->n) {
		if (err)
			*err = members->items[0].unreadable;
		return members->items[0].unreadable.status;
	}
	tp_fail(err, TP_ABSENT, "no recording of job '%.80s' here", id ? id : "");
	for (size_t i = 0; !other && i < members->n; i++)
		other = members->items[i].run.job.id;
	for (size_t i = 0; !other && i < job->n_ranks; i++)
		other = job->ranks[i].job_id;
	if (other)
		tp_error_next(err, "--job=%.100s", other);
	return TP_ABSENT;
}

/* Drops the ranks of other jobs, but keeps those of which nothing is known. */
static void keep_job(struct tp_job *job, const struct tp_job_place *chosen)
{
	size_t n = 0;
	for (size_t i = 0; i < job->n_ranks; i++) {
		const struct tp_job_place place = place_of(&job->ranks[i]);
		if (job->ranks[i].unreadable || tp_job_is_same(&place, chosen)) {
			job->ranks[n++] = job->ranks[i];
			continue;
		}
		free(job->ranks[i].steps);
		job->n_other_jobs++;
	}
	job->n_ranks = n;
	job->label = NULL; /* described all ranks that were read */
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A digest contains the results of the default options. */
static bool may_use_digests(const struct tp_analysis_session_options *options)
{
	return (!options->steps || strcmp(options->steps, "auto") == 0) && !options->skip &&
	       !options->rules.n;
}

static void drop_ranks(struct tp_job *job, size_t n)
{
	while (job->n_ranks > n)
		free(job->ranks[--job->n_ranks].steps);
}

/* If a digest cannot be used, its recording is read, if there is one; for a job file the complete
 * part counts. */
static void load_digest(struct tp_job *job, struct tp_job_member *member)
{
	bool has_recording = member->unreadable.status == TP_OK;
	size_t before = job->n_ranks;
	struct tp_error err = {0};
	enum tp_status status =
		tp_digest_load(job, member->digest, member->is_file ? NULL : member->directory,
			       has_recording ? tp_version() : NULL, &err);
	member->is_loaded = status == TP_OK || !has_recording;
	if (status == TP_OK)
		return;
	if (!member->is_file)
		drop_ranks(job, before);
	if (member->is_loaded)
		tp_job_ranks_add_failed(job, member->directory, err.text);
}

static enum tp_status read_ranks(struct tp_job *job, const struct tp_job_members *members,
				 const struct tp_job_place *chosen,
				 const struct tp_analysis_session_options *options,
				 struct tp_error *err)
{
	struct tp_rules_dirs dirs = {0};
	struct tp_patterns *patterns = NULL;
	enum tp_status status = TP_OK;
	for (size_t i = 0; status == TP_OK && i < members->n; i++) {
		const struct tp_job_member *member = &members->items[i];
		if (member->is_loaded)
			continue;
		if (member->unreadable.status != TP_OK) {
			tp_job_ranks_add_failed(job, member->directory, member->unreadable.text);
			continue;
		}
		if (!tp_job_is_same(&member->run.job, chosen)) {
			job->n_other_jobs++;
			continue;
		}
		if (!patterns)
			status = tp_rules_dir_find(&dirs, &options->rules, err);
		if (status == TP_OK && !patterns)
			status = tp_rules_dir_load_patterns(&patterns, &dirs, err);
		if (status == TP_OK)
			tp_job_ranks_add(job, member, patterns, options);
	}
	if (patterns)
		tp_patterns_free(patterns);
	tp_rules_dir_release(&dirs);
	return status;
}

/* ---- advice ---------------------------------------------------------------------------------- */

static double printed_gain(const struct tp_job_advice *advice)
{
	return tp_gain_printed(advice->gain_low, advice->gain_value, advice->gain_high);
}

/* Sorts a few rows; equal ones keep the order that they have for the rank. */
static void sort_advice(struct tp_job *job)
{
	for (size_t i = 1; i < job->n_advice; i++) {
		struct tp_job_advice advice = job->advice[i];
		size_t k = i;
		for (; k && printed_gain(&job->advice[k - 1]) < printed_gain(&advice); k--)
			job->advice[k] = job->advice[k - 1];
		job->advice[k] = advice;
	}
}

/* Advice for the late rank makes the job faster only until the next rank is the last one. How much
 * of the delay it removes is unknown, so the gain may also be nothing. */
static void bound_advice(struct tp_job *job)
{
	for (size_t i = 0; i < job->n_advice; i++) {
		struct tp_job_advice *advice = &job->advice[i];
		advice->gain_high = fmin(advice->gain_high, job->gain_high);
		advice->gain_value = fmin(advice->gain_value, advice->gain_high);
		advice->gain_low = 1;
	}
	sort_advice(job);
}

/* Names the rank if its recording contains several ranks. */
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
	const struct tp_job_rank *late = &job->ranks[job->late];
	tp_digest_load_advice(job, late);
	name_late_rank(job, &how, number, sizeof(number));
	if (!job->n_advice && (!late->digest || how.rank) &&
	    tp_analysis_session_open(&reading, late->directory, &how, NULL) == TP_OK) {
		job->n_advice =
			tp_job_ranks_advice(job->advice,
					    reading.has_findings ? &reading.findings : NULL);
		for (size_t i = 0; i < job->n_advice; i++) {
			struct tp_job_advice *advice = &job->advice[i];
			advice->rule = tp_arena_strdup(&job->arena, advice->rule);
			advice->headline = tp_arena_strdup(&job->arena, advice->headline);
			advice->because = tp_arena_strdup(&job->arena, advice->because);
		}
		tp_analysis_session_close(&reading);
	}
	bound_advice(job);
}

/* Records whether the rank that the page names has a recording of its own. */
static void check_recording(struct tp_job *job)
{
	size_t index = job->late == TP_JOB_NO_RANK ? 0 : (size_t)job->late;
	if (index >= job->n_ranks)
		return;
	char *manifest = tp_asprintf("%s/manifest.json", job->ranks[index].directory);
	job->has_no_recording = access(manifest, F_OK) != 0;
	free(manifest);
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
	for (size_t i = 0; i < members.n && status == TP_OK; i++)
		if (members.items[i].digest &&
		    (members.items[i].unreadable.status != TP_OK || may_use_digests(options)))
			load_digest(job, &members.items[i]);
	struct tp_job_place chosen = {0};
	if (status == TP_OK && !choose_job(&chosen, job, &members, id))
		status = fail_no_job(job, &members, id, err);
	if (status == TP_OK) {
		keep_job(job, &chosen);
		status = read_ranks(job, &members, &chosen, options, err);
	}
	if (status == TP_OK) {
		tp_job_join(job);
		advise(job, options);
		check_recording(job);
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
