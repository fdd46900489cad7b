/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how a program was started, as far as it can see that: arguments, environment, limits,
 * descriptors, signals, priority, terminal, timers, folders, namespaces, parent. Run with and
 * without trainprof; the difference is the effect of trainprof on a program (docs/limits.md). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_environment(void)
{
	size_t n = 0;
	while (environ[n])
		n++;
	char **sorted = malloc((n + 1) * sizeof(*sorted));
	if (!sorted)
		exit(2);
	memcpy(sorted, environ, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_texts);
	for (size_t i = 0; i < n; i++)
		printf("env %s\n", sorted[i]);
	free(sorted);
}

static void print_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		char path[64];
		char target[256];
		struct stat info;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t len = readlink(path, target, sizeof(target) - 1);
		if (len <= 0 || fstat(fd, &info) != 0)
			continue;
		target[len] = '\0';
		/* Numbers of pipes and sockets differ between runs. */
		target[strcspn(target, "[")] = '\0';
		printf("fd %d %s mode %o flags %o close-on-exec %d\n", fd, target,
		       (unsigned)info.st_mode & 0170000, (unsigned)fcntl(fd, F_GETFL),
		       fcntl(fd, F_GETFD));
	}
}

static void print_status(void)
{
	static const char *const wanted[] = {"SigPnd",   "SigBlk",    "SigIgn",
					     "SigCgt",   "Threads",   "NoNewPrivs",
					     "Seccomp:", "Umask",     "CapEff",
					     "Groups",   "TracerPid", "Cpus_allowed_list"};
	char line[4096];
	FILE *file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
				fputs(line, stdout);
	if (file)
		fclose(file);
}

static void print_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;
		if (getrlimit(i, &limit) == 0)
			printf("limit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
	}
}

static void print_process(void)
{
	char text[64] = "";
	int subreaper = 0;
	struct itimerval timer;
	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	prctl(PR_GET_NAME, text);
	printf("nice %d policy %d subreaper %d name %s dumpable %d\n", getpriority(PRIO_PROCESS, 0),
	       sched_getscheduler(0), subreaper, text, prctl(PR_GET_DUMPABLE));
	int death = 0;
	prctl(PR_GET_PDEATHSIG, &death);
	printf("death signal %d leader %d tty %d slack %d\n", death, getsid(0) == getpid(),
	       isatty(0), prctl(PR_GET_TIMERSLACK));
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
		if (getitimer(which, &timer) == 0)
			printf("timer %d %ld\n", which, (long)timer.it_value.tv_sec);
	errno = 0;
	pid_t child = waitpid(-1, NULL, WNOHANG);
	printf("children %d %s\n", (int)child, strerror(errno));
	printf("foreground group %d\n", tcgetpgrp(0) == getpgrp());
}

/* Prints the kernel's handler of each signal; the mask and the pending ones are in the status. */
static void print_handlers(void)
{
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;
		if (sigaction(number, NULL, &action) == 0 &&
		    (action.sa_handler != SIG_DFL || action.sa_flags))
			printf("handler %d %s flags %x\n", number,
			       action.sa_handler == SIG_IGN ? "ignored" : "default or own",
			       (unsigned)action.sa_flags);
	}
	stack_t stack;
	if (sigaltstack(NULL, &stack) == 0)
		printf("signal stack %d\n", stack.ss_flags);
}

/* Prints the first line of a file below /proc/self. */
static void print_file(const char *name)
{
	char path[64];
	char line[512] = "";
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	FILE *file = fopen(path, "r");
	if (!file)
		return;
	(void)!fgets(line, sizeof(line), file);
	fclose(file);
	printf("%s %s%s", name, line, strchr(line, '\n') ? "" : "\n");
}

static void print_link(const char *name)
{
	char path[64];
	char target[512];
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	printf("%s %.*s\n", name, len > 0 ? (int)len : 0, target);
}

static void print_surroundings(void)
{
	static const char *const links[] = {"cwd",    "root",    "exe",    "ns/mnt",
					    "ns/pid", "ns/user", "ns/net", "ns/cgroup"};
	static const char *const files[] = {"oom_score_adj", "cgroup", "coredump_filter",
					    "timens_offsets", "loginuid"};
	enum { OF_PROCESS = 1 };
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		print_link(links[i]);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		print_file(files[i]);
	printf("io priority %ld personality %x secure %lu\n",
	       syscall(SYS_ioprio_get, OF_PROCESS, 0), (unsigned)personality(0xffffffff),
	       getauxval(AT_SECURE));
	printf("secure bits %d keeps capabilities %d\n", prctl(PR_GET_SECUREBITS),
	       prctl(PR_GET_KEEPCAPS));
	printf("group of the session %d\n", getpgrp() == getsid(0));
	printf("parent's group %d\n", getpgid(getppid()) == getpgrp());
}

static void print_parent(void)
{
	char path[64];
	char name[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
	FILE *file = fopen(path, "r");
	if (file && fgets(name, sizeof(name), file))
		printf("parent %s", name);
	if (file)
		fclose(file);
}

/* Prints the new parent of a process whose parent has ended: 1 or a subreaper, but never
 * trainprof. */
static void print_orphan(void)
{
	int ends[2];
	char name[64] = "?";
	if (pipe(ends) != 0)
		return;
	pid_t parent = fork();
	if (parent == 0) {
		if (fork() == 0) {
			char path[64];
			usleep(100000);
			snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
			FILE *file = fopen(path, "r");
			if (file && fgets(name, sizeof(name), file) &&
			    write(ends[1], name, strlen(name)) < 0)
				_exit(1);
			_exit(0);
		}
		_exit(0);
	}
	waitpid(parent, NULL, 0);
	close(ends[1]);
	ssize_t len = read(ends[0], name, sizeof(name) - 1);
	printf("orphan's parent %.*s\n", len > 0 ? (int)len : 0, name);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("argument %d %s\n", i, argv[i]);
	print_descriptors();
	print_environment();
	print_limits();
	print_status();
	print_handlers();
	print_process();
	print_surroundings();
	print_parent();
	print_orphan();
	return 0;
}
