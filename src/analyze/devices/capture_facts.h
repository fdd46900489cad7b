/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a trace holds enough to be judged. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_CAPTURE_FACTS_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_CAPTURE_FACTS_H

#include "rank_data.h"

/* Sets trace.is_recognised, and says whether it is so. Where it is not, a warning says what the
 * files hold. */
bool tp_capture_is_known(struct tp_rank_analysis *analysis);
/* Sets the other facts of the kind, and warns where the device's side was lost. Needs windows. */
void tp_capture_facts_set(struct tp_rank_analysis *analysis);

#endif
