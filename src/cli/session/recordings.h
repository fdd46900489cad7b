/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses directories: names of new recordings, and the recording that an argument refers to. */
#ifndef TRAINPROF_SRC_CLI_SESSION_RECORDINGS_H
#define TRAINPROF_SRC_CLI_SESSION_RECORDINGS_H

#include "trainprof/base/status.h"

#include <stdbool.h>

/* Returns ".trainprof/1120-140311" and the ending, with "-2" and so on if that exists. If that
 * folder belongs to another user or cannot be made: "trainprof-1120-140311". Creates nothing. Freed
 * by the caller. */
char *tp_recordings_new_name(const char *ending);
/* The path of a recording with that name and no given directory. Freed by the caller. */
char *tp_recordings_named(const char *name);

/* The absolute path of a directory that need not exist yet. Freed by the caller. */
char *tp_recordings_absolute(const char *path);

/* Points .trainprof/last (or trainprof-last, see above) to a new recording. A failure is
 * ignored. */
void tp_recordings_set_last(const char *directory);

/* Finds the recording that `word` refers to: a directory, a report.json inside one, or, for NULL,
 * the last recording here. Freed by the caller.
 * Errors  TP_ABSENT with what to type. */
TP_MUST_CHECK enum tp_status tp_recordings_find(char **out, const char *word, struct tp_error *err);

/* True if NULL would find this recording. */
bool tp_recordings_is_last(const char *directory);

/* --force: moves a recording aside until its successor has started. `out` is its new place, freed
 * by the caller; NULL if there is none. The caller then either restores it, in place of nothing or
 * of an empty directory, or removes it. It is held (see below) as long as this process lives.
 * Errors  TP_EXISTS (anything else in it), TP_IO. */
TP_MUST_CHECK enum tp_status tp_recordings_backup(char **out, const char *directory,
						  struct tp_error *err);
TP_MUST_CHECK enum tp_status tp_recordings_restore(const char *aside, const char *directory,
						   struct tp_error *err);

/* True if a living process has moved it aside. */
bool tp_recordings_is_held(const char *aside);

/* The target of the link to the last recording, whether that exists or not; NULL if there is no
 * such link. Freed by the caller. */
char *tp_recordings_last_name(void);
/* The folder of the last job here, if the last run was one; else NULL. Freed by the caller. */
char *tp_recordings_last_job(void);

/* Removes a recording, but never a directory that contains anything else.
 * Errors  TP_EXISTS, TP_IO. */
TP_MUST_CHECK enum tp_status tp_recordings_remove(const char *directory, struct tp_error *err);

/* --digest-only: removes everything in a recording except its digest; nothing if it has none. */
void tp_recordings_keep_digest(const char *directory);

/* Checks the free space of the directory that will contain the recording; makes .trainprof, with
 * its .gitignore, if that is the one.
 * Errors  TP_IO with what to type. */
TP_MUST_CHECK enum tp_status tp_recordings_check_room(const char *directory, struct tp_error *err);

/* Options of all commands that make a recording, without the place of their values; options.h. */
/* clang-format off */
#define TP_OPTION_OUTPUT \
	.letter = 'o', .name = "output", .type = TP_OPTION_TEXT, .value = "DIR", \
	.text = "new directory for the recording", .otherwise = ".trainprof/MMDD-HHMMSS", \
	.env = "TRAINPROF_OUTPUT", .is_own = true
#define TP_OPTION_LABEL \
	.letter = 'n', .name = "name", .type = TP_OPTION_TEXT, .value = "LABEL", \
	.text = "name shown in reports"
#define TP_OPTION_FORCE \
	.name = "force", .type = TP_OPTION_FLAG, \
	.text = "replace an existing recording", .is_rare = true, .is_own = true
/* clang-format on */

/* True if the file is named like traces of other tools. */
bool tp_recordings_is_trace_file(const char *path);

#endif
