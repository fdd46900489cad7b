/* SPDX-License-Identifier: Apache-2.0 */
/* Names, makes and lists the folder of a job. */
#include "job_folder.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/store/rank_digest.h"
#include "trainprof/store/recording.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *own_variable(const void *context, const char *name)
{
	(void)context;
	return getenv(name); /* NOLINT(concurrency-mt-unsafe): nobody sets it */
}

bool tp_job_folder_place(struct tp_job_place *out, struct tp_arena *arena)
{
	return tp_job_place_find(out, own_variable, NULL, arena);
}

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static bool is_plain(const char *text)
{
	enum { PLAIN_MAX = 24 };
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_", text[i]))
			return false;
	return len && len <= PLAIN_MAX;
}

char *tp_job_folder_name(const struct tp_job_place *place)
{
	if (!place->id)
		return tp_strdup("job");
	if (is_plain(place->id))
		return tp_asprintf("job-%s", place->id);
	return tp_asprintf("job-%08" PRIx32, (uint32_t)hash_of(place->id));
}

/* The number after the dot in "rank-3.2"; 1 without one. */
static unsigned ordinal_of(const char *rank_directory)
{
	const char *dot = strrchr(rank_directory, '.');
	const char *slash = strrchr(rank_directory, '/');
	uint64_t n;
	return dot && (!slash || dot > slash) && tp_text_parse_count(dot + 1, &n) && n < 100000
		       ? (unsigned)n
		       : 1;
}

bool tp_job_folder_number(const char *rank_directory, int64_t *out)
{
	char digits[24];
	uint64_t number;
	const char *name = tp_text_base_name(rank_directory);
	if (!tp_text_starts_with(name, "rank-"))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)strspn(name + 5, "0123456789"), name + 5);
	if (!tp_text_parse_count(digits, &number) || number > INT32_MAX)
		return false;
	*out = (int64_t)number;
	return true;
}

char *tp_job_folder_rank(const char *folder, const struct tp_job_place *place, const char *before)
{
	size_t len = strlen(folder);
	while (len > 1 && folder[len - 1] == '/')
		len--;
	if (!before)
		return tp_asprintf("%.*s/rank-%" PRId64, (int)len, folder, place->rank);
	return tp_asprintf("%.*s/rank-%" PRId64 ".%u", (int)len, folder, place->rank,
			   ordinal_of(before) + 1);
}

static bool has_file(const char *directory, const char *name)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

static bool is_recording(const char *directory)
{
	return has_file(directory, "manifest.json") || has_file(directory, TP_DIGEST_NAME);
}

enum tp_status tp_job_folder_create(const char *folder, struct tp_error *err)
{
	struct stat info;
	if (mkdir(folder, 0700) == 0)
		return TP_OK;
	if (errno != EEXIST)
		return tp_fail_errno(err, errno, "cannot make '%s'", folder);
	if (stat(folder, &info) == 0 && S_ISDIR(info.st_mode) && !is_recording(folder))
		return TP_OK;
	tp_fail(err, TP_EXISTS, "'%s' exists and is not the folder of a job", folder);
	tp_error_next(err, "choose another -o");
	return TP_EXISTS;
}

/* ---- listing ---- */

/* A rank that was recorded separately, for example with attach, has the variables in its
 * environment. */
static const char *recorded_variable(const void *context, const char *name)
{
	const struct tp_run_info *run = context;
	for (size_t i = 0; i < run->n_environment; i++)
		if (strcmp(run->environment[i].name, name) == 0)
			return run->environment[i].value;
	return NULL;
}

