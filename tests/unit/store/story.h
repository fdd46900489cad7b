/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up run, emitted record by record into any sink, always the same: it can be emitted to a
 * recording and to a trace, and both compared. */
#ifndef TRAINPROF_TESTS_UNIT_STORE_STORY_H
#define TRAINPROF_TESTS_UNIT_STORE_STORY_H

#include "trainprof/model/run_info.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/trace.h"

#include <stdint.h>

#define STORY_STARTED_NS UINT64_C(9007199254741993) /* 2^53 + 1001: 104 days of uptime */

/* Run information of the story; static storage. */
const struct tp_run_info *story_run(void);

/* Emits parts [from, to). Any split into calls gives the same records. The first call needs from ==
 * 0. */
void story_emit(struct tp_sink *sink, uint64_t from, uint64_t to);

/* Makes the trace of parts [0, to). */
void story_trace(struct tp_trace *out, uint64_t to);

/* Fails the running test unless both have the same records; ignores run information. */
void story_assert_equal(const struct tp_trace *a, const struct tp_trace *b);

/* Returns a new, empty directory for the running test; freed and removed by story_remove. */
char *story_directory(void);
void story_remove(char *directory);

#endif
