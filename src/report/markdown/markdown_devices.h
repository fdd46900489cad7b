/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of devices, kernels and ranks in Markdown. */
#ifndef TRAINPROF_SRC_REPORT_MARKDOWN_MARKDOWN_DEVICES_H
#define TRAINPROF_SRC_REPORT_MARKDOWN_MARKDOWN_DEVICES_H

#include "report/digest/digest.h"

/* Add nothing without devices, or without files. */
void tp_markdown_add_devices(struct tp_buf *out, const struct tp_report_digest *digest);
void tp_markdown_add_files(struct tp_buf *out, const struct tp_report_digest *digest);

#endif
