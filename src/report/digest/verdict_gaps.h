/* SPDX-License-Identifier: Apache-2.0 */
/* What was not measured, as far as it would have changed the verdict. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_VERDICT_GAPS_H
#define TRAINPROF_SRC_REPORT_DIGEST_VERDICT_GAPS_H

#include "digest.h"

/*
 * Append "Not measured: CPU stacks (not permitted)": sources without which parts of the step cannot
 * be told apart. Nothing when the verdict would be the same: what only refines advice stands in
 * --full and explain.
 */
void tp_report_add_verdict_gaps(struct tp_buf *out, const struct tp_report_digest *digest);

#endif
