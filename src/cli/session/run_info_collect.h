/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what is known about a run before it starts. */
#ifndef TRAINPROF_SRC_CLI_SESSION_RUN_INFO_COLLECT_H
#define TRAINPROF_SRC_CLI_SESSION_RUN_INFO_COLLECT_H

#include "cli/options/options.h"
#include "trainprof/collect/host_info.h"
#include "trainprof/model/run_info.h"

/* Options of the user that affect the description of a run. */
struct tp_run_naming {
	const char *label;                /* NULL = the name of the program */
	const struct tp_words *variables; /* of the environment, to record with the usual ones */
	bool keeps_arguments;             /* secrets are not masked */
};

/* Everything is in `arena`, except data owned by `argv`, `naming` and `host`. */
void tp_run_info_make(struct tp_run_info *out, char **argv, const struct tp_run_naming *naming,
		      const struct tp_host *host, struct tp_arena *arena);

/* Describes a running process from /proc. Everything is in `arena`, except data owned by `naming`
 * and `host`. */
void tp_run_info_make_attached(struct tp_run_info *out, pid_t pid,
			       const struct tp_run_naming *naming, const struct tp_host *host,
			       struct tp_arena *arena);

/* Describes an import: nothing is known about the machine and the program. tp_import_files() reads
 * what the files contain. Everything is in `arena`. */
void tp_run_info_make_import(struct tp_run_info *out, const char *const *files, size_t n,
			     const char *label, struct tp_arena *arena);

#endif
