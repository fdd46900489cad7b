/* SPDX-License-Identifier: Apache-2.0 */
/* Measures pairs of runs for `check`. */
#include "check_pairs.h"

#include "trainprof/base/buf.h"
#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <stdlib.h>

static char *command_of(int argc, char **argv)
{
	struct tp_buf text = {0};
	if (argc == 1)
		return tp_strdup(argv[0]);
	for (int i = 0; i < argc; i++) {
		tp_buf_puts(&text, i ? " " : "");
		tp_text_add_argument(&text, argv[i]);
	}
	char *command = tp_strdup(tp_buf_text(&text));
	tp_buf_release(&text);
	return command;
}

enum tp_status tp_check_pairs_run(struct tp_check_pairs *out,
				  const struct tp_check_pairs_options *options, int argc,
				  char **argv, bool shows_progress, struct tp_error *err)
{
	*out = (struct tp_check_pairs){0};
	enum tp_status status = tp_pair_series_check_count(options->series.pairs, err);
	if (status == TP_OK && !argc) {
		status = tp_fail(err, TP_USAGE, "--base needs the new program, too");
		tp_error_next(err, "trainprof check --base='OLD COMMAND' -- NEW COMMAND");
	}
	if (status == TP_OK)
		status = tp_pair_series_make_directory(&out->directory, options->output, "-check",
						       err);
	if (status != TP_OK)
		return status;
	out->now = command_of(argc, argv);
	out->series = tp_alloc(sizeof(*out->series));
	tp_pair_run_watch();
	tp_pair_series_init(out->series, &options->series, options->base, out->now, out->directory,
			    shows_progress);
	return tp_pair_series_run(out->series, err);
}

void tp_check_pairs_release(struct tp_check_pairs *pairs)
{
	if (pairs->series)
		tp_pair_series_release(pairs->series);
	free(pairs->series);
	free(pairs->now);
	free(pairs->directory);
	*pairs = (struct tp_check_pairs){0};
}
