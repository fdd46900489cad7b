/* What a reader must know of devices and ranks, in sentences. */
#ifndef TRAINPROF_SRC_REPORT_JOBNOTES_H
#define TRAINPROF_SRC_REPORT_JOBNOTES_H

#include "digest.h"

enum { TP_JOB_NOTES_MOST = 4 };

/*
 * Append note 0 ≤ i < TP_JOB_NOTES_MOST, the most important first: the late rank, how devices spend
 * their time, what is hidden, and what the names of kernels are worth. Nothing when it is not worth
 * a line.
 */
void tp_report_add_job_note(struct tp_buf *out, const struct tp_report_digest *digest, int i);

/* Where a device's blame goes, largest first: parts, TP_N_PARTS for what was not captured. */
struct tp_report_blame_share {
	int part;
	uint64_t time_ns;
};

/* Of one device, at most TP_N_PARTS + 1 rows; returns how many. `total_ns` is their sum. */
size_t tp_report_blame_shares(const struct tp_profile *profile, uint32_t device,
			      struct tp_report_blame_share rows[TP_N_PARTS + 1],
			      uint64_t *total_ns);

#endif
