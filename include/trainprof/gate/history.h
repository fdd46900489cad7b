/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the point at which the history of a baseline became slower. docs/design/gate.md#history. */
#ifndef TRAINPROF_GATE_HISTORY_H
#define TRAINPROF_GATE_HISTORY_H

#include "trainprof/model/run_history.h"

enum {
	TP_HISTORY_SAVES_MIN = 5, /* shorter histories are not judged */
	TP_HISTORY_LEVEL_MIN = 2, /* a single slow save is no change, but a warning */
};

/* The history is borrowed. It has at least one save; all times are above 0. */
void tp_history_judge(struct tp_history_result *out, const struct tp_run_history *history,
		      double margin_ratio);

#endif
