/* SPDX-License-Identifier: Apache-2.0 */
/* The table of facts. */
#include "trainprof/model/fact.h"

#include "trainprof/base/text.h"

#include <string.h>

static const size_t lengths[] = {
#define X(id, name, unit, whose, text) sizeof(name) - 1,
	TP_FACT_MAP(X)
#undef X
};

const tp_fact_id tp_n_facts = TP_N_FACTS;
_Static_assert((int)TP_N_FACTS <= TP_MAX_FACTS, "raise TP_MAX_FACTS");

enum { SEEN, TOLD };

static const struct tp_fact_desc facts[] = {
#define X(id, name, unit, whose, text) {name, unit, text, whose == TOLD},
	TP_FACT_MAP(X)
#undef X
};

const tp_fact_id tp_part_facts[TP_N_PARTS] = {
#define X(id, name, title) [TP_PART_##id] = TP_FACT_STEP_##id,
	TP_PART_MAP(X)
#undef X
};

const struct tp_fact_desc *tp_fact_desc(tp_fact_id fact)
{
	return &facts[fact];
}

tp_fact_id tp_fact_find(const char *name)
{
	unsigned i = 0;
	size_t len = strlen(name);
	while (i < TP_N_FACTS && (lengths[i] != len || memcmp(facts[i].name, name, len) != 0))
		i++;
	return i;
}

const char *tp_fact_closest(const char *name)
{
	const char *names[TP_N_FACTS];
	for (unsigned i = 0; i < TP_N_FACTS; i++)
		names[i] = facts[i].name;
	return tp_text_closest(name, names, TP_N_FACTS);
}

bool tp_fact_is_user_supplied(tp_fact_id fact)
{
	return fact < TP_N_FACTS && facts[fact].is_user_supplied;
}

bool tp_fact_is_throughput(tp_fact_id fact)
{
	return fact == TP_FACT_STEP_SAMPLES_PER_S;
}
