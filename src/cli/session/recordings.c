/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, names and removes recording directories. */
#include "recordings.h"

#include "job_folder.h"

#include "trainprof/base/file.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/base/trust.h"
#include "trainprof/report/units.h"
#include "trainprof/store/rank_digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Folder of recordings without -o and of the link to the last one, ignored by git. */
#define STORE       ".trainprof"
#define STORE_LAST  STORE "/last"
#define STORE_RULES STORE "/.gitignore"

/* Used if that folder cannot be made, and by earlier versions. */
#define LAST "trainprof-last"

/* Baselines are saved on purpose, to be committed. */
static const char ignore_rules[] = "*\n!/baselines/\n!/baselines/**\n";

/* Even a short recording needs more: first manifest, marks file (1 MiB), first blocks. */
static const uint64_t min_free_bytes = 4U << 20;

/* Length without trailing slashes. */
static size_t trimmed_length(const char *path)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len;
}

/* "a/b/" -> "a", "b" -> ".". Freed by the caller. */
static char *parent_of(const char *path)
{
	size_t len = trimmed_length(path);
	while (len && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len ? tp_strndup(path, len) : tp_strdup(".");
}

char *tp_recordings_absolute(const char *path)
{
	size_t len = trimmed_length(path);
	size_t start = len;
	while (start && path[start - 1] != '/')
		start--;
	char *parent = parent_of(path);
	char *whole = realpath(parent, NULL);
	char *out =
		tp_asprintf("%s/%.*s", whole ? whole : parent, (int)(len - start), path + start);
	free(whole);
	free(parent);
	return out;
}

/* True for a real folder that only the user can write: another owner could choose its content. */
static bool is_own_store(void)
{
	struct stat info;
	return lstat(STORE, &info) == 0 && S_ISDIR(info.st_mode) && tp_trust_is_given(STORE);
}

/* True if the folder exists or can be made, and does not belong to another user. */
static bool can_have_store(void)
{
	struct stat info;
	if (lstat(STORE, &info) != 0)
		return errno == ENOENT && access(".", W_OK | X_OK) == 0;
	return is_own_store() && access(STORE, W_OK | X_OK) == 0;
}

static bool make_store(void)
{
	if (mkdir(STORE, 0700) != 0 && errno != EEXIST)
		return false;
	if (!is_own_store() || access(STORE, W_OK | X_OK) != 0)
		return false;
	int fd = open(STORE_RULES, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno == EEXIST;
	bool is_written = tp_file_write_all(fd, ignore_rules, sizeof(ignore_rules) - 1);
	close(fd);
	if (!is_written)
		unlink(STORE_RULES);
	return is_written;
}

char *tp_recordings_named(const char *name)
{
	return tp_asprintf("%s%s", can_have_store() ? STORE "/" : "trainprof-", name);
}

char *tp_recordings_new_name(const char *ending)
{
	char base[40];
	char name[80];
	struct tm local;
	time_t now = time(NULL);
	struct stat info;
	localtime_r(&now, &local);
	strftime(base, sizeof(base),
		 can_have_store() ? STORE "/%m%d-%H%M%S" : "trainprof-%m%d-%H%M%S", &local);
	snprintf(name, sizeof(name), "%s%s", base, ending);
	for (unsigned i = 2; lstat(name, &info) == 0; i++)
		snprintf(name, sizeof(name), "%s%s-%u", base, ending, i);
	return tp_strdup(name);
}

/* Readers see the old link or the new one, even if several runs end at the same time. */
static void replace_link(const char *target, const char *link)
{
	struct stat info;
	/* A user's own file of that name stays. */
	if (lstat(link, &info) == 0 && !S_ISLNK(info.st_mode))
		return;
	char *temporary = tp_asprintf("%s.next%d", link, (int)getpid());
	if (symlink(target, temporary) == 0 && rename(temporary, link) != 0)
		unlink(temporary);
	free(temporary);
}

void tp_recordings_set_last(const char *directory)
{
	if (!make_store()) {
		replace_link(directory, LAST);
	} else if (tp_text_starts_with(directory, STORE "/")) {
		replace_link(directory + strlen(STORE "/"), STORE_LAST);
	} else {
		char *target = tp_asprintf("%s%s", *directory == '/' ? "" : "../", directory);
		replace_link(target, STORE_LAST);
		free(target);
	}
}

static bool is_recording(const char *directory)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/manifest.json", directory);
	return access(path, F_OK) == 0;
}

static bool has_digest(const char *directory)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" TP_DIGEST_NAME, directory);
	return access(path, F_OK) == 0;
}

