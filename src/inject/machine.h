/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that depends on the processor: registers, system calls and the code of payload.h. One
 * file per architecture; where there is none, tp_machine_is_known() returns false and nothing else
 * is called. */
#ifndef TRAINPROF_SRC_INJECT_MACHINE_H
#define TRAINPROF_SRC_INJECT_MACHINE_H

#include "payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In the kernel's layout (NT_PRSTATUS). */
struct tp_registers {
	uint64_t words[40];
	size_t size; /* bytes in use */
};

bool tp_machine_is_known(void);

/* Reads the registers of a thread that is stopped and traced by us. Returns false if it is gone. */
bool tp_machine_get(pid_t tid, struct tp_registers *out);
bool tp_machine_set(pid_t tid, const struct tp_registers *registers);

uint64_t tp_machine_pc(const struct tp_registers *registers);
uint64_t tp_machine_sp(const struct tp_registers *registers);
/* Returns an argument of the system call that the thread is in; the first is number 0. */
uint64_t tp_machine_argument(const struct tp_registers *registers, unsigned i);

/* True if the thread was created by the 64-bit C library, entered its system call by the usual
 * instruction, and its vector registers fit into the block. */
bool tp_machine_is_fit(pid_t tid, const struct tp_registers *registers);

/* If the thread is stopped in a system call that the kernel would restart, returns its number, else
 * -1. `out` receives the registers with which to resume it: the kernel then restarts the call, or,
 * if a signal handler of the program is due, does what the program requested for it. */
long tp_machine_interrupted(pid_t tid, const struct tp_registers *registers,
			    struct tp_registers *out);

/* Cancels the system call before which the thread is stopped with these registers. */
bool tp_machine_cancel(pid_t tid, const struct tp_registers *registers);
/* Called when the thread has stopped after the cancelled call; `out` receives the registers with
 * which to resume it. */
void tp_machine_cancelled(const struct tp_registers *before, const struct tp_registers *behind,
			  struct tp_registers *out);

/* Sets registers that make a system call at the instruction where `back` makes its own. */
void tp_machine_set_call(struct tp_registers *registers, const struct tp_registers *back,
			 long number, const uint64_t arguments[6]);
long tp_machine_result(const struct tp_registers *registers);

/* Sets registers that run the block's code and are otherwise unchanged. */
void tp_machine_enter(struct tp_registers *registers, uint64_t block);
/* Stores the registers for the block that repeat the same system call; `back` as described
 * above. */
void tp_machine_keep(uint64_t out[40], const struct tp_registers *back);

const void *tp_machine_code(size_t *size); /* the code described in payload.h */

/* Returns the instructions to which a signal handler returns, and the name of the file that
 * contains them; NULL means the C library. */
const char *tp_machine_signal_return(const void **code, size_t *size);
/* True if the frame at this address, whose first word points to these instructions, belongs to a
 * handler that still runs. `mask` is the thread's signal mask. */
bool tp_machine_is_handling(pid_t pid, uint64_t frame, uint64_t mask);

#endif
