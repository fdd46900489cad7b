/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the process that samples hardware counters, communicates with it, and ends it. */
#include "pm_helper.h"

#include "collect/process/child_wait.h"
#include "pm_worker.h"

#include "trainprof/base/clock.h"
#include "trainprof/collect/helper_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define END_WAIT_NS  (TP_NS_PER_S / 4)
#define KILL_WAIT_NS TP_NS_PER_S /* a process that hangs in the driver does not die from it */

/* ---- child ---------------------------------------------------------------------------------- */

/* Signals of the terminal are for the program and for trainprof. */
static void child_setup(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGPIPE};
	struct rlimit none = {0};
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
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

static void child_run(int fd)
{
	child_setup();
	set_environment();
	tp_pm_worker_run(fd); /* CUPTI is not shut down, because that has crashed */
}

/* ---- parent --------------------------------------------------------------------------------- */

enum tp_status tp_pm_helper_start(struct tp_pm_helper *out, struct tp_error *err)
{
	int fd = -1;
	pid_t pid = tp_helper_start("trainprof-pm", child_run, &fd);
	if (pid < 0)
		return tp_fail_errno(err, errno, "cannot start a process for counters");
	*out = (struct tp_pm_helper){.pid = pid, .fd = fd};
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
	tp_helper_remove(helper->pid);
	*helper = (struct tp_pm_helper){.fd = -1};
}
