/* SPDX-License-Identifier: Apache-2.0 */
/* Checks which files and events an unprivileged user may open, under each setting of the kernel. */
#include "guest.h"

#include "collect/perf/perf_event.h"
#include "collect/pmu/pmu_group.h"
#include "collect/pmu/pmu_probe.h"
#include "collect/process/process_access.h"

#include "trainprof/collect/host_info.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define SCOPE    "/proc/sys/kernel/yama/ptrace_scope"

static void check_probe(const char *setting, enum tp_presence want, const char *in_reason)
{
	struct tp_host host;
	struct tp_availability out;
	char name[128];
	tp_host_open(&host, "");
	tp_pmu_probe(&host, &out);
	snprintf(name, sizeof(name), "counters under %s", setting);
	guest_check(out.presence == want && strstr(out.reason, in_reason) != NULL, name,
		    "%d, '%s', next '%s'", (int)out.presence, out.reason, out.remedy);
	tp_host_close(&host);
}

/* Returns true if counters exclude kernel mode. */
static bool without_kernel(void)
{
	static const struct tp_pmu_event cycles = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0};
	struct tp_pmu_group group;
	struct tp_pmu_group_options options = {.n_required = 1};
	if (tp_pmu_group_open(&group, &cycles, 1, &options) != 0)
		return false;
	tp_pmu_group_close(&group);
	return options.without_kernel;
}

/* Samples running threads, without and with kernel mode; the expected results are 0 or an errno. */
static void check_sampling(const char *setting, int without, int with)
{
	char name[128];
	int got_without = tp_perf_test_open(false);
	int got_with = tp_perf_test_open(true);
	snprintf(name, sizeof(name), "samples under %s", setting);
	guest_check(got_without == without && got_with == with, name, "errno %d, %d", got_without,
		    got_with);
}

static void check_paranoid_3(void)
{
	check_sampling("paranoid 3", EACCES, EACCES);
	check_probe("paranoid 3", TP_PRESENCE_NO_PERMISSION, "perf_event_paranoid is 3");
}

static void check_paranoid_2(void)
{
	check_sampling("paranoid 2", 0, EACCES);
	check_probe("paranoid 2", TP_PRESENCE_DEGRADED, "top-down");
	guest_check(without_kernel(), "the kernel's part is left out under paranoid 2", "%s", "");
}

static void check_paranoid_1(void)
{
	check_sampling("paranoid 1", 0, 0);
	check_probe("paranoid 1", TP_PRESENCE_DEGRADED, "top-down");
	guest_check(!without_kernel(), "the kernel's part is counted under paranoid 1", "%s", "");
}

static void check_paranoid_root(void)
{
	check_probe("paranoid 3 as root", TP_PRESENCE_DEGRADED, "top-down");
	guest_check(!without_kernel(), "root counts the kernel's part", "%s", "");
}

void guest_check_paranoid(void)
{
	guest_set(PARANOID, "3");
	guest_run(true, check_paranoid_3);
	guest_run(false, check_paranoid_root);
	guest_set(PARANOID, "2");
	guest_run(true, check_paranoid_2);
	guest_set(PARANOID, "1");
	guest_run(true, check_paranoid_1);
	guest_set(PARANOID, "3");
}

static void check_reach(const char *who, enum tp_presence want, const char *in_reason)
{
	struct tp_host host;
	struct tp_availability out;
	char name[128];
	tp_host_open(&host, "");
	tp_process_access_probe(&host, &out);
	snprintf(name, sizeof(name), "waits as %s under scope %d", who, host.ptrace_scope);
	guest_check(out.presence == want && strstr(out.reason, in_reason) != NULL, name,
		    "%d, '%s', next '%s'", (int)out.presence, out.reason, out.remedy);
	tp_host_close(&host);
}

static void check_reachable(void)
{
	check_reach(getuid() ? "user" : "root", TP_PRESENCE_PRESENT, "");
}

/* A process of the same user that is not the caller's child, like a target of `attach`. */
static pid_t stranger;

static void start_stranger(void)
{
	int ends[2];
	char ready = 0;
	if (pipe(ends) != 0 || (stranger = fork()) < 0)
		return;
	if (stranger == 0) {
		if (setgid(1000) != 0 || setuid(1000) != 0)
			_exit(1);
		prctl(PR_SET_DUMPABLE, 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ends[1], &ready, 1) == 1)
			pause();
		_exit(1);
	}
	guest_check(read(ends[0], &ready, 1) == 1, "a process runs that is not our child", "%d",
		    (int)stranger);
	close(ends[0]);
	close(ends[1]);
}

static void check_stranger(enum tp_presence want, const char *in_reason, const char *in_remedy)
{
	struct tp_host host;
	struct tp_availability out;
	char name[128];
	tp_host_open(&host, "");
	tp_process_access_probe_pid(&host, stranger, &out);
	snprintf(name, sizeof(name), "waits of a running process as %s under scope %d",
		 getuid() ? "user" : "root", host.ptrace_scope);
	guest_check(out.presence == want && strstr(out.reason, in_reason) != NULL &&
			    strstr(out.remedy, in_remedy) != NULL,
		    name, "%d, '%s', next '%s'", (int)out.presence, out.reason, out.remedy);
	tp_host_close(&host);
}

static void check_stranger_reachable(void)
{
	check_stranger(TP_PRESENCE_PRESENT, "", "");
}

static void check_stranger_scope_1(void)
{
	check_stranger(TP_PRESENCE_DEGRADED, "is not our child", "sudo trainprof attach");
}

static void check_scope_2(void)
{
	check_stranger(TP_PRESENCE_DEGRADED, "is 2 and process", "sudo trainprof attach");
	check_reach("user", TP_PRESENCE_DEGRADED, "ptrace_scope is 2");
}

static void check_scope_3(void)
{
	check_stranger(TP_PRESENCE_DEGRADED, "ptrace_scope is 3", "reboot");
	check_reach(getuid() ? "user" : "root", TP_PRESENCE_DEGRADED, "ptrace_scope is 3");
}

void guest_check_yama(void)
{
	guest_check(access(SCOPE, F_OK) == 0, "Yama is there", "%s", SCOPE);
	start_stranger();
	guest_set(SCOPE, "0");
	guest_run(true, check_reachable);
	guest_run(true, check_stranger_reachable);
	guest_set(SCOPE, "1");
	guest_run(true, check_reachable);
	guest_run(true, check_stranger_scope_1);
	guest_run(false, check_stranger_reachable);
	guest_set(SCOPE, "2");
	guest_run(true, check_scope_2);
	guest_run(false, check_reachable);
	guest_run(false, check_stranger_reachable);
	guest_set(SCOPE, "3");
	guest_run(true, check_scope_3);
	guest_run(false, check_scope_3);
	kill(stranger, SIGKILL);
}
