/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of report --full about devices, kernels, ranks and the files they came from. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_DEVICE_TABLES_H
#define TRAINPROF_SRC_REPORT_TEXT_DEVICE_TABLES_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Each function prints nothing if there is nothing to report. */
void tp_report_device_tables(struct tp_page *page, const struct tp_report_digest *digest);
void tp_report_file_table(struct tp_page *page, const struct tp_report_digest *digest);

/* Writes indices into profile->collectives, the longest waits first, at most `most`; returns their
 * number. */
size_t tp_report_top_collectives(const struct tp_profile *profile, size_t *out, size_t most);
uint64_t tp_report_collective_wait(const struct tp_profile *profile, size_t collective);

/* Append "75,718 events, 21,000 kept, 13 malformed (no duration), cut at its end". */
void tp_report_add_kept(struct tp_buf *out, const struct tp_rank_info *rank);
/* Append "compute 57 %, host 9.3 %": those of n times that are not 0. */
void tp_report_add_shares(struct tp_buf *out, const uint64_t *times_ns, int n, uint64_t whole_ns,
			  const char *(*name_of)(int));

#endif
