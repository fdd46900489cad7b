/* SPDX-License-Identifier: Apache-2.0 */
/* The history.json of a baseline: one entry per save, with the times of its runs, its commit and
 * its advice. It outlives the reports: a save replaces those and adds an entry. */
#ifndef TRAINPROF_SRC_CLI_COMPARE_BASELINE_HISTORY_H
#define TRAINPROF_SRC_CLI_COMPARE_BASELINE_HISTORY_H

#include "trainprof/base/json.h"
#include "trainprof/model/run_history.h"
#include "trainprof/model/run_values.h"

#define TP_BASELINE_HISTORY "history.json"

/* older saves are dropped */
enum { TP_BASELINE_HISTORY_MAX = 1000 };

/* Reads the history from the baseline's directory; without a file it is empty.
 * Errors  TP_PARSE, TP_VERSION, TP_DENIED, TP_IO. */
TP_MUST_CHECK enum tp_status tp_baseline_history_read(struct tp_run_history *out,
						      const char *directory, struct tp_arena *arena,
						      struct tp_error *err);

/* Describes the save that these runs add; false if a run has no time. Texts are borrowed from the
 * runs. */
bool tp_baseline_history_describe(struct tp_history_save *out,
				  const struct tp_run_values *const *runs, size_t n,
				  struct tp_arena *arena);

/* Writes the old history with one more save. */
void tp_baseline_history_write(struct tp_json_writer *w, const struct tp_run_history *old,
			       const struct tp_history_save *added);

#endif
