/* SPDX-License-Identifier: Apache-2.0 */
/* Advice that was tried: the promised and the measured gain. */
#ifndef TRAINPROF_REPORT_TRIAL_TEXT_H
#define TRAINPROF_REPORT_TRIAL_TEXT_H

#include "trainprof/base/json.h"
#include "trainprof/model/finding.h"
#include "trainprof/report/page.h"

#include <stdbool.h>
#include <stddef.h>

enum tp_trial_state {
	TP_TRIAL_NOT_TRIED, /* `because` says why */
	TP_TRIAL_FAILED,    /* the program failed with the change; `because` says how */
	TP_TRIAL_FASTER,
	TP_TRIAL_SLOWER,
	TP_TRIAL_ALIKE,
	TP_TRIAL_UNDECIDED,
};

/* All borrowed. */
struct tp_trial {
	size_t number;                    /* number of the advice; 0 = all that helped, together */
	const struct tp_finding *finding; /* NULL = all together */
	enum tp_trial_state state;
	const char *because;
	const char *command; /* the program's command with the change */
	bool is_command_changed;
	const char *loader; /* settings of its DataLoader that were tried; NULL = none */
	const char *const
		*lines; /* of the program, as they have to be: "train.py:25  DataLoader(…)" */
	size_t n_lines;
	double speedup; /* time without the change / with it */
	double speedup_low;
	double speedup_high;
	size_t n_pairs;
	bool is_of_runs; /* the pairs compare whole runs, since not all have steps */
};

/* One or two lines each: advice, promise, measurement. Then the command to use from now on, and
 * the lines to change, if anything was faster. */
void tp_report_trials_text(struct tp_page *page, const struct tp_trial *trials, size_t n);
/* The same as Markdown: a list, then code. */
void tp_report_trials_markdown(struct tp_buf *out, const struct tp_trial *trials, size_t n);
/* The same as the array "trials". */
void tp_report_trials_json(struct tp_json_writer *w, const struct tp_trial *trials, size_t n);

#endif
