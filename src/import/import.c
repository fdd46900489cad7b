/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files in parallel, each with the importer that recognises it, and sorts their ranks. */
#include "trainprof/import/import.h"

#include "import_format.h"

#include "import/reader/import_file.h"
#include "import/reader/import_session.h"
#include "import/reader/rank_name.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The first importer that recognises a file reads it: importers for the marks of one maker come
 * before Kineto, which accepts any JSON, and importers for the tables of one maker come before
 * nsys, which accepts any database. */
static const struct tp_importer *const importers[] = {
	&tp_importer_straggler,   &tp_importer_ascend_csv,  &tp_importer_ascend,
	&tp_importer_rocprof,     &tp_importer_timeline,    &tp_importer_horovod,
	&tp_importer_xprof_json,  &tp_importer_kineto,      &tp_importer_ascend_db,
	&tp_importer_rocpd,       &tp_importer_rpd,         &tp_importer_nsys,
	&tp_importer_nsys_report, /* same name as the previous one, for files with that suffix */
	&tp_importer_xprof,       &tp_importer_named_lanes, /* only when asked for */
};

/* The order for users: the most frequent formats first. */
static const struct tp_importer *const listed[] = {
	&tp_importer_kineto,     &tp_importer_nsys,        &tp_importer_xprof,
	&tp_importer_xprof_json, &tp_importer_rocpd,       &tp_importer_rocprof,
	&tp_importer_rpd,        &tp_importer_ascend,      &tp_importer_ascend_db,
	&tp_importer_ascend_csv, &tp_importer_timeline,    &tp_importer_horovod,
	&tp_importer_straggler,  &tp_importer_named_lanes,
};

const struct tp_import_format_info *tp_import_format_info(size_t n)
{
	_Static_assert(TP_ARRAY_LEN(listed) + 1 == TP_ARRAY_LEN(importers), "names are listed");
	return n < TP_ARRAY_LEN(listed) ? &listed[n]->info : NULL;
}

/* ---- the readers ---- */

/* Files are processed in order; `next` is protected by the session's lock. */
struct import_job {
	struct tp_import_session session;
	struct tp_importer_list choice;
	const char *const *paths;
	size_t n_paths;
	size_t next;
	enum tp_status *statuses; /* by path */
	struct tp_error *errors;
};

/* After a file has failed, no other file is begun. */
static bool job_next(struct import_job *job, size_t *file)
{
	pthread_mutex_lock(&job->session.lock);
	*file = job->next++;
	pthread_mutex_unlock(&job->session.lock);
	return *file < job->n_paths;
}

static void *job_work(void *argument)
{
	struct import_job *job = argument;
	size_t file;
	while (job_next(job, &file)) {
		job->statuses[file] = tp_import_file_read(&job->session, file, job->paths[file],
							  &job->choice, &job->errors[file]);
		if (!job->statuses[file])
			continue;
		pthread_mutex_lock(&job->session.lock);
		job->next = job->n_paths;
		pthread_mutex_unlock(&job->session.lock);
	}
	return NULL;
}

static size_t allowed_cpus(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return (size_t)CPU_COUNT(&set);
}

