/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program as a container would that forbids perf_event_open: without_perf [--errno=NAME]
 * PROGRAM ARGUMENT... All descendants inherit the filter, which answers EPERM, ENOSYS, EACCES or
 * EINVAL. Exits with 77 if filters are not available. */
#include "seccomp_exec.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

static unsigned answer_of(const char *name)
{
	if (strcmp(name, "ENOSYS") == 0)
		return ENOSYS;
	if (strcmp(name, "EACCES") == 0)
		return EACCES;
	return strcmp(name, "EINVAL") == 0 ? EINVAL : EPERM;
}

int main(int argc, char **argv)
{
	unsigned answer = EPERM;
	if (argc > 1 && strncmp(argv[1], "--errno=", 8) == 0) {
		answer = answer_of(argv[1] + 8);
		argv++;
		argc--;
	}
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};
	return seccomp_exec(&program, argv + 1);
}
