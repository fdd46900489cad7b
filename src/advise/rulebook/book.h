/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a rulebook, which is opaque outside of this folder. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_BOOK_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_BOOK_H

#include "advise/condition/threshold.h"
#include "rule.h"

#include "trainprof/advise/advise.h"
#include "trainprof/advise/technique.h"
#include "trainprof/base/buf.h"

/* A reason that makes every finding of a run less certain ("records were lost"). */
struct tp_quality_issue {
	const struct tp_expr *when;
	const char *because;
};

/* One arena; rules and techniques are sorted by id, links are checked. Immutable once loaded. */
struct tp_rulebook {
	struct tp_arena arena;
	struct tp_thresholds thresholds;
	struct tp_rule *rules;
	size_t n_rules;
	size_t rules_capacity; /* heap */
	struct tp_quality_issue *doubts;
	size_t n_doubts;
	size_t doubts_capacity;            /* heap */
	struct tp_quality_issue *spoilers; /* prevent a comparison if both runs have them */
	size_t n_spoilers;
	size_t spoilers_capacity; /* heap */
	const char *whole_steps;  /* "each step" */
	const char *whole_window;
	struct tp_catalogue catalogue; /* its arrays are heap */
	size_t limits_capacity;
	size_t techniques_capacity;
	size_t references_capacity;
	size_t texts_capacity;
	struct tp_buf *problems; /* during loading: skipped entries, one line each; NULL = refuse */
};

/* NULL if there is none. */
const struct tp_rule *tp_rulebook_find(const struct tp_rulebook *book, const char *id);
const char *tp_rulebook_nearest(const struct tp_rulebook *book, const char *id);

/* Returns TP_OK instead of TP_PARSE if the rest is to be loaded: the message of `err` becomes a
 * problem. */
TP_MUST_CHECK static inline enum tp_status
tp_lenient_skip(struct tp_rulebook *book, enum tp_status status, const struct tp_error *err)
{
	if (status != TP_PARSE || !book->problems)
		return status;
	tp_buf_printf(book->problems, "%s\n", err->text);
	return TP_OK;
}

/* Checks the names by which rules refer to each other, and sorts the rules.
 * Errors  TP_PARSE. */
TP_MUST_CHECK enum tp_status tp_rulebook_link(struct tp_rulebook *book, struct tp_error *err);

#endif
