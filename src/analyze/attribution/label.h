/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of what a thread does on a CPU, by its stack. */
#ifndef TRAINPROF_SRC_ANALYZE_ATTRIBUTION_LABEL_H
#define TRAINPROF_SRC_ANALYZE_ATTRIBUTION_LABEL_H

#include "analyze/analysis.h"

/* Of a phase that owns its time; TP_N_LABELS when the phase does not. */
enum tp_label tp_label_of_phase(enum tp_phase phase, enum tp_leaf leaf);
/* Outside such phases. */
enum tp_label tp_label_of_leaf(const struct tp_stack_class *class, bool is_interpreted);

#endif
