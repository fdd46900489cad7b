/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the ranks of a job into one file. */
#include "digest_merge.h"

#include "cli/session/job_folder.h"
#include "cli/session/rules_dir.h"
#include "cli/terminal/messages.h"
#include "job_ranks.h"

#include "trainprof/analyze/job_join.h"
#include "trainprof/base/memory.h"
#include "trainprof/store/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* GROUP_MAX limits one source, to bound memory: 11 million steps. */
enum { GROUP_MAX = 64 << 20, SAID_MAX = 20, NAME_MAX_BYTES = TP_DIGEST_FRAME_MAX };

static uint64_t key_of(const char *name)
{
	return tp_hash_bytes(name, strlen(name));
}

/* ---- the job file ---------------------------------------------------------------------------- */

static void write_bytes(struct tp_digest_merge *merge, const struct tp_buf *bytes)
{
	if (merge->write_error.status == TP_OK &&
	    fwrite(bytes->data, 1, bytes->len, merge->out) != bytes->len)
		tp_fail_errno(&merge->write_error, errno, "cannot write '%s'", merge->part);
}

/* Writes one source with all its frames. */
static void write_group(struct tp_digest_merge *merge, const char *name)
{
	struct tp_buf head = {0};
	tp_digest_put_source(&head, name, merge->group.len);
	write_bytes(merge, &head);
	if (merge->group.len)
		write_bytes(merge, &merge->group);
	tp_buf_release(&head);
	merge->counts.n_sources++;
	tp_map_set(&merge->done, key_of(name), 1);
}

static void count_rank(struct tp_digest_counts *counts, const struct tp_digest_frame *frame)
{
	if (frame->kind != TP_DIGEST_RANK)
		return;
	counts->n_ranks++;
	counts->n_unreadable += !tp_digest_is_readable(frame);
}

/* Reads the complete part of an earlier merge. Returns the offset of its end; 0 = nothing is
 * complete. */
static uint64_t read_part(struct tp_digest_merge *merge)
{
	struct tp_digest_reader *reader = NULL;
	struct tp_digest_frame frame = {0};
	struct tp_digest_counts counts = {0};
	uint64_t group_end = TP_DIGEST_HEADER_SIZE;
	uint64_t whole = 0;
	uint64_t key = 0;
	if (tp_digest_open(&reader, merge->part, NULL) != TP_OK)
		return 0;
	for (;;) {
		uint64_t at = tp_digest_offset(reader);
		if (at == group_end) {
			whole = at;
			merge->counts = counts;
			if (counts.n_sources)
				tp_map_set(&merge->done, key, 1);
		}
		char name[NAME_MAX_BYTES];
		uint64_t n_bytes;
		if (tp_digest_next(reader, &frame, NULL) != TP_OK || frame.kind == TP_DIGEST_END)
			break;
		count_rank(&counts, &frame);
		if (frame.kind != TP_DIGEST_SOURCE)
			continue;
		if (at != group_end ||
		    !tp_digest_get_source(&frame, name, sizeof(name), &n_bytes) ||
		    n_bytes > GROUP_MAX)
			break;
		counts.n_sources++;
		key = key_of(name);
		group_end = at + frame.size + n_bytes;
	}
	tp_digest_close(reader);
	return whole;
}

static enum tp_status open_part(struct tp_digest_merge *merge, struct tp_error *err)
{
	int fd = open(merge->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return tp_fail_errno(err, errno, "cannot write '%s'", merge->part);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return tp_fail(err, TP_BUSY, "another merge writes '%s'", merge->part);
	}
	uint64_t whole = read_part(merge);
	merge->n_before = merge->counts.n_sources;
	if (ftruncate(fd, (off_t)whole) != 0 || lseek(fd, 0, SEEK_END) < 0 ||
	    !(merge->out = fdopen(fd, "wb"))) {
		close(fd);
		return tp_fail_errno(err, errno, "cannot write '%s'", merge->part);
	}
	if (!whole) {
		struct tp_buf head = {0};
		tp_digest_put_header(&head);
		write_bytes(merge, &head);
		tp_buf_release(&head);
	}
	return TP_OK;
}

enum tp_status tp_digest_merge_open(struct tp_digest_merge *merge, const char *path,
				    const struct tp_analysis_session_options *how,
				    struct tp_error *err)
{
	*merge = (struct tp_digest_merge){.how = how, .path = tp_strdup(path)};
	merge->part = tp_asprintf("%s.part", path);
	enum tp_status status = TP_OK;
	if (access(path, F_OK) == 0) {
		status = tp_fail(err, TP_EXISTS, "'%s' exists", path);
		tp_error_next(err, "choose another -o");
	}
	if (status == TP_OK)
		status = open_part(merge, err);
	if (status != TP_OK)
		tp_digest_merge_close(merge);
	return status;
}

