/* SPDX-License-Identifier: Apache-2.0 */
/* Words for what a blocked thread waits for. */
#ifndef TRAINPROF_MODEL_CAUSE_TEXT_H
#define TRAINPROF_MODEL_CAUSE_TEXT_H

#include "trainprof/model/task.h"

/* After "waits for": "a pipe", "a lock or a condition (futex)". */
const char *tp_cause_text(enum tp_cause cause);

#endif
