/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows a recording while it is written.
 *
 * A process of its own does it, not the sampler's loop: analysing an interval takes longer than a
 * source may wait, and an error in drawing must not end the recording.
 */
#include "live_child.h"

#include "trainprof/collect/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

int tp_live_child_hold_keys(void)
{
	int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (saved >= 0 && nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	if (nothing >= 0)
		close(nothing);
	return saved;
}

void tp_live_child_return_keys(int saved)
{
	if (saved < 0)
		return;
	dup2(saved, STDIN_FILENO);
	close(saved);
}

void tp_live_child_start(struct tp_live_child *child, const char *directory)
{
	child->pid = fork();
	if (child->pid != 0) {
		tp_helper_add(child->pid);
		return;
	}
	sigset_t none;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	execl("/proc/self/exe", "trainprof", "top", "--", directory, (char *)NULL);
	_exit(127);
}

/* It may have ended and been reaped by the loop that reaps daemons of the program; then its pid may
 * belong to another process. */
static int is_ours(pid_t pid)
{
	siginfo_t info;
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void tp_live_child_stop(struct tp_live_child *child)
{
	if (child->pid <= 0)
		return;
	if (is_ours(child->pid)) {
		kill(child->pid, SIGTERM);
		kill(child->pid, SIGCONT);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	tp_helper_remove(child->pid);
	child->pid = 0;
}
