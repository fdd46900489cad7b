/* SPDX-License-Identifier: Apache-2.0 */
/* Number of steps of each kind in a run, their rate, and their times over the run. */
#ifndef TRAINPROF_SRC_REPORT_DIGEST_STEP_COUNTS_H
#define TRAINPROF_SRC_REPORT_DIGEST_STEP_COUNTS_H

#include "trainprof/base/buf.h"
#include "trainprof/model/profile.h"
#include "trainprof/report/page.h"

/* Counts steps by kind; the sum is profile->n_steps. */
void tp_report_count_steps(const struct tp_profile *profile, uint64_t counts[TP_N_STEP_KINDS]);

/* Rate of the steady steps in steps per second; 0 = not known. */
double tp_report_step_rate(const struct tp_profile *profile);

/* Samples per second: 0 unless the batch size was read from the data loader. */
double tp_report_sample_rate(const struct tp_profile *profile);

/* Append "22.5 steps/s (180 samples/s)"; nothing if the rate is not known. */
void tp_report_add_step_rate(struct tp_buf *out, const struct tp_profile *profile);

/* Returns how reliable the number of steps is: "at least ", "about ", or "" if it is exact. */
const char *tp_report_count_words(const struct tp_profile *profile);

/* Append "604 steps: 550 steady, 23 warm-up, 31 slow"; nothing without steps. */
void tp_report_add_step_counts(struct tp_buf *out, const struct tp_profile *profile);

/* True if those counts contain more than the number of steps. */
bool tp_report_has_step_line(const struct tp_profile *profile);

/* Prints the counts as a line of the page, followed by the step times over the run. */
void tp_report_print_step_counts(struct tp_page *page, const struct tp_profile *profile);

/* Appends a character for each value, as high as the value: "▄▃▄█". The scale goes from zero to
 * twice the mean, or to the largest value, so that a small change looks small. */
void tp_report_add_heights(struct tp_buf *out, const double *values, size_t n, bool is_ascii);

#endif
