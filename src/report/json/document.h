/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the JSON report (docs/report.schema.json). */
#ifndef TRAINPROF_SRC_REPORT_JSON_DOCUMENT_H
#define TRAINPROF_SRC_REPORT_JSON_DOCUMENT_H

#include "report/digest/digest.h"
#include "trainprof/base/json.h"

/* Limits of the arrays; elements that were cut are counted. */
struct tp_report_document {
	struct tp_json_writer *w;
	const struct tp_report_digest *digest;
	size_t max_series;
	size_t max_stacks;
	size_t max_processes;
	size_t max_outliers;
	size_t max_kernels;
	size_t max_collectives;
	size_t cut_stacks;
	size_t cut_processes;
	size_t cut_outliers;
	size_t cut_kernels;
	size_t cut_collectives;
	size_t cut_device_steps;
};

/* Each function writes one member of the document, including its key. */
void tp_report_json_run(struct tp_report_document *doc);
void tp_report_json_environment(struct tp_report_document *doc);
void tp_report_json_collection(struct tp_report_document *doc);
void tp_report_json_summary(struct tp_report_document *doc);
void tp_report_json_partition(struct tp_report_document *doc);
void tp_report_json_phases(struct tp_report_document *doc);
void tp_report_json_steps(struct tp_report_document *doc);
void tp_report_json_processes(struct tp_report_document *doc);
void tp_report_json_stacks(struct tp_report_document *doc);
void tp_report_json_findings(struct tp_report_document *doc);
void tp_report_json_without(struct tp_report_document *doc);
void tp_report_json_warnings(struct tp_report_document *doc);
/* Write members of partition and of steps; nothing if no line is known. */
void tp_report_json_lines(struct tp_json_writer *w, const struct tp_profile *profile);
/* One of these lines, as an object. */
void tp_report_json_line(struct tp_json_writer *w, const struct tp_profile *profile,
			 const struct tp_line_result *line);
void tp_report_json_loop(struct tp_json_writer *w, const struct tp_profile *profile);
/* Writes "against", a member of the guide's entry for a technique. */
void tp_report_json_yardstick(struct tp_json_writer *w, const struct tp_yardstick *yardstick);
/* Writes a member of a finding. */
void tp_report_json_actions(struct tp_json_writer *w, const struct tp_finding *finding);
/* Writes members of environment: the host and its limits. */
void tp_report_json_host(struct tp_json_writer *w, const struct tp_host_info *host);
/* Writes a member of run: the files that the ranks came from. */
void tp_report_json_ranks(struct tp_report_document *doc);
/* Write nothing without workers. */
void tp_report_json_functions(struct tp_report_document *doc);
void tp_report_json_workers(struct tp_report_document *doc);
/* Writes nothing without GPUs that were sampled. */
void tp_report_json_gpus(struct tp_report_document *doc);
/* Write nothing without devices. */
void tp_report_json_job(struct tp_report_document *doc);
void tp_report_json_devices(struct tp_report_document *doc);
void tp_report_json_kernels(struct tp_report_document *doc);
void tp_report_json_collectives(struct tp_report_document *doc);
void tp_report_json_blame(struct tp_report_document *doc);

/* Writes a finding as an object without a key; `process` is the trainer's id, or NULL. */
void tp_report_json_finding(struct tp_json_writer *w, const struct tp_finding *finding,
			    const char *process);
/* Writes {value, ci95, n, origin, coverage_ratio} or {value: null, missing}; a value without a
 * key. */
void tp_report_json_stat(struct tp_json_writer *w, const char *key, const struct tp_stat *stat);
void tp_report_json_quantity(struct tp_json_writer *w, const struct tp_quantity *quantity);
void tp_report_json_interval(struct tp_json_writer *w, const char *key, double low, double high);
/* Writes a text; leaves out NULL and empty texts, because null would need a reason. */
void tp_report_json_text(struct tp_json_writer *w, const char *key, const char *text);
/* Writes a member if the findings have a verdict. */
void tp_report_json_verdict(struct tp_json_writer *w, const struct tp_findings *findings);

#endif
