/* SPDX-License-Identifier: Apache-2.0 */
/* Stops us with the program, and has a child of ours continue us with it. */
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

/* In state T; false also when it is gone. */
static bool is_stopped(pid_t pid)
{
	struct tp_procfs_stat stat;
	char path[PATH_SIZE];
	char line[LINE_SIZE];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return tp_file_peek(path, line, sizeof(line)) > 0 && tp_procfs_stat_parse(&stat, line) &&
	       stat.state == 'T';
}

/* A shell continues the whole group; somebody who continues the program alone does not know of us,
 * and a program that has ended continues nobody. */
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
		return; /* nobody would continue us */
	kill(self, signal);
	kill(partner, SIGKILL);
	waitpid(partner, NULL, 0);
}
