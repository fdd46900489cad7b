/* SPDX-License-Identifier: Apache-2.0 */
/* Facts by number, for code that passes them on. This header does not say which facts exist, or how
 * many, so code that includes it is not rebuilt when a fact is added. Code that names a fact
 * includes fact.h. */
#ifndef TRAINPROF_MODEL_FACT_ID_H
#define TRAINPROF_MODEL_FACT_ID_H

#include "trainprof/model/part.h"

#include <stdbool.h>

typedef unsigned tp_fact_id; /* the value of an enum tp_fact */

/* Room for facts in tables with one entry per fact. */
enum { TP_MAX_FACTS = 384 };

/* The number of facts, TP_N_FACTS; as a fact id: none. */
extern const tp_fact_id tp_n_facts;

struct tp_fact_desc {
	const char *name;
	const char *unit;
	const char *text;
	bool is_user_supplied; /* no recording has it */
};

const struct tp_fact_desc *tp_fact_desc(tp_fact_id fact);
/* The fact for the share of each part of a step. */
extern const tp_fact_id tp_part_facts[TP_N_PARTS];
tp_fact_id tp_fact_find(const char *name); /* tp_n_facts if unknown */
/* The nearest name, for a message; NULL if none is near. */
const char *tp_fact_closest(const char *name);
/* True if no recording has it: a user supplies it in a file of facts. */
bool tp_fact_is_user_supplied(tp_fact_id fact);
/* True for work per second, of which less is worse. */
bool tp_fact_is_throughput(tp_fact_id fact);

#endif
