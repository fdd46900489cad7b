/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a command line through `trainprof run` in its own process. */
#include "pair_run.h"

#include "cli/session/install_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t running;

/* A terminal sends Ctrl-C to the program itself; signals from other sources are forwarded. */
static void note_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	interrupted = 1;
	if (running > 0 && info->si_code <= 0)
		kill((pid_t)running, number);
}

void tp_pair_run_watch(void)
{
	struct sigaction action = {.sa_sigaction = note_signal, .sa_flags = SA_SIGINFO};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool tp_pair_run_is_interrupted(void)
{
	return interrupted;
}

__attribute__((noreturn)) static void start(const struct tp_pair_command *command,
					    const char *directory, const char *log)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		_exit(125);
	if (command->loader && (setenv(TP_LOADER_ENV, command->loader, 1) != 0 ||
				setenv(TP_LOADER_LOG_ENV, command->loader_log, 1) != 0))
		_exit(125);
	execl("/proc/self/exe", "trainprof", "run", "-q", "--summary=none", "--keep-last", "-o",
	      directory, "--", "/bin/sh", "-c", command->command, (char *)NULL);
	_exit(125);
}

enum tp_status tp_pair_run(struct tp_pair_run *out, const struct tp_pair_command *command,
			   const char *directory, const char *log, struct tp_error *err)
{
	int status = 0;
	*out = (struct tp_pair_run){0};
	pid_t pid = fork();
	if (pid < 0)
		return tp_fail_errno(err, errno, "cannot start a process");
	if (pid == 0)
		start(command, directory, log);
	running = pid;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return tp_fail_errno(err, errno, "cannot wait for a program");
	running = 0;
	out->is_interrupted = interrupted;
	if (WIFSIGNALED(status))
		out->signal = WTERMSIG(status);
	else
		out->exit_code = WEXITSTATUS(status);
	return TP_OK;
}
