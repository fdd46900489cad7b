/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are joined, and the library that is injected into them. */
#ifndef TRAINPROF_TESTS_INJECT_JOINING_H
#define TRAINPROF_TESTS_INJECT_JOINING_H

#include "trainprof/inject/inject.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOINING_PATH = 600 };

/* Next to the test binary. */
#ifndef JOINING_LIBRARY
#define JOINING_LIBRARY "doubles/libvisitor.so"
#endif

struct joining {
	pid_t pid;
	int input;  /* closing it ends the program */
	int output; /* its output */
	char library[JOINING_PATH];
	struct tp_inject_config config;
};

/* Path of a file next to the test binary. */
static inline void joining_path(char out[JOINING_PATH], const char *file)
{
	char self[500];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len > 0 ? len : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	snprintf(out, JOINING_PATH, "%s/%s", self, file);
}

static inline void joining_configure(struct joining *joining)
{
	joining_path(joining->library, JOINING_LIBRARY);
	joining->config = (struct tp_inject_config){.library = joining->library,
						    .soname = "libvisitor.so",
						    .door = "visitor_come"};
}

/* Starts the program, with pipes to us as its input and output, and waits until it prints a
 * line. */
static inline bool joining_start(struct joining *joining, char *const *argv)
{
	int in[2];
	int out[2];
	char got = '\0';
	if (pipe(in) != 0 || pipe(out) != 0)
		return false;
	joining_configure(joining);
	joining->pid = fork();
	if (joining->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[0]);
		close(in[1]);
		close(out[0]);
		close(out[1]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	joining->input = in[1];
	joining->output = out[0];
	while (got != '\n' && read(out[0], &got, 1) == 1)
		continue;
	return got == '\n';
}

/* Ends the program; returns its status and its output since. */
static inline int joining_end(struct joining *joining, char *said, size_t size)
{
	int status = -1;
	size_t len = 0;
	ssize_t got;
	close(joining->input);
	while (len < size - 1 && (got = read(joining->output, said + len, size - 1 - len)) > 0)
		len += (size_t)got;
	said[len] = '\0';
	close(joining->output);
	waitpid(joining->pid, &status, 0);
	return status;
}

/* Injects the library; returns the count of its visits, 0 if it failed. */
static inline uint64_t joining_visit(const struct joining *joining, struct tp_injection *out,
				     struct tp_error *err)
{
	uint64_t n = 0;
	if (tp_inject(out, joining->pid, &joining->config, err) != TP_OK)
		return 0;
	if (read(out->fd, &n, sizeof(n)) != sizeof(n))
		n = 0;
	close(out->fd);
	return n;
}

/* Returns true if children can be traced here. Some containers forbid it. */
static inline bool joining_is_possible(void)
{
	int status = -1;
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	bool is_able = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return is_able;
}

#endif
