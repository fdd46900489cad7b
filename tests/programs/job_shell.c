/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal shell with job control: job_shell PIDFILE PROGRAM ARGUMENT... Runs the program in a
 * process group of its own and prints what happens to it: "stopped by 20", "continued", "status 7",
 * "killed by 15". Writes the process id to PIDFILE. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_pid(const char *path, pid_t pid)
{
	FILE *file = fopen(path, "w");
	if (!file)
		return 1;
	fprintf(file, "%d\n", (int)pid);
	return fclose(file);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	/* In both processes, as shells do: the one that runs first does it. */
	setpgid(pid, pid);
	if (pid < 0 || write_pid(argv[1], pid) != 0)
		return 2;
	for (;;) {
		int status = 0;
		if (waitpid(pid, &status, WUNTRACED | WCONTINUED) != pid)
			return 2;
		if (WIFSTOPPED(status)) {
			printf("stopped by %d\n", WSTOPSIG(status));
		} else if (WIFCONTINUED(status)) {
			printf("continued\n");
		} else if (WIFEXITED(status)) {
			printf("status %d\n", WEXITSTATUS(status));
			return 0;
		} else {
			printf("killed by %d\n", WTERMSIG(status));
			return 0;
		}
	}
}
