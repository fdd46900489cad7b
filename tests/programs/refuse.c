/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program for which the kernel refuses one system call, as a container's filter does: refuse
 * perf|vmread ERRNO|NAME COMMAND…, for example: refuse perf EPERM trainprof run -- ./train. Without
 * the right to install a filter it prints that and exits with 77. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call_of(const char *name)
{
	if (strcmp(name, "perf") == 0)
		return SYS_perf_event_open;
	if (strcmp(name, "vmread") == 0)
		return SYS_process_vm_readv;
	return -1;
}

static unsigned errno_of(const char *name)
{
	if (strcmp(name, "EPERM") == 0)
		return EPERM;
	if (strcmp(name, "EACCES") == 0)
		return EACCES;
	if (strcmp(name, "ENOSYS") == 0)
		return ENOSYS;
	if (strcmp(name, "EMFILE") == 0)
		return EMFILE;
	return (unsigned)atoi(name);
}

int main(int argc, char **argv)
{
	int call = argc > 3 ? call_of(argv[1]) : -1;
	if (call < 0) {
		fprintf(stderr, "usage: refuse perf|vmread ERRNO COMMAND...\n");
		return 2;
	}
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errno_of(argv[2])),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("refuse");
		return 77;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
