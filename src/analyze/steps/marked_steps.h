/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that the program marks itself. */
#ifndef TRAINPROF_SRC_ANALYZE_STEPS_MARKED_STEPS_H
#define TRAINPROF_SRC_ANALYZE_STEPS_MARKED_STEPS_H

#include "analyze/analysis.h"

/* Sets the steps of the profile and the bounds of the loop. Returns false and changes nothing if
 * the program sets no marks. */
bool tp_marked_steps_set(struct tp_analysis *analysis);

#endif
