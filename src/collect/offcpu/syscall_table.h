/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that can block, and what each of them waits for. */
#ifndef TRAINPROF_SRC_COLLECT_OFFCPU_SYSCALL_TABLE_H
#define TRAINPROF_SRC_COLLECT_OFFCPU_SYSCALL_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum tp_syscall_kind {
	TP_SYSCALL_FD,      /* waits for the descriptor in argument `fd` */
	TP_SYSCALL_STORAGE, /* waits for the file system; `fd` is the file, or -1 */
	TP_SYSCALL_POLL,    /* args: pollfd array, count */
	TP_SYSCALL_SELECT,  /* args: count, three sets */
	TP_SYSCALL_EPOLL,   /* waits for an epoll descriptor */
	TP_SYSCALL_FUTEX,   /* args: address */
	TP_SYSCALL_LOCK,    /* a semaphore or file lock without an address */
	TP_SYSCALL_MESSAGE, /* a message queue: treated like a pipe */
	TP_SYSCALL_SLEEP,
	TP_SYSCALL_CHILD,
	TP_SYSCALL_OTHER, /* `fd` is the object of the call, or -1 */
};

struct tp_syscall {
	const char *name;
	int16_t x86_64; /* number, -1 if the machine has none */
	int16_t aarch64;
	int8_t fd; /* argument that is a descriptor, -1 if none */
	enum tp_syscall_kind kind;
};

enum tp_syscall_machine {
	TP_SYSCALL_X86_64,
	TP_SYSCALL_AARCH64,
/* The machine for which this program was built. */
#ifdef __aarch64__
	TP_SYSCALL_HERE = TP_SYSCALL_AARCH64
#else
	TP_SYSCALL_HERE = TP_SYSCALL_X86_64
#endif
};

/* Returns NULL for calls that are not in the table: they do not block, or were never observed. */
const struct tp_syscall *tp_syscall_find(enum tp_syscall_machine machine, int32_t number);

/* Returns all rows, for tests. */
const struct tp_syscall *tp_syscall_table(size_t *n);

#endif
