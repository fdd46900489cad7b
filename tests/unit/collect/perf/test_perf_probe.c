/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of why perf events were refused. */
#include "collect/perf/perf_probe.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static const struct {
	int error;
	int paranoid;
	bool in_container;
	enum tp_presence presence;
	const char *reason;
	bool has_remedy;
} refusals[] = {
	{ENOSYS, 2, true, TP_PRESENCE_NO_PERMISSION,
	 "this container forbids perf_event_open (seccomp)", true},
	{ENOSYS, 2, false, TP_PRESENCE_NO_PERMISSION,
	 "something here forbids perf_event_open (seccomp)", true},
	{ENOSYS, TP_PARANOID_UNREADABLE, true, TP_PRESENCE_NO_DEVICE,
	 "this kernel has no perf events", false},
	{EPERM, 2, true, TP_PRESENCE_NO_PERMISSION,
	 "this container forbids perf_event_open (seccomp)", true},
	{EACCES, 4, false, TP_PRESENCE_NO_PERMISSION, "perf_event_paranoid is 4", true},
	{EMFILE, 2, false, TP_PRESENCE_NO_PERMISSION, "perf_event_open: too many open files",
	 false},
};

START_TEST(a_refusal_names_who_refuses_and_what_helps)
{
	struct tp_availability out = {0};
	const struct tp_host host = {.perf_paranoid = refusals[_i].paranoid,
				     .in_container = refusals[_i].in_container};
	tp_perf_explain_error(&host, refusals[_i].error, &out);
	ck_assert_int_eq(out.presence, refusals[_i].presence);
	ck_assert_str_eq(out.reason, refusals[_i].reason);
	ck_assert_int_eq(out.remedy[0] != '\0', refusals[_i].has_remedy);
}
END_TEST

Suite *suite_collect_perf_probe(void);
Suite *suite_collect_perf_probe(void)
{
	Suite *suite = suite_create("collect/perf_probe");
	TCase *tc = tcase_create("perf_probe");
	tcase_add_loop_test(tc, a_refusal_names_who_refuses_and_what_helps, 0,
			    (int)(sizeof(refusals) / sizeof(refusals[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
