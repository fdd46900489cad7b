/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are compared with each other: recordings, separate report.json files, baselines. */
#ifndef TRAINPROF_SRC_CLI_COMPARE_GATE_RUNS_H
#define TRAINPROF_SRC_CLI_COMPARE_GATE_RUNS_H

#include "cli/options/command.h"
#include "cli/session/analysis_session.h"

#include "trainprof/gate/gate.h"

/* Zero-initialised is empty. Runs point into the arena. */
struct tp_gate_runs {
	struct tp_arena arena;
	const struct tp_run_values **items;
	size_t n;
	size_t capacity;
	size_t n_judged;        /* number of recordings and jobs, which were judged for this */
	bool keeps_documents;   /* set by the caller if it wants to copy the documents */
	const char **documents; /* the reports as text, parallel to items */
	size_t n_documents;
	size_t documents_capacity;
};

/* Reads one more run, or all of a baseline. `word` is a recording, the folder of a job, a
 * report.json of either, the name of a baseline if there is no file of that name, or NULL for the
 * last recording here. Errors  as tp_recording_read(), tp_run_values_read(), tp_baseline_load();
 * TP_USAGE for a run that is already there; copies within a baseline are left out with a warning.
 */
TP_MUST_CHECK enum tp_status tp_gate_runs_add(struct tp_gate_runs *runs, const struct tp_cli *cli,
					      const char *word,
					      const struct tp_analysis_session_options *how,
					      struct tp_error *err);
/* Reads --ignore of that command: the aspects in which runs may differ, separated by commas; NULL =
 * none. Errors  TP_USAGE with the nearest word. */
TP_MUST_CHECK enum tp_status tp_gate_runs_parse_ignore(bool is_ignored[TP_N_LIKENESSES],
						       const char *list, const char *command,
						       struct tp_error *err);
/* Refuses options for the judging of recordings that the command line gives when all runs are
 * reports: those were judged before. `has_rules`: rules are used apart from that.
 * Errors  TP_USAGE. */
TP_MUST_CHECK enum tp_status
tp_gate_runs_refuse_unused(const struct tp_gate_runs *base, const struct tp_gate_runs *now,
			   const struct tp_analysis_session_options *given, bool has_rules,
			   struct tp_error *err);
void tp_gate_runs_release(struct tp_gate_runs *runs);

#endif
