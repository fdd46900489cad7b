/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about the most important properties of devices and ranks. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_JOB_NOTES_H
#define TRAINPROF_SRC_REPORT_DIGEST_JOB_NOTES_H

#include "digest.h"

enum { TP_JOB_NOTES_MAX = 5 };

/* Append note 0 ≤ i < TP_JOB_NOTES_MAX, the most important first: the late rank, how devices spend
 * their time, what is overlapped, and how reliable the names of kernels are. Appends nothing if the
 * note is not worth a line. */
void tp_report_add_job_note(struct tp_buf *out, const struct tp_report_digest *digest, int i);

#endif
