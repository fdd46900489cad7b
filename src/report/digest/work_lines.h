/* SPDX-License-Identifier: Apache-2.0 */
/* Says what those who make batches work on, and that a cause was not recognised. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_WORK_LINES_H
#define TRAINPROF_SRC_REPORT_DIGEST_WORK_LINES_H

#include "digest.h"

/* Append "Workers: JPEG decode 40 %, resize 15 %, collate 7 %" where loading is what limits, as
 * much as `columns` have room for (0: all); nothing elsewhere. "Loading:" where the trainer makes
 * its batches itself. */
void tp_report_add_loading_work(struct tp_buf *out, const struct tp_report_digest *digest,
				size_t columns);

/* Append "Cause not recognised. Most time: train.py:88 62 %, data.py:7 30 %." where no advice says
 * what the code does wrong; nothing elsewhere. */
void tp_report_add_unknown_cause(struct tp_buf *out, const struct tp_report_digest *digest);

#endif
