/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the last seconds of a measurement again and again: of a process, or of a recording that is
 * being written. The analysis is the same as for a report. */
#ifndef TRAINPROF_SRC_CLI_LIVE_LIVE_VIEW_H
#define TRAINPROF_SRC_CLI_LIVE_LIVE_VIEW_H

#include "cli/options/command.h"
#include "cli/options/options.h"

#include <stdint.h>
#include <sys/types.h>

struct tp_live_view_options {
	uint64_t interval_ns;
	uint64_t duration_ns; /* 0 = until it ends */
	uint64_t count;       /* number of blocks; 0 = no limit */
	double rate_hz;
	const char *collect;
	struct tp_words rules;
	bool is_json; /* a line of JSON for each interval */
};

/* Attaches, and leaves the process as it was. Returns the exit status; errors have been printed. */
int tp_live_view_process(const struct tp_cli *cli, const struct tp_live_view_options *options,
			 pid_t pid);

/* Reads a recording that another trainprof is writing. */
int tp_live_view_recording(const struct tp_cli *cli, const struct tp_live_view_options *options,
			   const char *directory);

#endif
