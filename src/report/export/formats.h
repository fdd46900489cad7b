/* SPDX-License-Identifier: Apache-2.0 */
/* The formats, one file each; export.c lists them. */
#ifndef TRAINPROF_SRC_REPORT_EXPORT_FORMATS_H
#define TRAINPROF_SRC_REPORT_EXPORT_FORMATS_H

#include "trainprof/report/export.h"

extern const struct tp_export_format tp_export_collapsed;
extern const struct tp_export_format tp_export_speedscope;
extern const struct tp_export_format tp_export_firefox;
extern const struct tp_export_format tp_export_pprof;
extern const struct tp_export_format tp_export_otlp;
extern const struct tp_export_format tp_export_chrome;
extern const struct tp_export_format tp_export_perfetto;
extern const struct tp_export_format tp_export_openmetrics;
extern const struct tp_export_format tp_export_csv_parts;
extern const struct tp_export_format tp_export_csv_steps;
extern const struct tp_export_format tp_export_csv_stacks;
extern const struct tp_export_format tp_export_csv_facts;
extern const struct tp_export_format tp_export_tensorboard;
extern const struct tp_export_format tp_export_mlflow;
extern const struct tp_export_format tp_export_wandb;

#endif
