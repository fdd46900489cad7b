/* SPDX-License-Identifier: Apache-2.0 */
/* What a rulebook is made of; outside it is opaque. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_BOOK_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_BOOK_H

#include "advise/condition/threshold.h"
#include "rule.h"

#include "trainprof/advise/advise.h"
#include "trainprof/advise/technique.h"
#include "trainprof/base/buf.h"

/* What makes every finding of a run less certain ("records were lost"). */
struct tp_quality_issue {
	const struct tp_expr *when;
	const char *because;
};

/* One arena; rules and techniques sorted by id, links checked. Immutable once loaded. */
struct tp_rulebook {
	struct tp_arena arena;
	struct tp_thresholds thresholds;
	struct tp_rule *rules;
	size_t n_rules;
	size_t rules_capacity; /* heap */
	struct tp_quality_issue *doubts;
	size_t n_doubts;
	size_t doubts_capacity;            /* heap */
	struct tp_quality_issue *spoilers; /* what two runs must not both have to be compared */
	size_t n_spoilers;
	size_t spoilers_capacity; /* heap */
	const char *whole_steps;  /* "each step" */
	const char *whole_window;
	struct tp_catalogue catalogue; /* its arrays are heap */
	size_t limits_capacity;
	size_t techniques_capacity;
	size_t references_capacity;
	size_t texts_capacity;
	struct tp_buf *problems; /* while loading: what was left out, a line each; NULL: refuse */
};

/* NULL when there is none. */
const struct tp_rule *tp_rulebook_find(const struct tp_rulebook *book, const char *id);
const char *tp_rulebook_nearest(const struct tp_rulebook *book, const char *id);

/* TP_OK instead of TP_PARSE where the rest is to load: what `err` says becomes a problem. */
TP_MUST_CHECK static inline enum tp_status
tp_lenient_skip(struct tp_rulebook *book, enum tp_status status, const struct tp_error *err)
{
	if (status != TP_PARSE || !book->problems)
		return status;
	tp_buf_printf(book->problems, "%s\n", err->text);
	return TP_OK;
}

/* Check how rules name each other, and sort them. Errors  TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_rulebook_link(struct tp_rulebook *book, struct tp_error *err);

#endif
