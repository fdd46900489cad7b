/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of trainprof's own priority. */
#include "collect/machine/sched_priority.h"

#include <check.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int policies[] = {SCHED_BATCH, SCHED_IDLE};

START_TEST(priority_is_raised_where_allowed_and_restored)
{
	struct tp_sched_priority before;
	const struct sched_param normal = {0};
	ck_assert_int_eq(sched_setscheduler(0, SCHED_OTHER, &normal), 0);
	setpriority(PRIO_PROCESS, 0,
		    3); /* refused if we were started with a lower priority already */
	int had = getpriority(PRIO_PROCESS, 0);
	tp_sched_priority_raise(&before);
	int raised = getpriority(PRIO_PROCESS, 0);
	ck_assert_int_le(raised, had);
	if (getuid() == 0)
		ck_assert_int_lt(raised, 0);
	tp_sched_priority_restore(&before);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), had);
}
END_TEST

START_TEST(any_user_keeps_what_he_has)
{
	struct tp_sched_priority before;
	if (getuid() == 0)
		ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	setpriority(PRIO_PROCESS, 0, 5);
	int had = getpriority(PRIO_PROCESS, 0);
	tp_sched_priority_raise(&before);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), had);
	tp_sched_priority_restore(&before);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), had);
}
END_TEST

/* As with `chrt --batch trainprof run`: the target is a batch job, too. */
START_TEST(another_policy_is_kept)
{
	struct tp_sched_priority before;
	const struct sched_param none = {0};
	ck_assert_int_eq(sched_setscheduler(0, policies[_i], &none), 0);
	tp_sched_priority_raise(&before);
	tp_sched_priority_restore(&before);
	ck_assert_int_eq(sched_getscheduler(0), policies[_i]);
}
END_TEST

Suite *suite_collect_sched_priority(void);
Suite *suite_collect_sched_priority(void)
{
	Suite *suite = suite_create("collect/priority");
	TCase *tc = tcase_create("priority");
	tcase_add_test(tc, priority_is_raised_where_allowed_and_restored);
	tcase_add_test(tc, any_user_keeps_what_he_has);
	tcase_add_loop_test(tc, another_policy_is_kept, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
