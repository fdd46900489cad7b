/* SPDX-License-Identifier: Apache-2.0 */
/* Derives findings from a profile, with rules that are data (rules/README.md). */
#ifndef TRAINPROF_ADVISE_ADVISE_H
#define TRAINPROF_ADVISE_ADVISE_H

#include "trainprof/base/buf.h"
#include "trainprof/base/status.h"
#include "trainprof/model/finding.h"
#include "trainprof/model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tp_rulebook;

/*
 * Load every rule below the given directories (bottlenecks/<family>/<id>.json), and the guide
 * (technique.h), in the order given; a later one with the same id replaces an earlier one. All
 * names, operators, units and placeholders are checked: "input/x.json:7: no fact 'step.tme_ns';
 * nearest: step.time_ns". Errors  TP_ABSENT, TP_PARSE. Freed with tp_rulebook_free().
 */
TP_MUST_CHECK enum tp_status tp_rulebook_load(struct tp_rulebook **out,
					      const char *const *directories, size_t n_directories,
					      struct tp_error *err);
/* The same, but an invalid rule, technique, limit or source is left out and reported in `problems`,
 * one line each; the rest loads. Thresholds and folders must be valid. */
TP_MUST_CHECK enum tp_status tp_rulebook_load_lenient(struct tp_rulebook **out,
						      const char *const *directories,
						      size_t n_directories, struct tp_buf *problems,
						      struct tp_error *err);
void tp_rulebook_free(struct tp_rulebook *book);
size_t tp_rulebook_count(const struct tp_rulebook *book);

/* The guide's summary of a rule; everything is borrowed from the book. */
struct tp_rule_digest {
	const char *id;
	const char *title;
	const char *const *limits; /* ids of the limits that it detects */
	size_t n_limits;
	bool is_verdict;
};
/* The i-th rule, in the order of ids. */
struct tp_rule_digest tp_rulebook_digest(const struct tp_rulebook *book, size_t i);
/* True if an action of the i-th rule is this technique. */
bool tp_rulebook_advises(const struct tp_rulebook *book, size_t i, const char *technique);

/* Finds faults that loading cannot detect because each file is valid by itself: rules that can
 * never fire, advice against the guide's own conditions, actions that name no technique, and
 * techniques, limits and sources that nothing refers to. One line each, with the file; returns
 * their number. Without techniques there is no guide to compare with. */
size_t tp_rulebook_check(const struct tp_rulebook *book, struct tp_buf *problems);

/* Everything about a rule as text; a NULL id lists all rules, a line each with id and title.
 * TP_ABSENT with the nearest id when there is no such rule. */
TP_MUST_CHECK enum tp_status tp_rulebook_print(const struct tp_rulebook *book, const char *id,
					       FILE *out, struct tp_error *err);

/* Numbers of test cases of rules; tp_rulebook_test() runs those of all rules or of one. */
struct tp_rule_test_result {
	size_t n_passed;
	size_t n_failed;
};
TP_MUST_CHECK enum tp_status tp_rulebook_test(const struct tp_rulebook *book, const char *id,
					      FILE *out, struct tp_rule_test_result *result,
					      struct tp_error *err);

/*
 * Judge a run. Findings borrow nothing: texts are in their own arena.
 * Gains are bounded by the profile's bracket and suppressed below the threshold of the rulebook,
 * and all advice where the run is too short to judge.
 */
void tp_advise(struct tp_findings *out, const struct tp_rulebook *book,
	       const struct tp_profile *profile);

/* The combined gain of the shown advice for which is_chosen[i] is true, computed from scratch:
 * never a product of gains. False if it is unknown. */
bool tp_advise_combine(const struct tp_rulebook *book, const struct tp_profile *profile,
		       const struct tp_findings *findings, const bool *is_chosen, double *low,
		       double *value, double *high);

/* Judges facts alone; `facts` has tp_n_facts entries. Gains treat each part's share as time in
 * which nothing else went on, which is the most that shares allow. Findings also list the facts
 * that are wanted. */
void tp_advise_facts(struct tp_findings *out, const struct tp_rulebook *book,
		     const struct tp_quantity *facts);

/* Reasons why a comparison of two runs would say little: the entries of "not_compared" in
 * thresholds.json that hold for both runs. Texts go into `because`, at most `most`, borrowed from
 * the book; returns their number. Unknown values do not count. */
size_t tp_rulebook_not_comparable(const struct tp_rulebook *book, const struct tp_quantity *first,
				  const struct tp_quantity *second, const char **because,
				  size_t most);

#endif
