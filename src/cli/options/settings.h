/* SPDX-License-Identifier: Apache-2.0 */
/* Applies options from configuration files and the environment. Precedence: command line >
 * environment > project > user > system. */
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
	const struct tp_command_table *table;         /* its names are the sections */
	struct tp_json_doc *files[TP_SETTINGS_FILES]; /* system, user, project */
	size_t n_files;
	/* The project's file if it is in a folder above: the options that it may set are
	 * limited. */
	const struct tp_json_doc *above;
	struct tp_buf left_out; /* the reasons why files or members are ignored, one line each */
	struct tp_buf trace;    /* one line per value: "run.max-overhead = 2%  trainprof.json:3" */
};

/* Reads /etc/trainprof/config.json, the user's and the project's file: those that exist and that
 * only the caller and root can have written (trust.h). With `only` (--config) reads that file
 * alone, which must exist and meet the same condition.
 * Errors  TP_PARSE, TP_DENIED, TP_ABSENT. */
TP_MUST_CHECK enum tp_status tp_settings_load(struct tp_settings *out,
					      const struct tp_command_table *table,
					      const char *only, struct tp_error *err);
void tp_settings_release(struct tp_settings *settings);

/* Sets the options of one table. section: NULL for the document's own members, else the name of the
 * command whose object is read. The environment is applied after the files.
 * Errors  TP_USAGE: unknown name (with the most similar one), malformed value; both with file and
 * line. */
TP_MUST_CHECK enum tp_status tp_settings_apply(struct tp_settings *settings, const char *section,
					       const struct tp_option *options, void *storage,
					       struct tp_error *err);

/* Returns an environment variable that is set and not empty, else NULL. */
const char *tp_settings_env(const char *name);

#endif