enum tp_status tp_digest_merge_finish(struct tp_digest_merge *merge, struct tp_error *err)
{
	struct tp_buf tail = {0};
	tp_digest_put_end(&tail, &merge->counts);
	write_bytes(merge, &tail);
	tp_buf_release(&tail);
	if (merge->write_error.status == TP_OK && fflush(merge->out) != 0)
		tp_fail_errno(&merge->write_error, errno, "cannot write '%s'", merge->part);
	if (merge->write_error.status == TP_OK && rename(merge->part, merge->path) != 0)
		tp_fail_errno(&merge->write_error, errno, "cannot write '%s'", merge->path);
	if (merge->write_error.status != TP_OK && err)
		*err = merge->write_error;
	return merge->write_error.status;
}

void tp_digest_merge_close(struct tp_digest_merge *merge)
{
	if (merge->out)
		fclose(merge->out);
	if (merge->patterns)
		tp_patterns_free(merge->patterns);
	tp_map_release(&merge->done);
	tp_buf_release(&merge->group);
	free(merge->path);
	free(merge->part);
	*merge = (struct tp_digest_merge){0};
}

/* ---- sources --------------------------------------------------------------------------------- */

static void add_ranks(struct tp_digest_merge *merge, const struct tp_job *job)
{
	for (size_t i = 0; i < job->n_ranks; i++) {
		tp_digest_put_rank(&merge->group, &job->ranks[i], NULL, 0);
		merge->counts.n_ranks++;
		merge->counts.n_unreadable += job->ranks[i].unreadable != NULL;
	}
}

static void add_failed_source(struct tp_digest_merge *merge, const char *name, const char *why)
{
	struct tp_job job;
	if (merge->counts.n_unreadable < SAID_MAX)
		tp_message_print(NULL, "left out %s: %s", name, why);
	tp_job_init(&job);
	tp_job_ranks_add_failed(&job, name, why);
	tp_buf_clear(&merge->group);
	add_ranks(merge, &job);
	write_group(merge, name);
	tp_job_release(&job);
}

static enum tp_status load_patterns(struct tp_digest_merge *merge, struct tp_error *err)
{
	struct tp_rules_dirs dirs = {0};
	if (merge->patterns)
		return TP_OK;
	enum tp_status status = tp_rules_dir_find(&dirs, &merge->how->rules, err);
	if (status == TP_OK)
		status = tp_rules_dir_load_patterns(&merge->patterns, &dirs, err);
	tp_rules_dir_release(&dirs);
	return status;
}

/* Adds a recording without a digest, for example of a rank that was killed. */
static void add_recording(struct tp_digest_merge *merge, const char *directory)
{
	struct tp_job_members members = {0};
	struct tp_error err = {0};
	struct tp_job job;
	if (tp_job_members_add(&members, directory, &err) != TP_OK ||
	    load_patterns(merge, &err) != TP_OK) {
		add_failed_source(merge, directory, err.text);
		tp_job_members_release(&members);
		return;
	}
	const struct tp_job_member *member = &members.items[0];
	tp_job_init(&job);
	if (member->unreadable.status == TP_OK)
		tp_job_ranks_add(&job, member, merge->patterns, merge->how);
	if (member->unreadable.status != TP_OK || (job.n_ranks == 1 && job.ranks[0].unreadable)) {
		add_failed_source(merge, directory,
				  job.n_ranks ? job.ranks[0].unreadable : member->unreadable.text);
	} else {
		tp_buf_clear(&merge->group);
		add_ranks(merge, &job);
		write_group(merge, directory);
	}
	tp_job_release(&job);
	tp_job_members_release(&members);
}

/* Copies a group of a job file, or the whole digest of a recording, unchanged if it is complete. */
static enum tp_status copy_frames(struct tp_digest_merge *merge, struct tp_digest_reader *reader,
				  uint64_t n_bytes, const char *name, struct tp_error *err)
{
	struct tp_digest_counts counts = merge->counts;
	struct tp_digest_frame frame = {0};
	tp_buf_clear(&merge->group);
	while (merge->group.len < n_bytes) {
		enum tp_status status = tp_digest_next(reader, &frame, err);
		if (status != TP_OK)
			return status;
		if (frame.kind == TP_DIGEST_END)
			break;
		if (frame.kind == TP_DIGEST_SOURCE || merge->group.len > GROUP_MAX)
			return tp_fail(err, TP_PARSE, "malformed");
		tp_buf_add(&merge->group, (const char *)frame.bytes, frame.size);
		count_rank(&counts, &frame);
	}
	merge->counts = counts;
	write_group(merge, name);
	return TP_OK;
}

static bool is_done(const struct tp_digest_merge *merge, const char *name)
{
	return tp_map_get(&merge->done, key_of(name), NULL);
}

