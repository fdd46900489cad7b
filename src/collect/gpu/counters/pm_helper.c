/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the process that samples hardware counters, communicates with it, and ends it. */
#include "pm_helper.h"

#include "collect/process/child_wait.h"
#include "pm_worker.h"

#include "trainprof/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define END_WAIT_NS  (TP_NS_PER_S / 4)
#define KILL_WAIT_NS TP_NS_PER_S /* a process that hangs in the driver does not die from it */

/* ---- child ---------------------------------------------------------------------------------- */

enum { OWN_FD = 3, FDS_MAX = 1 << 16 };

/* Rings, the recording and pipes to the target must not stay open here. */
static void close_others(int fd)
{
	int none = open("/dev/null", O_RDWR);
	for (int i = 0; i < OWN_FD; i++)
		dup2(none, i);
	if (fd != OWN_FD)
		dup2(fd, OWN_FD);
	if (syscall(SYS_close_range, OWN_FD + 1, ~0u, 0) == 0)
		return;
	/* Before Linux 5.9. The limit may be unlimited, but nobody has that many. */
	struct rlimit limit = {0};
	getrlimit(RLIMIT_NOFILE, &limit);
	for (int i = OWN_FD + 1; i < FDS_MAX && (rlim_t)i < limit.rlim_cur; i++)
		close(i);
}

/* Signals of the terminal are for the program and for trainprof; the child ends with us. */
static void child_setup(pid_t parent)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGPIPE};
	struct rlimit none = {0};
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_NAME, "trainprof-pm");
	setrlimit(RLIMIT_CORE, &none); /* a crash of CUPTI shows by the child's absence */
	(void)setpriority(PRIO_PROCESS, 0, 0);
}

/* Device numbers as in NVML, independent of what the program may see; no tool may be injected
 * here. */
static void set_environment(void)
{
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1); /* NOLINT(concurrency-mt-unsafe) */
	unsetenv("CUDA_VISIBLE_DEVICES");             /* NOLINT(concurrency-mt-unsafe) */
	unsetenv("CUDA_INJECTION64_PATH");            /* NOLINT(concurrency-mt-unsafe) */
	unsetenv("NVTX_INJECTION64_PATH");            /* NOLINT(concurrency-mt-unsafe) */
}

/* ---- parent --------------------------------------------------------------------------------- */

enum tp_status tp_pm_helper_start(struct tp_pm_helper *out, struct tp_error *err)
{
	int pair[2];
	pid_t parent = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return tp_fail_errno(err, errno, "cannot make a socket for counters");
	pid_t pid = fork();
	if (pid == 0) {
		child_setup(parent);
		set_environment();
		close_others(pair[1]);
		tp_pm_worker_run(OWN_FD);
		_exit(0); /* CUPTI is not shut down, because that has crashed */
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return tp_fail_errno(err, errno, "cannot start a process for counters");
	}
	*out = (struct tp_pm_helper){.pid = pid, .fd = pair[0]};
	return TP_OK;
}

bool tp_pm_helper_request(struct tp_pm_helper *helper, const struct tp_pm_request *wish)
{
	if (send(helper->fd, wish, sizeof(*wish), MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(*wish))
		helper->is_gone = true;
	return !helper->is_gone;
}

bool tp_pm_helper_receive(struct tp_pm_helper *helper, struct tp_pm_event *out)
{
	ssize_t len = helper->is_gone ? 0 : recv(helper->fd, out, sizeof(*out), MSG_DONTWAIT);
	if (len == (ssize_t)sizeof(*out))
		return true;
	if (len >= 0 || (errno != EAGAIN && errno != EINTR))
		helper->is_gone = true;
	return false;
}

/* Its end may have been reaped already, together with daemons. */
void tp_pm_helper_end(struct tp_pm_helper *helper)
{
	int ignored;
	if (helper->pid <= 0)
		return;
	close(helper->fd);
	if (!tp_child_wait(helper->pid, END_WAIT_NS, &ignored)) {
		kill(helper->pid, SIGKILL);
		(void)tp_child_wait(helper->pid, KILL_WAIT_NS, &ignored);
	}
	*helper = (struct tp_pm_helper){.fd = -1};
}
