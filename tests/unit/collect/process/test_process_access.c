/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of which data of another process can be read; proof-qemu has the full matrix. */
#include "collect/process/process_access.h"

#include "skip.h"

#include <check.h>
#include <dirent.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	bool is_live;
	int ptrace_scope;
	enum tp_presence presence;
	const char *in_reason;
	const char *remedy;
} cases[] = {
	{false, 0, TP_PRESENCE_PRESENT, "", ""},
	{false, 1, TP_PRESENCE_PRESENT, "", ""},
	{false, 2, TP_PRESENCE_DEGRADED, "ptrace_scope is 2", "sysctl kernel.yama.ptrace_scope=1"},
	{false, 3, TP_PRESENCE_DEGRADED, "ptrace_scope is 3",
	 "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and reboot"},
	{true, 0, TP_PRESENCE_PRESENT, "", ""},
};

START_TEST(reach_is_as_the_settings_say)
{
	struct tp_host host = {.root = "",
			       .is_live = cases[_i].is_live,
			       .ptrace_scope = cases[_i].ptrace_scope};
	struct tp_availability out;
	tp_process_access_probe(&host, &out);
	ck_assert_int_eq(out.presence, cases[_i].presence);
	ck_assert_msg(strstr(out.reason, cases[_i].in_reason) != NULL, "%s", out.reason);
	ck_assert_str_eq(out.remedy, cases[_i].remedy);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}
END_TEST

static int count_open_files(void)
{
	int n = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (readdir(dir)) /* NOLINT(concurrency-mt-unsafe): a DIR of our own */
		n++;
	closedir(dir);
	return n;
}

START_TEST(trying_leaves_no_descriptor_open)
{
	struct tp_host host = {.root = "", .is_live = true};
	struct tp_availability out;
	int before = count_open_files();
	tp_process_access_probe(&host, &out);
	ck_assert_int_eq(count_open_files(), before);
}
END_TEST

START_TEST(a_process_that_hides_itself_is_not_read)
{
	struct tp_host host = {.root = "", .is_live = true};
	struct tp_availability out;
	if (setuid(12345) != 0) {
		test_skip("only root can become another user");
		return;
	}
	prctl(PR_SET_DUMPABLE, 0); /* the child inherits it */
	tp_process_access_probe(&host, &out);
	ck_assert_int_eq(out.presence, TP_PRESENCE_DEGRADED);
	ck_assert_str_ne(out.remedy, "");
}
END_TEST

/* Yama's scope 1 refuses a process that is not our child, as a hidden process is refused to another
 * user. */
START_TEST(running_process_is_tried_itself)
{
	struct tp_host host = {.root = "", .is_live = true};
	struct tp_availability out;
	pid_t parent = getppid(); /* belongs to root if we do */
	tp_process_access_probe_pid(&host, parent, &out);
	ck_assert_int_eq(out.presence, TP_PRESENCE_PRESENT);
	if (setuid(12345) != 0) {
		test_skip("only root can become another user");
		return;
	}
	tp_process_access_probe_pid(&host, parent, &out);
	ck_assert_int_eq(out.presence, TP_PRESENCE_DEGRADED);
	host.ptrace_scope = 1;
	tp_process_access_probe_pid(&host, parent, &out);
	ck_assert_msg(strstr(out.reason, "ptrace_scope is 1") &&
			      strstr(out.reason, "not our child"),
		      "%s", out.reason);
	ck_assert_msg(strstr(out.remedy, "sudo trainprof attach"), "%s", out.remedy);
}
END_TEST

START_TEST(root_is_not_told_to_be_root)
{
	struct tp_host host = {.root = "", .is_live = true};
	struct tp_availability out;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
	if (geteuid() != 0 || syscall(SYS_capset, &header, none) != 0) {
		test_skip("only root can give up what root may do");
		return;
	}
	tp_process_access_probe_pid(&host, getppid(), &out); /* has more privileges than we have */
	ck_assert_int_eq(out.presence, TP_PRESENCE_DEGRADED);
	ck_assert_str_eq(out.remedy, "run with CAP_SYS_PTRACE");
}
END_TEST

Suite *suite_collect_process_access(void);
Suite *suite_collect_process_access(void)
{
	Suite *suite = suite_create("collect/reach");
	TCase *tc = tcase_create("reach");
	tcase_add_loop_test(tc, reach_is_as_the_settings_say, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, trying_leaves_no_descriptor_open);
	tcase_add_test(tc, a_process_that_hides_itself_is_not_read);
	tcase_add_test(tc, running_process_is_tried_itself);
	tcase_add_test(tc, root_is_not_told_to_be_root);
	suite_add_tcase(suite, tc);
	return suite;
}
