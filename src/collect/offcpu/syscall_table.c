/* SPDX-License-Identifier: Apache-2.0 */
/* The table of system calls that block. Numbers: arch/x86/entry/syscalls/syscall_64.tbl and
 * include/uapi/asm-generic/unistd.h, Linux 6.12; the tests compare them with the C library's. */
#include "syscall_table.h"

#include "trainprof/base/memory.h"

#define FD      TP_SYSCALL_FD
#define STORAGE TP_SYSCALL_STORAGE
#define OTHER   TP_SYSCALL_OTHER

static const struct tp_syscall table[] = {
	{"read", 0, 63, 0, FD},
	{"write", 1, 64, 0, FD},
	{"pread64", 17, 67, 0, FD},
	{"pwrite64", 18, 68, 0, FD},
	{"readv", 19, 65, 0, FD},
	{"writev", 20, 66, 0, FD},
	{"preadv", 295, 69, 0, FD},
	{"pwritev", 296, 70, 0, FD},
	{"preadv2", 327, 286, 0, FD},
	{"pwritev2", 328, 287, 0, FD},
	{"sendfile", 40, 71, 1, FD},
	{"splice", 275, 76, 0, FD},
	{"tee", 276, 77, 0, FD},
	{"vmsplice", 278, 75, 0, FD},
	{"copy_file_range", 326, 285, 0, FD},
	{"recvfrom", 45, 207, 0, FD},
	{"sendto", 44, 206, 0, FD},
	{"recvmsg", 47, 212, 0, FD},
	{"sendmsg", 46, 211, 0, FD},
	{"recvmmsg", 299, 243, 0, FD},
	{"sendmmsg", 307, 269, 0, FD},
	{"accept", 43, 202, 0, FD},
	{"accept4", 288, 242, 0, FD},
	{"connect", 42, 203, 0, FD},
	{"poll", 7, -1, -1, TP_SYSCALL_POLL},
	{"ppoll", 271, 73, -1, TP_SYSCALL_POLL},
	{"select", 23, -1, -1, TP_SYSCALL_SELECT},
	{"pselect6", 270, 72, -1, TP_SYSCALL_SELECT},
	{"epoll_wait", 232, -1, 0, TP_SYSCALL_EPOLL},
	{"epoll_pwait", 281, 22, 0, TP_SYSCALL_EPOLL},
	{"epoll_pwait2", 441, 441, 0, TP_SYSCALL_EPOLL},
	{"futex", 202, 98, -1, TP_SYSCALL_FUTEX},
	{"futex_wait", 455, 455, -1, TP_SYSCALL_FUTEX},
	{"futex_waitv", 449, 449, -1, TP_SYSCALL_LOCK}, /* its addresses are in an array */
	{"semop", 65, 193, -1, TP_SYSCALL_LOCK},
	{"semtimedop", 220, 192, -1, TP_SYSCALL_LOCK},
	{"flock", 73, 32, 0, TP_SYSCALL_LOCK},
	{"fcntl", 72, 25, 0, TP_SYSCALL_LOCK},
	{"nanosleep", 35, 101, -1, TP_SYSCALL_SLEEP},
	{"clock_nanosleep", 230, 115, -1, TP_SYSCALL_SLEEP},
	{"wait4", 61, 260, -1, TP_SYSCALL_CHILD},
	{"waitid", 247, 95, -1, TP_SYSCALL_CHILD},
	{"vfork", 58, -1, -1, TP_SYSCALL_CHILD}, /* the parent waits for the child's exec */
	{"clone", 56, 220, -1, TP_SYSCALL_CHILD},
	{"clone3", 435, 435, -1, TP_SYSCALL_CHILD},
	{"fsync", 74, 82, 0, STORAGE},
	{"fdatasync", 75, 83, 0, STORAGE},
	{"sync_file_range", 277, 84, 0, STORAGE},
	{"syncfs", 306, 267, 0, STORAGE},
	{"sync", 162, 81, -1, STORAGE},
	{"msync", 26, 227, -1, STORAGE},
	{"fallocate", 285, 47, 0, STORAGE},
	{"ftruncate", 77, 46, 0, STORAGE},
	{"readahead", 187, 213, 0, STORAGE},
	{"fadvise64", 221, 223, 0, STORAGE},
	{"close", 3, 57, -1, STORAGE}, /* the descriptor is already gone */
	{"getdents64", 217, 61, 0, STORAGE},
	{"open", 2, -1, -1, STORAGE},
	{"openat", 257, 56, -1, STORAGE},
	{"openat2", 437, 437, -1, STORAGE},
	{"creat", 85, -1, -1, STORAGE},
	{"stat", 4, -1, -1, STORAGE},
	{"lstat", 6, -1, -1, STORAGE},
	{"fstat", 5, 80, 0, STORAGE},
	{"newfstatat", 262, 79, -1, STORAGE},
	{"statx", 332, 291, -1, STORAGE},
	{"access", 21, -1, -1, STORAGE},
	{"faccessat", 269, 48, -1, STORAGE},
	{"faccessat2", 439, 439, -1, STORAGE},
	{"readlink", 89, -1, -1, STORAGE},
	{"readlinkat", 267, 78, -1, STORAGE},
	{"unlink", 87, -1, -1, STORAGE},
	{"unlinkat", 263, 35, -1, STORAGE},
	{"rename", 82, -1, -1, STORAGE},
	{"renameat", 264, 38, -1, STORAGE},
	{"renameat2", 316, 276, -1, STORAGE},
	{"mkdir", 83, -1, -1, STORAGE},
	{"mkdirat", 258, 34, -1, STORAGE},
	{"execve", 59, 221, -1, STORAGE},
	{"execveat", 322, 281, -1, STORAGE},
	{"io_getevents", 208, 4, -1, STORAGE}, /* used only for unbuffered files */
	{"io_pgetevents", 333, 292, -1, STORAGE},
	{"io_uring_enter", 426, 426, 0, STORAGE}, /* sockets are rare with io_uring */
	{"ioctl", 16, 29, 0, OTHER},              /* device drivers */
	{"pause", 34, -1, -1, OTHER},
	{"rt_sigsuspend", 130, 133, -1, OTHER},
	{"rt_sigtimedwait", 128, 137, -1, OTHER},
	{"msgrcv", 70, 188, -1, TP_SYSCALL_MESSAGE},
	{"msgsnd", 69, 189, -1, TP_SYSCALL_MESSAGE},
	{"mq_timedreceive", 243, 183, -1, TP_SYSCALL_MESSAGE},
	{"mq_timedsend", 242, 182, -1, TP_SYSCALL_MESSAGE},
	{"mmap", 9, 222, -1, OTHER}, /* these wait for the address space's lock */
	{"munmap", 11, 215, -1, OTHER},
	{"mremap", 25, 216, -1, OTHER},
	{"mprotect", 10, 226, -1, OTHER},
	{"madvise", 28, 233, -1, OTHER},
	{"brk", 12, 214, -1, OTHER},
	{"exit", 60, 93, -1, OTHER},
	{"exit_group", 231, 94, -1, OTHER},
};

const struct tp_syscall *tp_syscall_find(enum tp_syscall_machine machine, int32_t number)
{
	if (number < 0)
		return NULL;
	for (size_t i = 0; i < TP_ARRAY_LEN(table); i++) {
		const struct tp_syscall *row = &table[i];
		if ((machine == TP_SYSCALL_AARCH64 ? row->aarch64 : row->x86_64) == number)
			return row;
	}
	return NULL;
}

const struct tp_syscall *tp_syscall_table(size_t *n)
{
	*n = TP_ARRAY_LEN(table);
	return table;
}
