/* SPDX-License-Identifier: Apache-2.0 */
/* Labels for the time of a thread on a CPU, from its stack. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_LABEL_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_LABEL_H

#include "analyze/analysis.h"

/* Label of a phase that owns its time; TP_N_LABELS if the phase does not. */
enum tp_label tp_label_of_phase(enum tp_phase phase, enum tp_leaf leaf);
/* Label outside such phases. */
enum tp_label tp_label_of_leaf(const struct tp_stack_class *class, bool is_interpreted);

#endif
