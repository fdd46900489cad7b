/* SPDX-License-Identifier: Apache-2.0 */
/* The plan after a diagnosis: steps in the order of diagnosis, each with what to do, what it may
 * gain, which number must move and what limits afterwards. A part of the findings, in whose arena
 * everything lives. */
#ifndef TRAINPROF_MODEL_ACTION_PLAN_H
#define TRAINPROF_MODEL_ACTION_PLAN_H

#include "trainprof/model/fact_id.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_yardstick;

/* A speed-up relative to the measured run: 1 <= low <= value <= high. */
struct tp_bound {
	bool is_known;
	double low;
	double value;
	double high;
};

/* The same action in the words of one framework. */
struct tp_framework_hint {
	const char *framework; /* "pytorch", "jax", "tensorflow", "c" */
	const char *text;
};

enum tp_plan_action_role {
	TP_PLAN_ACTION_DO,
	TP_PLAN_ACTION_WITH,   /* only useful together with the first one */
	TP_PLAN_ACTION_OPENER, /* frees the memory that the first one needs */
	TP_N_PLAN_ACTION_ROLES
};

/* One thing to do. */
struct tp_plan_action {
	enum tp_plan_action_role role;
	const char *technique; /* id of the technique */
	const char *text;
	const char *example; /* a command or line to type, or NULL */
	const struct tp_framework_hint
		*how; /* for the frameworks seen in the run; for all if none was seen */
	size_t n_how;
	const char *verify; /* the metric that must move according to the guide, or NULL */
};

/* A metric that must move. Shares refer to the step (or loop) as it was measured, because in a
 * shorter step the shares of the rest would grow. */
struct tp_plan_target {
	tp_fact_id fact;
	double now;
	double best; /* afterwards, if everything that can go goes: 0 <= best <= worst <= now */
	double worst;
	bool is_of_loop;
};

/* Actions that are done and measured together. */
struct tp_plan_step {
	const size_t *advice; /* indices into the findings; the first leads */
	size_t n_advice;
	unsigned order;    /* order of diagnosis; 0 = the guide does not know */
	const char *stage; /* what this stage of diagnosis examines, or NULL */
	bool is_semantic;  /* some of it changes the training */
	const struct tp_plan_action *actions;
	size_t n_actions;
	struct tp_bound gain;   /* of this step alone */
	struct tp_bound so_far; /* together with all steps before it; never a sum */
	bool adds;              /* it raises the bound of the steps before it */
	const struct tp_plan_target *targets;
	size_t n_targets;
	const char *then_limit;  /* the limit afterwards, or NULL */
	double then_steps_per_s; /* upper limit afterwards; 0 = unknown */
	const struct tp_yardstick
		*against; /* for actions that change the number of steps, or NULL */
};

struct tp_action_plan {
	const struct tp_plan_step *steps; /* in the order in which to do them */
	size_t n_steps;
	double step_ns;                       /* of the measured run; 0 = unknown */
	const struct tp_yardstick *yardstick; /* for fewer steps, for any run; or NULL */
};

const char *tp_plan_action_role_name(enum tp_plan_action_role role); /* "do", "with", "opener" */

#endif
