/* SPDX-License-Identifier: Apache-2.0 */
/* The first program of the emulated machine: mounts, checks, reports, powers off. */
#include "guest.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared with child processes. */
struct tally {
	int n_passed;
	int n_failed;
};

static struct tally *tally;

void guest_check(bool good, const char *name, const char *format, ...)
{
	char text[256];
	char line[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	int len = snprintf(line, sizeof(line), "guest: %s: %s: %s\n", good ? "ok" : "NOT OK", name,
			   text);
	if (write(1, line, (size_t)len) < 0)
		_exit(1);
	*(good ? &tally->n_passed : &tally->n_failed) += 1;
}

bool guest_set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool good = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	close(fd);
	return good;
}

void guest_run(bool without_rights, void (*function)(void))
{
	pid_t pid = fork();
	if (pid == 0) {
		if (without_rights && (setgid(1000) != 0 || setuid(1000) != 0))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 1); /* a change of user clears it */
		function();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

void guest_loop(uint64_t turns)
{
#ifdef __aarch64__
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#else
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#endif
}

static void mount_all(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/tmp", 01777);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
	mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "loop") == 0) {
		guest_loop(strtoull(argv[2], NULL, 10));
		return 0;
	}
	mount_all();
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	guest_check_machine();
	guest_check_counters();
	guest_check_sampling();
	guest_check_collector();
	guest_check_attached();
	guest_check_waits();
	guest_check_quota();
	guest_check_paranoid();
	guest_check_yama();
	printf("guest: %d passed, %d failed\n", tally->n_passed, tally->n_failed);
	fflush(stdout);
	if (getpid() != 1)
		return tally->n_failed != 0;
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
