/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a job of several ranks from its report. */
#ifndef TRAINPROF_SRC_GATE_JOB_READ_H
#define TRAINPROF_SRC_GATE_JOB_READ_H

#include "trainprof/gate/gate.h"

/* True for the report of a job. */
bool tp_job_values_are_of(const struct tp_json *root);

/* Extracts the values that the ranks of a job have in common: the step, its parts as means over the
 * ranks, the advice for the late rank. Everything else stays unknown. Texts are copied into the
 * arena. Errors  TP_PARSE for a document that contradicts itself. */
TP_MUST_CHECK enum tp_status tp_job_values_read(struct tp_run_values *out,
						const struct tp_json *root, const char *name,
						struct tp_arena *arena, struct tp_error *err);

#endif
