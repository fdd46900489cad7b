/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs from one processor to another: registers, system calls and the code of payload.h.
 * One file each; where there is none, tp_machine_is_known() is false and nothing else is called.
 */
#ifndef TRAINPROF_SRC_INJECT_MACHINE_H
#define TRAINPROF_SRC_INJECT_MACHINE_H

#include "payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* As the kernel gives them (NT_PRSTATUS). */
struct tp_registers {
	uint64_t words[40];
	size_t size; /* bytes that are used */
};

bool tp_machine_is_known(void);

/* Of a thread that is stopped and ours. False: it is gone. */
bool tp_machine_get(pid_t tid, struct tp_registers *out);
bool tp_machine_set(pid_t tid, const struct tp_registers *registers);

uint64_t tp_machine_pc(const struct tp_registers *registers);
uint64_t tp_machine_sp(const struct tp_registers *registers);
/* Of the system call that it is in; the first is 0. */
uint64_t tp_machine_argument(const struct tp_registers *registers, unsigned i);

/* Is it a thread of the C library's, 64 bits, that has come by the usual instruction into the
 * system call that it is behind? And do its vector registers fit into the block? */
bool tp_machine_is_fit(pid_t tid, const struct tp_registers *registers);

/*
 * Stopped in a system call that the kernel would restart: its number. Else -1. `out` becomes the
 * registers with which to resume so that the kernel restarts it, or, where a handler of the program
 * is to run, does with it what the program has asked for.
 */
long tp_machine_interrupted(pid_t tid, const struct tp_registers *registers,
			    struct tp_registers *out);

/* Stopped before a system call, with these registers: have it not happen. */
bool tp_machine_cancel(pid_t tid, const struct tp_registers *registers);
/* Stopped behind it, as asked: `out` becomes as above. */
void tp_machine_cancelled(const struct tp_registers *before, const struct tp_registers *behind,
			  struct tp_registers *out);

/* Registers that make a system call where `back` makes its own. */
void tp_machine_set_call(struct tp_registers *registers, const struct tp_registers *back,
			 long number, const uint64_t arguments[6]);
long tp_machine_result(const struct tp_registers *registers);

/* Registers that run the block's code, else as they are. */
void tp_machine_enter(struct tp_registers *registers, uint64_t block);
/* Registers for the block: those that make the same system call once more. `back` as told above. */
void tp_machine_keep(uint64_t out[40], const struct tp_registers *back);

const void *tp_machine_code(size_t *size); /* of payload.h */

/* The instructions to which a handler of signals returns, and the file that has them; NULL: the C
 * library. */
const char *tp_machine_signal_return(const void **code, size_t *size);
/* Whether the frame there, whose first word is the address of these instructions, belongs to a
 * handler that still runs; `mask` is the thread's. */
bool tp_machine_is_handling(pid_t pid, uint64_t frame, uint64_t mask);

#endif
