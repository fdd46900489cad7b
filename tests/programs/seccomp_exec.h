/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program under a filter of system calls. */
#ifndef TRAINPROF_TESTS_PROGRAMS_SECCOMP_EXEC_H
#define TRAINPROF_TESTS_PROGRAMS_SECCOMP_EXEC_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Returns the exit status if the program cannot be run; 77 where the kernel has no such filters. */
static int seccomp_exec(const struct sock_fprog *filter, char **command)
{
	if (!command[0])
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter) != 0) {
		perror("seccomp");
		return 77;
	}
	execvp(command[0], command);
	perror(command[0]);
	return 127;
}

#endif
