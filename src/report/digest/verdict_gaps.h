/* SPDX-License-Identifier: Apache-2.0 */
/* Sources that were not measured and would have changed the verdict. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_VERDICT_GAPS_H
#define TRAINPROF_SRC_REPORT_DIGEST_VERDICT_GAPS_H

#include "digest.h"

/* Append "Not measured: CPU stacks (not permitted)": sources without which the parts of the step
 * cannot be distinguished. Appends nothing if the verdict would be the same: sources that only
 * refine advice are listed in --full and explain. */
void tp_report_add_verdict_gaps(struct tp_buf *out, const struct tp_report_digest *digest);

#endif
