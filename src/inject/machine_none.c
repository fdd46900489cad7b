/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures without an implementation. */
#ifndef __x86_64__
#include "machine.h"

bool tp_machine_is_known(void)
{
	return false;
}

bool tp_machine_get(pid_t tid, struct tp_registers *out)
{
	(void)tid;
	(void)out;
	return false;
}

bool tp_machine_set(pid_t tid, const struct tp_registers *registers)
{
	(void)tid;
	(void)registers;
	return false;
}

uint64_t tp_machine_pc(const struct tp_registers *registers)
{
	return registers->words[0];
}

uint64_t tp_machine_sp(const struct tp_registers *registers)
{
	return registers->words[0];
}

uint64_t tp_machine_argument(const struct tp_registers *registers, unsigned i)
{
	return registers->words[i];
}

bool tp_machine_is_fit(pid_t tid, const struct tp_registers *registers)
{
	(void)tid;
	(void)registers;
	return false;
}

long tp_machine_interrupted(pid_t tid, const struct tp_registers *registers,
			    struct tp_registers *out)
{
	(void)tid;
	*out = *registers;
	return -1;
}

bool tp_machine_cancel(pid_t tid, const struct tp_registers *registers)
{
	(void)tid;
	(void)registers;
	return false;
}

void tp_machine_cancelled(const struct tp_registers *before, const struct tp_registers *behind,
			  struct tp_registers *out)
{
	(void)behind;
	*out = *before;
}

void tp_machine_set_call(struct tp_registers *registers, const struct tp_registers *back,
			 long number, const uint64_t arguments[6])
{
	(void)number;
	(void)back;
	registers->words[0] = arguments[0];
}

long tp_machine_result(const struct tp_registers *registers)
{
	return (long)registers->words[0];
}

void tp_machine_enter(struct tp_registers *registers, uint64_t block)
{
	registers->words[0] = block;
}

void tp_machine_keep(uint64_t out[40], const struct tp_registers *back)
{
	out[0] = back->words[0];
}

const void *tp_machine_code(size_t *size)
{
	*size = 0;
	return NULL;
}

const char *tp_machine_signal_return(const void **code, size_t *size)
{
	*code = NULL;
	*size = 0;
	return NULL;
}

bool tp_machine_is_handling(pid_t pid, uint64_t frame, uint64_t mask)
{
	(void)pid;
	(void)frame;
	(void)mask;
	return true;
}
#else
typedef int tp_machine_none_unused;
#endif
