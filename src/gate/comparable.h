/* SPDX-License-Identifier: Apache-2.0 */
/* Checks if runs did the same work on the same machine with the same software. */
#ifndef TRAINPROF_SRC_GATE_COMPARABLE_H
#define TRAINPROF_SRC_GATE_COMPARABLE_H

#include "trainprof/gate/gate.h"

/* Fills in the differences, and if the rest can be compared. */
void tp_comparable_check(struct tp_run_diff *out, const struct tp_diff_request *request,
			 struct tp_arena *arena);

#endif
