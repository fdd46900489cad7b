/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program as on Linux 4.18, the kernel of RHEL 8: old_kernel PROGRAM ARGUMENT... System
 * calls that Linux 5.1 and later introduced do not exist for it and its descendants. What /proc and
 * /sys contain, and what old system calls can do, stays that of this kernel. Exits with 77 if
 * filters are not available. */
#include "seccomp_exec.h"

#include <errno.h>
#include <stddef.h>

/* Since Linux 5.1 a new system call has the same number on all processors. This is the first of
 * them (pidfd_send_signal); all numbers before it existed in 4.18, or are of 5.0 and not used. */
enum { FIRST_NEWER_CALL = 424 };

int main(int argc, char **argv)
{
	(void)argc;
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_NEWER_CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};
	return seccomp_exec(&program, argv + 1);
}
