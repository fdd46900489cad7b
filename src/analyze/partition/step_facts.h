/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the step.* facts from the parts, labels and step times of a profile. */
#ifndef TRAINPROF_SRC_ANALYZE_PARTITION_STEP_FACTS_H
#define TRAINPROF_SRC_ANALYZE_PARTITION_STEP_FACTS_H

#include "analyze/numeric/stats.h"

#include "trainprof/model/profile.h"

#include <stddef.h>
#include <stdint.h>

/* Sources of labels: facts about labels of other sources stay unknown. */
enum tp_label_source {
	TP_LABELS_OF_SAMPLES = 1, /* main thread with samples */
	TP_LABELS_OF_SPANS = 2,   /* devices and threads with spans */
	/* Main threads in addition to their spans: times without a CPU, places on a CPU, and waits
	 * in operating system calls. */
	TP_LABELS_OF_SWITCHES = 4,
	TP_LABELS_OF_STACKS = 8,
	TP_LABELS_OF_OS_CALLS = 16,
};

/* Sets the shares of parts and labels. Needs parts, label_ns and total_ns. */
void tp_step_facts_shares(struct tp_profile *profile, enum tp_label_source source,
			  enum tp_origin origin);

/* Sets profile->step_time and the facts about times of n > 0 steady steps, and writes `mean`. */
void tp_step_facts_times(struct tp_profile *profile, const double *length_ns, size_t n,
			 struct tp_estimate *mean);

/* Sets these facts to missing with the reason, for a profile without steady steps. */
void tp_step_facts_set_missing(struct tp_profile *profile);

#endif
