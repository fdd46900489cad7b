/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the work of the threads that make batches, and reports a cause that was not
 * recognised. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_WORK_LINES_H
#define TRAINPROF_SRC_REPORT_DIGEST_WORK_LINES_H

#include "digest.h"

/* Append "Workers: JPEG decode 40 %, resize 15 %, collate 7 %" if loading is the bottleneck, as
 * much as fits into `columns` (0: all); nothing otherwise. "Loading:" if the training thread makes
 * its batches itself. */
void tp_report_add_loading_work(struct tp_buf *out, const struct tp_report_digest *digest,
				size_t columns);

/* Append "Cause not recognised. Most time: train.py:88 62 %, data.py:7 30 %." if no advice names a
 * cause in the code, with as many lines as fit into `columns` (0: three) but at least one; nothing
 * otherwise. */
void tp_report_add_unknown_cause(struct tp_buf *out, const struct tp_report_digest *digest,
				 size_t columns);

#endif
