/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a change can gain, bounded by what was measured (rules/README.md, Gains).
 *
 * With T the mean step (or the window), and for part X its exposed time E and its solo time S (only
 * X went on): when the fraction f of what X shows goes away, the new step is at most T - f·S,
 * because the instants in which only X went on can be cut out, and at least T - f·E; nor below the
 * bracket's lower end, which knows how fast the other resources are. A rule may give a range of
 * fractions: the smaller one bounds from above, the larger one from below. The value shown is the
 * geometric mean of the two speed-ups.
 */
#ifndef TRAINPROF_SRC_ADVISE_JUDGE_GAIN_H
#define TRAINPROF_SRC_ADVISE_JUDGE_GAIN_H

#include "advise/rulebook/rule.h"

#include "trainprof/model/profile.h"

struct tp_gain_part {
	bool is_known;
	double exposed_ns;
	double without_low_ns;
	double without_high_ns;
	/* All of it in a step, hidden or not, where it is the work of one resource at a time: what
	 * is left of it is the least that a step can take. 0 = not known. */
	double work_ns;
};

/* A step as the gains see it. */
struct tp_gain_input {
	double whole_ns; /* T */
	struct tp_gain_part parts[TP_N_PARTS];
	double outside_ratio; /* of the loop: not in T */
};

struct tp_gain {
	bool is_known;
	enum tp_gain_kind kind;
	enum tp_part part;
	enum tp_label label; /* TP_N_LABELS: no one label */
	bool is_floor;       /* `high` is none of the truth: more may be gained */
	double least;        /* fractions of the part, or of the loop */
	double most;
	double low; /* speed-ups: 1 <= low <= value <= high */
	double value;
	double high;
};

/* What limits once the advice is followed. */
struct tp_next_limit {
	enum tp_part part; /* the largest that is left, hidden or not; TP_N_PARTS when none is */
	double left_ns;    /* of it in a step: no step can be shorter */
};

struct tp_gain_input tp_gain_input_of_profile(const struct tp_profile *profile);
/* The same from the shares alone, nothing hidden: for the cases of rules. */
struct tp_gain_input tp_gain_input_of_facts(const struct tp_quantity *facts);

/* `largest` caps speed-ups, so that a part of 100 % does not promise infinity. */
struct tp_gain tp_gain_estimate(const struct tp_gain_input *basis, const struct tp_rule_gain *rule,
				const struct tp_quantity *facts, double largest);
/*
 * All together: of one label the largest fraction counts, since two ways to remove a thing remove
 * it once; labels of a part add up to at most all of it, at least and at most; advice without a
 * label shrinks what they leave of its part; parts are removed side by side. No step gets shorter
 * than the work that is left of any part, nor than the loader supplies unless that is changed. The
 * value is what is left when each gain saves what its own value says.
 */
struct tp_gain tp_gain_combine(const struct tp_gain_input *basis, const struct tp_gain *gains,
			       size_t n_gains, double largest, struct tp_next_limit *then);

#endif
