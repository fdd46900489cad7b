/* SPDX-License-Identifier: Apache-2.0 */
/* The exporters that report.c lists. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_EXPORTERS_H
#define TRAINPROF_SRC_REPORT_DIGEST_EXPORTERS_H

#include "trainprof/report/report.h"

extern const struct tp_exporter tp_report_text;
extern const struct tp_exporter tp_report_json;
extern const struct tp_exporter tp_report_markdown;
extern const struct tp_exporter tp_report_html;

#endif
