/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the registers and a copy of the stack to the chain of callers.
 *
 * Follows .eh_frame and .debug_frame; where code has neither (JIT, assembler) it scans the stack
 * for a word behind a call instruction whose own unwinding makes sense, and marks the frame
 * guessed. Work per call is bounded whatever the stack or the files hold.
 */
#ifndef TRAINPROF_STACK_UNWIND_H
#define TRAINPROF_STACK_UNWIND_H

#include "trainprof/stack/maps.h"

/* x86-64: rip, rsp, rbp. aarch64: pc, sp, x29, x30. */
struct tp_unwind_regs {
	uint64_t ip;
	uint64_t sp;
	uint64_t bp; /* 0: not known, as of a blocked thread */
	uint64_t lr; /* 0 where there is none */
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
	bool is_root_told; /* COMPLETE by what a table or the entry point says; false: by a return
			    * address of 0, which is also what memory that is no stack holds */
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
