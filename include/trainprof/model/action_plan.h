/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The course to take after a diagnosis: moves in the order of diagnosis, each with what to do, what
 * it may gain, which number must move and what limits once it is done. A part of the findings, in
 * whose arena everything is.
 */
#ifndef TRAINPROF_MODEL_ACTION_PLAN_H
#define TRAINPROF_MODEL_ACTION_PLAN_H

#include "trainprof/model/fact_id.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_yardstick;

/* A speed-up by what was measured: 1 <= low <= value <= high. */
struct tp_bound {
	bool is_known;
	double low;
	double value;
	double high;
};

/* How a framework says it. */
struct tp_framework_hint {
	const char *framework; /* "pytorch", "jax", "tensorflow", "c" */
	const char *text;
};

enum tp_plan_action_role {
	TP_PLAN_ACTION_DO,
	TP_PLAN_ACTION_WITH,   /* of no use without the first, or the first without it */
	TP_PLAN_ACTION_OPENER, /* makes room in memory for it, where there is none */
	TP_N_PLAN_ACTION_ROLES
};

/* One thing to do. */
struct tp_plan_action {
	enum tp_plan_action_role role;
	const char *technique; /* id */
	const char *text;
	const char *example; /* something to type, or NULL */
	const struct tp_framework_hint
		*how; /* of the frameworks seen in the run; of all when none was */
	size_t n_how;
	const char *verify; /* what the guide says must move, or NULL */
};

/* A number that must move. Shares of the step (or loop) as it was measured: a step that got
 * shorter would make shares of what is left grow. */
struct tp_plan_target {
	tp_fact_id fact;
	double now;
	double best; /* after the move, if all goes that may go: 0 <= best <= worst <= now */
	double worst;
	bool is_of_loop;
};

/* What is done and measured at once. */
struct tp_plan_step {
	const size_t *advice; /* places in the findings; the first leads */
	size_t n_advice;
	unsigned order;    /* of diagnosis; 0 = the guide does not know */
	const char *stage; /* what is looked at there, in words, or NULL */
	bool is_semantic;  /* some of it changes the training */
	const struct tp_plan_action *deeds;
	size_t n_deeds;
	struct tp_bound gain;   /* alone */
	struct tp_bound so_far; /* with all moves before it; never a sum */
	bool adds;              /* to the bound of those before it */
	const struct tp_plan_target *targets;
	size_t n_targets;
	const char *then_limit;             /* what limits once it is done, or NULL */
	double then_steps_per_s;            /* no more than that then; 0 = not known */
	const struct tp_yardstick *against; /* of what changes the number of steps, or NULL */
};

struct tp_action_plan {
	const struct tp_plan_step *moves; /* in the order in which to make them */
	size_t n_moves;
	double step_ns;                       /* of the run as it was; 0 = not known */
	const struct tp_yardstick *yardstick; /* for fewer steps, whatever the run; or NULL */
};

const char *tp_plan_action_role_name(enum tp_plan_action_role role); /* "do", "with", "opener" */

#endif
