/* SPDX-License-Identifier: Apache-2.0 */
/* A rule applied to a run: fired, quiet or not judged, with evidence, actions and a gain. */
#ifndef TRAINPROF_MODEL_FINDING_H
#define TRAINPROF_MODEL_FINDING_H

#include "trainprof/base/arena.h"
#include "trainprof/model/action_plan.h"
#include "trainprof/model/fact_id.h"
#include "trainprof/model/quantity.h"

#include <stdbool.h>
#include <stddef.h>

enum tp_finding_state { TP_FINDING_FIRED, TP_FINDING_QUIET, TP_FINDING_NOT_JUDGED };
enum tp_finding_level { TP_LEVEL_HIGH, TP_LEVEL_MEDIUM, TP_LEVEL_LOW, TP_LEVEL_NOTE };
enum tp_confidence { TP_CONFIDENCE_HIGH, TP_CONFIDENCE_MEDIUM, TP_CONFIDENCE_LOW };
enum tp_advice_kind { TP_ADVICE_FREE, TP_ADVICE_SEMANTIC };
/* Certainty that following the advice helps; independent of how much it helps. */
enum tp_sureness { TP_SURE, TP_LIKELY, TP_WORTH_A_TRY };

const char *tp_finding_state_name(enum tp_finding_state state);
const char *tp_finding_level_name(enum tp_finding_level level);
const char *tp_confidence_name(enum tp_confidence confidence);
const char *tp_advice_kind_name(enum tp_advice_kind kind);
const char *tp_sureness_name(enum tp_sureness sureness); /* "sure", "likely", "worth a try" */

/* False if the lower end is no gain, so that only the upper end of the interval carries
 * information. */
bool tp_gain_is_estimate(double gain_low);
/* False if the upper end says nothing: it is the cap of all gains, or a bound beyond any plausible
 * step. Then it must not be printed. */
bool tp_gain_has_high(double low, double high);
/* Returns the number with which a gain is printed, by which advice is sorted: the value of an
 * estimate, else the end that is known; 0 = neither is. */
double tp_gain_printed(double low, double value, double high);

/* One comparison of the condition, with the value it saw. */
struct tp_evidence {
	tp_fact_id fact;
	struct tp_quantity value;
	const char *op;   /* "<" "<=" ">" ">=" "==" "!=" ; "" for a fact without comparison */
	double threshold; /* right side, evaluated */
	bool has_threshold;
	int holds; /* 1 yes, 0 no, -1 unknown */
};

struct tp_citation {
	const char *title;
	const char *where;
	const char *checked; /* date */
};

/* A result published by others, on their machine and against their baseline: never a promise for
 * this run. */
struct tp_reported_result {
	const char *text;
	const char *hardware;
	const char *baseline;
	struct tp_citation source;
};

/* A condition for or against using a technique, evaluated for this run. */
struct tp_condition_result {
	const char *text;
	bool is_need; /* required; otherwise the technique must not be used when it holds */
	int holds;    /* 1 yes, 0 no, -1 unknown */
};

/* An alternative that buys time for quality at a known rate: an action that changes the number of
 * iterations must do better. */
struct tp_yardstick {
	const char *technique; /* id */
	const char *title;
	const struct tp_reported_result *reported; /* the known rate */
	size_t n_reported;
};

/* The guide's information about the technique of an action (trainprof guide TECHNIQUE). */
struct tp_references {
	const char *title;
	const char *effort;      /* "flag", "lines", "refactor" */
	const char *effort_text; /* "a few lines" */
	const char *risk;        /* for the model: "none", "low", "medium", "high" */
	const char *risk_text;   /* in words */
	const struct tp_reported_result *reported;
	size_t n_reported;
	const struct tp_condition_result *caveats; /* requirements first */
	size_t n_caveats;
	const struct tp_yardstick *against; /* NULL if the number of iterations does not change */
};

struct tp_action {
	const char *headline; /* the action in one line, or NULL */
	const char *text;     /* with numbers filled in */
	const char *example;  /* a command or line to type, or NULL */
	/* The way `trainprof try` applies it without a change of code; NULL if there is none. */
	const char *prefix;    /* what precedes the program's command */
	const char *loader;    /* settings of the DataLoader: "num_workers=2,pin_memory=1" */
	const char *technique; /* id, or NULL */
	const struct tp_references *literature; /* NULL: the guide has no page for it */
};

struct tp_finding {
	const char *rule; /* "input/loader-cpu-bound" */
	const char *path; /* file of the rule */
	const char *title;
	enum tp_finding_state state;
	const char *not_judged_because; /* NULL unless not judged */
	const char *quiet_because; /* a similar pattern that was seen, or the parent rule; may be
				      NULL */
	enum tp_finding_level level;
	enum tp_confidence confidence;
	const char *doubts; /* reasons that lowered the confidence ("few steps"), or NULL */
	enum tp_sureness sureness;
	enum tp_advice_kind kind;
	const char *headline; /* the advice in one line: the first action */
	const char *because;  /* evidence in one sentence, numbers filled in */
	const char *place;    /* for an idiom: "train.py:31 in collate()"; else NULL */
	const char *place_file;
	unsigned place_line;
	bool is_cause; /* it names what the code does, not only the part that limits */
	const struct tp_evidence *evidence;
	size_t n_evidence;
	const struct tp_action *actions; /* those that still apply */
	size_t n_actions;
	const char *done; /* techniques left out because they are applied already, with the
			     evidence; or NULL */
	bool has_gain;
	double gain_low; /* speed-up factors, 1.0 = none; low <= value <= high */
	double gain_value;
	double gain_high;
	bool is_gain_of_loop; /* not of a step: times outside of steps count too */
	const char *gain_method;
	const char *price;  /* effect on model quality: "none", or what to check */
	const char *verify; /* the metric that must move, numbers filled in */
	const char *refute; /* how to disprove it, or NULL */
	const struct tp_citation *sources;
	size_t n_sources;
	const char *suppressed; /* why a fired finding is not shown as advice, or NULL */
};

/* A fact that would allow more rules to be judged. */
struct tp_missing_fact {
	tp_fact_id fact;
	size_t n_rules; /* number of rules that need it */
};

/* Sorted: fired advice by gain and confidence, then notes, quiet, not judged. */
struct tp_findings {
	struct tp_arena arena;
	struct tp_finding *items;
	size_t n_items;
	size_t n_fired; /* shown as advice */
	size_t n_not_judged;
	/* All shown advice together; never a product of gains. */
	bool has_combined;
	double combined_low, combined_value, combined_high;
	const char
		*then_limit; /* what limits the step once all shown advice is followed, or NULL */
	double then_steps_per_s; /* upper limit with any further change; 0 = unknown */
	/* Verdict, from the run/… rules: "dataloader_bound", "compute_bound", "too_short" …; NULL
	 * when no rule that names one fired. */
	const char *verdict;
	const char *verdict_cause; /* row of model/verdict_words.h; NULL: the rule has a title of
				    * its own */
	const char *verdict_title;
	const char *verdict_sentence;
	/* The shown advice as steps. */
	struct tp_action_plan action_plan;
	/* The facts to find out next, the most useful first. */
	const struct tp_missing_fact *wanted;
	size_t n_wanted;
};

void tp_findings_release(struct tp_findings *findings);

#endif
