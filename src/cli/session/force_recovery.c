/* SPDX-License-Identifier: Apache-2.0 */
/* Restores or removes the files that an interrupted --force has left. */
#include "force_recovery.h"

#include "cli/terminal/messages.h"
#include "recordings.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"
#include "trainprof/base/trust.h"
#include "trainprof/model/trace.h"
#include "trainprof/store/recording.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum state { MISSING, BROKEN, NOT_CLOSED, WHOLE };

static enum state state_of(const char *directory)
{
	struct stat info;
	struct tp_trace trace;
	if (lstat(directory, &info) != 0)
		return MISSING;
	/* An unreadable recording is left alone. */
	if (tp_store_load(&trace, directory, NULL) != TP_OK)
		return NOT_CLOSED;
	enum state state = !trace.is_partial                  ? WHOLE
			   : trace.run.mode == TP_MODE_IMPORT ? BROKEN
							      : NOT_CLOSED;
	tp_trace_release(&trace);
	return state;
}

static bool restore(const char *aside, const char *directory, enum state state)
{
	return (state != BROKEN || tp_recordings_remove(directory, NULL) == TP_OK) &&
	       tp_recordings_restore(aside, directory, NULL) == TP_OK;
}

static void recover(const char *aside, const char *directory, bool is_quiet)
{
	enum state state = state_of(directory);
	if (state == WHOLE) {
		if (tp_recordings_remove(aside, NULL) == TP_OK && !is_quiet)
			tp_message_print(NULL, "removed '%s', which '%s' has replaced", aside,
					 directory);
	} else if (state == NOT_CLOSED) {
		struct tp_buf next = {0};
		tp_buf_puts(&next, "trainprof report ");
		tp_text_add_word(&next, aside);
		if (!is_quiet)
			tp_message_print(
				tp_buf_text(&next),
				"'%s' should replace '%s' but is incomplete: both are kept",
				directory, aside);
		tp_buf_release(&next);
	} else if (restore(aside, directory, state) && !is_quiet) {
		tp_message_print(NULL, "restored '%s': the run that should replace it was killed",
				 directory);
	}
}

/* True for "prof.old-4711" next to "prof", if the process that moved it aside is gone. */
static bool is_backup(const char *parent, const char *entry, const char *name, size_t len)
{
	static const char mark[] = ".old-";
	const char *digits = entry + len + strlen(mark);
	uint64_t pid;
	if (strncmp(entry, name, len) != 0 || !tp_text_starts_with(entry + len, mark) ||
	    !tp_text_parse_count(digits, &pid) || pid == 0 || pid > INT32_MAX)
		return false;
	char *path = tp_asprintf("%s/%s", parent, entry);
	bool is_gone = kill((pid_t)pid, 0) != 0 && errno == ESRCH && tp_trust_is_given(path) &&
		       !tp_recordings_is_held(path);
	free(path);
	return is_gone;
}

/* Returns the first one; only one is restored at a time, and there are no more in practice. Freed
 * by the caller. */
static char *find_backup(const char *directory)
{
	char *whole = tp_recordings_absolute(directory);
	char *slash = strrchr(whole, '/');
	char *name = slash + 1;
	const char *parent = slash == whole ? "/" : whole;
	char *found = NULL;
	*slash = '\0';
	DIR *dir = opendir(*parent ? parent : "/");
	const struct dirent *entry;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a DIR of our own */
	while (dir && !found && (entry = readdir(dir)))
		if (is_backup(*parent ? parent : "/", entry->d_name, name, strlen(name)))
			found = tp_strdup(entry->d_name + strlen(name));
	if (dir)
		closedir(dir);
	free(whole);
	return found;
}

void tp_force_recover(const char *directory, bool is_quiet)
{
	char *last = directory ? NULL : tp_recordings_last_name();
	const char *named = directory ? directory : last;
	char *ending = named && *named ? find_backup(named) : NULL;
	if (ending) {
		size_t len = strlen(named);
		while (len > 1 && named[len - 1] == '/')
			len--;
		char *base = tp_strndup(named, len);
		char *aside = tp_asprintf("%s%s", base, ending);
		recover(aside, base, is_quiet);
		free(aside);
		free(base);
	}
	free(ending);
	free(last);
}