/* Adds a digest without names of sources as one source. */
static void add_digest(struct tp_digest_merge *merge, const char *path, const char *directory)
{
	struct tp_digest_reader *reader = NULL;
	struct tp_error err = {0};
	if (is_done(merge, directory))
		return;
	enum tp_status status = tp_digest_open(&reader, path, &err);
	if (status == TP_OK) {
		status = copy_frames(merge, reader, UINT64_MAX, directory, &err);
		tp_digest_close(reader);
	}
	if (status == TP_OK)
		return;
	char *manifest = tp_asprintf("%s/manifest.json", directory);
	if (access(manifest, F_OK) == 0)
		add_recording(merge, directory);
	else
		add_failed_source(merge, directory, err.text);
	free(manifest);
}

/* Sources of a job file are named after the file and themselves: two hosts may use the same
 * names. */
static void add_job_file(struct tp_digest_merge *merge, const char *path)
{
	struct tp_digest_reader *reader = NULL;
	struct tp_digest_frame frame = {0};
	struct tp_error err = {0};
	char name[NAME_MAX_BYTES];
	uint64_t n_bytes;
	enum tp_status status = tp_digest_open(&reader, path, &err);
	while (status == TP_OK) {
		status = tp_digest_next(reader, &frame, &err);
		if (status != TP_OK || frame.kind == TP_DIGEST_END)
			break;
		if (frame.kind != TP_DIGEST_SOURCE)
			continue;
		if (!tp_digest_get_source(&frame, name, sizeof(name), &n_bytes)) {
			status = tp_fail(&err, TP_PARSE, "malformed");
			break;
		}
		char *whole =
			merge->keeps_names ? tp_strdup(name) : tp_asprintf("%s:%s", path, name);
		if (!is_done(merge, whole))
			status = copy_frames(merge, reader, n_bytes, whole, &err);
		free(whole);
	}
	if (reader)
		tp_digest_close(reader);
	if (status != TP_OK && !is_done(merge, path))
		add_failed_source(merge, path, err.text);
}

/* ---- folders --------------------------------------------------------------------------------- */

static bool has_file(const char *directory, const char *name)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

static void add_file(struct tp_digest_merge *merge, const char *path)
{
	struct tp_digest_reader *reader = NULL;
	struct tp_digest_frame frame = {0};
	bool is_digest = tp_digest_open(&reader, path, NULL) == TP_OK;
	if (is_digest) {
		is_digest = tp_digest_next(reader, &frame, NULL) == TP_OK &&
			    frame.kind == TP_DIGEST_RANK;
		tp_digest_close(reader);
	}
	if (is_digest)
		add_digest(merge, path, path);
	else
		add_job_file(merge, path);
}

static bool is_of_share(const struct tp_digest_merge *merge, const char *path)
{
	int64_t number;
	if (!merge->n_divisor)
		return true;
	if (!tp_job_folder_number(path, &number))
		number = 0;
	return (uint64_t)number % merge->n_divisor == merge->remainder;
}

/* Returns false if the path is neither a source nor a file of ours, or is a folder to search. A
 * source of another rank's share counts as ours. */
static bool add_entry(struct tp_digest_merge *merge, const char *path, bool may_be_file)
{
	char digest[PATH_MAX];
	int64_t number;
	snprintf(digest, sizeof(digest), "%s/" TP_DIGEST_NAME, path);
	bool has_digest = access(digest, F_OK) == 0;
	bool has_recording = has_file(path, "manifest.json");
	bool is_file = may_be_file && strcmp(path, merge->part) != 0 && tp_digest_is_one(path);
	if (!has_digest && !has_recording && !is_file && !tp_job_folder_number(path, &number))
		return false;
	if (!is_of_share(merge, path) || is_done(merge, path))
		return true;
	if (has_digest)
		add_digest(merge, digest, path);
	else if (has_recording)
		add_recording(merge, path);
	else if (is_file)
		add_file(merge, path);
	else
		add_failed_source(merge, path, "it holds neither a digest nor a recording");
	return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

enum tp_status tp_digest_merge_add(struct tp_digest_merge *merge, const char *word,
				   struct tp_error *err)
{
	struct dirent **entries = NULL;
	struct stat info;
	size_t n_found = merge->n_divisor > 1; /* the other shares may have all sources */
	if (stat(word, &info) != 0)
		return tp_fail_errno(err, errno, "cannot read '%s'", word);
	if (add_entry(merge, word, S_ISREG(info.st_mode)))
		return merge->write_error.status;
	int n = S_ISDIR(info.st_mode) ? scandir(word, &entries, is_visible, by_name) : 0;
	if (n < 0)
		return tp_fail_errno(err, errno, "cannot read '%s'", word);
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		snprintf(path, sizeof(path), "%s/%s", word, entries[i]->d_name);
		n_found += add_entry(merge, path, entries[i]->d_type != DT_DIR);
		free(entries[i]);
	}
	free((void *)entries);
	if (n_found)
		return TP_OK;
	return tp_fail(err, TP_ABSENT, "'%s' holds no recording and no digest", word);
}
