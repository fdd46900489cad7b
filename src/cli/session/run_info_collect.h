/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about a run before it starts. */
#ifndef TRAINPROF_SRC_CLI_SESSION_RUN_INFO_COLLECT_H
#define TRAINPROF_SRC_CLI_SESSION_RUN_INFO_COLLECT_H

#include "cli/options/options.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/run_info.h"

/* What the user says about how a run is written down. */
struct tp_run_naming {
	const char *label;                /* NULL: of the program */
	const struct tp_words *variables; /* of the environment, to record beside the usual ones */
	bool keeps_arguments;             /* secrets are not masked */
};

/* Everything in `arena`, except what `argv`, `naming` and `host` own. */
void tp_run_info_make(struct tp_run_info *out, char **argv, const struct tp_run_naming *naming,
		      const struct tp_host *host, struct tp_arena *arena);

/* Of a process that runs already: what /proc tells of it. Everything in `arena`, except what
 * `naming` and `host` own. */
void tp_run_info_make_attached(struct tp_run_info *out, pid_t pid,
			       const struct tp_run_naming *naming, const struct tp_host *host,
			       struct tp_arena *arena);

/* Of an import: nothing is known of the machine and the program. What the files tell is for
 * tp_import_files() to find. Everything in `arena`. */
void tp_run_info_make_import(struct tp_run_info *out, const char *const *files, size_t n,
			     const char *label, struct tp_arena *arena);

#endif