static const struct dirent *next_entry(DIR *dir)
{
	return readdir(dir); /* NOLINT(concurrency-mt-unsafe): a DIR of our own */
}

/* The newest recording in a folder whose name begins with `begin` and that no other user can have
 * created. Freed by the caller; NULL if there is none. */
static char *find_newest(const char *folder, const char *begin)
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);
	struct timespec best = {0};
	char *found = NULL;
	while (dir && (entry = next_entry(dir))) {
		struct stat info;
		if (!tp_text_starts_with(entry->d_name, begin) || *entry->d_name == '.')
			continue;
		char *path = strcmp(folder, ".") == 0 ? tp_strdup(entry->d_name)
						      : tp_asprintf("%s/%s", folder, entry->d_name);
		bool is_newer = lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
				is_recording(path) && tp_trust_is_given(path) &&
				(info.st_mtim.tv_sec > best.tv_sec ||
				 (info.st_mtim.tv_sec == best.tv_sec &&
				  info.st_mtim.tv_nsec > best.tv_nsec));
		if (is_newer) {
			best = info.st_mtim;
			free(found);
			found = path;
		} else {
			free(path);
		}
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A link made by another user in a shared folder may point anywhere. */
static bool is_own_link(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid());
}

/* The target as it is typed here; NULL if there is no such link. Freed by the caller. */
static char *read_link(const char *link)
{
	char target[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target) - 1);
	if (len <= 0)
		return NULL;
	target[len] = '\0';
	if (strcmp(link, STORE_LAST) != 0 || *target == '/')
		return tp_strdup(target);
	if (tp_text_starts_with(target, "../"))
		return tp_strdup(target + 3);
	return tp_asprintf("%s/%s", STORE, target);
}

char *tp_recordings_last_name(void)
{
	char *name = is_own_store() && is_own_link(STORE_LAST) ? read_link(STORE_LAST) : NULL;
	return name || !is_own_link(LAST) ? name : read_link(LAST);
}

char *tp_recordings_last_job(void)
{
	char *last = tp_recordings_last_name();
	if (last && tp_trust_is_given(last) && tp_job_folder_is_one(last))
		return last;
	free(last);
	return NULL;
}

/* The target of the link, if it is a recording that no other user can have created. */
static char *follow_link(const char *link)
{
	return is_recording(link) && tp_trust_is_given(link) ? read_link(link) : NULL;
}

/* The same, but fails if the link names the folder of a job: that is the last result, but no
 * recording. */
static enum tp_status follow_last(char **out, const char *link, struct tp_error *err)
{
	*out = follow_link(link);
	if (*out || !is_own_link(link) || !tp_trust_is_given(link) || !tp_job_folder_is_one(link))
		return TP_OK;
	char *folder = read_link(link);
	tp_fail(err, TP_ABSENT, "'%s', the last one here, is of a job of several ranks", folder);
	tp_error_next_word(err, "trainprof report ", folder, "");
	free(folder);
	return TP_ABSENT;
}

/* The first entry here that would be the last recording if it belonged to the user, else NULL. */
static const char *find_foreign(void)
{
	struct stat info;
	if (lstat(STORE, &info) == 0 && !is_own_store())
		return STORE;
	if (is_recording(STORE_LAST))
		return STORE_LAST;
	return is_recording(LAST) ? LAST : NULL;
}

