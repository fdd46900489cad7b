/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the GPUs that a sampled program used, as their driver reports them. */
#ifndef TRAINPROF_SRC_REPORT_TEXT_GPU_TABLE_H
#define TRAINPROF_SRC_REPORT_TEXT_GPU_TABLE_H

#include "report/digest/digest.h"
#include "trainprof/report/page.h"

/* Each function writes nothing if no GPU was used. */

/* Append "GPU 0 NVIDIA H200: some kernel ran 63 % of the time; memory 71 of 141 GiB". A running
 * kernel proves that the GPU was awake, never that it was busy. */
void tp_report_add_gpu_note(struct tp_buf *out, const struct tp_report_digest *digest);
/* Prints the section of report --full. */
void tp_report_gpu_table(struct tp_page *page, const struct tp_report_digest *digest);
void tp_markdown_add_gpus(struct tp_buf *out, const struct tp_report_digest *digest);

#endif
