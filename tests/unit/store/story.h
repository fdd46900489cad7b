/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up run, told record by record into any sink, always the same: what was told to a recording
 * can be told to a trace and both compared.
 */
#ifndef TRAINPROF_TESTS_UNIT_STORE_STORY_H
#define TRAINPROF_TESTS_UNIT_STORE_STORY_H

#include "trainprof/model/run_info.h"
#include "trainprof/model/sink.h"
#include "trainprof/model/trace.h"

#include <stdint.h>

#define STORY_STARTED_NS UINT64_C(9007199254741993) /* 2^53 + 1001: 104 days of uptime */

/* What is known about the story's run; static storage. */
const struct tp_run_info *story_run(void);

/* Tell parts [from, to). Any split into calls tells the same. Needs from == 0 at first. */
void story_emit(struct tp_sink *sink, uint64_t from, uint64_t to);

/* The trace of parts [0, to). */
void story_trace(struct tp_trace *out, uint64_t to);

/* Fails the running test unless both hold the same records; run information apart. */
void story_assert_equal(const struct tp_trace *a, const struct tp_trace *b);

/* A fresh, empty directory of the running test's own; freed and removed by story_remove. */
char *story_directory(void);
void story_remove(char *directory);

#endif
