/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the gain of a change by what was measured (rules/README.md, Gains).
 *
 * With T the mean step (or the window), and for part X its exposed time E and its solo time S (only
 * X was active): if the fraction f of the time of X is removed, the new step is at most T - f·S,
 * because the instants in which only X was active can be cut out, and at least T - f·E; nor is it
 * below the lower end of the bracket, which includes the speed of the other resources. A rule may
 * give a range of fractions: the smaller one bounds from above, the larger one from below. The
 * value shown is the geometric mean of the two speed-ups. Beside other load the thread waits for a
 * CPU while it has work to do, so the wait that goes with the removed work may disappear with it:
 * that extends the upper end only.
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
	/* All work of the part in one step, including work hidden behind other parts. Set only if
	 * one resource does it serially: what remains of it is then a lower bound of the step. 0 =
	 * not known. */
	double work_ns;
	double queued_ns; /* wait for a CPU in proportion to the part's work; 0 if it needs none */
};

/* A step as input of the gains. */
struct tp_gain_input {
	double whole_ns; /* T */
	struct tp_gain_part parts[TP_N_PARTS];
	double outside_ratio; /* share of the loop, not of T */
	bool is_of_loop;      /* gains are stated of the loop, because some advice is of it */
};

struct tp_gain {
	bool is_known;
	enum tp_gain_kind kind;
	enum tp_part part;
	enum tp_label label; /* TP_N_LABELS = no single label */
	bool is_floor;       /* `high` is no real upper bound: more may be gained */
	bool is_inside;      /* of the loop, but its time lies within the steps: an idiom */
	double least;        /* fractions of the part, or of the loop */
	double most;
	double low; /* speed-ups: 1 <= low <= value <= high */
	double value;
	double high;
};

/* The next limit if the advice is followed. */
struct tp_next_limit {
	enum tp_part part; /* the largest remaining part, hidden or not; TP_N_PARTS = none */
	double left_ns;    /* its remaining time per step: no step can be shorter */
};

struct tp_gain_input tp_gain_input_of_profile(const struct tp_profile *profile);
/* The same from the shares alone, with nothing hidden: for the cases in rules. */
struct tp_gain_input tp_gain_input_of_facts(const struct tp_quantity *facts);

/* `largest` limits speed-ups, so that a part of 100 % does not promise infinity. */
struct tp_gain tp_gain_estimate(const struct tp_gain_input *basis, const struct tp_rule_gain *rule,
				const struct tp_quantity *facts, double largest);
/* Returns a gain of the steps as one of the loop around them, in which the time outside of the
 * steps stays; other gains unchanged. Its fractions remain those of the part. */
struct tp_gain tp_gain_of_loop(const struct tp_gain_input *basis, const struct tp_gain *gain);
/*
 * The combined gain, never less than that of one of them: for one label the largest fraction
 * counts, because two ways to remove a thing remove it once; labels of a part add up to the whole
 * part, for the lower and the upper bound; advice without a label shrinks what they leave of its
 * part; parts are removed independently. No step gets shorter than the remaining work of any part,
 * nor than the loader's supply unless that is changed. The value is what is left if each gain saves
 * what its own value states.
 */
struct tp_gain tp_gain_combine(const struct tp_gain_input *basis, const struct tp_gain *gains,
			       size_t n_gains, double largest, struct tp_next_limit *then);

#endif
