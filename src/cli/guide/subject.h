/* SPDX-License-Identifier: Apache-2.0 */
/* A judged run, from either kind of input: a recording, or facts written by hand. */
#ifndef TRAINPROF_SRC_CLI_GUIDE_SUBJECT_H
#define TRAINPROF_SRC_CLI_GUIDE_SUBJECT_H

#include "cli/options/command.h"
#include "cli/session/analysis_session.h"

#include "trainprof/advise/fact_file.h"

/* Options for reading; borrowed. */
struct tp_subject_options {
	const struct tp_words *rules;
	bool is_lenient;
	const struct tp_cli *cli; /* of the command that reads */
};

/* Members point into each other, so it is never copied. */
struct tp_subject {
	struct tp_analysis_session reading; /* for a recording */
	struct tp_fact_file file;           /* for facts */
	struct tp_rulebook *facts_book;
	struct tp_findings facts_findings;
	struct tp_buf subject_text;
	bool is_facts;
	/* Common to both; borrowed from above. */
	const char *subject; /* "train, recorded in prof" */
	const struct tp_rulebook *book;
	const struct tp_quantity *facts; /* tp_n_facts */
	const struct tp_findings *findings;
};

/* `word` is a recording, a file of facts, "-" for facts on stdin, or NULL for the last recording
 * here. Must be closed if it succeeds.
 * Errors  as tp_recording_read(), tp_facts_input_read(), tp_rules_dir_load(); for a
 * recording also rules that do not load. */
TP_MUST_CHECK enum tp_status tp_subject_open(struct tp_subject *judged, const char *word,
					     const struct tp_subject_options *options,
					     struct tp_error *err);
void tp_subject_close(struct tp_subject *judged);

#endif
