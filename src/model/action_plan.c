/* Names of what a course is made of. */
#include "trainprof/model/action_plan.h"

const char *tp_deed_role_name(enum tp_deed_role role)
{
	static const char *const names[TP_N_DEED_ROLES] = {"do", "with", "opener"};
	return names[role];
}
