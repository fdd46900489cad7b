/* What a rulebook is made of; outside it is opaque. */
#ifndef TRAINPROF_SRC_ADVISE_BOOK_H
#define TRAINPROF_SRC_ADVISE_BOOK_H

#include "rule.h"
#include "threshold.h"

#include "trainprof/advise/advise.h"

/* What makes every finding of a run less certain ("records were lost"). */
struct tp_doubt {
	const struct tp_expr *when;
	const char *because;
};

/* One arena; rules sorted by id, links checked. Immutable once loaded. */
struct tp_rulebook {
	struct tp_arena arena;
	struct tp_thresholds thresholds;
	struct tp_rule *rules;
	size_t n_rules;
	size_t rules_capacity; /* heap */
	struct tp_doubt *doubts;
	size_t n_doubts;
	size_t doubts_capacity;  /* heap */
	const char *whole_steps; /* "each step" */
	const char *whole_window;
};

/* NULL when there is none. */
const struct tp_rule *tp_rulebook_find(const struct tp_rulebook *book, const char *id);
const char *tp_rulebook_nearest(const struct tp_rulebook *book, const char *id);

#endif
