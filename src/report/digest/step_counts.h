/* SPDX-License-Identifier: Apache-2.0 */
/* How many steps of each kind a run had, how fast they went, and their times over the run. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_STEP_COUNTS_H
#define TRAINPROF_SRC_REPORT_DIGEST_STEP_COUNTS_H

#include "trainprof/base/buf.h"
#include "trainprof/model/profile.h"
#include "trainprof/report/page.h"

/* By kind; the sum is profile->n_steps. */
void tp_report_count_steps(const struct tp_profile *profile, uint64_t counts[TP_N_STEP_KINDS]);

/* Steps per second, of steady ones; 0 = not known. */
double tp_report_step_rate(const struct tp_profile *profile);

/* Samples per second: 0 unless the batch size was read from the data loader. */
double tp_report_sample_rate(const struct tp_profile *profile);

/* Append "22.5 steps/s (180 samples/s)"; nothing when the rate is not known. */
void tp_report_add_step_rate(struct tp_buf *out, const struct tp_profile *profile);

/* Append "604 steps: 550 steady, 23 warm-up, 31 slow"; nothing without steps. */
void tp_report_add_step_counts(struct tp_buf *out, const struct tp_profile *profile);

/* Whether that says more than the number of steps. */
bool tp_report_has_step_line(const struct tp_profile *profile);

/* The same as a line of the page, with the time of steps over the run drawn behind it. */
void tp_report_print_step_counts(struct tp_page *page, const struct tp_profile *profile);

#endif
