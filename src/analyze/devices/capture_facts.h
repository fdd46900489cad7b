/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a trace contains enough to be judged. */
#ifndef TRAINPROF_SRC_ANALYZE_DEVICES_CAPTURE_FACTS_H
#define TRAINPROF_SRC_ANALYZE_DEVICES_CAPTURE_FACTS_H

#include "rank_data.h"

/* Sets trace.is_recognised. Returns false, after a warning that lists the content of the files, if
 * the trace cannot be judged. */
bool tp_capture_is_known(struct tp_rank_analysis *analysis);
/* Sets whether the cause of gaps of the devices was recorded, and warns if not. Needs the work of
 * devices. */
void tp_capture_find_host(struct tp_rank_analysis *analysis);
/* Sets the other facts about the trace, and warns if device work was lost. Needs windows. */
void tp_capture_facts_set(struct tp_rank_analysis *analysis);

#endif