static enum tp_status fail_no_recording(struct tp_error *err)
{
	const char *foreign = find_foreign();
	enum tp_status trust = foreign ? tp_trust_check(foreign, err) : TP_OK;
	if (trust != TP_OK)
		return trust;
	tp_fail(err, TP_ABSENT, "no recording here");
	tp_error_next(err, "trainprof run -- ./train");
	return TP_ABSENT;
}

static enum tp_status find_last(char **out, struct tp_error *err)
{
	char *found = NULL;
	enum tp_status status = is_own_store() ? follow_last(&found, STORE_LAST, err) : TP_OK;
	if (!status && !found && is_own_store())
		found = find_newest(STORE, "");
	if (!status && !found)
		status = follow_last(&found, LAST, err);
	if (status)
		return status;
	if (!found)
		found = find_newest(".", "trainprof-");
	if (!found)
		return fail_no_recording(err);
	*out = found;
	return TP_OK;
}

bool tp_recordings_is_trace_file(const char *path)
{
	static const char *const endings[] = {".json", ".gz", ".tar", ".tgz", ".sqlite"};
	struct stat info;
	size_t len = strlen(path);
	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	for (size_t i = 0; i < TP_ARRAY_LEN(endings); i++) {
		size_t n = strlen(endings[i]);
		if (len > n && strcmp(path + len - n, endings[i]) == 0)
			return true;
	}
	return false;
}

enum tp_status tp_recordings_find(char **out, const char *word, struct tp_error *err)
{
	struct stat info;
	char *last = NULL;
	if (!word)
		return find_last(out, err);
	if (stat(word, &info) != 0)
		return tp_fail_errno(err, errno, "no recording '%s'", word);
	char *directory = tp_strdup(word);
	if (S_ISREG(info.st_mode)) {
		free(directory);
		directory = parent_of(word);
	}
	if (is_recording(directory)) {
		*out = directory;
		return TP_OK;
	}
	tp_fail(err, TP_ABSENT, "'%s' is not a recording (no manifest.json)", word);
	if (tp_recordings_is_trace_file(word))
		tp_error_next_word(err, "trainprof import ", word, "");
	else if (find_last(&last, NULL) == TP_OK)
		tp_error_next_word(err, "trainprof report ", last, "   (newest here)");
	free(last);
	free(directory);
	return TP_ABSENT;
}

bool tp_recordings_is_last(const char *directory)
{
	char *last = NULL;
	struct stat here;
	struct stat there;
	bool is_last = find_last(&last, NULL) == TP_OK && stat(last, &here) == 0 &&
		       stat(directory, &there) == 0 && here.st_dev == there.st_dev &&
		       here.st_ino == there.st_ino;
	free(last);
	return is_last;
}

/* ".tmp4711": left by tp_file_replace() if it is killed. */
static bool is_temporary_ending(const char *ending)
{
	return tp_text_starts_with(ending, ".tmp") && ending[4] &&
	       !ending[4 + strspn(ending + 4, "0123456789")];
}

