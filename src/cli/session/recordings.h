/* SPDX-License-Identifier: Apache-2.0 */
/* Which directory is meant: names for new recordings, and the one a reader asks for. */
#ifndef TRAINPROF_SRC_CLI_SESSION_RECORDINGS_H
#define TRAINPROF_SRC_CLI_SESSION_RECORDINGS_H

#include "trainprof/base/status.h"

#include <stdbool.h>

/*
 * ".trainprof/1120-140311", with "-2" and so on where that exists. Where that folder belongs to
 * somebody else or cannot be made: "trainprof-1120-140311". Makes nothing. To be freed.
 */
char *tp_recordings_new_name(void);
/* Where a recording of that name goes that was given no directory. To be freed. */
char *tp_recordings_named(const char *name);

/* The path from the root, of a directory that need not exist yet. To be freed. */
char *tp_recordings_absolute(const char *path);

/* Point .trainprof/last (or trainprof-last, see above) to a new recording. A failure is no reason
 * to fail. */
void tp_recordings_set_last(const char *directory);

/*
 * What a reader means by `word`: a directory, a report.json inside one, or, for NULL, the last
 * recording here. To be freed.
 * Errors  TP_ABSENT with what to type.
 */
TP_MUST_CHECK enum tp_status tp_recordings_find(char **out, const char *word, struct tp_error *err);

/* Whether this is what NULL would find. */
bool tp_recordings_is_last(const char *directory);

/*
 * --force: move a recording out of the way until its successor has started. `out` is where it is
 * now, to be freed; NULL when there is none. Then either take it back, in the place of nothing or
 * of an empty directory, or remove it. It is held (see below) as long as this process lives.
 * Errors  TP_EXISTS (anything else in it), TP_IO.
 */
TP_MUST_CHECK enum tp_status tp_recordings_backup(char **out, const char *directory,
						  struct tp_error *err);
TP_MUST_CHECK enum tp_status tp_recordings_restore(const char *aside, const char *directory,
						   struct tp_error *err);

/* Whether a living process has set it aside. */
bool tp_recordings_is_held(const char *aside);

/* What the link to the last recording names, whether that exists or not; NULL when there is no such
 * link. To be freed. */
char *tp_recordings_last_name(void);

/* Remove a recording, but never a directory that holds anything else.
 * Errors  TP_EXISTS, TP_IO. */
TP_MUST_CHECK enum tp_status tp_recordings_remove(const char *directory, struct tp_error *err);

/* --digest-only: remove all of a recording but its digest; nothing where it has none. */
void tp_recordings_keep_digest(const char *directory);

/* Room for a recording in the directory that will hold it; makes .trainprof, with its .gitignore,
 * where that is the one. Errors  TP_IO with what to type. */
TP_MUST_CHECK enum tp_status tp_recordings_check_room(const char *directory, struct tp_error *err);

/* Options of all commands that make a recording, but for where their values go; options.h. */
/* clang-format off */
#define TP_OPTION_OUTPUT \
	.letter = 'o', .name = "output", .type = TP_OPTION_TEXT, .value = "DIR", \
	.text = "recording; never overwritten", .otherwise = ".trainprof/MMDD-HHMMSS", \
	.env = "TRAINPROF_OUTPUT", .is_own = true
#define TP_OPTION_LABEL \
	.letter = 'n', .name = "name", .type = TP_OPTION_TEXT, .value = "LABEL", \
	.text = "name shown in reports"
#define TP_OPTION_FORCE \
	.name = "force", .type = TP_OPTION_FLAG, \
	.text = "replace an existing recording", .is_rare = true, .is_own = true
/* clang-format on */

/* A file that is called as traces of other tools are. */
bool tp_recordings_is_trace_file(const char *path);

#endif
