/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that do not stand on the command line: configuration files and the environment.
 * Precedence: command line > environment > project > user > system.
 */
#ifndef TRAINPROF_SRC_CLI_OPTIONS_SETTINGS_H
#define TRAINPROF_SRC_CLI_OPTIONS_SETTINGS_H

#include "options.h"
#include "trainprof/base/buf.h"
#include "trainprof/base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { TP_SETTINGS_FILES = 3 };

struct tp_command_table;

struct tp_settings {
	const struct tp_command_table *table;         /* whose names are sections */
	struct tp_json_doc *files[TP_SETTINGS_FILES]; /* system, user, project */
	size_t n_files;
	/* The project's file, where a folder above has it: what it may set is bounded. */
	const struct tp_json_doc *above;
	struct tp_buf left_out; /* why a file or a member does not count, a line each */
	struct tp_buf trace;    /* one line a value: "run.max-overhead = 2%  trainprof.json:3" */
};

/* Read /etc/trainprof/config.json, the user's and the project's file, those that exist and that
 * nobody but the caller and root can have written (trust.h). With `only` (--config) that file
 * alone, and it must exist and be such a one. Errors  TP_PARSE, TP_DENIED, TP_ABSENT. */
TP_MUST_CHECK enum tp_status tp_settings_load(struct tp_settings *out,
					      const struct tp_command_table *table,
					      const char *only, struct tp_error *err);
void tp_settings_release(struct tp_settings *settings);

/*
 * Set the options of one table. section: NULL for the document's own members, else the name of the
 * command whose object is read. The environment is applied after the files.
 * Errors  TP_USAGE: unknown name (the nearest is said), malformed value; both with file and line.
 */
TP_MUST_CHECK enum tp_status tp_settings_apply(struct tp_settings *settings, const char *section,
					       const struct tp_option *options, void *storage,
					       struct tp_error *err);

/* An environment variable that is set and not empty, else NULL. */
const char *tp_settings_env(const char *name);

#endif