static void add_member(struct tp_job_members *members, char *directory)
{
	struct tp_job_member member = {.directory = directory};
	if (has_file(directory, TP_DIGEST_NAME))
		member.digest = tp_asprintf("%s/" TP_DIGEST_NAME, directory);
	if (tp_store_load_info(&member.run, &member.is_closed, &members->arena, directory,
			       &member.unreadable) == TP_OK)
		member.unreadable.status = TP_OK;
	if (member.unreadable.status == TP_OK && !member.run.job.launcher)
		tp_job_place_find(&member.run.job, recorded_variable, &member.run, &members->arena);
	TP_ARRAY_PUSH(members->items, members->n, members->capacity) = member;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

enum tp_status tp_job_members_add(struct tp_job_members *members, const char *directory,
				  struct tp_error *err)
{
	struct dirent **entries = NULL;
	size_t before = members->n;
	struct stat info;
	if (stat(directory, &info) == 0 && S_ISREG(info.st_mode) && tp_digest_is_one(directory)) {
		struct tp_job_member file = {.directory = tp_strdup(directory),
					     .digest = tp_strdup(directory),
					     .is_file = true,
					     .unreadable = {.status = TP_ABSENT}};
		TP_ARRAY_PUSH(members->items, members->n, members->capacity) = file;
		return TP_OK;
	}
	if (is_recording(directory)) {
		add_member(members, tp_strdup(directory));
		return TP_OK;
	}
	int n = scandir(directory, &entries, is_visible, by_name);
	if (n < 0)
		return tp_fail_errno(err, errno, "no recording '%s'", directory);
	for (int i = 0; i < n; i++) {
		size_t len = strlen(directory);
		char *path = tp_asprintf("%s%s%s", directory,
					 len && directory[len - 1] == '/' ? "" : "/",
					 entries[i]->d_name);
		if (is_recording(path))
			add_member(members, path);
		else
			free(path);
		free(entries[i]);
	}
	free((void *)entries);
	if (members->n > before)
		return TP_OK;
	return tp_fail(err, TP_ABSENT, "'%s' holds no recording (no manifest.json)", directory);
}

void tp_job_members_release(struct tp_job_members *members)
{
	for (size_t i = 0; i < members->n; i++) {
		free(members->items[i].directory);
		free(members->items[i].digest);
	}
	free(members->items);
	tp_arena_release(&members->arena);
	*members = (struct tp_job_members){0};
}

bool tp_job_folder_is_one(const char *directory)
{
	struct tp_job_members members = {0};
	if (has_file(directory, TP_DIGEST_NAME) && !has_file(directory, "manifest.json"))
		return true; /* the report of a single rank needs more than a digest */
	bool is_one =
		!is_recording(directory) && tp_job_members_add(&members, directory, NULL) == TP_OK;
	tp_job_members_release(&members);
	return is_one;
}

bool tp_job_is_same(const struct tp_job_place *a, const struct tp_job_place *b)
{
	if (!a->launcher || !b->launcher)
		return !a->launcher && !b->launcher;
	if (a->n_ranks && b->n_ranks && a->n_ranks != b->n_ranks)
		return false;
	return strcmp(a->id ? a->id : "", b->id ? b->id : "") == 0;
}

/* Reads the place of a member of which only the digest is left. */
static void read_place(struct tp_job_member *member, struct tp_arena *arena)
{
	struct tp_job job = {0};
	if (tp_digest_load(&job, member->digest, NULL, NULL, NULL) == TP_OK && job.n_ranks) {
		const struct tp_job_rank *rank = &job.ranks[0];
		const struct tp_job_place place = {.launcher = rank->launcher,
						   .id = rank->job_id,
						   .rank = rank->number,
						   .n_ranks = rank->n_ranks};
		tp_job_place_copy(&member->run.job, &place, arena);
	}
	tp_job_release(&job);
}

struct tp_job_census tp_job_folder_count(const char *folder, const struct tp_job_place *place,
					 bool needs_digests)
{
	struct tp_job_census census = {0};
	struct tp_job_members members = {0};
	if (tp_job_members_add(&members, folder, NULL) != TP_OK)
		goto out;
	char *seen = tp_alloc(place->n_ranks + 1);
	for (size_t i = members.n; i > 0; i--) { /* the last start of a rank comes last */
		struct tp_job_member *member = &members.items[i - 1];
		if (member->digest && member->unreadable.status != TP_OK)
			read_place(member, &members.arena);
		int64_t rank = member->run.job.rank;
		if (!tp_job_is_same(&member->run.job, place) || rank < 0 ||
		    rank >= (int64_t)place->n_ranks || seen[rank])
			continue;
		seen[rank] = 1;
		census.n_seen++;
		census.n_closed += member->digest || (member->is_closed && !needs_digests);
	}
	free(seen);
out:
	tp_job_members_release(&members);
	return census;
}

bool tp_job_folder_lock_summary(const char *folder, const struct tp_job_place *place,
				const char *rank_directory)
{
	char *path =
		tp_asprintf("%s/.summary-%08" PRIx32 "-%u-%u", folder, (uint32_t)hash_of(place->id),
			    place->n_ranks, ordinal_of(rank_directory));
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		close(fd);
	free(path);
	return fd >= 0;
}
