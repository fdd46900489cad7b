/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and stacks: where a thread was. */
#ifndef TRAINPROF_MODEL_FRAME_H
#define TRAINPROF_MODEL_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum tp_frame_kind {
	TP_FRAME_NATIVE, /* in a mapped file */
	TP_FRAME_JIT,    /* in executable memory without a file, or named by a perf map */
	TP_FRAME_KERNEL,
	TP_FRAME_PYTHON,
	TP_N_FRAME_KINDS
};

enum {
	TP_FRAME_GUESSED = 1, /* found by scanning the stack instead of call frame information */
	/* 2 is used while unwinding. The kind of the instruction, for frames that are not return
	 * addresses: */
	TP_FRAME_SCALAR = 4,     /* computes with a single floating-point value */
	TP_FRAME_VECTOR = 8,     /* computes with several values (SIMD) */
	TP_FRAME_GENERATOR = 16, /* Python: the function yields */
};

/* One place in a program. Equal frames have equal ids within a recording; strings are ids.
 * Functions are grouped by (module, function_start), because most libraries have few symbols. */
struct tp_frame {
	enum tp_frame_kind kind;
	uint32_t flags;          /* TP_FRAME_… */
	uint32_t module;         /* path of the file; "[kernel]", "[jit]", "[vdso]" */
	uint32_t symbol;         /* function; 0 if no symbol covers the address */
	uint32_t file;           /* source file, Python only */
	uint32_t line;           /* source line, Python only */
	uint64_t address;        /* relative to the module's load address */
	uint64_t function_start; /* start of the symbol or of the unwind entry; 0 if unknown.
				    Python: the function's first line << 32; address adds the
				    instruction's offset, so that two calls on one line differ. */
};

enum { TP_STACK_TRUNCATED = 1 }; /* the walk did not reach the thread's first frame */

/* Leaf first. Id 0 is the empty stack. */
struct tp_stack {
	const uint32_t *frames; /* frame ids */
	uint32_t n_frames;
	uint32_t flags; /* TP_STACK_… */
};

enum { TP_STACK_MAX_FRAMES = 512 };

#endif
