/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the devices of a profile, and the names of ranks and files. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_JOB_H
#define TRAINPROF_SRC_REPORT_DIGEST_JOB_H

#include "trainprof/base/buf.h"
#include "trainprof/model/device.h"
#include "trainprof/model/profile.h"

/* Sums over all devices. */
struct tp_report_job {
	uint64_t window_ns;
	uint64_t window_busy_ns;
	uint64_t own_ns[TP_N_PARTS];
	/* Communication excludes the uncaptured time: the parts and not_captured_ns sum to
	 * window_ns. */
	uint64_t after_ns[TP_N_PARTS];
	uint64_t not_captured_ns;
	uint64_t span_ns;
	uint64_t busy_ns;
	uint64_t union_ns[TP_N_OP_CLASSES];
	uint64_t exposed_communication_ns;
	uint64_t exposed_copy_ns;
	uint64_t gap_ns[TP_N_GAP_CAUSES];
	uint64_t wait_caused_ns;
	size_t n_ranks; /* ranks of the devices, each counted once */
};

void tp_report_job_sum(struct tp_report_job *out, const struct tp_profile *profile);

/* The rank number that the job uses, if it is known; otherwise the index in run.ranks. */
int64_t tp_report_rank_number(const struct tp_run_info *run, uint32_t rank);
/* Returns the trace's description of a device; NULL if it has none. */
const struct tp_device_info *tp_report_device_info(const struct tp_profile *profile, size_t device);
/* Writes the indices of all devices, sorted by rank number, then by device number; `out` has room
 * for all. */
void tp_report_order_devices(size_t *out, const struct tp_profile *profile);
/* Append "rank 7", or "rank 0 device 1" if ranks have several devices. */
void tp_report_add_device(struct tp_buf *out, const struct tp_profile *profile, size_t device);

/* "compute", and "not_captured" for TP_N_PARTS, which comes last. */
const char *tp_report_after_name(int part);
const char *tp_report_after_words(int part); /* "not captured" */
/* Times after idle time was attributed to its causes: the parts in their order, then the time that
 * was not captured; they sum to window_ns. */
void tp_report_after(const struct tp_device_result *device, uint64_t out[TP_N_PARTS + 1]);

/* Returns the text, or "unknown" for NULL: a damaged recording may lack it. */
const char *tp_report_known(const char *text);
/* The last component of a path. */
const char *tp_report_base_name(const char *path);
/* Append "worker0.pt.trace.json.gz (kineto)", "rank0.json and 7 more (kineto)". */
void tp_report_add_files(struct tp_buf *out, const struct tp_run_info *run);
bool tp_report_is_same_file(const struct tp_rank_info *a, const struct tp_rank_info *b);
/* Number of files among run.ranks: members of one archive count once. */
size_t tp_report_n_files(const struct tp_run_info *run);

#endif
