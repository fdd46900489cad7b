/* SPDX-License-Identifier: Apache-2.0 */
/* The command line that starts trainprof in this environment: container, cluster, notebook. */
#ifndef TRAINPROF_SRC_CLI_SESSION_LAUNCH_HINT_H
#define TRAINPROF_SRC_CLI_SESSION_LAUNCH_HINT_H

#include "trainprof/base/buf.h"
#include "trainprof/collect/host_info.h"

#include <stdbool.h>

/* Adds "Docker: docker run --cap-add=…", which grants the permissions that sources lack. False, and
 * nothing added, outside containers. */
bool tp_launch_add_line(struct tp_buf *out, const struct tp_host *host);

/* Adds that line if a source is refused, else "Slurm: srun trainprof …".
 * The environment is recognised by the variables and files that its runtime documents. `remedy` is
 * the proposal of the refused source, for a machine that is none of these; NULL = nothing is
 * refused. */
void tp_launch_hint(struct tp_buf *out, const struct tp_host *host, const char *remedy);

#endif
