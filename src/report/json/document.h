/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the JSON report (docs/report.schema.json). */
#ifndef TRAINPROF_SRC_REPORT_JSON_DOCUMENT_H
#define TRAINPROF_SRC_REPORT_JSON_DOCUMENT_H

#include "report/digest/digest.h"
#include "trainprof/base/json.h"

/* Bounds on arrays; what was cut is counted. */
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

/* Each writes one member of the document, key included. */
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
/* Members of partition and of steps; nothing where no line is known. */
void tp_report_json_lines(struct tp_json_writer *w, const struct tp_profile *profile);
void tp_report_json_loop(struct tp_json_writer *w, const struct tp_profile *profile);
/* "against", a member of what the guide says of a technique. */
void tp_report_json_yardstick(struct tp_json_writer *w, const struct tp_yardstick *yardstick);
/* A member of a finding. */
void tp_report_json_actions(struct tp_json_writer *w, const struct tp_finding *finding);
/* Members of environment: the host and its limits. */
void tp_report_json_host(struct tp_json_writer *w, const struct tp_host_info *host);
/* A member of run: the files that ranks came from. */
void tp_report_json_ranks(struct tp_report_document *doc);
/* Nothing without workers. */
void tp_report_json_functions(struct tp_report_document *doc);
void tp_report_json_workers(struct tp_report_document *doc);
/* Nothing without GPUs that were sampled. */
void tp_report_json_gpus(struct tp_report_document *doc);
/* Nothing without devices. */
void tp_report_json_job(struct tp_report_document *doc);
void tp_report_json_devices(struct tp_report_document *doc);
void tp_report_json_kernels(struct tp_report_document *doc);
void tp_report_json_collectives(struct tp_report_document *doc);
void tp_report_json_blame(struct tp_report_document *doc);

/* A finding as an object without a key; `process` is the trainer's id, or NULL. */
void tp_report_json_finding(struct tp_json_writer *w, const struct tp_finding *finding,
			    const char *process);
/* {value, ci95, n, origin, coverage_ratio} or {value: null, missing}; a value without a key. */
void tp_report_json_quantity(struct tp_json_writer *w, const struct tp_quantity *quantity);
void tp_report_json_interval(struct tp_json_writer *w, const char *key, double low, double high);
/* Optional texts are left out, NULL or empty: null would need a reason. */
void tp_report_json_text(struct tp_json_writer *w, const char *key, const char *text);
/* A member, where the findings have one. */
void tp_report_json_verdict(struct tp_json_writer *w, const struct tp_findings *findings);

#endif