/* Only files that trainprof writes itself. */
static bool is_recording_file(const char *name)
{
	static const char *const names[] = {"manifest.json", "records.tpr",    "report.json",
					    "marks.ring",    ".manifest.next", ".reserve",
					    TP_DIGEST_NAME};
	for (size_t i = 0; i < TP_ARRAY_LEN(names); i++) {
		if (!tp_text_starts_with(name, names[i]))
			continue;
		const char *ending = name + strlen(names[i]);
		if (!*ending || is_temporary_ending(ending))
			return true;
	}
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static enum tp_status refuse_foreign(const char *directory, const char *name, struct tp_error *err)
{
	char *path = tp_asprintf("%.*s/%s", (int)trimmed_length(directory), directory, name);
	tp_fail(err, TP_EXISTS, "'%s' holds '%s', which is not ours", directory, name);
	tp_error_next_word(err, "choose another -o, or move it: mv ", path, " .");
	free(path);
	return TP_EXISTS;
}

static enum tp_status check_contents(const char *directory, struct tp_error *err)
{
	const struct dirent *entry;
	enum tp_status status = TP_OK;
	DIR *dir = opendir(directory);
	if (!dir)
		return tp_fail_errno(err, errno, "cannot read '%s'", directory);
	while (status == TP_OK && (entry = next_entry(dir)))
		if (!is_recording_file(entry->d_name))
			status = refuse_foreign(directory, entry->d_name, err);
	closedir(dir);
	return status;
}

static enum tp_status check_can_replace(const char *directory, const struct stat *info,
					struct tp_error *err)
{
	if (S_ISDIR(info->st_mode) && (is_recording(directory) || has_digest(directory)))
		return check_contents(directory, err);
	tp_fail(err, TP_EXISTS, "'%s' exists and is not a recording", directory);
	tp_error_next(err, "choose another -o");
	return TP_EXISTS;
}

/* The lock is released when the process ends in any way, so the descriptor is never closed. */
static void hold(const char *aside)
{
	int fd = open(aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		(void)flock(fd, LOCK_EX | LOCK_NB);
}

bool tp_recordings_is_held(const char *aside)
{
	int fd = open(aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return true; /* not ours to change */
	bool is_held = flock(fd, LOCK_EX | LOCK_NB) != 0;
	close(fd);
	return is_held;
}

enum tp_status tp_recordings_backup(char **out, const char *directory, struct tp_error *err)
{
	struct stat info;
	*out = NULL;
	if (lstat(directory, &info) != 0)
		return TP_OK;
	enum tp_status status = check_can_replace(directory, &info, err);
	if (status != TP_OK)
		return status;
	char *aside = tp_asprintf("%.*s.old-%d", (int)trimmed_length(directory), directory,
				  (int)getpid());
	if (rename(directory, aside) == 0) {
		hold(aside);
		*out = aside;
		return TP_OK;
	}
	status = tp_fail_errno(err, errno, "cannot replace '%s'", directory);
	free(aside);
	return status;
}

enum tp_status tp_recordings_restore(const char *aside, const char *directory, struct tp_error *err)
{
	if (rename(aside, directory) == 0)
		return TP_OK;
	return tp_fail_errno(err, errno, "the old recording stays in '%s'", aside);
}

/* Removes all files except `kept`, which may be NULL. */
static void remove_files(const char *directory, const char *kept)
{
	const struct dirent *entry;
	DIR *dir = opendir(directory);
	while (dir && (entry = next_entry(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    (!kept || strcmp(entry->d_name, kept) != 0))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

enum tp_status tp_recordings_remove(const char *directory, struct tp_error *err)
{
	struct stat info;
	if (lstat(directory, &info) != 0)
		return TP_OK;
	enum tp_status status = check_can_replace(directory, &info, err);
	if (status == TP_OK)
		remove_files(directory, NULL);
	if (status == TP_OK && rmdir(directory) != 0)
		status = tp_fail_errno(err, errno, "cannot remove '%s'", directory);
	return status;
}

void tp_recordings_keep_digest(const char *directory)
{
	struct stat info;
	if (has_digest(directory) && lstat(directory, &info) == 0 &&
	    check_can_replace(directory, &info, NULL) == TP_OK)
		remove_files(directory, TP_DIGEST_NAME);
}

enum tp_status tp_recordings_check_room(const char *directory, struct tp_error *err)
{
	struct statvfs fs;
	if (tp_text_starts_with(directory, STORE "/"))
		(void)!make_store();
	char *parent = parent_of(directory);
	enum tp_status status = TP_OK;
	/* If nothing can be stored at all (/proc), creating the directory fails with a better
	 * message. */
	if (statvfs(parent, &fs) == 0 && fs.f_blocks &&
	    (uint64_t)fs.f_bavail * fs.f_frsize < min_free_bytes) {
		status = tp_fail(err, TP_IO, "cannot record in '%s': %s free, at least %s needed",
				 parent,
				 tp_unit_bytes((double)fs.f_bavail * (double)fs.f_frsize).text,
				 tp_unit_bytes((double)min_free_bytes).text);
		tp_error_next(err, "trainprof run -o /tmp/prof -- …");
	}
	free(parent);
	return status;
}
