/* SPDX-License-Identifier: Apache-2.0 */
/* The words of verdicts: one row for each cause that a headline can name. Rules name the row
 * ("cause"); reports of devices select it by the largest part. */
#ifndef TRAINPROF_MODEL_VERDICT_WORDS_H
#define TRAINPROF_MODEL_VERDICT_WORDS_H

#include "trainprof/model/part.h"

#include <stdbool.h>

struct tp_verdict_words {
	const char *cause; /* "not_enough_cpu" */
	const char *id;    /* class for programs: "idle_bound" */
	const char *title; /* "NOT ENOUGH CPU" */
};

/* NULL if there is no such row. */
const struct tp_verdict_words *tp_verdict_words_find(const char *cause);
/* The row of a part without a more specific cause. `of_devices`: about the work and waits of
 * GPUs. */
const struct tp_verdict_words *tp_verdict_words_of_part(enum tp_part part, bool of_devices);
/* The limit inside a sentence: "data loading". */
const char *tp_verdict_words_limit(enum tp_part part);

#endif
