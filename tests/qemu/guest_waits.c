/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the description of the machine and the causes of waits, on another kernel and another
 * processor. */
#include "guest.h"

#include "collect/machine/host_stat.h"
#include "collect/offcpu/syscall_table.h"
#include "collect/offcpu/wait_cause.h"
#include "collect/pmu/pmu_event_alias.h"
#include "collect/process/procfs.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"
#include "trainprof/collect/host_info.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void guest_check_machine(void)
{
	struct tp_host host;
	struct tp_core_pmu pmu;
	tp_host_open(&host, "");
	guest_check(strncmp(host.info.kernel, "Linux 6.1", 9) == 0, "the kernel is another one",
		    "%s", host.info.kernel);
	guest_check(strcmp(host.info.cpu_model, "ARM Cortex-A57") == 0, "the CPU has a name", "%s",
		    host.info.cpu_model);
	guest_check(host.perf_paranoid == 3, "Debian's kernel starts with paranoid 3", "%d",
		    host.perf_paranoid);
	guest_check(!host.in_container, "this is no container", "%d", host.in_container);
	guest_check(host.cgroup_is_v2 && host.cgroup_cpu &&
			    strcmp(host.cgroup_cpu, "/sys/fs/cgroup") == 0,
		    "our control group is the root of version 2", "%s",
		    host.cgroup_cpu ? host.cgroup_cpu : "none");
	guest_check(tp_core_pmu_find(&pmu, 1, &host) == 1, "the core has a PMU", "%s", pmu.name);
	tp_host_close(&host);
}

static void wait_sleep(void)
{
	struct timespec time = {.tv_sec = 1000};
	nanosleep(&time, NULL);
}

static void wait_pipe(void)
{
	int ends[2];
	char c;
	if (pipe(ends) == 0 && read(ends[0], &c, 1) < 0)
		_exit(1);
}

static void wait_socket(void)
{
	int ends[2];
	char c;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
		recv(ends[0], &c, 1, 0);
}

static void wait_poll(void)
{
	int a[2];
	if (pipe(a) != 0)
		return;
	struct pollfd fds[2] = {{.fd = a[0], .events = POLLIN}, {.fd = a[0], .events = POLLIN}};
	poll(fds, 2, -1);
}

static void wait_futex(void)
{
	static uint32_t word = 7;
	syscall(SYS_futex, &word, FUTEX_WAIT, 7, NULL, NULL, 0);
}

static void wait_child(void)
{
	if (fork() == 0)
		wait_sleep();
	wait(NULL);
}

static const struct {
	const char *name;
	void (*wait)(void);
	const char *call;
	enum tp_cause cause; /* from the kernel function alone */
} waits[] = {
	{"sleep", wait_sleep, "clock_nanosleep", TP_CAUSE_SLEEP},
	{"pipe", wait_pipe, "read", TP_CAUSE_PIPE},
	{"socket", wait_socket, "recvfrom", TP_CAUSE_SOCKET},
	{"poll", wait_poll, "ppoll", TP_CAUSE_POLL},
	{"futex", wait_futex, "futex", TP_CAUSE_FUTEX},
	{"child", wait_child, "wait4", TP_CAUSE_CHILD},
};

static void read_proc(pid_t pid, const char *name, char *out, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	tp_file_peek(path, out, size);
}

void guest_check_waits(void)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		char text[256];
		char wchan[128];
		char name[128];
		struct tp_procfs_syscall call = {.number = -1};
		pid_t pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			waits[i].wait();
			_exit(0);
		}
		usleep(50000);
		read_proc(pid, "syscall", text, sizeof(text));
		read_proc(pid, "wchan", wchan, sizeof(wchan));
		const struct tp_syscall *row =
			tp_procfs_syscall(&call, text)
				? tp_syscall_find(TP_SYSCALL_HERE, call.number)
				: NULL;
		snprintf(name, sizeof(name), "%s is named by its call", waits[i].name);
		guest_check(row && strcmp(row->name, waits[i].call) == 0, name, "%s",
			    row ? row->name : text);
		snprintf(name, sizeof(name), "%s is named by the kernel's function", waits[i].name);
		guest_check(tp_wait_cause_of_wchan(wchan) == waits[i].cause, name, "%s", wchan);
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* The outer group has a limit of half a CPU; the inner one, which contains us, has none. */
static void check_throttling(void)
{
	struct tp_host host;
	struct tp_host_stat_throttle throttle = {0};
	char text[1024];
	if (!guest_set("/sys/fs/cgroup/outer/inner/cgroup.procs", "0"))
		return;
	uint64_t began_ns = tp_clock_now_ns();
	while (tp_clock_now_ns() - began_ns < 400 * TP_NS_PER_MS)
		guest_loop(100000);
	tp_host_open(&host, "");
	guest_check(host.info.quota_cpus > 0.49 && host.info.quota_cpus < 0.51,
		    "an ancestor's quota is ours", "%.2f CPUs", host.info.quota_cpus);
	guest_check(host.cgroup_cpu && strcmp(host.cgroup_cpu, "/sys/fs/cgroup/outer") == 0,
		    "throttling is read where the quota is", "%s",
		    host.cgroup_cpu ? host.cgroup_cpu : "none");
	guest_check(host.info.memory_limit_bytes == 64 << 20, "an ancestor's memory limit is ours",
		    "%llu", (unsigned long long)host.info.memory_limit_bytes);
	tp_file_peek("/sys/fs/cgroup/outer/cpu.stat", text, sizeof(text));
	bool good = tp_host_stat_throttle(&throttle, text);
	guest_check(good && throttle.throttled_periods >= 2 &&
			    throttle.throttled_ns > 100 * TP_NS_PER_MS,
		    "throttled time is counted", "%llu of %llu periods, %.3f s",
		    (unsigned long long)throttle.throttled_periods,
		    (unsigned long long)throttle.periods, (double)throttle.throttled_ns * 1e-9);
	tp_host_close(&host);
}

void guest_check_quota(void)
{
	bool good = guest_set("/sys/fs/cgroup/cgroup.subtree_control", "+cpu +memory") &&
		    mkdir("/sys/fs/cgroup/outer", 0755) == 0 &&
		    guest_set("/sys/fs/cgroup/outer/cgroup.subtree_control", "+cpu +memory") &&
		    mkdir("/sys/fs/cgroup/outer/inner", 0755) == 0 &&
		    guest_set("/sys/fs/cgroup/outer/cpu.max", "50000 100000") &&
		    guest_set("/sys/fs/cgroup/outer/memory.max", "67108864");
	guest_check(good, "control groups of version 2 can be made", "errno %d", errno);
	if (good)
		guest_run(false, check_throttling);
}
