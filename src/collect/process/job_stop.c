/* SPDX-License-Identifier: Apache-2.0 */
/* Stops trainprof with the program, and lets a child process continue it with the program. */
#include "job_stop.h"

#include "procfs_stat.h"

#include "trainprof/base/clock.h"
#include "trainprof/base/file.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS (20 * (long)TP_NS_PER_MS)

enum { PATH_SIZE = 64, LINE_SIZE = 1024 };

/* True if in state T; false also if it is gone. */
static bool is_stopped(pid_t pid)
{
	struct tp_procfs_stat stat;
	char path[PATH_SIZE];
	char line[LINE_SIZE];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return tp_file_peek(path, line, sizeof(line)) > 0 && tp_procfs_stat_parse(&stat, line) &&
	       stat.state == 'T';
}

/* A shell continues the whole group; a process that continues only the program does not know of
 * trainprof, and a program that has ended continues nothing. */
static void continue_with(pid_t pid, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent && (!is_stopped(parent) || is_stopped(pid)))
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
	if (getppid() == parent)
		kill(parent, SIGCONT);
	_exit(0);
}

void tp_job_stop(pid_t pid, int signal)
{
	pid_t self = getpid();
	pid_t partner = fork();
	if (partner == 0)
		continue_with(pid, self);
	if (partner < 0)
		return; /* no process would continue us */
	kill(self, signal);
	kill(partner, SIGKILL);
	waitpid(partner, NULL, 0);
}
