/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as labelled lines, which text and Markdown print alike. */
#ifndef TRAINPROF_SRC_REPORT_PLAN_PLAN_FIELDS_H
#define TRAINPROF_SRC_REPORT_PLAN_PLAN_FIELDS_H

#include "trainprof/base/arena.h"
#include "trainprof/report/plan_text.h"

/* A label of at most 7 columns; "" continues the previous line. */
struct tp_plan_field {
	const char *label;
	const char *text;
};

enum { TP_PLAN_FIELDS_MAX = 120 };

/* One line about the plan's i-th step; borrowed from the plan. */
const char *tp_plan_step_summary(const struct tp_report_plan *plan, size_t i);
/* Title of the plan's i-th step: "2. Decode on the device". In the arena. */
const char *tp_plan_step_title(struct tp_arena *arena, const struct tp_report_plan *plan, size_t i);
/* Writes the lines of the i-th step into `out`, which has room for TP_PLAN_FIELDS_MAX; returns
 * their number. Texts are in the arena. */
size_t tp_plan_step_fields(struct tp_arena *arena, const struct tp_report_plan *plan, size_t i,
			   struct tp_plan_field *out);
/* Writes the lines after the last step: all changes together, training for fewer steps,
 * unknowns. */
size_t tp_plan_fields(struct tp_arena *arena, const struct tp_report_plan *plan,
		      struct tp_plan_field *out);

/* Steps per second before the plan and after the i-th step. tp_plan_step_rate() returns false if
 * they are not known, or if some of the gain is outside of the steps. */
struct tp_plan_step_rate {
	double now;
	double low;
	double high;
};
bool tp_plan_step_rate(const struct tp_report_plan *plan, size_t i, struct tp_plan_step_rate *out);

#endif
