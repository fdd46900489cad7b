/* SPDX-License-Identifier: Apache-2.0 */
/* Tries to read a system call and memory of a child, or of the target. */
#include "process_access.h"

#include "procfs.h"

#include "trainprof/base/file.h"
#include "trainprof/base/process_memory.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each 0 or an errno. */
struct access_result {
	int call;
	int memory;
	int stat;
};

static int read_file(pid_t pid, const char *name)
{
	char path[64];
	char text[1024];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	errno = 0;
	return tp_file_peek(path, text, sizeof(text)) > 0 ? 0 : errno ? errno : EIO;
}

/* Forks a child that waits in read() until our end of the pipe closes. It must end with us. */
static pid_t fork_waiter(int ends[2])
{
	char nothing;
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(ends[1]);
	_exit(read(ends[0], &nothing, 1) == 0 ? 0 : 1);
}

static bool test_child(struct access_result *out)
{
	static const char text[] = "to be read from the child";
	char copy[sizeof(text)] = "";
	int ends[2];
	if (pipe(ends) != 0)
		return false;
	pid_t pid = fork_waiter(ends);
	close(ends[0]);
	if (pid > 0) {
		out->call = read_file(pid, "syscall");
		out->stat = read_file(pid, "stat");
		bool is_read = tp_process_memory_read(pid, (uintptr_t)text, copy, sizeof(copy));
		out->memory = is_read ? 0 : errno;
	}
	close(ends[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0;
}

/* The expected result on a recorded machine: Yama's scope 2 permits only privileged processes. */
static struct access_result guess_from_settings(const struct tp_host *host)
{
	int refusal = host->ptrace_scope >= 2 ? EPERM : 0;
	return (struct access_result){.call = refusal, .memory = refusal};
}

static void explain(const struct tp_host *host, const struct access_result *access_result,
		    struct tp_availability *out)
{
	int error = access_result->call ? access_result->call : access_result->memory;
	out->presence = TP_PRESENCE_DEGRADED;
	if (error == ENOENT) {
		snprintf(out->reason, sizeof(out->reason),
			 "only kernel functions name a wait: the kernel has no /proc/PID/syscall");
		return;
	}
	if (host->ptrace_scope >= 2) {
		snprintf(out->reason, sizeof(out->reason),
			 "only kernel functions name a wait: kernel.yama.ptrace_scope is %d",
			 host->ptrace_scope);
		out->is_granted_at_start = host->ptrace_scope == 2;
		snprintf(out->remedy, sizeof(out->remedy), "%s",
			 host->ptrace_scope > 2
				 ? "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and reboot"
				 : "sysctl kernel.yama.ptrace_scope=1");
		return;
	}
	snprintf(out->reason, sizeof(out->reason), "only kernel functions name a wait: %s: %s",
		 access_result->call ? "/proc/PID/syscall" : "process_vm_readv",
		 tp_errno_text(error));
	/* Root without CAP_SYS_PTRACE cannot read a process that has it. */
	out->is_granted_at_start = true;
	const char *elsewhere = geteuid() == 0 ? "run with CAP_SYS_PTRACE" : "run as root";
	snprintf(out->remedy, sizeof(out->remedy), "%s",
		 host->in_container ? "start the container with CAP_SYS_PTRACE" : elsewhere);
}

void tp_process_access_probe(const struct tp_host *host, struct tp_availability *out)
{
	memset(out, 0, sizeof(*out));
	struct access_result access_result = guess_from_settings(host);
	if (host->is_live && !test_child(&access_result)) {
		out->presence = TP_PRESENCE_NO_PERMISSION;
		snprintf(out->reason, sizeof(out->reason), "cannot start a child to try on");
		return;
	}
	if (access_result.stat) {
		out->presence = TP_PRESENCE_NO_PERMISSION;
		snprintf(out->reason, sizeof(out->reason), "/proc/PID/stat: %s",
			 tp_errno_text(access_result.stat));
		snprintf(out->remedy, sizeof(out->remedy), "mount /proc without hidepid");
		return;
	}
	if (access_result.call || access_result.memory)
		explain(host, &access_result, out);
}

/* Nothing is mapped at address 0: with access permitted the result is EFAULT. */
static struct access_result test_process(pid_t pid)
{
	char copy;
	struct access_result access_result = {.call = read_file(pid, "syscall")};
	if (!tp_process_memory_read(pid, 0, &copy, 1) && errno != EFAULT)
		access_result.memory = errno;
	return access_result;
}

void tp_process_access_probe_pid(const struct tp_host *host, pid_t pid, struct tp_availability *out)
{
	memset(out, 0, sizeof(*out));
	struct access_result access_result = test_process(pid);
	bool is_gone = kill(pid, 0) != 0 && errno == ESRCH;
	if (is_gone || (!access_result.call && !access_result.memory))
		return;
	if (host->ptrace_scope != 1 && host->ptrace_scope != 2) {
		explain(host, &access_result, out);
		return;
	}
	out->presence = TP_PRESENCE_DEGRADED;
	snprintf(out->reason, sizeof(out->reason),
		 "only kernel functions name a wait: kernel.yama.ptrace_scope is %d and process %d "
		 "is not our child",
		 host->ptrace_scope, (int)pid);
	snprintf(out->remedy, sizeof(out->remedy),
		 "sudo trainprof attach %d   (or: sudo sysctl kernel.yama.ptrace_scope=0)",
		 (int)pid);
}
