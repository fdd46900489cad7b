/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the parts of an action plan. */
#include "trainprof/model/action_plan.h"

const char *tp_plan_action_role_name(enum tp_plan_action_role role)
{
	static const char *const names[TP_N_PLAN_ACTION_ROLES] = {"do", "with", "opener"};
	return names[role];
}