/* The calling thread works too, so the job is done even if no other thread can be created. */
static void job_run(struct import_job *job, size_t n_threads)
{
	pthread_t *threads = tp_alloc(n_threads * sizeof(*threads));
	size_t n = 0;
	sigset_t all;
	sigset_t before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (n + 1 < n_threads && pthread_create(&threads[n], NULL, job_work, job) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)job_work(job);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static size_t threads_needed(const struct import_job *job, const struct tp_import_options *options)
{
	size_t n = options->n_threads ? options->n_threads : allowed_cpus();
	return n < job->n_paths ? n : job->n_paths;
}

/* ---- the result ---- */

static int by_file(const void *a, const void *b)
{
	const struct tp_import_session_rank *left = a;
	const struct tp_import_session_rank *right = b;
	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static int by_number(const void *a, const void *b)
{
	const struct tp_import_session_rank *left = a;
	const struct tp_import_session_rank *right = b;
	if (left->info.number != right->info.number)
		return left->info.number < right->info.number ? -1 : 1;
	return by_file(a, b);
}

/* With several ranks, a file without a rank number may have the number in its name. */
static void rank_number_guess(struct tp_rank_info *info)
{
	if (info->number < 0)
		info->number = tp_rank_name_number(info->member ? info->member : info->path);
}

/* If every rank has a distinct number, ranks are sorted by number and not by the order of files, so
 * the result does not depend on the order of the files. */
static void ranks_sort(struct tp_import_session_rank *ranks, size_t n)
{
	qsort(ranks, n, sizeof(*ranks), by_number);
	bool have_numbers = n > 0 && ranks[0].info.number >= 0;
	for (size_t i = 1; i < n; i++)
		have_numbers &= ranks[i].info.number != ranks[i - 1].info.number;
	if (!have_numbers)
		qsort(ranks, n, sizeof(*ranks), by_file);
}

/* Tracks whose rank has moved to another index are emitted again. */
static void ranks_place(struct tp_import_session *session, struct tp_import_result *out)
{
	struct tp_import_session_rank *ordered =
		tp_alloc((session->n_ranks + 1) * sizeof(*ordered));
	uint32_t *place_of = tp_alloc((session->n_ranks + 1) * sizeof(*place_of));
	size_t n = 0;
	for (size_t i = 0; i < session->n_ranks; i++) {
		if (session->ranks[i].is_absent)
			continue;
		ordered[n] = session->ranks[i];
		ordered[n++].begun_as = i;
	}
	for (size_t i = 0; n > 1 && i < n; i++)
		rank_number_guess(&ordered[i].info);
	ranks_sort(ordered, n);
	struct tp_rank_info *ranks = tp_arena_array(&out->arena, n, sizeof(*ranks));
	for (size_t i = 0; i < n; i++) {
		ranks[i] = ordered[i].info;
		place_of[ordered[i].begun_as] = (uint32_t)i;
	}
	out->ranks = ranks;
	out->n_ranks = n;
	for (size_t i = 0; i < session->n_tracks; i++) {
		struct tp_track *track = &session->tracks[i];
		if (place_of[track->rank] == track->rank)
			continue;
		track->rank = place_of[track->rank];
		tp_sink_track(session->sink, track);
	}
	free(ordered);
	free(place_of);
}

static enum tp_status choose(struct tp_importer_list *out, const char *format, struct tp_error *err)
{
	const char *names[TP_ARRAY_LEN(importers)];
	*out = (struct tp_importer_list){importers, TP_ARRAY_LEN(importers)};
	if (!format)
		return TP_OK;
	for (size_t i = 0; i < TP_ARRAY_LEN(importers); i++) {
		names[i] = importers[i]->info.name;
		if (strcmp(names[i], format) == 0) {
			/* Importers with the same name are adjacent. */
			out->items = &importers[i];
			for (out->n = 1; i + out->n < TP_ARRAY_LEN(importers) &&
					 strcmp(importers[i + out->n]->info.name, format) == 0;)
				out->n++;
			return TP_OK;
		}
	}
	const char *nearest = tp_text_closest(format, names, TP_ARRAY_LEN(names));
	(void)tp_fail(err, TP_USAGE, "no format '%s'%s%s", format, nearest ? "; nearest: " : "",
		      nearest ? nearest : "");
	tp_error_next(err, "trainprof import --list");
	return TP_USAGE;
}

static enum tp_status first_failure(const struct import_job *job, struct tp_error *err)
{
	for (size_t i = 0; i < job->n_paths; i++) {
		if (!job->statuses[i])
			continue;
		if (err)
			*err = job->errors[i];
		return job->statuses[i];
	}
	return TP_OK;
}

bool tp_import_format_is_same_tool(const char *one, const char *other)
{
	static const char *const rocm[] = {"rocpd", "rocprof"};
	size_t len = strcspn(one, "-");
	size_t n_rocm = 0;
	for (size_t i = 0; i < TP_ARRAY_LEN(rocm); i++)
		n_rocm += (strcmp(one, rocm[i]) == 0) + (strcmp(other, rocm[i]) == 0);
	return n_rocm == 2 || (len == strcspn(other, "-") && memcmp(one, other, len) == 0);
}

const char *tp_import_format_of(const char *path)
{
	return tp_import_file_format(path, &(struct tp_importer_list){importers,
								      TP_ARRAY_LEN(importers)});
}

static bool is_same_folder(const char *one, const char *other)
{
	const char *slash = strrchr(one, '/');
	const char *other_slash = strrchr(other, '/');
	size_t len = slash ? (size_t)(slash - one) : 0;
	size_t other_len = other_slash ? (size_t)(other_slash - other) : 0;
	return len == other_len && memcmp(one, other, len) == 0;
}

static enum tp_status fail_other_tool(const struct tp_rank_info *first,
				      const struct tp_rank_info *rank, size_t index,
				      struct tp_error *err)
{
	(void)tp_fail(err, TP_PARSE, "rank %zu ('%s', %s) is of another tool than '%s' (%s)", index,
		      rank->path, rank->format, first->path, first->format);
	tp_error_next_word(err, "trainprof import ", first->path, "   (one tool at a time)");
	return TP_PARSE;
}

static size_t place_of(const char *format)
{
	size_t i = 0;
	while (i + 1 < TP_ARRAY_LEN(listed) && strcmp(listed[i]->info.name, format) != 0)
		i++;
	return i;
}

/* Databases say more than other forms, and of these the one that is listed first. */
static const struct tp_rank_info *more_detailed(const struct tp_rank_info *one,
						const struct tp_rank_info *other)
{
	size_t place = place_of(one->format);
	size_t other_place = place_of(other->format);
	if (listed[place]->wants_file != listed[other_place]->wants_file)
		return listed[place]->wants_file ? one : other;
	return place < other_place ? one : other;
}

/* Profilers write the same run in several forms next to each other. */
static enum tp_status fail_same_run(const struct tp_rank_info *one,
				    const struct tp_rank_info *other, struct tp_error *err)
{
	(void)tp_fail(err, TP_PARSE, "'%s' (%s) and '%s' (%s) are one run in two forms", one->path,
		      one->format, other->path, other->format);
	const struct tp_rank_info *better = more_detailed(one, other);
	if (better->member)
		tp_error_next(err, "trainprof import --from=%s FILE", better->format);
	else
		tp_error_next_word(err, "trainprof import ", better->path, "");
	return TP_PARSE;
}

/* Clocks and names of two makers do not match, so their ranks cannot belong to one job. Files of
 * unknown makers are not analysed anyway. */
static enum tp_status check_tools(const struct tp_import_result *result, struct tp_error *err)
{
	const struct tp_rank_info *first = NULL;
	for (size_t i = 0; i < result->n_ranks; i++) {
		const struct tp_rank_info *rank = &result->ranks[i];
		if (strcmp(rank->format, "unknown") == 0)
			continue;
		if (!first)
			first = rank;
		if (!tp_import_format_is_same_tool(first->format, rank->format))
			return fail_other_tool(first, rank, i, err);
		for (const struct tp_rank_info *before = first; before < rank; before++)
			if (strcmp(before->format, "unknown") != 0 &&
			    strcmp(before->format, rank->format) != 0 &&
			    is_same_folder(before->path, rank->path))
				return fail_same_run(before, rank, err);
	}
	return TP_OK;
}

/* Lanes that the user names are read by one importer only. */
static enum tp_status choose_for(struct tp_importer_list *out,
				 const struct tp_import_options *options, struct tp_error *err)
{
	const char *lanes = tp_importer_named_lanes.info.name;
	if (!options->device_lane)
		return choose(out, options->format, err);
	if (!options->format || strcmp(options->format, lanes) == 0)
		return choose(out, lanes, err);
	(void)tp_fail(err, TP_USAGE, "format %s has lanes of its own: --device-lane does not apply",
		      options->format);
	tp_error_next(err, "trainprof import --from=%s FILE", options->format);
	return TP_USAGE;
}

enum tp_status tp_import_files(struct tp_import_result *out, const char *const *paths,
			       size_t n_paths, const struct tp_import_options *options,
			       struct tp_sink *sink, struct tp_error *err)
{
	struct tp_import_result result = {0};
	struct import_job job = {.paths = paths, .n_paths = n_paths};
	enum tp_status status = choose_for(&job.choice, options, err);
	if (status)
		return status;
	job.session.sink = sink;
	job.session.arena = &result.arena;
	job.session.options = options;
	job.session.first_ns = UINT64_MAX;
	job.statuses = tp_alloc((n_paths + 1) * sizeof(*job.statuses));
	job.errors = tp_alloc((n_paths + 1) * sizeof(*job.errors));
	pthread_mutex_init(&job.session.lock, NULL);
	job_run(&job, threads_needed(&job, options));
	pthread_mutex_destroy(&job.session.lock);
	status = first_failure(&job, err);
	if (!status) {
		ranks_place(&job.session, &result);
		status = check_tools(&result, err);
	}
	if (!status) {
		result.n_tasks = job.session.n_tasks;
		result.n_thread_records = job.session.n_thread_records;
		result.last_ns = job.session.last_ns;
		result.first_ns = job.session.last_ns ? job.session.first_ns : 0;
		*out = result;
	} else {
		tp_arena_release(&result.arena);
	}
	free(job.session.ranks);
	free(job.session.tracks);
	free(job.statuses);
	free(job.errors);
	return status;
}

void tp_import_result_release(struct tp_import_result *result)
{
	tp_arena_release(&result->arena);
	*result = (struct tp_import_result){0};
}
