/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says, as labelled lines: text and Markdown print the same ones. */
#ifndef TRAINPROF_SRC_REPORT_PLAN_PLAN_FIELDS_H
#define TRAINPROF_SRC_REPORT_PLAN_PLAN_FIELDS_H

#include "trainprof/base/arena.h"
#include "trainprof/report/plan_text.h"

/* A label of at most 7 columns; "" goes on with the one before. */
struct tp_plan_field {
	const char *label;
	const char *text;
};

enum { TP_PLAN_FIELDS_MAX = 120 };

/* What the plan's i-th step is about, in a line; borrowed from the plan. */
const char *tp_plan_step_summary(const struct tp_report_plan *plan, size_t i);
/* What stands over the plan's i-th step: "2. Decode on the device". In the arena. */
const char *tp_plan_step_title(struct tp_arena *arena, const struct tp_report_plan *plan, size_t i);
/* The lines of the i-th step into `out`, which has room for TP_PLAN_FIELDS_MAX; returns how many.
 * Texts are in the arena. */
size_t tp_plan_step_fields(struct tp_arena *arena, const struct tp_report_plan *plan, size_t i,
			   struct tp_plan_field *out);
/* What follows the last step: all together, fewer steps, what is not known. */
size_t tp_plan_fields(struct tp_arena *arena, const struct tp_report_plan *plan,
		      struct tp_plan_field *out);

/* Steps a second before the plan and after the i-th step; false where they are not known, or some
 * of the gain is outside of the steps. */
struct tp_plan_step_rate {
	double now;
	double low;
	double high;
};
bool tp_plan_step_rate(const struct tp_report_plan *plan, size_t i, struct tp_plan_step_rate *out);

#endif
