/* SPDX-License-Identifier: Apache-2.0 */
/* Starts processes of trainprof's own, and keeps a list of them. */
#include "trainprof/collect/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OWN_FD = 3, FDS_MAX = 1 << 16 };

static pid_t helpers[TP_HELPERS_MAX]; /* 0 = free */

static void replace(pid_t old, pid_t new)
{
	for (size_t i = 0; i < TP_HELPERS_MAX; i++) {
		if (helpers[i] == old) {
			helpers[i] = new;
			return;
		}
	}
}

void tp_helper_add(pid_t pid)
{
	if (pid > 0)
		replace(0, pid);
}

void tp_helper_remove(pid_t pid)
{
	if (pid > 0)
		replace(pid, 0);
}

bool tp_helper_is_known(pid_t pid)
{
	for (size_t i = 0; i < TP_HELPERS_MAX; i++)
		if (pid > 0 && helpers[i] == pid)
			return true;
	return false;
}

/* Rings, the recording and pipes to the target must not stay open in the child. */
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

pid_t tp_helper_start(const char *name, void (*run)(int fd), int *fd)
{
	int pair[2];
	pid_t parent = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		prctl(PR_SET_NAME, name);
		close_others(pair[1]);
		run(OWN_FD);
		_exit(0); /* what the parent registered for its exit is not for the child */
	}
	int error = errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		errno = error;
		return -1;
	}
	tp_helper_add(pid);
	*fd = pair[0];
	return pid;
}
