/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about a run before it starts. */
#ifndef TRAINPROF_SRC_CLI_SESSION_RUN_INFO_COLLECT_H
#define TRAINPROF_SRC_CLI_SESSION_RUN_INFO_COLLECT_H

#include "cli/options/options.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/run_info.h"

/* Everything in `arena`, except what `argv` and `host` own. `names` are variables to record beside
 * the usual ones. */
void tp_run_info_make(struct tp_run_info *out, char **argv, const char *label,
		      const struct tp_words *names, const struct tp_host *host,
		      struct tp_arena *arena);

/* Of a process that runs already: what /proc tells of it. Everything in `arena`, except what `host`
 * owns. */
void tp_run_info_make_attached(struct tp_run_info *out, pid_t pid, const char *label,
			       const struct tp_words *names, const struct tp_host *host,
			       struct tp_arena *arena);

/* Of an import: nothing is known of the machine and the program. What the files tell is for
 * tp_import_files() to find. Everything in `arena`. */
void tp_run_info_make_import(struct tp_run_info *out, const char *const *files, size_t n,
			     const char *label, struct tp_arena *arena);

#endif
