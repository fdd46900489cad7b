/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reconstructs the chain of callers from registers and a copy of the stack.
 *
 * Uses .eh_frame and .debug_frame. Code with neither (JIT, assembler) is unwound by scanning the
 * stack for a word that follows a call instruction and from which unwinding can continue; such a
 * frame is marked as guessed. Work per call is bounded for any contents of stack and files.
 */
#ifndef TRAINPROF_STACK_UNWIND_H
#define TRAINPROF_STACK_UNWIND_H

#include "trainprof/stack/maps.h"

/* x86-64: rip, rsp, rbp. aarch64: pc, sp, x29, x30. */
struct tp_unwind_regs {
	uint64_t ip;
	uint64_t sp;
	uint64_t bp; /* 0 = unknown, as for a blocked thread */
	uint64_t lr; /* 0 if there is none */
};

enum tp_unwind_end {
	TP_UNWIND_COMPLETE,  /* reached the root: _start, clone, an undefined return address */
	TP_UNWIND_TRUNCATED, /* the copied stack ended first */
	TP_UNWIND_LOST,      /* no unwind table and no plausible caller */
	TP_UNWIND_DEEP,      /* more than TP_STACK_MAX_FRAMES, or the work limit */
};

struct tp_unwind_result {
	size_t n_frames;
	size_t n_guessed;
	enum tp_unwind_end end;
	bool is_root_known; /* complete according to a table or the entry point; false: according to
			      a return address of 0, which memory that is not a stack may also
			      contain */
};

/*
 * Walk one stack. `stack` holds `size` bytes copied from [regs->sp, regs->sp + size).
 *
 * frames  out: up to `max_frames` (at most TP_STACK_MAX_FRAMES are written), innermost first;
 * there is always one, the sampled address itself. Thread  one at a time per struct tp_modules:
 * caches in it are filled.
 */
void tp_unwind(struct tp_maps *maps, const struct tp_unwind_regs *regs, const void *stack,
	       size_t size, struct tp_stack_frame *frames, size_t max_frames,
	       struct tp_unwind_result *out);

/* Does a call by pointer end at this address of code of a file? Code without a file is reached by
 * no other. */
bool tp_unwind_is_pointer_call(struct tp_maps *maps, uint64_t return_pc);

#endif
