/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts by number, for who passes them on. Nothing here says which there are, or how many: who
 * includes this is not compiled anew when a fact is added. Who names one includes fact.h.
 */
#ifndef TRAINPROF_MODEL_FACT_ID_H
#define TRAINPROF_MODEL_FACT_ID_H

#include "trainprof/model/part.h"

#include <stdbool.h>

typedef unsigned tp_fact_id; /* the value of an enum tp_fact */

/* Room for facts, in what keeps something of each. */
enum { TP_MAX_FACTS = 384 };

/* How many there are, TP_N_FACTS; as a fact: none. */
extern const tp_fact_id tp_n_facts;

struct tp_fact_desc {
	const char *name;
	const char *unit;
	const char *text;
	bool is_told; /* no recording has it */
};

const struct tp_fact_desc *tp_fact_desc(tp_fact_id fact);
/* The share of each part of a step. */
extern const tp_fact_id tp_part_facts[TP_N_PARTS];
tp_fact_id tp_fact_find(const char *name); /* tp_n_facts when unknown */
/* The nearest name for a message; NULL when nothing is near. */
const char *tp_fact_closest(const char *name);
/* Whether no recording has it: somebody tells it, in a file of facts. */
bool tp_fact_is_user_supplied(tp_fact_id fact);

#endif
