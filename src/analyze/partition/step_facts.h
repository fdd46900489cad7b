/* SPDX-License-Identifier: Apache-2.0 */
/* The step.* facts: from parts, labels and step times that a profile has already. */
#ifndef TRAINPROF_SRC_ANALYZE_PARTITION_STEP_FACTS_H
#define TRAINPROF_SRC_ANALYZE_PARTITION_STEP_FACTS_H

#include "analyze/numeric/stats.h"

#include "trainprof/model/profile.h"

#include <stddef.h>
#include <stdint.h>

/* Which labels can be there at all: the facts of the others stay unknown. */
enum tp_label_source {
	TP_LABELS_OF_SAMPLES = 1, /* of a main thread that was sampled */
	TP_LABELS_OF_SPANS = 2,   /* of devices and threads whose spans are known */
	/* Of main threads beside their spans: when they had no CPU, where they were on one, and in
	 * which calls of the operating system they waited. */
	TP_LABELS_OF_SWITCHES = 4,
	TP_LABELS_OF_STACKS = 8,
	TP_LABELS_OF_OS_CALLS = 16,
};

/* Shares of parts and labels. Needs parts, label_ns and total_ns. */
void tp_step_facts_shares(struct tp_profile *profile, enum tp_label_source source,
			  enum tp_origin origin);

/* profile->step_time and the facts about times of n > 0 steady steps; `mean` is given back. */
void tp_step_facts_times(struct tp_profile *profile, const double *length_ns, size_t n,
			 struct tp_estimate *mean);

/* Without steady steps the reason takes their place. */
void tp_step_facts_set_missing(struct tp_profile *profile);

#endif
