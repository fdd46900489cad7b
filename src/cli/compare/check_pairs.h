/* SPDX-License-Identifier: Apache-2.0 */
/* Measures pairs of runs for `check`: the base and the new program alternately. */
#ifndef TRAINPROF_SRC_CLI_COMPARE_CHECK_PAIRS_H
#define TRAINPROF_SRC_CLI_COMPARE_CHECK_PAIRS_H

#include "pair_series.h"

struct tp_check_pairs_options {
	const char *base; /* a command of the shell; NULL = no pairs are measured */
	const char *output;
	struct tp_pair_series_options series;
};

/* Zero-initialised is empty. */
struct tp_check_pairs {
	struct tp_pair_series *series; /* NULL = none was started */
	char *now;                     /* the new program's command */
	char *directory;
};

/* Runs all pairs of the base and the new program, whose words are a command of the shell if there
 * is only one. The result is to be released also on failure.
 * Errors  TP_USAGE, and those of tp_pair_series_run(). */
TP_MUST_CHECK enum tp_status tp_check_pairs_run(struct tp_check_pairs *out,
						const struct tp_check_pairs_options *options,
						int argc, char **argv, bool shows_progress,
						struct tp_error *err);
void tp_check_pairs_release(struct tp_check_pairs *pairs);

#endif
