/* SPDX-License-Identifier: Apache-2.0 */
/* A rule as its file defines it: a bottleneck as data. See rules/README.md for the fields. */
#ifndef TRAINPROF_SRC_ADVISE_RULEBOOK_RULE_H
#define TRAINPROF_SRC_ADVISE_RULEBOOK_RULE_H

#include "advise/condition/expr.h"
#include "advise/condition/sentence.h"

#include "trainprof/base/arena.h"
#include "trainprof/base/json.h"
#include "trainprof/model/finding.h"
#include "trainprof/model/part.h"

#include <stdbool.h>
#include <stddef.h>

/* In "yields_to": any specific rule that explains most of what this rule would remove. */
#define TP_ALL_IDIOMS "idiom/*"

struct tp_rule_condition {
	const struct tp_expr *expr;
	const char *written;
	const char *because; /* for `unless`: the cause in that case */
};

/* Placeholder for the command line of the program, in examples. */
#define TP_EXAMPLE_COMMAND "%COMMAND"

/* A setting of PyTorch's DataLoader, and the value to try; switches are 0 or 1. */
struct tp_rule_setting {
	const char *name;
	const struct tp_expr *value;
};

struct tp_rule_action {
	const struct tp_expr *when; /* NULL = always */
	const char *when_written;
	const struct tp_sentence *headline;
	const struct tp_sentence *text;
	const char *example;
	bool can_apply;                   /* the example applies it to the unchanged program */
	struct tp_rule_setting *settings; /* they apply it, at the construction of the loader */
	size_t n_settings;
	const char *technique; /* name in cases and reports */
	bool is_own;           /* "id" instead of "technique": the guide has no page for it */
	unsigned line;
};

enum tp_gain_kind { TP_GAIN_NONE, TP_GAIN_PART, TP_GAIN_LOOP };

struct tp_rule_gain {
	enum tp_gain_kind kind;
	enum tp_part part;              /* PART */
	enum tp_label label;            /* a label of that part; TP_N_LABELS = the whole part */
	const struct tp_expr *fraction; /* fraction of the part, or of the loop, that is removed */
	const struct tp_expr *at_least; /* its lower bound; NULL = `fraction` */
	bool is_floor; /* more may be gained: the upper end of the interval is not known */
	const char *fraction_written;
	const char *at_least_written;
	const char *method;
};

struct tp_rule_verdict {
	const char *id;    /* NULL = no verdict rule */
	unsigned order;    /* the firing rule with the lowest order is the verdict */
	const char *cause; /* row of model/verdict_words.h, or NULL */
	const char *title;
	const struct tp_sentence *sentence;
};

enum tp_expected { TP_EXPECT_FIRES, TP_EXPECT_QUIET, TP_EXPECT_NOT_JUDGED };

struct tp_case_fact {
	tp_fact_id id;
	struct tp_quantity value;
};

struct tp_rule_case {
	unsigned line;
	struct tp_case_fact *facts; /* facts that the case sets; see tp_rule_case_facts() */
	size_t n_facts;
	enum tp_expected expected;
	const char **techniques; /* actions that apply, in order; NULL = not checked */
	size_t n_techniques;
	bool has_level;
	enum tp_finding_level level;
	double gain; /* speed-up; 0 = not checked */
};

struct tp_rule {
	const char *id;
	const char *path;
	const char *title;
	enum tp_advice_kind kind;
	bool is_note;
	bool is_idiom;    /* has "match": the rule has its own facts, idiom.* */
	bool is_specific; /* its advice comes before advice that only names a part */
	enum tp_confidence confidence;
	const char **limits; /* ids of the limits that the rule detects */
	size_t n_limits;
	const char *parent;
	const char **yields_to;
	size_t n_yields_to;
	struct tp_local *locals; /* `let` */
	size_t n_locals;
	tp_fact_id *needs;
	size_t n_needs;
	struct tp_rule_condition *when; /* all must hold */
	size_t n_when;
	struct tp_rule_condition *unless; /* none may hold */
	size_t n_unless;
	const struct tp_expr *high; /* NULL = never */
	const struct tp_expr *medium;
	const struct tp_sentence *because;
	struct tp_rule_action *actions;
	size_t n_actions;
	struct tp_rule_gain gain;
	const char *price;
	const struct tp_sentence *verify;
	const struct tp_sentence *refute;
	struct tp_citation *sources;
	size_t n_sources;
	struct tp_rule_verdict verdict;
	struct tp_rule_case *cases;
	size_t n_cases;
};

/* Reads one rule. `id` comes from the path. Everything lives in `arena`. Strict: unknown keys,
 * missing keys, unknown names and wrong types are refused.
 * Errors  TP_PARSE with file and line. */
TP_MUST_CHECK enum tp_status tp_rule_read(struct tp_rule *out, const struct tp_json_doc *doc,
					  const char *id, const struct tp_thresholds *thresholds,
					  struct tp_arena *arena, struct tp_error *err);

#endif
