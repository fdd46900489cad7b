/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a recording on disk from files of other tools: the first half of import. */
#ifndef TRAINPROF_SRC_CLI_SESSION_IMPORT_JOB_H
#define TRAINPROF_SRC_CLI_SESSION_IMPORT_JOB_H

#include "trainprof/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_import_job_options {
	bool wants_list;
	const char *from;        /* "auto", or the name of a format */
	bool keeps_python;       /* all functions */
	const char *device_lane; /* pattern of lanes of devices; NULL = none */
	const char *output;      /* NULL = a new name */
	const char *label;       /* NULL = the name of the file */
	bool force;
};

/* Makes a recording of n files, at least one. `directory` is its place, freed by the caller; on
 * failure it is not set, nothing is left behind, and the recording that --force was to replace is
 * restored.
 * Errors  as tp_import_files() and tp_store_create(); TP_IO (a full disk). */
TP_MUST_CHECK enum tp_status tp_import_job_record(char **directory,
						  const struct tp_import_job_options *options,
						  char **files, size_t n, struct tp_error *err);

#endif
